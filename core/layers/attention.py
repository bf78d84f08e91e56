"""Blocks of attention. Source: Vaswani et al. 2017, Attention Is All You Need, arXiv:1706.03762."""

from __future__ import annotations

import math

import numpy as np

from gradstep.core.layers.block_settings import flag, whole
from gradstep.core.layers.block_table import Outputs, block
from gradstep.core.ops import api as tf
from gradstep.core.ops.api.tf_dense_layers import last_size
from gradstep.core.ops.build.builder import Tensor, call
from gradstep.core.ops.typing.static_values import shape_of

_CAUSAL = flag(False, "whether a place sees itself and earlier places alone")
_HIDDEN = -1e9  # what is added to the scores of places that are not seen


@block(
    "attention",
    "query:float32[2,3,4] key:float32[2,5,4] value:float32[2,5,4]",
    "softmax(Q Kᵀ / √d) V: for each query, values weighted by how well their keys fit. Source: "
    "Vaswani et al. 2017, arXiv:1706.03762.",
    causal=_CAUSAL,
)
def attention(query: Tensor, key: Tensor, value: Tensor, causal: bool) -> Outputs:
    return scaled_dot_product(query, key, value, causal)


def scaled_dot_product(query: Tensor, key: Tensor, value: Tensor, causal: bool) -> Tensor:
    """query [..., n, d], key [..., m, d], value [..., m, v]: [..., n, v]."""
    depth = last_size(query, "attention")
    scores = call("BatchMatMulV2", query, key, adj_y=True) * (1.0 / math.sqrt(depth))
    if causal:
        scores = scores + _unseen(scores)
    return call("BatchMatMulV2", call("Softmax", scores), value)


def _unseen(scores: Tensor) -> np.ndarray:
    rows, columns = (scores.shape.dims or (None, None))[-2:]
    if rows is None or columns is None:
        raise ValueError("causal attention needs known lengths")
    later = np.triu(np.ones((rows, columns)), 1 + columns - rows)
    return (later * _HIDDEN).astype(scores.dtype.numpy)


@block(
    "multi_head_attention",
    "query:float32[2,3,4] key:float32[2,5,4] value:float32[2,5,4]",
    "Attention in several projections side by side, and a projection of what they give. Source: "
    "Vaswani et al. 2017, arXiv:1706.03762.",
    weights=True,
    heads=whole(2, "how many; each has the query's depth divided by it"),
    causal=_CAUSAL,
    use_bias=flag(True, "whether the projections have biases"),
)
def multi_head_attention(
    query: Tensor, key: Tensor, value: Tensor, heads: int, causal: bool, use_bias: bool
) -> Outputs:
    """query [batch, n, d], key and value [batch, m, …]: [batch, n, d]. Variables: query/kernel,
    key/kernel, value/kernel, output/kernel and their biases."""
    depth = last_size(query, "attention")
    if depth % heads:
        raise ValueError(f"a depth of {depth} cannot be divided among {heads} heads")
    q, k, v = (
        _heads(tf.layers.dense(x, depth, use_bias=use_bias, name=name), heads)
        for x, name in ((query, "query"), (key, "key"), (value, "value"))
    )
    joined = call("Transpose", scaled_dot_product(q, k, v, causal), _SWAP)
    rows = call("Reshape", joined, _like(query, depth))
    return tf.layers.dense(rows, depth, use_bias=use_bias, name="output")


_SWAP = np.array([0, 2, 1, 3], np.int32)


def _heads(x: Tensor, heads: int) -> Tensor:
    """[batch, n, heads * d] as [batch, heads, n, d]."""
    sizes = _like(x, heads, last_size(x, "attention") // heads)
    return call("Transpose", call("Reshape", x, sizes), _SWAP)


def _like(x: Tensor, *last: int) -> Tensor | np.ndarray:
    """The first two sizes of `x`, then these."""
    leading = shape_of(x)[:2]
    tail = np.array(last, np.int32)
    if isinstance(leading, Tensor):
        return call("ConcatV2", leading, tail, np.array(0, np.int32))
    return np.concatenate([leading, tail])
