"""Scaled dot product attention of PyTorch."""

from __future__ import annotations

import math

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.aten.aten_activations import with_hidden_rows
from gradstep.core.lowering.aten.aten_table import lower
from gradstep.core.lowering.aten.aten_tensors import dims, ints, rank, reshape, scalar, size_at
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call


@lower(
    "scaled_dot_product_attention",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_attention_math",
)
def attention(
    site: Site,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> list[Tensor]:
    """softmax(q kᵀ · scale + mask) v, and 0 of a row that is masked whole, but where PyTorch gave
    NaN of it, as older ones do; with enable_gqa several queries share a key."""
    if dropout_p:
        raise UnloweredError("dropout inside of attention: its mask was not recorded")
    if enable_gqa:
        key, value = (_repeated(x, size_at(query, -3)) for x in (key, value))
    by = 1 / math.sqrt(size_at(query, -1)) if scale is None else scale
    scores = call("BatchMatMulV2", call("Mul", query, scalar(query, by)), key, adj_y=True)
    if is_causal:
        scores = call("AddV2", scores, site.constant(_causal(scores)))
    if attn_mask is not None:
        scores = call("AddV2", scores, _as_scores(attn_mask, scores))
    if attn_mask is None or _gave_nan(site):
        shares = call("Softmax", scores)
    else:
        shares = with_hidden_rows(scores, -1, lambda seen: call("Softmax", seen))
    mixed = call("BatchMatMulV2", shares, value)
    rest = range(1, len(site.node.outputs))
    return [mixed, *(site.constant(site.recorded(i)) for i in rest)]


def _repeated(x: Tensor, heads: int) -> Tensor:
    """[…, few heads, length, size]: each as often, side by side, as the others are more."""
    *rows, few, length, size = dims(x)
    if few == heads:
        return x
    wide = reshape(x, [*rows, few, 1, length, size])
    times = ints([1] * (rank(x) - 2) + [heads // few, 1, 1])
    return reshape(call("Tile", wide, times), [*rows, heads, length, size])


def _causal(scores: Tensor) -> np.ndarray:
    rows, columns = size_at(scores, -2), size_at(scores, -1)
    allowed = np.tril(np.ones((rows, columns), bool))
    return np.where(allowed, 0.0, -np.inf).astype(scores.dtype.numpy)


def _gave_nan(site: Site) -> bool:
    value = site.output().value
    return value is not None and bool(np.isnan(value).any())


def _as_scores(mask: Tensor, scores: Tensor) -> Tensor:
    """True where a key may be seen; or what is added to the scores."""
    if mask.dtype is not DType.BOOL:
        return mask
    return call("SelectV2", mask, scalar(scores, 0), scalar(scores, -np.inf))
