"""What TensorFlow draws from an operation's stream of random blocks, in TensorFlow's order.

Source: TensorFlow's random_op.cc, random_shuffle_op.cc and multinomial_op.cc, for the CPU. Every
function takes the seeds, and the number of the first block.
"""

from __future__ import annotations

import numpy as np

from gradstep.core.ops.numerics.philox import Seeds, blocks, blocks_at
from gradstep.core.ops.numerics.random_distributions import integers, normal, per_block, uniform

# Blocks set aside for each number, as some distributions need more than others.
RESERVED = 256


def uniforms(seeds: Seeds, first: int, count: int, dtype: np.dtype) -> np.ndarray:
    """Uniform numbers in [0, 1)."""
    words = blocks(seeds, first, -(-count // per_block(dtype)))
    return uniform(words, dtype).ravel()[:count]


def normals(seeds: Seeds, first: int, count: int, dtype: np.dtype) -> np.ndarray:
    """Numbers of a standard normal distribution."""
    words = blocks(seeds, first, -(-count // per_block(dtype)))
    return normal(words, dtype).ravel()[:count]


def truncated_normals(seeds: Seeds, first: int, count: int, dtype: np.dtype) -> np.ndarray:
    """The same, but those beyond two standard deviations are drawn again. Groups as large as a
    block have their own part of the stream."""
    size = per_block(dtype)
    exact = np.dtype(np.float64 if dtype == np.float64 else np.float32)
    groups = -(-count // size)
    found, filled = np.zeros((groups, size), exact), np.zeros(groups, np.int64)
    numbers = np.uint64(first) + np.arange(groups, dtype=np.uint64) * np.uint64(
        size * RESERVED // 4
    )
    open_ = np.arange(groups)
    while len(open_):
        drawn = normal(blocks_at(seeds, numbers[open_]), exact)
        for column in drawn.T:
            kept = (np.abs(column) < 2) & (filled[open_] < size)
            rows = open_[kept]
            found[rows, filled[rows]] = column[kept]
            filled[rows] += 1
        numbers += np.uint64(1)
        open_ = open_[filled[open_] < size]
    return found.ravel()[:count].astype(dtype)


def uniform_integers(
    seeds: Seeds, first: int, count: int, dtype: np.dtype, low: int, high: int
) -> np.ndarray:
    """Whole numbers in [low, high)."""
    words = blocks(seeds, first, -(-count // per_block(dtype)))
    return integers(words, low, high, dtype).ravel()[:count]


def permutation(seeds: Seeds, first: int, count: int) -> np.ndarray:
    """A random order of `count` things: each place in turn is swapped with itself or a later
    one."""
    order = list(range(count))
    words = blocks(seeds, first, permutation_blocks(count)).ravel().tolist()
    for place in range(count - 1):
        other = place + words[place] % (count - place)
        order[place], order[other] = order[other], order[place]
    return np.array(order, np.int64)


def permutation_blocks(count: int) -> int:
    """Blocks that the order of `count` things takes; fewer than two need none."""
    return -(-max(count - 1, 0) // 4)


def choices(seeds: Seeds, first: int, logits: np.ndarray, count: int) -> np.ndarray:
    """`count` classes for each row of unnormalised log probabilities, [rows, count]; classes
    whose logit is not finite are never drawn (a row without any gives the number of classes)."""
    rows = len(logits)
    finite = np.isfinite(logits)
    top = np.max(np.where(finite, logits, -np.inf), axis=1, keepdims=True, initial=-np.inf)
    wide = np.where(finite, logits, 0).astype(np.float64) - np.where(np.isfinite(top), top, 0)
    weights = np.cumsum(np.where(finite, np.exp(wide), 0.0), axis=1)
    draws = uniforms(seeds, first, rows * count, np.dtype(np.float64)).reshape(rows, count)
    wanted = draws * weights[:, -1:]
    found = [np.searchsorted(w, x, side="right") for w, x in zip(weights, wanted, strict=True)]
    return np.array(found, np.int64).reshape(rows, count)


def choices_blocks(rows: int, count: int) -> int:
    """Blocks set aside for `choices`."""
    return rows * (-(-count // 4) * 4) * 2 * RESERVED
