"""The variables before run 0, worked out again only as far as an edit may have changed them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from itertools import filterfalse
from operator import is_
from typing import Any

import numpy as np

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.init_run import init_run
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.plan.steps import storage_name
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.engine.run.variable_store import VariableStore, set_first
from gradstep.core.graph.carry_over import stay_in
from gradstep.core.graph.changes import find_others
from gradstep.core.graph.model import Operation, TensorRef

Feeds = Mapping[TensorRef, np.ndarray]


class FirstVariables:
    """What `init` makes, and over it the program's own values, in `store`.

    before: those of the program before an edit. Their arrays are shared; nobody writes to them.
    Raises GradstepError where `init` fails, and for a value that does not fit."""

    def __init__(
        self, program: Program, backend: Backend, before: FirstVariables | None = None
    ) -> None:
        self._program, self._backend = program, backend
        known = before if before is not None and before._backend == backend else None
        self._init = init_run(program.graph, program.init) if program.init else None
        self._owners: dict[str, str] = {}  # storage -> the variable whose value is there
        if known is not None and self._is_as(known):
            self.store: VariableStore = known.store
            self._owners = known._owners
        elif not program.init:
            self.store = self._given(known)
        elif known is not None and self._inits_as(known) and self._starts_init_as(known):
            self.store = self._given_over(known)
        else:
            self.store = self._initialized()

    def _is_as(self, before: FirstVariables) -> bool:
        """Whether all would come out as before."""
        now, then = self._program, before._program
        return (
            now.init == then.init
            and (now.initial is then.initial or now.initial.keys() == then.initial.keys())
            and _are_same(now.initial, then.initial, now.initial)
            and stay_in(now.graph, then.graph, now.initial.keys())
            and (not now.init or self._inits_as(before))
        )

    def _starts_init_as(self, before: FirstVariables) -> bool:
        """Whether all variables that `init` has to do with start as they did."""
        now, then, init = self._program, before._program, self._init
        assert init is not None
        gone = then.initial.keys() - now.initial.keys()
        others = [*find_others(then.initial, now.initial), *gone]
        graphs = now.graph.operations, then.graph.operations
        found = (filter(None, map(graph.get, others)) for graph in graphs)
        return all(init.storages.isdisjoint(map(storage_name, each)) for each in found)

    def _given_over(self, before: FirstVariables) -> VariableStore:
        """The program's own values, over what `init` made before, and would make again."""
        there = self._given(before)
        made = filterfalse(before._owners.__contains__, before.store)
        names = [*filterfalse(self._owners.__contains__, made)]
        there.hold_all(dict(zip(names, map(before.store.get, names), strict=True)))
        return there

    def _inits_as(self, before: FirstVariables) -> bool:
        """Whether `init` does what it did. A feed of what it does not run is none of its affair."""
        now, then, init, init_then = self._program, before._program, self._init, before._init
        if init is None or init_then is None or not init.is_pure:
            return False
        if init is not init_then and (
            init.needs != init_then.needs or not stay_in(now.graph, then.graph, init.needs)
        ):
            return False
        return _are_equal(*(_fed_in(each.feeds, init.needs) for each in (now, then)))

    def _initialized(self) -> VariableStore:
        program, given = self._program, self._given(None)
        session = Session(program.graph, self._backend, program.functions)
        session.store.complete(given)
        session.run([], program.feeds, [program.init])
        for name, array in given.items():
            session.store.set(name, array)
        return session.store

    def _given(self, before: FirstVariables | None) -> VariableStore:
        """The program's own values; those of variables that were the same before are there."""
        program, there = self._program, VariableStore(self._backend)
        graph = program.graph
        for name, value in program.initial.items():
            op = graph.operations.get(name)
            storage = "" if op is None else storage_name(op)
            self._owners[storage] = name
            if before is not None and op is not None and before._gave(storage, op, value):
                there.hold(storage, before.store[storage])
            else:
                set_first(there, graph, name, value, held=True)
        return there

    def _gave(self, storage: str, declared: Operation, value: np.ndarray) -> bool:
        """Whether these have that variable's value."""
        name, program = declared.name, self._program
        is_own = self._owners.get(storage) == name
        same = program.initial.get(name) is value
        return is_own and same and program.graph.operations.get(name) is declared


def _are_same(now: Mapping[Any, object], then: Mapping[Any, object], keys: Iterable[Any]) -> bool:
    """Whether both have the very same for all of `keys`."""
    if now is then:
        return True
    keys = [*keys]
    return all(map(is_, map(now.get, keys), map(then.get, keys)))


def _fed_in(feeds: Feeds, names: Set[str]) -> Feeds:
    """The feeds of these operations."""
    return {ref: array for ref, array in feeds.items() if ref.op in names}


def _are_equal(now: Feeds, then: Feeds) -> bool:
    """Whether both feed the same tensors with the same bits."""
    return now.keys() == then.keys() and all(_same_bits(now[ref], then[ref]) for ref in now)


def _same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return (a.dtype, a.shape) == (b.dtype, b.shape) and a.tobytes() == b.tobytes()


def first_variables(program: Program, backend: Backend) -> VariableStore:
    """The variables before run 0."""
    return FirstVariables(program, backend).store
