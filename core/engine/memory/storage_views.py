"""Values that are views of another's memory: slices of a tensor, pieces of a joined one.

Nothing is copied then, neither to take tensors apart nor to join them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.engine.calls.op_evaluation import as_tuple, host_inputs
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.plan_rewrites import is_pure, live_out
from gradstep.core.engine.plan.steps import Step, makes_constants

_SHORTEST = 32  # elements in a row; NumPy is slow where shorter ones lie apart


@dataclass(frozen=True, slots=True)
class StorageView:
    """Where a value lies in the memory of value `whole`."""

    whole: int
    offset: int
    strides: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: np.dtype

    def of(self, array: np.ndarray) -> np.ndarray:
        """This part of the array of `whole`."""
        return np.ndarray(self.shape, self.dtype, array, self.offset, self.strides)


@dataclass(frozen=True)
class Parts:
    """of: value -> where it lies. slicing: steps all of whose results lie in what they read.
    joining: steps that find inputs where they belong in the result -> positions of the others."""

    of: Mapping[int, StorageView]
    slicing: frozenset[Step]
    joining: Mapping[Step, tuple[int, ...]]


NO_PARTS = Parts({}, frozenset(), {})


def parts_of(plan: Plan) -> Parts:
    """The parts that a run can do with: of values that nobody looks at afterwards, made and read by
    steps that do not mind gaps between rows, where there are any."""
    return _Search(plan).run()


class _Search:
    """Takes views of models: arrays like the values, whose memory nobody touches, so that it costs
    nothing. Where a view lies in its model the part lies in the value."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.wanted = live_out(plan)
        self.readers: dict[int, list[Step]] = {}
        for step in plan.steps:
            for value in step.reads:
                self.readers.setdefault(value, []).append(step)
        runs = (plan.steps[run.start : run.stop] for run in plan.blocked)
        self.blocked = {step for run in runs for step in run}
        self.places: dict[int, tuple[int, np.ndarray]] = {}  # value -> whole, place in its model
        self.models: dict[int, np.ndarray] = {}

    def run(self) -> Parts:
        slicing, joining = set(), {}
        for step in reversed(self.plan.steps):  # what is joined last may hold what was before
            if self._may_join(step) and (left := self._join(step)) is not None:
                joining[step] = left
        for step in self.plan.steps:
            if self._may_slice(step) and self._slice(step):
                slicing.add(step)
        of = {v: self._part(whole, place) for v, (whole, place) in self.places.items()}
        return Parts(of, frozenset(slicing), joining)

    def _may_slice(self, step: Step) -> bool:
        definition = step.definition
        if definition is None or not (definition.memory.slices or definition.memory.keeps_bytes):
            return False
        if not step.writes or not is_pure(self.plan, step):
            return False
        sources = self._sources(step)
        if len(sources) != 1 or not (self._has_memory(sources[0]) and self._knows_others(step)):
            return False
        # What is fed has no storage that a reshaped tensor could share, and is in one piece.
        fed = definition.memory.keeps_bytes and sources[0] in self.plan.fed
        # NumPy takes a view of rank 0 for a number, and reads it.
        shapes = [self.plan.values[v].type.shape for v in step.writes]
        return (definition.memory.slices or fed) and all(s.is_static and s.rank for s in shapes)

    def _may_join(self, step: Step) -> bool:
        if step.definition is None or step.definition.memory.pieces is None:
            return False
        able = is_pure(self.plan, step) and self._knows_others(step)
        return able and all(map(self._is_laid_out, (*self._sources(step), *step.writes)))

    def _slice(self, step: Step) -> bool:
        """Let all results of the step lie in its source; whether they can."""
        (source,) = self._sources(step)
        whole, model = self._place(source)
        new = dict(zip(step.writes, self._evaluated(step), strict=True))
        inside = all(_lies_in(model, place) for place in new.values())
        if not inside or not all(self._may_be_part(v, place) for v, place in new.items()):
            return False
        self.places.update((v, (whole, place)) for v, place in new.items())
        return True

    def _join(self, step: Step) -> tuple[int, ...] | None:
        """Let inputs of the step be made where they belong in its result; the positions of those
        that cannot. None: none can."""
        assert step.definition is not None
        assert step.definition.memory.pieces is not None
        whole, model = self._place(step.writes[0])
        inputs = [self._input(v) for v in step.reads]
        pieces = step.definition.memory.pieces(model, *inputs, **step.definition.keywords(step.op))
        left = []
        for position, (value, place) in enumerate(zip(step.reads, pieces, strict=True)):
            if place is None:
                continue
            if self._may_be_piece(step, value, place):
                self.places[value] = whole, place
            else:
                left.append(position)
        return None if len(left) == sum(p is not None for p in pieces) else tuple(left)

    def _may_be_piece(self, step: Step, value: int, place: np.ndarray) -> bool:
        maker = self.plan.maker(value)
        if maker is None or maker.definition is None or step.reads.count(value) > 1:
            return False
        memory = maker.definition.memory
        own = memory.keeps_bytes or memory.slices or maker.times > 1
        made = is_pure(self.plan, maker) and not own and self._takes(maker, place)
        constant = makes_constants(maker.op, maker.definition)
        return made and not constant and self._may_be_part(value, place, step)

    def _may_be_part(self, value: int, place: Any, joined_by: Step | None = None) -> bool:
        free = value not in self.wanted and value not in self.places and place.size > 0
        readers = [r for r in self.readers.get(value, ()) if r is not joined_by]
        return free and all(self._takes(r, place) for r in readers)

    def _takes(self, step: Step, place: np.ndarray) -> bool:
        """Whether the step reads and writes arrays that lie like this."""
        if place.flags.c_contiguous:
            return True
        definition = step.definition
        if definition is None or step in self.blocked or step.op.name in self.plan.kernels:
            return False
        rows = place.shape[-1] >= _SHORTEST and place.strides[-1] == place.itemsize
        return rows and definition.takes_gaps

    def _is_laid_out(self, value: int) -> bool:
        kind = self.plan.values[value].type
        return kind.shape.is_static and not kind.dtype.numpy.hasobject

    def _has_memory(self, value: int) -> bool:
        """Whether the value is made by a step or fed, and not a variable's, which may change."""
        if self.plan.values[value].variable or not self._is_laid_out(value):
            return False
        maker = self.plan.maker(value)
        return maker is None or not makes_constants(maker.op, maker.definition)

    def _sources(self, step: Step) -> list[int]:
        """What the step reads on the device."""
        assert step.definition is not None
        host = host_inputs(step.definition, len(step.reads))
        return [v for i, v in enumerate(step.reads) if i not in host]

    def _knows_others(self, step: Step) -> bool:
        """Whether what the step reads on the host is the same in every run."""
        sources = self._sources(step)
        return all(v in sources or self.plan.constant(v) is not None for v in step.reads)

    def _place(self, value: int) -> tuple[int, np.ndarray]:
        if value in self.places:
            return self.places[value]
        if value not in self.models:
            kind = self.plan.values[value].type
            self.models[value] = np.empty(kind.shape.static(), kind.dtype.numpy)
        return value, self.models[value]

    def _input(self, value: int) -> np.ndarray:
        constant = self.plan.constant(value)
        return self._place(value)[1] if constant is None else constant

    def _evaluated(self, step: Step) -> tuple[Any, ...]:
        assert step.definition is not None
        assert step.definition.kernel.plain is not None
        inputs = [self._input(v) for v in step.reads]
        found = step.definition.kernel.plain(np, *inputs, **step.definition.keywords(step.op))
        return as_tuple(found)

    def _part(self, whole: int, place: np.ndarray) -> StorageView:
        offset = _address(place) - _address(self.models[whole])
        return StorageView(whole, offset, place.strides, place.shape, place.dtype)


def _lies_in(model: np.ndarray, place: Any) -> bool:
    return isinstance(place, np.ndarray) and _owner(place) is _owner(model)


def _owner(array: np.ndarray) -> Any:
    """Whose memory the array is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _address(array: np.ndarray) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
