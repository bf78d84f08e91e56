"""The plan of one run: its steps, the values they read and make, and where each tensor is."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, compress, count, repeat
from operator import attrgetter, is_, not_
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradstep.core.engine.plan.dead_branches import mark_dead_branches
from gradstep.core.engine.plan.fed_types import RunTypes
from gradstep.core.engine.plan.liveness_conditions import Condition
from gradstep.core.engine.plan.pruning import Needed
from gradstep.core.engine.plan.step_builder import Resolver, Whereabouts
from gradstep.core.engine.plan.step_groups import Group, whole_at
from gradstep.core.engine.plan.steps import PlanValue, Step, Variable
from gradstep.core.engine.plan.touched_steps import Exchanged, TouchedSteps, Users, find_users
from gradstep.core.engine.plan.value_makers import MadeBy, Makers, find_makers, makers_after
from gradstep.core.errors import GradstepError
from gradstep.core.graph.foreign_origin import foreign_scopes
from gradstep.core.graph.model import Constant, Graph, TensorRef
from gradstep.core.graph.tensor_dict import ByTensor
from gradstep.core.ops.state.opaque_state import OpaqueState
from gradstep.core.persistent.edited_columns import difference, places_of
from gradstep.core.persistent.edited_sequence import replaced
from gradstep.core.persistent.joined_sequence import Joined, in_parts
from gradstep.core.persistent.sequence_places import common_ends

if TYPE_CHECKING:
    from gradstep.core.engine.kernels.kernel_alternative import Alternative

_WRITES = attrgetter("writes")
_NONE: Mapping[str, Step] = MappingProxyType({})
_ALIVE: Mapping[TensorRef, Condition] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Blocked:
    """Steps `start` to `stop`, elementwise on one shape, that may run block by block together."""

    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Plan:
    """One run, ready to be laid out in memory.

    steps:     in the order of execution, which is that of creation.
    values:    every array that a run makes or starts with; Step.reads and .writes index it.
    tensors:   where each tensor is: the index of its value, or the variable it stands for.
    variables: those the steps touch, by the name of their storage.
    versions:  variable -> its values in order, the one at the run's start first.
    failures:  operations that cannot run, found before running -> why.
    fed:       the values that are given to every run.
    needed:    how often each operation is asked for.
    types:     what the tensors are in such a run.
    retired:   steps of plans before it, by operation, that have no part in this one.
    blocked:   runs of steps that the fast layout may take block by block.
    kernels:   operations that another library computes -> its kernel.
    elsewhere: operations, in its loops as well, that another device than that of the run computes
               -> its name.
    rounding:  names of the passes that changed it such that results may round otherwise.
    alive:     tensors that may be dead -> when they are not.
    branches:  whether it has, or had before an edit, steps that may be dead.
    exchanged: how its steps differ from those of the plan before an edit, where that is known.
    taken:     the values of that plan, with which its own begin.
    """

    graph: Graph
    steps: Sequence[Step]
    values: Sequence[PlanValue]
    tensors: ByTensor[int | str]
    variables: Mapping[str, Variable]
    versions: Mapping[str, tuple[int, ...]]
    failures: Mapping[str, GradstepError]
    fed: tuple[int, ...]
    fetches: Sequence[TensorRef]
    targets: tuple[str, ...]
    needed: Needed
    types: RunTypes
    retired: Mapping[str, Step] = field(default_factory=lambda: _NONE)
    blocked: tuple[Blocked, ...] = ()
    kernels: Mapping[str, Alternative] = field(default_factory=dict)
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    rounding: tuple[str, ...] = ()
    alive: Mapping[TensorRef, Condition] = field(default_factory=lambda: _ALIVE)
    branches: bool = False
    exchanged: Exchanged | None = None
    taken: Sequence[PlanValue] = ()

    def goes_on_from(self, before: Plan) -> bool:
        """Whether its values begin with the very same as those of a plan before it."""
        mine = before.values
        if self.values is mine or self.taken is mine:
            return True
        return len(self.values) >= len(mine) and all(map(is_, mine, self.values))

    def whole_at(self, place: int) -> Group:
        """What the user steps over at once that step number `place` is of."""
        return whole_at(self.steps, self._foreign, place)

    @cached_property
    def _foreign(self) -> Mapping[str, str]:
        return foreign_scopes(self.graph)

    @cached_property
    def step_of(self) -> Mapping[str, int]:
        """The step that executes each operation."""
        return {step.op.name: index for index, step in enumerate(self.steps)}

    def op_after(self, step: int) -> str:
        """The name of the operation that comes when so many steps are done; "" at the end."""
        return self.steps[step].op.name if step < len(self.steps) else ""

    @cached_property
    def whereabouts(self) -> Sequence[Whereabouts | None]:
        """Of each step what there is of its operation's outputs: see `tensors`."""
        return in_parts([*map(self.tensors.of.get, self.step_of)])

    @cached_property
    def users(self) -> Users:
        """Which operations' steps deal with which values and variables."""
        finding = self._find_users()
        while True:
            try:
                next(finding)
            except StopIteration as end:
                users: Users = end.value
                return users

    def _find_users(self) -> Generator[None, None, Users]:
        return find_users(self.steps, self.values, self.tensors.of)

    def prepare_edit(self) -> Iterator[None]:
        """Find what the plan after an edit is made with, a little at a time: all of it takes longer
        than most edits do, and nobody has to wait for it."""
        if self.is_plain and "users" not in vars(self):
            vars(self)["users"] = yield from self._find_users()
        _ = self.overtaken
        yield

    @cached_property
    def is_plain(self) -> bool:
        """Whether each variable belongs to the one operation that declares it, or counts for it,
        nothing fails, and nothing is a loop."""
        return not self.failures and _are_own(self.variables.items()) and not self.loops

    @cached_property
    def loops(self) -> tuple[int, ...]:
        """The steps that run loops."""
        return tuple(i for i, step in enumerate(self.steps) if step.iteration is not None)

    @cached_property
    def overtaken(self) -> frozenset[int]:
        """The versions of variables that have more than one."""
        return frozenset(
            v for versions in self.versions.values() if len(versions) > 1 for v in versions
        )

    @cached_property
    def made_by(self) -> Sequence[int]:
        """For each value, the step that makes it; -1: it is there when the run starts."""
        found = [-1] * len(self.values)
        writes = [*map(_WRITES, self.steps)]
        places = chain.from_iterable(map(repeat, count(), map(len, writes)))
        deque(map(found.__setitem__, chain.from_iterable(writes), places), maxlen=0)  # in C
        return found

    @cached_property
    def makers(self) -> Makers:
        """For each value, the step itself that makes it."""
        return find_makers(self.steps, len(self.values))

    def maker(self, value: int) -> Step | None:
        """The step that makes a value; None of what is there when the run starts."""
        index = self.made_by[value]
        return None if index < 0 else self.steps[index]

    def constant(self, value: int) -> np.ndarray | None:
        """What a value is in every run, where a Const makes it."""
        step = self.maker(value)
        held = None if step is None or step.op.type != "Const" else step.op.attrs.get("value")
        return held.array if isinstance(held, Constant) else None

    @cached_property
    def firsts(self) -> Mapping[str, np.ndarray | OpaqueState]:
        """What variables hold before any run, those with which the user has nothing to do."""
        found = ((name, variable.first) for name, variable in self.variables.items())
        return {name: first for name, first in found if first is not None}

    @cached_property
    def per_run(self) -> tuple[str, ...]:
        """The variables that belong to no operation, but to all of a run that name their class."""
        return tuple(name for name, variable in self.variables.items() if not variable.op)

    @property
    def is_dense(self) -> bool:
        """Whether most of the values are there in a run."""
        if len(self.values) <= 2 * len(self.steps):
            return True  # this is nearly always so, and needs no counting
        made = sum(map(len, map(_WRITES, self.steps)))
        return len(self.values) <= 2 * (made + len(self.fed) + len(self.versions))

    def newest(self, variable: str, step: int | None = None) -> int:
        """The value that `variable` has once `step` steps are done (by default all)."""
        versions = self.versions[variable]
        if step is None:
            return versions[-1]
        return versions[bisect_left(versions, step, key=self.made_by.__getitem__) - 1]


