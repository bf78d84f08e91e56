"""ONNX's attention without softmax: a state that goes from position to position."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.lowering.onnx.onnx_convolutions import plain_convolution
from gradstep.core.lowering.onnx.onnx_operands import (
    Size,
    along_axis,
    cast,
    concat,
    fixed_size,
    full,
    in_float32,
    part,
    reshape,
    scalar,
    size,
    transpose,
)
from gradstep.core.lowering.onnx.onnx_recurrent import State, over_time
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.ops.build.builder import Tensor, call

RULES = ("linear", "gated", "delta", "gated_delta")


@lower("LinearAttention", ignores=("chunk_size",))
def linear_attention(
    site: Site,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    past: Tensor | None = None,
    decay: Tensor | None = None,
    beta: Tensor | None = None,
    *,
    q_num_heads: int,
    kv_num_heads: int,
    scale: float | None = None,
    update_rule: str = "gated_delta",
) -> list[Tensor]:
    """[batch, positions, heads x features]; the state is [batch, heads, features, features]."""
    if update_rule not in RULES:
        raise UnloweredError(f"the rule {update_rule!r:.40}")
    rows, heads = size(query, 0), kv_num_heads
    deep, wide = fixed_size(key, 2) // heads, fixed_size(value, 2) // heads
    factor = scale or 1 / math.sqrt(deep)
    given = [query, key, value]
    given += [one for one in (decay, beta) if one is not None]
    row_sizes = [fixed_size(one, 2) for one in given]
    rows_first = transpose(concat([cast(one, DType.FLOAT32) for one in given], 2), [1, 0, 2])
    ends = np.cumsum([0, *row_sizes]).tolist()

    def step(row: Tensor, state: State) -> State:
        parts = [part(row, 1, a, b) for a, b in itertools.pairwise(ends)]
        q, k, v = parts[:3]
        k, v = reshape(k, [rows, heads, deep, 1]), reshape(v, [rows, heads, 1, wide])
        kept = state[1]
        if decay is not None and "gated" in update_rule:
            g = parts[3]
            g = reshape(g, [rows, heads, fixed_size(g, 1) // heads, 1])
            kept = call("Mul", kept, call("Exp", g))
        if "delta" in update_rule:
            seen = call("BatchMatMulV2", k, kept, adj_x=True)
            v = call("Sub", v, seen)
            if beta is not None:
                b = parts[-1]
                v = call("Mul", v, reshape(b, [rows, fixed_size(b, 1), 1, 1]))
        now = call("AddV2", kept, call("Mul", k, v))
        each = q_num_heads // heads
        queries = reshape(q, [rows, heads, each, deep])
        out = call("Mul", call("BatchMatMulV2", queries, now), scalar(now, factor))
        return [reshape(out, [rows, q_num_heads * wide]), now]

    begun = full(site, [rows, q_num_heads * wide], np.zeros((), np.float32))
    start = (
        full(site, [rows, heads, deep, wide], np.zeros((), np.float32)) if past is None else past
    )
    found, last = over_time(rows_first, [begun, cast(start, DType.FLOAT32)], step, None)
    kinds = query.dtype, (query if past is None else past).dtype
    return [cast(transpose(found, [1, 0, 2]), kinds[0]), cast(last[1], kinds[1])]


@lower("CausalConvWithState")
@in_float32
def causal_conv_with_state(
    site: Site,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    past: Tensor | None = None,
    *,
    activation: str = "none",
) -> list[Tensor]:
    """[batch, channels, positions], each channel by itself; what it looks back at is the state."""
    back = fixed_size(weight, 2) - 1
    rows, channels = size(x, 0), fixed_size(x, 1)
    shape: list[Size] = [rows, channels, back]
    before = full(site, shape, np.zeros((), x.dtype.numpy)) if past is None else past
    whole = concat([before, x], 2) if back else x
    y = plain_convolution(whole, weight)
    y = y if bias is None else call("AddV2", y, along_axis(bias, 1, 3))
    if activation in ("silu", "swish"):
        y = call("Mul", y, call("Sigmoid", y))
    elif activation != "none":
        raise UnloweredError(f"the activation {activation!r:.40}")
    end: Any = size(whole, 2)
    state = whole[:, :, end - back :] if back else full(site, shape, np.zeros((), x.dtype.numpy))
    return [y, state]
