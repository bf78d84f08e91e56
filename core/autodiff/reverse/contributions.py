"""Cotangents of a tensor: what each operation that reads it contributes, and their sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor, call
from gradstep.core.ops.build.indexed_slices import IndexedSlices, concat_slices


@dataclass(frozen=True, slots=True)
class Slices:
    """A gradient's rows, as two tensors: see IndexedSlices."""

    values: TensorRef
    indices: TensorRef


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """IndexedSlices of any graph that has these tensors. Compared by identity."""

    values: TensorRef
    indices: TensorRef
    dense_shape: TensorRef | np.ndarray

    @classmethod
    def of(cls, slices: IndexedSlices) -> Rows:
        shape = slices.dense_shape
        known = shape.ref if isinstance(shape, Tensor) else shape
        return cls(slices.values.ref, slices.indices.ref, known)

    def bind(self, builder: GraphBuilder) -> IndexedSlices:
        shape = self.dense_shape
        known = Tensor(builder, shape) if isinstance(shape, TensorRef) else shape
        return IndexedSlices(Tensor(builder, self.values), Tensor(builder, self.indices), known)


@dataclass(frozen=True, slots=True)
class Contribution:
    """A gradient as a tensor, and as rows where it came as rows: who steps through the graph
    looks at the tensor, an optimizer takes the rows, and what nobody takes does not run."""

    dense: TensorRef
    rows: Rows | None = None

    @classmethod
    def of(cls, gradient: Tensor | IndexedSlices) -> Contribution:
        if isinstance(gradient, IndexedSlices):
            return cls(gradient.dense().ref, Rows.of(gradient))
        return cls(gradient.ref)

    def bind(self, builder: GraphBuilder, as_rows: bool) -> Tensor | IndexedSlices:
        """What a gradient rule gets."""
        if as_rows and self.rows is not None:
            return self.rows.bind(builder)
        return Tensor(builder, self.dense)


def sum_contributions(builder: GraphBuilder, parts: Sequence[Contribution]) -> Contribution:
    """The sum: rows while all are rows, else an AddN."""
    if len(parts) == 1:
        return parts[0]
    rows = [part.rows.bind(builder) for part in parts if part.rows is not None]
    if len(rows) == len(parts):
        return Contribution.of(concat_slices(rows))
    return Contribution(call("AddN", *(Tensor(builder, part.dense) for part in parts)).ref)