def assemble(
    graph: Graph,
    needed: Needed,
    resolver: Resolver,
    fetches: Sequence[TensorRef],
    targets: Sequence[str],
    retired: Mapping[str, Step] = _NONE,
    touched: TouchedSteps | None = None,
) -> Plan:
    """The plan of what `resolver` has been given. touched: the steps that were looked at, where
    the others are those of the plan before."""
    where = resolver.where
    for ref in _new_fetches(fetches, touched, where):
        there = where.get(ref.op, ())
        if ref.index >= len(there) or there[ref.index] is None:
            _require_failure(resolver, ref)
    steps, values, alive = resolver.all_steps, resolver.all_values, _ALIVE
    if resolver.branches:
        steps, alive = mark_dead_branches(steps, values, resolver.where, resolver.types.fed)
    plan = Plan(
        graph=graph,
        steps=steps,
        values=values,
        tensors=ByTensor(resolver.where),
        variables=resolver.variables,
        versions=_versions(resolver, touched),
        failures=resolver.failures,
        fed=tuple(range(len(resolver.types.fed))),
        fetches=fetches if isinstance(fetches, Joined) else tuple(fetches),
        targets=tuple(targets),
        needed=needed,
        types=resolver.types,
        retired=retired,
        alive=alive,
        branches=resolver.branches,
        exchanged=None if resolver.branches or touched is None else touched.exchanged(steps, where),
        taken=resolver.taken,
    )
    if touched is not None:
        _carry_over(plan, touched)
    needed.forget_changes()
    return plan


