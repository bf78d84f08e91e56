"""Numbers of rows in an order: of few an array, of many a function of their places.

So a mapped file of 10^9 rows takes no memory for saying which of them a step is fed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gradstep.core.ops.numerics.philox import blocks_at

MANY = 1 << 22  # rows: to sort more takes seconds and hundreds of megabytes
SPLIT = (1 << 63) - 1  # the number of the order by which rows are split, which no epoch has
_BLOCK = 64  # rows of which each has its share held back
MOST_HELD = 0.96  # of a block's rows: each part may have one more than its share


class RowNumbers(Protocol):
    """As an array of int64 [n] is asked: its length, and what stands at some places."""

    def __len__(self) -> int: ...

    def __getitem__(self, places: Any, /) -> Any: ...


def holds(numbers: RowNumbers, rows: Sequence[int]) -> bool:
    """Whether all of `rows` are among them."""
    if isinstance(numbers, (AllRows, SplitRows)):
        return numbers.holds(np.asarray(rows, np.int64))
    return bool(np.isin(rows, np.asarray(numbers)).all())


def all_rows(count: int) -> RowNumbers:
    """0 to `count`."""
    return np.arange(count) if count <= MANY else AllRows(count)


@dataclass(frozen=True)
class AllRows:
    """0 to `count`, none of them written down."""

    count: int

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, places: slice | np.ndarray) -> np.ndarray:
        return numbers_at(places, self.count)

    def holds(self, rows: np.ndarray) -> bool:
        return bool(((rows >= 0) & (rows < self.count)).all())


@dataclass(frozen=True)
class SplitRows:
    """One of the parts that `count` rows are split into, in the order of the data. shares: of the
    parts, at most MOST_HELD in all, of which the last is what the others leave; part: which. Each
    block of rows gives every part its share, drawn by `seed`; those behind the last block are left
    by the others."""

    count: int
    seed: int
    shares: tuple[float, ...]
    part: int

    def __len__(self) -> int:
        return int(self._before(np.array([self._blocks]))[0])

    def __getitem__(self, places: slice | np.ndarray) -> np.ndarray:
        wanted = numbers_at(places, len(self))
        block, which = np.unique(self._block_of(wanted), return_inverse=True)
        inside = (wanted - self._before(block)[which])[:, None]
        chosen = self._chosen(block)
        # The first place in the block by which so many of the part have come.
        at = (np.cumsum(chosen, axis=1)[which] <= inside).sum(axis=1)
        found: np.ndarray = block[which] * _BLOCK + at
        return found

    def holds(self, rows: np.ndarray) -> bool:
        if not ((rows >= 0) & (rows < self.count)).all():
            return False
        return bool(self._chosen(rows // _BLOCK)[np.arange(len(rows)), rows % _BLOCK].all())

    @property
    def _blocks(self) -> int:
        return -(-self.count // _BLOCK)

    def _bounds(self, block: np.ndarray) -> np.ndarray:
        """How many rows of each part lie before these blocks, int64 [n, parts]."""
        rows, whole = np.minimum(block * _BLOCK, self.count), self.count // _BLOCK
        shared = np.minimum(block, whole) * _BLOCK
        parts = [(shared * share).astype(np.int64) for share in self.shares]
        return np.stack([*parts, rows - sum(parts)], axis=1)

    def _before(self, block: np.ndarray) -> np.ndarray:
        found: np.ndarray = self._bounds(block)[:, self.part]
        return found

    def _block_of(self, places: np.ndarray) -> np.ndarray:
        """Which blocks the rows at these places of the part lie in: found by halving."""
        low, high = np.zeros_like(places), np.full_like(places, self._blocks)
        for _ in range(self._blocks.bit_length()):
            middle = (low + high) // 2
            later = self._before(middle) > places
            low, high = np.where(later, low, middle), np.where(later, middle, high)
        return low

    def _chosen(self, block: np.ndarray) -> np.ndarray:
        """Which rows of these blocks are of the part, bool [n, _BLOCK]."""
        ends = np.cumsum(self._bounds(block + 1) - self._bounds(block), axis=1)
        first = ends[:, self.part - 1] if self.part else np.zeros(len(block), np.int64)
        rank = self._ranks(block)
        return (rank >= first[:, None]) & (rank < ends[:, self.part, None])

    def _ranks(self, block: np.ndarray) -> np.ndarray:
        """At which place of its block's random order each row stands; those that are behind the
        last row of all come last."""
        half = np.arange(_BLOCK // 2, dtype=np.uint64)
        numbers = block.astype(np.uint64)[:, None] * np.uint64(_BLOCK // 2) + half
        words = blocks_at((self.seed % 2**64, SPLIT - 1), numbers.reshape(-1))
        keys = drawn_keys(words).reshape(len(block), _BLOCK)
        keys >>= np.uint64(1)
        keys[block[:, None] * _BLOCK + np.arange(_BLOCK) >= self.count] |= np.uint64(1 << 63)
        return np.argsort(np.argsort(keys, axis=1, kind="stable"), axis=1, kind="stable")


def drawn_keys(words: np.ndarray) -> np.ndarray:
    """Two numbers of 64 bits of each block of Philox, uint64 [2 n]: of two words the first is the
    upper half."""
    return words[:, [1, 0, 3, 2]].astype("<u4", "C").view("<u8").reshape(-1)


def numbers_at(places: slice | np.ndarray, count: int) -> np.ndarray:
    """The places of a slice of so many, or those that are given, int64 [n]."""
    if isinstance(places, slice):
        return np.arange(*places.indices(count))
    return np.asarray(places, np.int64)
