"""In which order an epoch takes the rows: a function of seed and epoch, the same everywhere."""

from __future__ import annotations

import numpy as np

from gradstep.core.memory_release import memo_of_document
from gradstep.core.ops.numerics.philox import blocks_at

SPLIT = (1 << 63) - 1  # the number of the order by which rows are split, which no epoch has


@memo_of_document(2)
def row_order(count: int, seed: int, epoch: int) -> np.ndarray:
    """The numbers 0 to count in the random order of an epoch, int64 [count]: sorted by numbers of
    64 bits, which Philox draws for the seed and the epoch; equal ones stay as they were."""
    half = -(-count // 2)
    words = blocks_at((seed % 2**64, epoch), np.arange(half, dtype=np.uint64))
    # Of two words the first is the upper half.
    keys = words[:, [1, 0, 3, 2]].astype("<u4", "C").view("<u8").reshape(-1)[:count]
    order = np.argsort(keys)
    placed = keys[order]
    if (placed[1:] == placed[:-1]).any():  # whose order would be the machine's
        order = np.argsort(keys, kind="stable")
    order.setflags(write=False)
    return order
