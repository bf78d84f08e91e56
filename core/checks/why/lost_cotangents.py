"""Why nothing came over a backward wire although a cotangent arrived at its operation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from gradstep.core.checks.why.backward_iterations import Level
from gradstep.core.checks.why.explanation_words import Index
from gradstep.core.checks.why.operand_probes import beyond, others, without_zeros
from gradstep.core.checks.why.recorded_vjp import Leaf, RecordedVjp
from gradstep.core.graph.model import Edge, Operation, TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.table import find

_ROUNDING = 1e-5  # of what arrives, is less than what a probe would let through


@dataclass(frozen=True, eq=False)
class Place:
    """A tensor whose gradient is zero, at element `at`; None: all of it."""

    level: Level
    ref: TensorRef
    at: Index | None = None


@dataclass(frozen=True, eq=False)
class Blame:
    """What let nothing through: see Stopper of gradstep.core.checks.why.zero_gradient."""

    cause: str
    leaf: Leaf
    operand: TensorRef


@dataclass(frozen=True, eq=False)
class Wire:
    """It carries zero to `place`. op: the operation that it comes from; turn: of it; arrived: the
    operation's outputs -> their gradients."""

    place: Place
    edge: Edge
    op: Operation
    turn: RecordedVjp
    arrived: Mapping[TensorRef, TensorRef]

    def lets_through(self, carried: Iterable[np.ndarray]) -> bool:
        """Whether something came over it in one of these cases, and not the rounding of nothing."""
        least = _ROUNDING * max((_size(x) for x in self.turn.arrived.values()), default=0.0)
        return any(is_alive(np.abs(x) > least, self.place.at) for x in carried)

    def to_blame(self) -> Blame | None:
        """The operand of which another value would have let something through, and what it does; of
        several a mask before a factor, and others before the operation's own input."""
        definition, turn = find(self.op.type), self.turn
        flat = "" if definition is None else definition.causes.flat
        other = others if flat != "not_extreme" else beyond(x.array for x in turn.leaves)
        own = [x for x in turn.leaves if self._is_own(x)]
        rest = [x for x in turn.leaves if x not in own]
        others_ = [x for x in rest if self.lets_through(turn.with_leaf(x, other))]
        zero = [x for x in others_ if self.lets_through(turn.with_leaf(x, without_zeros))]
        for leaf in others_:
            if kind_of(leaf.array.dtype) in "biu":
                return Blame("not_chosen", leaf, leaf.ref)
        if zero and flat != "not_extreme":
            return Blame("zero_factor", zero[0], zero[0].ref)
        follows_own = own and self.lets_through(turn.with_own(own, self.edge.index, other))
        if flat == "not_extreme" and (others_ or follows_own):
            compared = self._compared()
            if compared is None:
                return Blame("not_used", own[0], own[0].ref)
            return Blame(flat, (others_ or own)[0], compared)
        return Blame(flat or "stationary", own[0], self.place.ref) if follows_own else None

    def higher(self) -> Place | None:
        """The first element that arrived as zero, and would have come through."""
        for ref, gradient in self.arrived.items():
            index = self.place.level.ran.value_of(gradient)
            array = None if index is None else self.turn.arrived.get(index)
            if index is not None and array is not None:
                found = self._missing(index, array)
                if found is not None:
                    return Place(self.place.level, ref, found)
        return None

    def _missing(self, index: int, array: np.ndarray) -> Index | None:
        """The first zero of what arrived as value `index` that would have come through."""
        filled = next(without_zeros(array), None)
        if filled is None or not self.lets_through(self.turn.with_value(index, filled)):
            return None
        group = np.argwhere(array == 0)
        while len(group) > 1:
            half, tried = group[: len(group) // 2], array.copy()
            tried[tuple(half.T)] = filled[tuple(half.T)]
            through = self.lets_through(self.turn.with_value(index, tried))
            group = half if through else group[len(half) :]
        return tuple(int(i) for i in group[0])

    def _is_own(self, leaf: Leaf) -> bool:
        """Whether a tensor is the operation's input at the wire, or what it makes of it."""
        read, level = self.op.inputs[self.edge.index], self.place.level
        if read is None or leaf.ref.op == self.op.name:
            return True
        same = level.ran.value_of(read) == leaf.index
        return same or leaf.ref in (read, level.outside(read))

    def _compared(self) -> TensorRef | None:
        """The other one of two inputs, of which the operation takes the larger or the smaller; None
        of one that takes an element out of many."""
        definition = find(self.op.type)
        two = definition is not None and definition.broadcasts
        return self.op.inputs[1 - self.edge.index] if two else None


def is_alive(array: np.ndarray | None, at: Index | None) -> bool:
    """Whether an array, or its element there, is not zero. NaN is not."""
    if array is None:
        return False
    return bool(array[at] if at is not None and array.ndim == len(at) else array.any())


def _size(array: np.ndarray) -> float:
    """That of the largest element which is finite."""
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max()) if finite.size else 0.0
