"""Classes drawn for sampled losses, with TensorFlow's bits.

Source: TensorFlow's candidate_sampler_ops.cc, range_sampler.cc, simple_philox.h and
exact_uniform_int.h, for the CPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.errors import GradstepError
from gradstep.core.ops.numerics.philox import Seeds, blocks

RESERVED = 512  # blocks of the stream for each class that is drawn
_WIDE = 1 << 64
_AT_ONCE = 64  # blocks
_LONG = 1 << 14  # draws, between which it is asked whether to go on
_MOST_TRIES = 1 << 24


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
        return _below(self._count, words, _long, _WIDE)

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


class UnigramSampler:
    """By how often each class has been a true one, and once more: weights, int64."""

    def __init__(self, weights: np.ndarray) -> None:
        self._weights, self._ends = weights, np.cumsum(weights)

    def draw(self, words: Iterator[int]) -> int:
        drawn = _below(int(self._ends[-1]), words)
        return int(np.searchsorted(self._ends, drawn, side="right"))

    def probability(self, classes: np.ndarray) -> np.ndarray:
        weights: np.ndarray = self._weights[classes].astype(np.float32)
        found: np.ndarray = weights / np.float32(self._ends[-1])
        return found


class FixedUnigramSampler:
    """By weights, float32: in one of as many buckets as there are classes, each of which holds a
    part of its own class and one of another."""

    def __init__(self, weights: np.ndarray) -> None:
        self._weights = weights
        self._total = np.float32(0)
        for weight in weights:
            self._total += weight
        self._own, self._other = _buckets(weights)

    def draw(self, words: Iterator[int]) -> int:
        share, place = _short_share(next(words)), _below(len(self._weights), words)
        return place if share < self._own[place] else self._other[place]

    def probability(self, classes: np.ndarray) -> np.ndarray:
        there = (classes >= 0) & (classes < len(self._weights))
        found = self._weights[np.where(there, classes, 0)] / self._total
        return np.where(there, found, np.float32(0))


def _buckets(weights: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Of each bucket, which part is its own class's, float32, and whose the rest is (Walker's and
    Vose's alias method)."""
    count, total = len(weights), float(np.sum(weights, dtype=np.float64))
    parts = ((weights * np.float32(count)).astype(np.float64) / total).tolist()
    other = list(range(count))
    low = [place for place, part in enumerate(parts) if part < 1]
    high = [place for place, part in enumerate(parts) if part >= 1]
    while high and low:
        small, large = low.pop(), high.pop()
        other[small] = large
        parts[large] -= 1 - parts[small]
        (low if parts[large] < 1 else high).append(large)
    for place in (*low, *high):
        parts[place], other[place] = 1.0, place
    return np.array(parts, np.float32), other


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
        if tries % _LONG == 0:
            check_cancelled()
        if tries > _MOST_TRIES:
            raise GradstepError(
                f"{_MOST_TRIES} draws gave {len(found)} different classes where {count} are wanted",
                hint="draw fewer, or set unique to false",
            )
    return np.array([*found], np.int64), tries


def expected_counts(sampler: Sampler, classes: np.ndarray, count: int, tries: int) -> np.ndarray:
    """How often each class is among them on average, float32."""
    share = sampler.probability(classes)
    found: np.ndarray = share * np.float32(count)
    if tries != count:
        found = -np.expm1(np.float32(tries) * np.log1p(-share))
    return found


def _below(
    count: int,
    words: Iterator[int],
    draw: Callable[[Iterator[int]], int] = next,
    whole: int = 1 << 32,
) -> int:
    """A number in [0, count). draw: makes one in [0, whole) of words."""
    if not count & (count - 1):
        return draw(words) & (count - 1)
    least = (whole - 1) % count + 1
    while (drawn := draw(words)) < least:
        pass
    return drawn % count


def _short_share(word: int) -> float:
    """In [0, 1), of 23 bits."""
    return (word & 0x7FFFFF) / (1 << 23)


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
