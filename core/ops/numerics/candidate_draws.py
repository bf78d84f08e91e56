"""Classes drawn for sampled losses, with TensorFlow's bits.

Source: TensorFlow's candidate_sampler_ops.cc, range_sampler.cc, simple_philox.h and
exact_uniform_int.h, for the CPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np

from gradstep.core.ops.numerics.philox import Seeds, blocks

RESERVED = 512  # blocks of the stream for each class that is drawn
_WIDE = 1 << 64
_AT_ONCE = 64  # blocks


class Sampler(Protocol):
    """Classes in [0, range_max)."""

    def draw(self, words: Iterator[int]) -> int:
        """One, of random words of 32 bits."""

    def probability(self, classes: np.ndarray) -> np.ndarray:
        """float32, of each."""


class UniformSampler:
    """All alike."""

    def __init__(self, range_max: int) -> None:
        self._count = range_max

    def draw(self, words: Iterator[int]) -> int:
        if not self._count & (self._count - 1):
            return _long(words) & (self._count - 1)
        least = (_WIDE - 1) % self._count + 1
        while (drawn := _long(words)) < least:
            pass
        return drawn % self._count

    def probability(self, classes: np.ndarray) -> np.ndarray:
        return np.full(classes.shape, np.float32(1.0 / self._count))


class LogUniformSampler:
    """By Zipf's law: class k with a share of log((k + 2) / (k + 1))."""

    def __init__(self, range_max: int) -> None:
        self._count, self._log = range_max, math.log1p(range_max)

    def draw(self, words: Iterator[int]) -> int:
        high, low = next(words), next(words)
        share = ((high & 0xFFFFF) << 32 | low) / (1 << 52)
        return (int(math.exp(share * self._log)) - 1) % self._count

    def probability(self, classes: np.ndarray) -> np.ndarray:
        ratio = (classes + 2.0) / (classes + 1.0)
        return (np.log(ratio) / self._log).astype(np.float32)


def draw_classes(
    sampler: Sampler, seeds: Seeds, first: int, count: int, unique: bool
) -> tuple[np.ndarray, int]:
    """`count` classes, each once if `unique`, and how many were drawn for that."""
    words, found, tries = _words(seeds, first), dict[int, None](), 0
    if not unique:
        return np.array([sampler.draw(words) for _ in range(count)], np.int64), count
    while len(found) < count:
        found[sampler.draw(words)] = None
        tries += 1
    return np.array([*found], np.int64), tries


def expected_counts(sampler: Sampler, classes: np.ndarray, count: int, tries: int) -> np.ndarray:
    """How often each class is among them on average, float32."""
    share = sampler.probability(classes)
    found: np.ndarray = share * np.float32(count)
    if tries != count:
        found = -np.expm1(np.float32(tries) * np.log1p(-share))
    return found


def _long(words: Iterator[int]) -> int:
    low = next(words)
    return low | next(words) << 32


def _words(seeds: Seeds, first: int) -> Iterator[int]:
    while True:
        yield from blocks(seeds, first, _AT_ONCE).ravel().tolist()
        first += _AT_ONCE


MAKERS: dict[str, Callable[[int], Sampler]] = {
    "UniformCandidateSampler": UniformSampler,
    "LogUniformCandidateSampler": LogUniformSampler,
}
