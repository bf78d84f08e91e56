"""Where the values of a recorded run lie: every one at its own aligned place, none reused."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import filterfalse
from operator import attrgetter
from typing import NamedTuple

from gradstep.core.engine.memory.value_places import Form, Places, Slot
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import Step, has_place, makes_constants
from gradstep.core.graph.dtypes import TensorType

ALIGNMENT = 64  # bytes; NumPy multiplies 1.5 times as fast as on its usual 16


@dataclass(frozen=True, eq=False)
class RecordLayout:
    """places: value -> its place, or None for values kept by reference: those of a shape known
    only while running, strings, feeds, constants.

    taken: the places of the values that the plan has in common with the one that it continues;
    taken_bytes: those of its arena; taken_same: see `same`. Other values come behind them.
    first_bytes: those of the arena before anything was taken over. taken_kinds: what was found of
    the steps of that plan, where it is known which of them this one does not have. taken_unplaced:
    those of the taken that have no place, where that is known. on_host: values
    that lie on the host, whatever the device; they are kept by reference. apart: values that were
    given by hand: no other one lies where they do; of constants each recording has its own.
    """

    plan: Plan
    taken: Places = field(default_factory=Places)
    taken_bytes: int = 0
    taken_same: Mapping[int, int] = field(default_factory=dict)
    first_bytes: int = 0
    taken_kinds: StepKinds | None = None
    taken_unplaced: tuple[int, ...] | None = None
    on_host: frozenset[int] = frozenset()
    apart: frozenset[int] = frozenset()

    def continued(self, plan: Plan) -> RecordLayout | None:
        """The layout of a plan that continues this one's; None if it does not, or if that has
        made the arena twice as large."""
        # The very same values: equal ones may lie in each other's places for other reasons.
        if not plan.goes_on_from(self.plan):
            return None
        kinds = None if plan.exchanged is None else StepKinds(self.constant_steps, self.turns)
        layout = RecordLayout(
            *(plan, self.places, self.size, self.same, self.first_bytes or self.size, kinds),
            on_host=self.on_host,
            apart=self.apart,
            taken_unplaced=self.unplaced,
        )
        return layout if layout.size <= 2 * layout.first_bytes else None

    @cached_property
    def constant_steps(self) -> frozenset[Step]:
        """Those that do the same in every run, from nothing."""
        known, exchanged = self.taken_kinds, self.plan.exchanged
        if known is None or exchanged is None:
            return frozenset(filter(_makes_constants, self.plan.steps))
        taken = known.constant
        new, gone = [*filter(_makes_constants, exchanged.new)], taken & exchanged.gone
        return (taken - gone).union(new) if new or gone else taken

    def with_apart(self, values: Iterable[int]) -> RecordLayout:
        """Another one of the plan, in which these values, too, lie by themselves."""
        return RecordLayout(self.plan, on_host=self.on_host, apart=self.apart.union(values))

    def moved_apart(
        self, values: Collection[int]
    ) -> tuple[RecordLayout, Mapping[int, Slot]] | None:
        """The same in this one's memory: what lies where another of these does moves behind all
        else, and the rest stays; and where to. None where a variable would have to move."""
        apart = self.apart.union(values)
        parted = {v for v, at in self.same.items() if v in apart or at in apart}
        same = {v: at for v, at in self.same.items() if v not in parted}
        moving = dict.fromkeys(parted)
        while behind := [v for v, at in same.items() if at in moving and v not in moving]:
            moving.update(dict.fromkeys(behind))  # they move with what they are the same as
        if any(self.plan.values[value].variable for value in moving):
            return None
        moved, end = dict[int, Slot](), self.size
        for value in moving:
            place = self.places[value]
            assert place is not None  # it shared one
            if value in parted:
                place, end = place._replace(offset=end), end + align(place.size)
            else:
                place = place._replace(offset=moved[same[value]].offset)
            moved[value] = place
        layout = replace(
            self,
            taken=self.places.with_offsets({v: place.offset for v, place in moved.items()}),
            taken_bytes=end,
            taken_same=same,
            taken_kinds=None,
            taken_unplaced=None,
            first_bytes=self.first_bytes or self.size,
            apart=apart,
        )
        known = {name: getattr(self, name) for name in _OF_PLAN}
        layout.__dict__.update(known, same=same)
        return layout, moved

    def is_apart(self, value: int, done: int) -> bool:
        """Whether nothing else has its bytes where a value lies, of what there is once so many
        steps are done."""
        if value in self.constants:
            return value in self.apart
        at = self.same.get(value, value)
        here = (at, *(v for v, source in self.same.items() if source == at))
        return all(v == value or self.plan.made_by[v] >= done for v in here)

    @cached_property
    def constants(self) -> frozenset[int]:
        """Values that every run makes the same, from nothing."""
        return frozenset(value for step in self.constant_steps for value in step.writes)

    @cached_property
    def fed_anew(self) -> tuple[int, ...]:
        """Feeds that may be of another shape in each run: each is an array of its own."""
        values = self.plan.values
        return tuple(i for i in self.plan.fed if not values[i].type.shape.is_static)

    @cached_property
    def outside(self) -> frozenset[int]:
        """Values that are there before a run, feeds and constants."""
        return self.constants.union(self.plan.fed)

    @cached_property
    def same(self) -> Mapping[int, int]:
        """Values that are the bytes of an earlier one, and lie where that does -> that. Variables
        are written to, so what is read of them lies elsewhere."""
        values, outside, first = self.plan.values, self.outside, len(self.taken)
        found = dict(self.taken_same)
        exchanged = None if self.taken_kinds is None else self.plan.exchanged
        for step in filter(_KEEPS_BYTES, self.plan.steps if exchanged is None else exchanged.new):
            source = step.reads[0]
            for value in step.writes:
                if not self.apart.isdisjoint((source, value)):
                    break
                if value >= first and source < value and source not in outside:
                    there = has_place(values[source]) and has_place(values[value])
                    if self.on_host and not self.on_host.isdisjoint((source, value)):
                        there = False
                    if there and not values[source].variable:
                        found[value] = source
                        continue
                source = value  # what else is the same lies there
        return found

    def is_idle(self, step: Step) -> bool:
        """Whether a step has nothing to do: its results are where its input is."""
        if not step.keeps_bytes:
            return False
        same = self.same
        lies = all(same.get(v) == step.reads[0] for v in step.writes)
        return lies and is_sure(self.plan, step)

    @cached_property
    def forms(self) -> Sequence[Form]:
        """What each value that is not taken asks of memory."""
        known: dict[int, Form] = {}  # by identity: types are shared, and long to hash
        found = []
        for value in self.plan.values[len(self.taken) :]:
            form = known.get(id(value.type))
            if form is None:
                form = known[id(value.type)] = _form(value.type)
            found.append(form)
        return tuple(found)

    @cached_property
    def places(self) -> Places:
        same, taken, first = self.same, self.taken, len(self.taken)
        outside, end = self.outside, self.taken_bytes
        offsets: list[int | None] = []
        for index, form in enumerate(self.forms, first):
            if form.shape is None or index in outside or index in self.on_host:
                offsets.append(None)
                continue
            offset, source = None, same.get(index)
            if source is not None:
                offset = taken.offset(source) if source < first else offsets[source - first]
            if offset is None:
                offset, end = end, end + form.room
            offsets.append(offset)
        return taken.and_behind(offsets, self.forms)

    @cached_property
    def turns(self) -> Mapping[int, int]:
        """First versions of variables -> last, and the other way round: what may change places
        from run to run."""
        found: dict[int, int] = {}
        plan, known = self.plan, self.taken_kinds
        versions: Iterable[Sequence[int]] = plan.versions.values()
        if known is not None and plan.exchanged is not None:
            before, opened = plan.exchanged.versions, plan.exchanged.opened
            if not opened:
                return known.turns
            gone = {v for name in opened for v in before.get(name, ())}
            found = {v: other for v, other in known.turns.items() if v not in gone}
            versions = (plan.versions[name] for name in opened if name in plan.versions)
        for first, *_, last in (v for v in versions if len(v) > 1):
            if self.places.are_alike(first, last):
                found[first], found[last] = last, first
        return found

    @cached_property
    def held(self) -> Mapping[int, str]:
        """Values that lie in a variable's own memory -> that variable: none, where every value is
        kept."""
        return {}

    @cached_property
    def size(self) -> int:
        """Bytes of the arena."""
        return max(self.taken_bytes, self.places.end(len(self.taken)))

    @cached_property
    def unplaced(self) -> tuple[int, ...]:
        """Values that have no place in the arena."""
        known = self.taken_unplaced
        first = 0 if known is None else len(self.taken)
        return (*(known or ()), *self.places.unplaced(first))

    @cached_property
    def by_reference(self) -> tuple[int, ...]:
        """Values that each run leaves outside the arena."""
        absent = [*filterfalse(self.outside.__contains__, self.unplaced)]
        if not absent:
            return ()
        there = {versions[0] for versions in self.plan.versions.values()}
        return tuple(i for i in absent if self.plan.made_by[i] >= 0 or i in there)


# Of a layout what its plan alone says, wherever values lie.
_OF_PLAN = ("constant_steps", "constants", "outside", "turns", "by_reference")
_KEEPS_BYTES = attrgetter("keeps_bytes")


class StepKinds(NamedTuple):
    """Of a layout its plan's constant steps, and its `turns`."""

    constant: frozenset[Step]
    turns: Mapping[int, int]


def _makes_constants(step: Step) -> bool:
    return step.computes and not step.op.inputs and makes_constants(step.op, step.definition)


def is_sure(plan: Plan, step: Step) -> bool:
    """Whether a step that keeps bytes cannot fail: a Switch does where its predicate is no
    scalar."""
    return all(plan.values[v].type.shape.is_static for v in step.reads)


def _form(kind: TensorType) -> Form:
    dtype = kind.dtype.numpy
    if dtype.hasobject or not kind.shape.is_static:
        return Form(None, dtype)
    shape = kind.shape.static()
    size = math.prod(shape) * dtype.itemsize
    return Form(shape, dtype, size, align(size))


def align(size: int) -> int:
    """The next place at or behind `size` where a value may begin."""
    return -(-size // ALIGNMENT) * ALIGNMENT
