"""Random bits made into numbers of a distribution, bit by bit as TensorFlow's CPU makes them.

Source: TensorFlow's random_distributions.h. Each function takes uint32 words [n, k], k of them for
the numbers [n, m] that it makes from each row.
"""

from __future__ import annotations

import numpy as np

from gradstep.core.graph.number_kinds import BFLOAT16
from gradstep.core.ops.numerics import libm

_TINY = 1e-7  # the smallest number of which a normal number takes the logarithm


def uniform(words: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """In [0, 1): the mantissa of a number in [1, 2), less 1. Two words make one float64."""
    if dtype == np.float64:
        high, low = words[:, 0::2].astype(np.uint64), words[:, 1::2].astype(np.uint64)
        bits = (high & np.uint64(0xFFFFF)) << np.uint64(32) | low | np.uint64(1023 << 52)
        return bits.view(np.float64) - 1.0
    if dtype == np.float16:
        half = words.astype(np.uint16) & np.uint16(0x3FF) | np.uint16(15 << 10)
        return half.view(np.float16) - np.float16(1)
    if dtype == BFLOAT16:
        short = words.astype(np.uint16) & np.uint16(0x7F) | np.uint16(127 << 7)
        return np.asarray(short.view(BFLOAT16) - BFLOAT16.type(1))
    return (words & np.uint32(0x7FFFFF) | np.uint32(127 << 23)).view(np.float32) - np.float32(1)


def normal(words: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Standard normal, by Box and Muller's transform: two from each pair of uniform numbers.
    float16 and bfloat16 are rounded from float32."""
    exact = np.dtype(np.float64 if dtype == np.float64 else np.float32)
    pairs = uniform(words, exact)
    first = np.maximum(pairs[:, 0::2], exact.type(_TINY))
    angle = (2 * np.pi * pairs[:, 1::2].astype(np.float64)).astype(exact)
    if exact == np.float32:
        logarithm, (sine, cosine) = libm.log(first), libm.sine_and_cosine(angle)
    else:
        logarithm, sine, cosine = np.log(first), np.sin(angle), np.cos(angle)
    length = np.sqrt(exact.type(-2) * logarithm)
    both = np.stack([sine * length, cosine * length], axis=2)
    return both.reshape(pairs.shape).astype(dtype)


def integers(words: np.ndarray, low: int, high: int, dtype: np.dtype) -> np.ndarray:
    """In [low, high): the remainder of 32 or 64 random bits."""
    bits = words.astype(np.uint64)
    if dtype == np.int64:
        bits = bits[:, 0::2] | bits[:, 1::2] << np.uint64(32)
    moved = bits % np.uint64(high - low) + np.uint64(low % 2**64)
    return moved.astype(dtype)


def per_block(dtype: np.dtype) -> int:
    """How many numbers of `dtype` one block of four words makes."""
    return 2 if dtype.itemsize == 8 else 4
