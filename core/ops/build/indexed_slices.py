"""Gradients that are some rows of a tensor: TensorFlow's IndexedSlices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradstep.core.ops.build.tensor import Tensor, call


@dataclass(frozen=True, eq=False)
class IndexedSlices:
    """Row `indices[i]` of a tensor of shape `dense_shape` gets `values[i]`; rows that are named
    twice add up, rows that are not named are zero.

    values: [n, *dense_shape[1:]]; indices: int32 or int64 [n]; dense_shape: integers [rank].
    """

    values: Tensor
    indices: Tensor
    dense_shape: Tensor | np.ndarray

    def dense(self) -> Tensor:
        """The whole tensor, as TensorFlow converts it: an UnsortedSegmentSum."""
        return call("UnsortedSegmentSum", self.values, self.indices, self._rows())

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self.values, self.indices, self.dense_shape)

    def _rows(self) -> Tensor | np.ndarray:
        if isinstance(self.dense_shape, np.ndarray):
            return np.array(self.dense_shape[0], np.int32)
        return call("GatherV2", self.dense_shape, np.array(0, np.int32), np.array(0, np.int32))


def concat_slices(parts: list[IndexedSlices]) -> IndexedSlices:
    """The sum of several: their rows one after the other. Indices of both types become int64."""
    if len(parts) == 1:
        return parts[0]
    axis = np.array(0, np.int32)
    values = call("ConcatV2", *(p.values for p in parts), axis)
    wide = next((p.indices.dtype for p in parts if p.indices.dtype.value == "int64"), None)
    indices = [
        p.indices if wide in (None, p.indices.dtype) else call("Cast", p.indices, DstT=wide)
        for p in parts
    ]
    return IndexedSlices(values, call("ConcatV2", *indices, axis), parts[0].dense_shape)
