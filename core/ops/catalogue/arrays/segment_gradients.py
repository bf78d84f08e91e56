"""Gradients of segment reductions: each row is given what its segment got, or its share."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.typing.static_values import ones_like, zeros_like

_FIRST = np.array(0, np.int32)


def taken(per_segment: Tensor, ids: Tensor) -> Tensor:
    """For each row, the row of its segment."""
    return call("GatherV2", per_segment, ids, _FIRST)


def dropping_negative(per_segment: Tensor, ids: Tensor) -> Tensor:
    """For each row, the row of its segment; 0 for rows of negative segments."""
    rows = taken(per_segment, _safe(ids))
    return call("SelectV2", _kept(ids, rows), rows, zeros_like(rows))


def _safe(ids: Tensor) -> Tensor:
    return call("Maximum", ids, np.array(0, ids.dtype.numpy))


def _kept(ids: Tensor, rows: Tensor) -> Tensor:
    return align_mask(call("GreaterEqual", ids, np.array(0, ids.dtype.numpy)), rows)


def align_mask(mask: Tensor, rows: Tensor) -> Tensor:
    """`mask` with axes of size 1 after its own, as many as `rows` has more."""
    if mask.shape.rank is not None and rows.shape.rank is not None:
        for _ in range(rows.shape.rank - mask.shape.rank):
            mask = call("ExpandDims", mask, np.array(-1, np.int32))
        return mask
    sizes = call("Shape", mask)
    extra = call("Rank", rows) - call("Rank", mask)
    ones = call("Fill", call("ExpandDims", extra, _FIRST), np.array(1, np.int32))
    return call("Reshape", mask, call("ConcatV2", sizes, ones, _FIRST))


def shared_by_equal(op: OpView, g: Tensor) -> Tensor:
    """Rows that are equal to their segment's result share its gradient."""
    data, ids, count = op.inputs
    result = dropping_negative(op.outputs[0], ids)
    chosen = call("LogicalAnd", call("Equal", data, result), _kept(ids, result))
    number = call("UnsortedSegmentSum", call("Cast", chosen, DstT=g.dtype), ids, count)
    share = dropping_negative(g / number, ids)
    return call("SelectV2", chosen, share, zeros_like(share))


def without_own_factor(op: OpView, g: Tensor) -> Tensor:
    """The product of the other rows of the segment, by dividing where that can be done."""
    data, ids, count = op.inputs
    is_zero, g, others = _zeros_apart(
        op, g, lambda x: call("UnsortedSegmentSum", x, ids, count), "UnsortedSegmentProd"
    )
    safe = _safe(ids)
    divided = taken(op.outputs[0], safe) / data
    partial = call("SelectV2", is_zero, taken(others, safe), divided)
    return dropping_negative(g, ids) * partial


def sorted_shared_by_equal(op: OpView, g: Tensor) -> Tensor:
    """`shared_by_equal` for segments in order."""
    data, ids = op.inputs
    chosen = call("Equal", data, taken(op.outputs[0], ids))
    number = call("SegmentSum", call("Cast", chosen, DstT=g.dtype), ids)
    return call("SelectV2", chosen, taken(g / number, ids), zeros_like(data))


def sorted_without_own_factor(op: OpView, g: Tensor) -> Tensor:
    """`without_own_factor` for segments in order."""
    data, ids = op.inputs
    is_zero, g, others = _zeros_apart(op, g, lambda x: call("SegmentSum", x, ids), "SegmentProd")
    nonzero = call("SelectV2", is_zero, ones_like(data), data)
    divided = taken(op.outputs[0], ids) / nonzero
    return taken(g, ids) * call("SelectV2", is_zero, taken(others, ids), divided)


def _zeros_apart(op: OpView, g: Tensor, total: Any, product: str) -> tuple[Tensor, Tensor, Tensor]:
    """Which rows are zero; `g` but for segments with more than one of them, which get none; and
    the products of the rows that are not zero."""
    data, *rest = op.inputs
    is_zero = call("Equal", data, zeros_like(data))
    zeros = total(call("Cast", is_zero, DstT="int32"))
    several = call("Greater", zeros, np.array(1, np.int32))
    others = call(product, call("SelectV2", is_zero, ones_like(data), data), *rest)
    return is_zero, call("SelectV2", several, zeros_like(g), g), others
