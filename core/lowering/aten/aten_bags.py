"""PyTorch's bags of words: rows of a table that are read and reduced, bag by bag."""

from __future__ import annotations

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.aten.aten_table import lower
from gradstep.core.lowering.aten.aten_tensors import add_axis, cast, ints, scalar, size_at
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call

_SUM, _MEAN, _MAX = range(3)


@lower("embedding_bag", "_embedding_bag", "_embedding_bag_forward_only", ignores=("sparse",))
def embedding_bag(
    site: Site,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = _SUM,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> list[Tensor]:
    """The sum, mean or largest of each bag, 0 of an empty one; the padding is in none, and gets no
    gradient. What is beside it only PyTorch's own backward reads."""
    if scale_grad_by_freq:
        raise UnloweredError("gradients scaled by how often a row is read")
    starts = cast(offsets[:-1] if include_last_offset else offsets, DType.INT64)
    bags, count = call("Size", starts), call("Size", indices, out_type=DType.INT64)
    places = call("Range", np.int64(0), count, np.int64(1))
    begun = call("LessEqual", add_axis(starts, 0), add_axis(places, 1))
    ids = call("Sub", call("Sum", cast(begun, DType.INT32), ints([1])), np.int32(1))
    is_inner = site.node.op.partition(".")[2].startswith("_")  # where -1 is no padding
    if padding_idx is not None and not (is_inner and padding_idx < 0):
        padding = scalar(indices, padding_idx % size_at(weight, 0))
        ids = call("SelectV2", call("Equal", indices, padding), np.int32(-1), ids)
    rows = call("GatherV2", weight, indices, np.int32(0))
    if per_sample_weights is not None:
        rows = call("Mul", rows, add_axis(per_sample_weights, 1))
    type = "UnsortedSegmentMax" if mode == _MAX else "UnsortedSegmentSum"
    found = call(type, rows, ids, bags)
    if mode != _SUM:
        ones = cast(call("OnesLike", indices), weight.dtype)
        words = add_axis(call("UnsortedSegmentSum", ones, ids, bags), 1)
        if mode == _MEAN:
            found = call("RealDiv", found, call("Maximum", words, scalar(weight, 1)))
        else:
            empty = call("Equal", words, scalar(weight, 0))
            found = call("SelectV2", empty, scalar(weight, 0), found)
    return [found]
