"""ONNX's attention, and what rotates positions into it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.foreign_graph import ForeignSubgraph
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.lowering.onnx.onnx_casting import told_type
from gradstep.core.lowering.onnx.onnx_operands import (
    Size,
    add_axis,
    cast,
    concat,
    fixed_size,
    indices_up_to,
    part,
    rank,
    reshape,
    scalar,
    shape_tensor,
    size,
    sizes,
    transpose,
)
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.ops.build.builder import Tensor, call


@lower("Attention")
def attention(
    site: Site,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    valid: Tensor | None = None,
    *,
    is_causal: int = 0,
    kv_num_heads: int | None = None,
    q_num_heads: int | None = None,
    qk_matmul_output_mode: int = 0,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
    left_window_size: int = -1,
    right_window_size: int = -1,
) -> list[Tensor]:
    """Queries, keys and values are [batch, heads, positions, features], or have their heads in the
    features."""
    flat = rank(q) == 3
    q = _by_heads(q, q_num_heads)
    k, v = _by_heads(k, kv_num_heads), _by_heads(v, kv_num_heads)
    before: Size = 0 if past_key is None else size(past_key, 2)
    k = k if past_key is None else concat([past_key, k], 2)
    v = v if past_value is None else concat([past_value, v], 2)
    keys, values = _for_each(k, q), _for_each(v, q)
    factor = math.sqrt(scale if scale is not None else 1 / math.sqrt(fixed_size(q, 3)))
    raw = call(
        "BatchMatMulV2",
        call("Mul", q, scalar(q, factor)),
        call("Mul", keys, scalar(keys, factor)),
        adj_y=True,
    )
    allowed = _allowed(site, q, k, before, valid, bool(is_causal), left_window_size,
                       right_window_size)  # fmt: skip
    bias = _bias(site, raw, mask, allowed)
    capped = _capped(raw, softcap)
    scores = capped if bias is None else call("AddV2", capped, bias)
    shares = _shares(scores, softmax_precision, guards=bias is not None)
    shares = cast(shares, q.dtype)
    y = call("BatchMatMulV2", shares, values)
    if flat:
        whole = fixed_size(y, 1) * fixed_size(y, 3)
        y = reshape(transpose(y, [0, 2, 1, 3]), [size(y, 0), size(y, 2), whole])
    seen = {0: raw, 1: capped, 2: scores, 3: shares}[qk_matmul_output_mode]
    return [y, k, v, seen]


def _by_heads(x: Tensor, heads: int | None) -> Tensor:
    if rank(x) == 4:
        return x
    if not heads:
        raise UnloweredError("no number of heads")
    each = fixed_size(x, 2) // heads
    return transpose(reshape(x, [size(x, 0), size(x, 1), heads, each]), [0, 2, 1, 3])


def _for_each(x: Tensor, q: Tensor) -> Tensor:
    """Heads that several queries share, once for each of these."""
    own, wanted_heads = tuple(x.shape)[1], tuple(q.shape)[1]
    if own is None or wanted_heads is None or own == wanted_heads:
        return x
    rows, _, positions, features = sizes(x)
    times = wanted_heads // own
    wide = call(
        "BroadcastTo", add_axis(x, 2), shape_tensor([rows, own, times, positions, features])
    )
    return reshape(wide, [rows, wanted_heads, positions, features])


def _allowed(
    site: Site,
    q: Tensor,
    k: Tensor,
    before: Size,
    valid: Tensor | None,
    causal: bool,
    left: int,
    right: int,
) -> Tensor | None:
    """[batch or 1, 1, queries, keys]: which keys a query may look at; None for all."""
    if not causal and valid is None and left < 0 and right < 0:
        return None
    row = add_axis(indices_up_to(site, size(q, 2)), 1)  # [queries, 1]
    column = add_axis(indices_up_to(site, size(k, 2)), 0)  # [1, keys]
    found: Tensor | None = None
    offset: Any = before if isinstance(before, Tensor) else np.int32(before)
    if valid is not None:
        counts = reshape(cast(valid, DType.INT32), [size(valid, 0), 1, 1, 1])
        found = call("Less", column, counts)
        if isinstance(before, int) and before == 0:
            queries: Any = size(q, 2)
            own = np.int32(queries) if isinstance(queries, int) else queries
            offset = call("Sub", counts, own)
    place = call("AddV2", row, offset)
    bounds = []
    if causal:
        bounds.append(call("LessEqual", column, place))
    if left >= 0:
        bounds.append(call("GreaterEqual", column, call("Sub", place, np.int32(left))))
    if right >= 0:
        bounds.append(call("LessEqual", column, call("AddV2", place, np.int32(right))))
    for bound in bounds:
        found = bound if found is None else call("LogicalAnd", found, bound)
    return found


def _bias(site: Site, raw: Tensor, mask: Tensor | None, allowed: Tensor | None) -> Tensor | None:
    """What is added to the products: minus infinity where nobody may look."""
    low, zero = scalar(raw, -math.inf), scalar(raw, 0)
    found: Tensor | None = None
    if mask is not None:
        if mask.dtype is DType.BOOL:
            mask = call("SelectV2", mask, site.constant(zero), low)
        found = _widened(mask, raw, low)
    if allowed is not None:
        more = call("SelectV2", allowed, site.constant(zero), low)
        found = more if found is None else call("AddV2", found, more)
    return found


def _widened(mask: Tensor, raw: Tensor, low: np.ndarray) -> Tensor:
    """A mask of fewer keys than there are hides the others."""
    own, keys = tuple(mask.shape)[-1], tuple(raw.shape)[-1]
    if own is None or keys is None or own >= keys or own == 1:
        return mask
    around = np.zeros((rank(mask), 2), np.int32)
    around[-1, 1] = keys - own
    return call("PadV2", mask, around, low)


def _capped(x: Tensor, most: float) -> Tensor:
    """Within -most and most; as it is for 0."""
    if not most:
        return x
    return call("Mul", call("Tanh", call("RealDiv", x, scalar(x, most))), scalar(x, most))


def _shares(scores: Tensor, precision: int | None, guards: bool) -> Tensor:
    """Where nothing may be looked at, nothing is."""
    wide = scores if precision is None else cast(scores, told_type(precision))
    shares = call("Softmax", wide)
    if not guards:
        return shares
    most = call("Max", wide, np.array([-1], np.int32), keep_dims=True)
    nothing = call("Equal", most, scalar(wide, -math.inf))
    return call("SelectV2", nothing, call("ZerosLike", shares), shares)


@lower("FlexAttention")
def flex_attention(
    site: Site,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    scale: float | None = None,
    softmax_precision: int | None = None,
    score_mod: ForeignSubgraph | None = None,
    prob_mod: ForeignSubgraph | None = None,
    captured: Sequence[Tensor] = (),
) -> Tensor:
    """Graphs of the model's own change the products, and the shares."""
    factor = scale if scale is not None else 1 / math.sqrt(fixed_size(q, 3))
    wide = DType.FLOAT64 if q.dtype is DType.FLOAT64 else DType.FLOAT32
    kind = wide if softmax_precision is None else told_type(softmax_precision)
    keys, values = _for_each(k, q), _for_each(v, q)
    scores = call("BatchMatMulV2", cast(q, kind), cast(keys, kind), adj_y=True)
    scores = _changed(site, call("Mul", scores, scalar(scores, factor)), score_mod, captured)
    shares = _changed(site, call("Softmax", scores), prob_mod, captured)
    return call("BatchMatMulV2", cast(shares, q.dtype), values)


