"""ONNX's Fourier transforms: products with matrices of sines and cosines.

Complex numbers are a last axis of two, real ones of one. Sums are of float64: a fast transform
rounds less often than a product.
"""

from __future__ import annotations

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.lowering.onnx.onnx_operands import (
    cast,
    concat,
    fixed_size,
    mixed,
    number,
    part,
    positive,
    rank,
    reshape,
)
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.ops.build.builder import Tensor, call


@lower("DFT")
def dft(
    site: Site,
    x: Tensor,
    length: Tensor | None = None,
    which: Tensor | None = None,
    *,
    axis: int | None = None,
    inverse: int = 0,
    onesided: int = 0,
) -> Tensor:
    """The axis was an attribute before version 20, and 1 if it was not told."""
    told = int(number(which, "the axis")) if which is not None else axis
    if told is None:
        told = -2 if int(site.variant) >= 20 else 1
    place = positive(told, rank(x))
    whole = None if length is None else int(number(length, "the length"))
    return transformed(x, place, whole, bool(inverse), bool(onesided))


def transformed(x: Tensor, axis: int, length: int | None, inverse: bool, onesided: bool) -> Tensor:
    """One axis of `x`, cut or filled up to `length`; onesided: half of what is symmetric comes out,
    or goes in and real numbers come out."""
    from_half = inverse and onesided
    own = fixed_size(x, axis)
    whole = length or (2 * (own - 1) if from_half else own)
    kind = x.dtype
    x = cast(_of_length(x, axis, whole // 2 + 1 if from_half else whole), DType.FLOAT64)
    last = rank(x) - 1
    real = part(x, last, 0, 1)
    imaginary = part(x, last, 1, 2) if fixed_size(x, last) == 2 else None
    sign = 1 if inverse else -1
    waves = whole // 2 + 1 if onesided and not inverse else whole
    cosine, sine = _waves(fixed_size(x, axis), waves, whole, sign)
    if from_half:
        twice = _twice(whole)
        cosine, sine = cosine * twice[:, None], sine * twice[:, None]
    if inverse:
        cosine, sine = cosine / whole, sine / whole
    out_real = mixed(real, axis, cosine)
    if imaginary is not None:
        out_real = call("Sub", out_real, mixed(imaginary, axis, sine))
    if from_half:
        return cast(out_real, kind)
    out_imaginary = mixed(real, axis, sine)
    if imaginary is not None:
        out_imaginary = call("AddV2", out_imaginary, mixed(imaginary, axis, cosine))
    return cast(concat([out_real, out_imaginary], last), kind)


def _waves(rows: int, columns: int, whole: int, sign: int) -> tuple[np.ndarray, np.ndarray]:
    turns = 2 * np.pi * np.outer(np.arange(rows), np.arange(columns)) / whole
    return np.cos(turns), sign * np.sin(turns)


def _twice(whole: int) -> np.ndarray:
    """How often each of the half is there in the whole."""
    found = np.full(whole // 2 + 1, 2.0)
    found[0] = 1
    if whole % 2 == 0:
        found[-1] = 1
    return found


def _of_length(x: Tensor, axis: int, length: int) -> Tensor:
    own = fixed_size(x, axis)
    if own > length:
        return part(x, axis, 0, length)
    around = np.zeros((rank(x), 2), np.int32)
    around[axis, 1] = length - own
    return call("Pad", x, around) if own < length else x


@lower("STFT")
def stft(
    site: Site,
    signal: Tensor,
    step: Tensor,
    window: Tensor | None = None,
    length: Tensor | None = None,
    *,
    onesided: int = 1,
) -> Tensor:
    """[batch, positions, 1 or 2] -> [batch, frames, frequencies, 2]."""
    hop = int(number(step, "how far apart frames are"))
    total = fixed_size(signal, 1)
    if length is not None:
        each = int(number(length, "the length of a frame"))
    else:
        each = total if window is None else fixed_size(window, 0)
    if each > total or hop < 1:
        raise UnloweredError("a frame that is longer than the signal, or no step")
    starts = np.arange((total - each) // hop + 1) * hop
    places = (starts[:, None] + np.arange(each)).astype(np.int32)
    frames = call("GatherV2", signal, places, np.int32(1))
    if window is not None:
        frames = call("Mul", frames, reshape(window, [1, 1, each, 1]))
    return transformed(frames, 2, None, False, bool(onesided))