def _carry_over(plan: Plan, touched: TouchedSteps) -> None:
    """What is known of the plan before, but for the steps that were looked at."""
    before, known = touched.previous, plan.__dict__
    known.update(step_of=touched.places, users=touched.users, loops=())
    if plan.versions is before.versions:
        known["overtaken"] = before.overtaken
    there, then = plan.variables, before.variables
    others = [n for n in touched.stored if n in there and there[n] is not then.get(n)]
    if not others and len(plan.variables) == len(before.variables):
        known["firsts"] = before.firsts
    own = _are_own((name, plan.variables[name]) for name in others)
    known["is_plain"] = own and not plan.failures  # the one before was
    if plan.exchanged is not None and "made_by" in before.__dict__:
        makers = makers_after(before.makers, plan.exchanged, len(plan.values))
        known.update(makers=makers, made_by=MadeBy(makers, plan.step_of))
    if "whereabouts" in before.__dict__:
        known["whereabouts"] = _whereabouts_after(plan, touched)


def ends_of(plan: Plan, before: Sequence[Step]) -> tuple[int, int]:
    """`common_ends` of steps of a plan before, and those of `plan`."""
    known = plan.exchanged
    return common_ends(before, plan.steps) if known is None else known.ends(before, plan.steps)


def _whereabouts_after(plan: Plan, touched: TouchedSteps) -> Sequence[Whereabouts | None]:
    of, places = plan.tensors.of, touched.places
    others = {places[name]: of.get(name) for name in touched.seen if name in places}
    return replaced(touched.arrange(touched.previous.whereabouts), others)


def _are_own(variables: Iterable[tuple[str, Variable]]) -> bool:
    """Whether each belongs to the operation that is called as it is, or counts for one."""
    return all(variable.op == name or variable.counter for name, variable in variables)


def _new_fetches(
    fetches: Sequence[TensorRef], touched: TouchedSteps | None, where: Mapping[str, Whereabouts]
) -> Iterable[TensorRef]:
    """Those that may not be there."""
    if touched is None:
        return fetches
    before = touched.previous.fetches
    known = difference(before, fetches)
    if known is not None:
        places = {place for _, place in known.come}
    else:
        first, last = common_ends(before, fetches)
        same = {*map(id, before[first : len(before) - last])}  # which stay are mostly the very same
        middle = map(id, fetches[first : len(fetches) - last])
        places = {*compress(count(first), map(not_, map(same.__contains__, middle)))}
    places.update(places_of(touched.lost(where), fetches))
    return [fetches[place] for place in sorted(places)]


def _versions(resolver: Resolver, touched: TouchedSteps | None) -> Mapping[str, tuple[int, ...]]:
    found: MutableMapping[str, Any] = resolver.versions
    if touched is None:
        return dict(zip(found, map(tuple, found.values()), strict=True))
    others = touched.opened | touched.stored
    if not others:
        return touched.previous.versions
    for name in filter(found.__contains__, others):
        found[name] = tuple(found[name])
    return found  # those of the plan before are tuples


def _require_failure(resolver: Resolver, ref: TensorRef) -> None:
    """Raise GradstepError for what has no value, unless its operation fails when it runs."""
    if ref.op not in resolver.failures:
        raise GradstepError(
            f"operation '{ref.op}' has no output {ref.index}",
            kind="ValueError",
            node=ref.op,
            hint="run it as a target" if ref.index == 0 else "",
        )
