"""Tensors of an iteration, computed of the recorded values right before them and nothing else.

What comes from further away is computed likewise: from the iteration before (on the way back, the
one after), from outside the loop, from the forward iteration that a gradient reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

import numpy as np

from gradstep.core.checks.why.backward_iterations import plain
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import loop_of
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef
from gradstep.gpu.own_iterations import OwnIterations, Place

Known = Callable[[TensorRef, Place], np.ndarray | None]
_READS = "IterationValue"  # of a forward iteration, on the way back
_HANDLES = "TensorArray"  # what operations work on that have no value of their own
_PLAIN = {"RefSwitch": "Switch", "RefMerge": "Merge"}


class IsolatedIterations:
    """Of `program`. known: what was recorded of a tensor, in an iteration of each loop around it,
    none for one outside of loops; recorded: whether anything was in a loop. own: for how many
    iterations there are."""

    def __init__(
        self,
        program: Program,
        backend: Backend,
        known: Known,
        own: OwnIterations,
        recorded: Callable[[str], bool],
    ) -> None:
        self._program, self._backend = program, backend
        self._known, self._own, self._recorded = known, own, recorded
        self._levels: dict[tuple[str, ...], _Level] = {}
        self._found: dict[tuple[TensorRef, Place], np.ndarray] = {}

    def value(self, ref: TensorRef, place: Place) -> np.ndarray | None:
        """None where that cannot be told: it is read from an array of tensors, or fails."""
        try:
            return self._computed(ref, place)
        except (GradstepError, _UntoldError, _DeadError):
            return None

    def _best(self, ref: TensorRef, place: Place) -> np.ndarray:
        """What was recorded, or what is computed of that."""
        found = self._known(ref, place)
        if found is not None:
            return found
        if (ref, place) not in self._found:
            self._found[ref, place] = self._computed(ref, place)
        return self._found[ref, place]

    def _computed(self, ref: TensorRef, place: Place) -> np.ndarray:
        level = self._level(ref)
        if level.comes_from_away(ref.op):
            return self._from_away(level, ref, place)
        near = level.sources(ref, lambda source: self._known(source, place) is not None)
        feeds = self._begun(level, place)
        for source in near:
            with suppress(_DeadError):
                feeds[str(source)] = self._given(level, source, place)
        found: np.ndarray = level.session.run([ref], feeds)[0]
        return found

    def _begun(self, level: _Level, place: Place) -> dict[str, np.ndarray]:
        """What is given whatever is asked for: in an iteration what its operations wait for, so
        that it has begun."""
        if not level.way:
            return {**level.feeds}
        loop = loop_of(level.way[-1])
        assert loop is not None
        first = self._counter(loop.variables[0], place)
        return {str(TensorRef(loop.variables[0])): first}

    def _counter(self, name: str, place: Place) -> np.ndarray:
        """The first variable of a loop: on the way back, how many iterations are left."""
        found = self._own.value(TensorRef(name), place)
        if found is None:
            raise _UntoldError
        return found

    def _given(self, level: _Level, source: TensorRef, place: Place) -> np.ndarray:
        known = self._known(source, place)
        return self._from_away(level, source, place) if known is None else known

    def _from_away(self, level: _Level, source: TensorRef, place: Place) -> np.ndarray:
        op = level.graph[source.op]
        if loop_of(op) is not None:
            return self._result(level, op, source.index, place)
        if op.type.startswith(_HANDLES):
            raise _UntoldError
        if op.type == _READS:
            return self._read(op, place)
        return self._argument(level, source.op, place)

    def _read(self, op: Operation, place: Place) -> np.ndarray:
        """What the way back reads of a forward iteration."""
        ref = TensorRef.parse(str(op.attrs["tensor"]))
        try:
            return self._best(ref, place)
        except GradstepError:  # of a branch that was not taken, and then it is not read
            raise _DeadError from None

    def _result(self, level: _Level, op: Operation, index: int, place: Place) -> np.ndarray:
        """What a loop gives in the end: what its last iteration made."""
        loop, count = loop_of(op), self._own.count(op, level.way, place)
        assert loop is not None
        if index >= len(loop.variables):
            raise _UntoldError
        if count == 0:
            given = op.inputs[index]
            assert given is not None
            return self._best(given, place)
        last = 0 if op.phase is Phase.BACKWARD else count - 1
        return self._best(loop.results[index], (*place, last))

    def _argument(self, level: _Level, name: str, place: Place) -> np.ndarray:
        """What an iteration begins with: what the loop was given, or what the iteration before
        made of it, and that of the one before it, from the first on."""
        loop_op, outside = level.way[-1], place[:-1]
        loop = loop_of(loop_op)
        assert loop is not None
        if loop_op.phase is Phase.BACKWARD and name == loop.variables[0]:
            return self._counter(name, place)
        index = loop.arguments.index(name)
        given = loop_op.inputs[index]
        assert given is not None
        if name in loop.captures:
            return self._best(given, outside)
        found, before = None, self._before(level, place)
        for number in self._from_known(loop.results[index], outside, before):
            found = self._best(loop.results[index], (*outside, number))
        return self._best(given, outside) if found is None else found

    def _from_known(
        self, result: TensorRef, outside: Place, before: Sequence[int]
    ) -> Sequence[int]:
        """Of the iterations before, in their order, those from the last on of which the result is
        there: one is computed of the other, and so many in a row not within each other."""
        for at in reversed(range(len(before))):
            place = (*outside, before[at])
            if (result, place) in self._found or self._known(result, place) is not None:
                return before[at:]
        return before

    def _before(self, level: _Level, place: Place) -> Sequence[int]:
        """The iterations that were run before, in their order."""
        loop = level.way[-1]
        if loop.phase is not Phase.BACKWARD:
            return range(place[-1])
        count = self._own.count(loop, level.way[:-1], place[:-1])
        return range(count - 1, place[-1], -1)

    def _level(self, ref: TensorRef) -> _Level:
        way = self._own.way(ref)
        key = tuple(op.name for op in way)
        if key not in self._levels:
            self._levels[key] = _Level(self._program, self._backend, way, self._recorded)
        return self._levels[key]


class _UntoldError(Exception):
    """What was read from there is not recorded."""


class _DeadError(Exception):
    """It is in a branch that is not taken."""


class _Level:
    """The program itself, or an iteration of the innermost of the loops `way`."""

    def __init__(
        self,
        program: Program,
        backend: Backend,
        way: tuple[Operation, ...],
        recorded: Callable[[str], bool],
    ) -> None:
        self.way = way
        self._program, self._backend, self._recorded = program, backend, recorded
        loop = loop_of(way[-1]) if way else None
        self.graph = program.graph if loop is None else plain(loop)
        self._around = frozenset(() if loop is None else loop.arguments)
        self.feeds = {} if way else {str(ref): array for ref, array in program.feeds.items()}

    @cached_property
    def session(self) -> Session:
        initial = {} if self.way else self._program.initial
        graph = _alone(self.graph) if self.way else self.graph
        return Session(graph, self._backend, functions=self._program.functions, initial=initial)

    def sources(self, ref: TensorRef, known: Callable[[TensorRef], bool]) -> list[TensorRef]:
        """What it is computed of, on each path the nearest that is known, or comes from further
        away than this iteration."""
        found = dict[TensorRef, None]()
        seen, waiting = {ref.op}, [ref.op]
        while waiting:
            for source in self._needed(self.graph[waiting.pop()]):
                if source.op == ref.op:
                    continue
                if known(source) or self.comes_from_away(source.op):
                    found.setdefault(source)
                if source.op not in seen and self._goes_on(source, known):
                    seen.add(source.op)
                    waiting.append(source.op)
        return [*found]

    def _goes_on(self, source: TensorRef, known: Callable[[TensorRef], bool]) -> bool:
        """Whether to look at what it needs: of what is read of a forward iteration, too, whether
        that is in a branch that is taken."""
        away = self.comes_from_away(source.op)
        return self.graph[source.op].type == _READS or not (away or known(source))

    def _needed(self, op: Operation) -> Iterator[TensorRef]:
        """What it reads; in a loop, what it waits for as well: whether its branch is taken."""
        if op.type != _READS:
            yield from (ref for ref in op.inputs if ref is not None)
        if self.way:
            yield from map(TensorRef, op.control_inputs)

    def comes_from_away(self, name: str) -> bool:
        """Whether another iteration made it, or another of the forward pass, or nobody can tell."""
        op = self.graph[name]
        if loop_of(op) is not None:
            return self._recorded(name)
        away = name in self._around or op.type == _READS or op.type.startswith(_HANDLES)
        return bool(self.way) and away


def _alone(graph: Graph) -> Graph:
    """An iteration as a graph that can be run: its arguments are fed."""
    return Graph({op.name: _runnable(op) for op in graph})


def _runnable(op: Operation) -> Operation:
    if op.type == _READS:
        attrs = {"dtype": op.attrs["dtype"], "shape": op.attrs["shape"]}
        return replace(op, type="Placeholder", inputs=(), attrs=attrs)
    if op.type == "_Arg":
        attrs = {"dtype": op.attrs["T"], "shape": op.attrs["shape"]}
        return replace(op, type="Placeholder", attrs=attrs)
    return replace(op, type=_PLAIN.get(op.type, op.type))
