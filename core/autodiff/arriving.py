"""Gradients on their way back: what one operation contributes to a tensor's, and their sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.ops.builder import Tensor, call
from core.ops.indexed_slices import IndexedSlices, concatenated


@dataclass(frozen=True, slots=True)
class Contribution:
    """A gradient as a tensor, and as rows where it came as rows: who steps through the graph
    looks at the tensor, an optimizer takes the rows, and what nobody takes does not run."""

    dense: Tensor
    slices: IndexedSlices | None = None
    rank: int = -1  # what is added up is added in this order

    @classmethod
    def of(cls, gradient: Tensor | IndexedSlices) -> Contribution:
        if isinstance(gradient, IndexedSlices):
            return cls(gradient.dense(), gradient)
        return cls(gradient)


def total(parts: Sequence[Contribution]) -> Contribution:
    """The sum: rows while all are rows, else an AddN."""
    if len(parts) == 1:
        return parts[0]
    parts = sorted(parts, key=lambda p: p.rank)
    slices = [p.slices for p in parts if p.slices is not None]
    if len(slices) == len(parts):
        return Contribution.of(concatenated(slices))
    return Contribution(call("AddN", *(p.dense for p in parts)))