def _changed(
    site: Site, x: Tensor, graph: ForeignSubgraph | None, captured: Sequence[Tensor]
) -> Tensor:
    if graph is None:
        return x
    found: Tensor = site.inner(graph, [x, *captured], None)[0]
    return found


@lower("RotaryEmbedding")
def rotary_embedding(
    site: Site,
    x: Tensor,
    cos: Tensor,
    sin: Tensor,
    positions: Tensor | None = None,
    *,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    interleaved: int = 0,
) -> Tensor:
    """Pairs of features turned by an angle for each position; [batch, heads, positions, features]
    or [batch, positions, heads x features]."""
    flat = rank(x) == 3
    y = _by_heads(x, num_heads) if flat else x
    turned = rotary_embedding_dim or fixed_size(y, 3)
    angles = [
        add_axis(one if positions is None else call("GatherV2", one, positions, np.int32(0)), 1)
        for one in (cos, sin)
    ]
    head, tail = part(y, 3, 0, turned), part(y, 3, turned, fixed_size(y, 3))
    a, b = _pairs(head, turned, bool(interleaved))
    real = call("Sub", call("Mul", angles[0], a), call("Mul", angles[1], b))
    imaginary = call("AddV2", call("Mul", angles[1], a), call("Mul", angles[0], b))
    if interleaved:
        both = concat([add_axis(real, 4), add_axis(imaginary, 4)], 4)
        found = reshape(both, [*sizes(head)[:3], turned])
    else:
        found = concat([real, imaginary], 3)
    found = concat([found, tail], 3) if turned != fixed_size(y, 3) else found
    return reshape(transpose(found, [0, 2, 1, 3]), sizes(x)) if flat else found


def _pairs(x: Tensor, count: int, interleaved: bool) -> tuple[Tensor, Tensor]:
    if not interleaved:
        return part(x, 3, 0, count // 2), part(x, 3, count // 2, count)
    every = (slice(None),) * 3
    return x[(*every, slice(0, count, 2))], x[(*every, slice(1, count, 2))]
