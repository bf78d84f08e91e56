"""In which order an epoch takes the rows: a function of seed and epoch, the same everywhere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gradstep.core.data.row_numbers import MANY, RowNumbers, drawn_keys, numbers_at
from gradstep.core.memory_release import memo_of_document
from gradstep.core.ops.numerics.philox import blocks_at

_ROUNDS = 8
# By which SplitMix64 mixes: a shift, then a factor.
_MIXING = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)
_LAST = np.uint64(31)


def row_order(count: int, seed: int, epoch: int) -> RowNumbers:
    """The numbers 0 to count in the random order of an epoch."""
    return sorted_order(count, seed, epoch) if count <= MANY else DrawnOrder(count, seed, epoch)


@memo_of_document(2)
def sorted_order(count: int, seed: int, epoch: int) -> np.ndarray:
    """Of few rows, int64 [count]: sorted by numbers of 64 bits, which Philox draws for the seed and
    the epoch; equal ones stay as they were."""
    half = -(-count // 2)
    words = blocks_at((seed % 2**64, epoch), np.arange(half, dtype=np.uint64))
    keys = drawn_keys(words)[:count]
    order = np.argsort(keys)
    placed = keys[order]
    if (placed[1:] == placed[:-1]).any():  # whose order would be the machine's
        order = np.argsort(keys, kind="stable")
    order.setflags(write=False)
    return order


@dataclass(frozen=True)
class DrawnOrder:
    """Of many rows, none of them written down: a Feistel network over the places of a square that
    just holds them, gone through again by what it leads out of the rows.

    Source: J. Black and P. Rogaway, "Ciphers with arbitrary finite domains" (CT-RSA 2002); what it
    mixes by is SplitMix64's, with keys that Philox draws for the seed and the epoch."""

    count: int
    seed: int
    epoch: int

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, places: slice | np.ndarray) -> np.ndarray:
        found = self._permuted(numbers_at(places, self.count).astype(np.uint64))
        while (outside := found >= self.count).any():
            found[outside] = self._permuted(found[outside])
        return found.astype(np.int64)

    @cached_property
    def _keys(self) -> np.ndarray:
        words = blocks_at((self.seed % 2**64, self.epoch), np.arange(_ROUNDS, dtype=np.uint64))
        keys: np.ndarray = words[:, :2].astype("<u4", "C").view("<u8").reshape(-1)
        return keys

    def _permuted(self, numbers: np.ndarray) -> np.ndarray:
        side = np.uint64(math.isqrt(self.count - 1) + 1)
        left, right = numbers // side, numbers % side
        for key in self._keys:
            left, right = right, (left + _mixed(right + key)) % side
        return left * side + right


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """32 bits of each, all of which hang on all."""
    for shift, factor in _MIXING:
        numbers = (numbers ^ (numbers >> shift)) * factor
    last: np.ndarray = (numbers ^ (numbers >> _LAST)) >> np.uint64(32)
    return last
