"""TensorFlow's random numbers: Philox 4x32-10, a function of a key and a counter.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), and
TensorFlow's philox_random.h for what the two seeds mean. Always NumPy, whatever the device: the
same operation draws the same numbers everywhere.
"""

from __future__ import annotations

import hashlib

import numpy as np

# Attribute of an operation whose element type was widened: the type whose numbers it draws.
DRAWN_AS = "_drawn_as"

_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)

Seeds = tuple[int, int]


def seeds_of(seed: int, seed2: int, name: str) -> Seeds:
    """The seeds in force: as given, or made from the operation's name when both are 0."""
    if seed or seed2:
        return seed % 2**64, seed2 % 2**64
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little")


def blocks(seeds: Seeds, first: int, count: int) -> np.ndarray:
    """Blocks `first` to `first + count` of the stream, uint32 [count, 4]."""
    return blocks_at(seeds, np.uint64(first) + np.arange(count, dtype=np.uint64))


def blocks_at(seeds: Seeds, numbers: np.ndarray) -> np.ndarray:
    """The blocks of these numbers (uint64 [n]) of the stream, uint32 [n, 4]."""
    key = [seeds[0] & 0xFFFFFFFF, seeds[0] >> 32]
    second = np.full_like(numbers, seeds[1])
    words = [numbers & _LOW, numbers >> _HALF, second & _LOW, second >> _HALF]
    for _ in range(_ROUNDS):
        words = _round(words, key)
        key = [(k + w) & 0xFFFFFFFF for k, w in zip(key, _WEYL, strict=True)]
    return np.stack(words, axis=1).astype(np.uint32)


def _round(words: list[np.ndarray], key: list[int]) -> list[np.ndarray]:
    """One round; words and products are kept in 64 bits."""
    a, b = words[0] * _MULTIPLIERS[0], words[2] * _MULTIPLIERS[1]
    return [
        (b >> _HALF) ^ words[1] ^ np.uint64(key[0]),
        b & _LOW,
        (a >> _HALF) ^ words[3] ^ np.uint64(key[1]),
        a & _LOW,
    ]
