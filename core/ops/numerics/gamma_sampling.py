"""Gamma-distributed numbers, drawn from an operation's stream as TensorFlow's CPU draws them.

Source: TensorFlow's random_op.cc: rejection of transformed normal numbers (Marsaglia and Tsang, "A
simple method for generating gamma variables", 2000). Every number has a part of the stream of its
own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from gradstep.core.ops.numerics.philox import Seeds, blocks_at
from gradstep.core.ops.numerics.random_distributions import normal, uniform
from gradstep.core.ops.numerics.stream_draws import RESERVED

_FLOAT = np.dtype(np.float64)
_AT_FIRST = 4  # blocks that nearly every number can do with


def gammas(seeds: Seeds, first: int, alphas: np.ndarray, count: int) -> np.ndarray:
    """`count` numbers for each alpha, float64 [alphas, count]."""
    each = np.repeat(alphas.reshape(-1).astype(np.float64), count)
    starts = np.uint64(first) + np.arange(each.size, dtype=np.uint64) * np.uint64(RESERVED)
    ready = _Blocks(seeds, starts)
    found = [_drawn(alpha, ready.of(place)) for place, alpha in enumerate(each.tolist())]
    return np.array(found, np.float64).reshape(alphas.size, count)


class _Blocks:
    """The blocks of each number: as pairs of normal numbers, and as pairs of uniform ones."""

    def __init__(self, seeds: Seeds, starts: np.ndarray) -> None:
        self._seeds, self._starts = seeds, starts
        offsets = np.arange(_AT_FIRST, dtype=np.uint64)
        words = blocks_at(seeds, (starts[:, None] + offsets).reshape(-1))
        shape = (starts.size, _AT_FIRST, 2)
        self._normals = normal(words, _FLOAT).reshape(shape).tolist()
        self._uniforms = uniform(words, _FLOAT).reshape(shape).tolist()

    def of(self, place: int) -> Iterator[tuple[list[float], list[float]]]:
        """The draws of one number, in turn."""
        yield from zip(self._normals[place], self._uniforms[place], strict=True)
        number = self._starts[place] + np.uint64(_AT_FIRST)
        while True:
            words = blocks_at(self._seeds, np.array([number]))
            yield normal(words, _FLOAT)[0].tolist(), uniform(words, _FLOAT)[0].tolist()
            number += np.uint64(1)


class _Stream:
    """Normal and uniform numbers, each kind from blocks of its own, the last of a block first."""

    def __init__(self, blocks: Iterator[tuple[list[float], list[float]]]) -> None:
        self._blocks = blocks
        self._normals: list[float] = []
        self._uniforms: list[float] = []

    def normal(self) -> float:
        if not self._normals:
            self._normals = [*next(self._blocks)[0]]
        return self._normals.pop()

    def uniform(self) -> float:
        if not self._uniforms:
            self._uniforms = [*next(self._blocks)[1]]
        return self._uniforms.pop()


def _drawn(alpha: float, blocks: Iterator[tuple[list[float], list[float]]]) -> float:
    """One number. Below 1, alpha is taken one larger, and the result made smaller."""
    stream = _Stream(blocks)
    if alpha == 1:
        return -math.log(1 - stream.uniform())
    d = alpha + (2 / 3 if alpha < 1 else -1 / 3)
    c = 1 / 3 / math.sqrt(d)
    while True:
        x = stream.normal()
        v = (1 + c * x) ** 3
        if v > 0 and _is_accepted(x, v, d, stream.uniform()):
            break
    return d * v * (stream.uniform() ** (1 / alpha) if alpha < 1 else 1.0)


def _is_accepted(x: float, v: float, d: float, u: float) -> bool:
    if u < 1 - 0.0331 * (x * x) * (x * x):
        return True
    return u == 0 or math.log(u) < 0.5 * x * x + d * (1 - v + math.log(v))
