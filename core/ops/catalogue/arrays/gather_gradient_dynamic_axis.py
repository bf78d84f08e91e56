"""The gradient of GatherV2 where the axis, or a rank, is only known while running.

TensorFlow's way: the gathered axis moves to the front (behind the batch axes, which are folded
into it), rows are summed by index there, and it moves back.
"""

from __future__ import annotations

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.build.builder import OpView, Tensor, call

_FLAT = np.array([-1], np.int32)
_ZERO = np.array(0, np.int32)
_ONE = np.array(1, np.int32)


def summed_along_any_axis(op: OpView, g: Tensor, batch: int) -> Tensor:
    """The dense gradient to params, which share their `batch` leading axes with indices."""
    params, indices, axis = op.inputs
    sizes, rank = call("Shape", params), call("Rank", params)
    at = call("FloorMod", call("Cast", axis, DstT=DType.INT32), rank)
    order = _joined(_numbers(0, batch), _vector(at), _numbers(batch, at), _numbers(at + 1, rank))
    turned = call("GatherV2", sizes, order, _ZERO)
    batches = call("Prod", call("Slice", sizes, _some(0), _some(batch)), _some(0))
    many = call("FloorDiv", call("Size", indices), call("Maximum", batches, _ONE))

    inner = call("GatherV2", sizes, _numbers(at + 1, rank), _ZERO)
    outer = call("GatherV2", sizes, _numbers(0, at), _ZERO)
    rows = call("Transpose", call("Reshape", g, _joined(outer, _vector(many), inner)), order)
    rest = call("GatherV2", turned, _numbers(batch + 1, rank), _ZERO)
    rows = call("Reshape", rows, _joined(_vector(batches * many), rest))

    size = call("GatherV2", sizes, at, _ZERO)
    places = _numbered(indices, batches, many, size)
    summed = call("UnsortedSegmentSum", rows, places, batches * size)
    back = call("Transpose", call("Reshape", summed, turned), call("InvertPermutation", order))
    return call("Reshape", back, sizes)


def _numbered(indices: Tensor, batches: Tensor, many: Tensor, size: Tensor) -> Tensor:
    """Indices, each batch's counted on from the end of the one before."""
    starts = call("ExpandDims", _numbers(0, batches) * size, _ONE)
    table = call("Reshape", indices, _joined(_vector(batches), _vector(many)))
    return call("Reshape", table + call("Cast", starts, DstT=indices.dtype), _FLAT)


def _numbers(start: Tensor | int, stop: Tensor | int) -> Tensor | np.ndarray:
    """start, start + 1, … up to stop."""
    if isinstance(start, int) and isinstance(stop, int):
        return np.arange(start, stop, dtype=np.int32)
    ends = (np.array(x, np.int32) if isinstance(x, int) else x for x in (start, stop))
    return call("Range", *ends, _ONE)


def _vector(x: Tensor) -> Tensor:
    return call("ExpandDims", x, _ZERO)


def _some(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def _joined(*parts: Tensor | np.ndarray) -> Tensor:
    return call("ConcatV2", *parts, _ZERO)
