"""Which tensors of one network are which of another's: those of the same numbers, in its order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gradstep.core.checks.alignment.equal_numbers import distance, sorted_numbers
from gradstep.core.checks.alignment.network_run import Values
from gradstep.core.graph.model import Graph, TensorRef

Pairs = Mapping[TensorRef, tuple[TensorRef, ...]]


@dataclass(frozen=True)
class Matching:
    """right: for each tensor of the left that has them, those of the right with its numbers."""

    right: Pairs

    @cached_property
    def left(self) -> Pairs:
        """The other way round."""
        found = defaultdict[TensorRef, list[TensorRef]](list)
        for a, partners in self.right.items():
            for b in partners:
                found[b].append(a)
        return {b: tuple(partners) for b, partners in found.items()}


class NumberIndex:
    """Tensors by what numbers are in them, whatever the order of those."""

    def __init__(self, values: Values, tolerance: float) -> None:
        self._tolerance = tolerance
        self._of_size = defaultdict[int, list[tuple[float, TensorRef, np.ndarray]]](list)
        for ref, value in values.items():
            numbers = sorted_numbers(value)
            self._of_size[numbers.size].append((_size(numbers), ref, numbers))
        for held in self._of_size.values():
            held.sort(key=lambda one: one[0])

    def like(self, value: np.ndarray) -> Iterator[TensorRef]:
        """Those whose numbers are those of `value` up to rounding."""
        held = self._of_size.get(value.size, [])
        numbers = sorted_numbers(value)
        size = _size(numbers)
        room = 2 * self._tolerance * size
        first = bisect_left(held, size - room, key=lambda one: one[0])
        last = bisect_right(held, size + room, key=lambda one: one[0])
        for _, ref, other in held[first:last]:
            if distance(numbers, other) <= self._tolerance:
                yield ref


def match(left: tuple[Graph, Values], right: tuple[Graph, Values], tolerance: float) -> Matching:
    """In the order of both runs: of two pairs, never that which comes first on one side last on
    the other. values: in topological order."""
    index = NumberIndex(right[1], tolerance)
    candidates = {ref: tuple(index.like(value)) for ref, value in left[1].items()}
    later = _later(right[0])
    places = {name: i for i, name in enumerate(right[0].order)}
    before = dict[str, int]()  # operation -> the partners of all that it needs, as bits
    found = dict[TensorRef, tuple[TensorRef, ...]]()
    by_op = defaultdict[str, list[TensorRef]](list)
    for ref in candidates:
        by_op[ref.op].append(ref)
    for name in left[0].order:
        behind, own = 0, 0
        for read in left[0][name].inputs:
            behind |= before.get(read.op, 0) if read is not None else 0
        for ref in by_op.get(name, ()):
            same = sum({1 << places[b.op] for b in candidates[ref]})
            kept = tuple(b for b in candidates[ref] if not later[b.op] & behind & ~same)
            if kept:
                found[ref] = tuple(sorted(kept, key=lambda b: places[b.op]))
                own |= sum({1 << places[b.op] for b in kept})
        before[name] = behind | own
    return Matching(found)


def _later(graph: Graph) -> Mapping[str, int]:
    """Operation -> all that needs it, as bits."""
    found = dict.fromkeys(graph.order, 0)
    for place, name in reversed([*enumerate(graph.order)]):
        mask = found[name] | 1 << place
        for read in graph[name].inputs:
            if read is not None and read.op in found:
                found[read.op] |= mask
    return found


def _size(numbers: np.ndarray) -> float:
    return float(np.linalg.norm(np.nan_to_num(numbers, posinf=0.0, neginf=0.0)))
