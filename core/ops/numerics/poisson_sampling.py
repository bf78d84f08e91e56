"""Poisson-distributed numbers, drawn from an operation's stream as TensorFlow's CPU draws them.

Source: TensorFlow's random_poisson_op.cc: below a rate of 10 Knuth's product of uniform numbers,
above it transformed rejection (Hörmann, "The transformed rejection method for generating Poisson
random variables", 1993). Every number has a part of the stream of its own.
"""

from __future__ import annotations

import math

import numpy as np

from gradstep.core.ops.numerics.philox import Seeds, blocks_at
from gradstep.core.ops.numerics.random_distributions import uniform
from gradstep.core.ops.numerics.stream_draws import RESERVED

_FROM_TENS = 10  # the rate from which on rejection is used


def poisson(seeds: Seeds, first: int, rates: np.ndarray, count: int) -> np.ndarray:
    """`count` numbers for each rate, which is finite; float64 [rates, count]."""
    places = np.arange(rates.size * count, dtype=np.uint64) * np.uint64(RESERVED)
    numbers = np.uint64(first) + places
    each = np.repeat(rates.reshape(-1), count)
    found = np.zeros(each.size)
    small = each < _FROM_TENS
    found[small] = _multiplied(seeds, numbers[small], each[small])
    found[~small] = _rejected(seeds, numbers[~small], each[~small])
    return found.reshape(rates.size, count)


def _pairs(seeds: Seeds, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two uniform numbers of a block, the last one first."""
    both = uniform(blocks_at(seeds, numbers), np.dtype(np.float64))
    return both[:, 1], both[:, 0]


def _multiplied(seeds: Seeds, numbers: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """How many uniform numbers are multiplied before the product is e**-rate or less."""
    found, product, limit = np.zeros(rates.size), np.ones(rates.size), np.exp(-rates)
    running = np.arange(rates.size)
    while running.size:
        for u in _pairs(seeds, numbers[running]):
            product[running] *= u
            open_ = ~(product[running] <= limit[running])
            found[running[open_]] += 1
            product[running[~open_]] = 0  # so that the second number changes nothing
        numbers = numbers + np.uint64(1)
        running = running[~(product[running] <= limit[running])]
    return found


def _rejected(seeds: Seeds, numbers: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Proposals until one is accepted."""
    found, running = np.zeros(rates.size), np.arange(rates.size)
    b = 0.931 + 2.53 * np.sqrt(rates)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    while running.size:
        u, v = _pairs(seeds, numbers[running])
        u = u - 0.5
        at = running
        inside = 0.5 - np.abs(u)
        k = np.floor((2 * a[at] / inside + b[at]) * u + rates[at] + 0.43)
        quick = (inside >= 0.07) & (v <= 0.9277 - 3.6224 / (b[at] - 2))
        hopeless = (k < 0) | ((inside < 0.013) & (v > inside))
        ratio = np.log(v * inverse_alpha[at] / (a[at] / (inside * inside) + b[at]))
        accepted = quick | (~hopeless & (ratio <= _log_density(k, rates[at])))
        found[at[accepted]] = k[accepted]
        numbers = numbers + np.uint64(1)
        running = running[~accepted]
    return found


def _log_density(k: np.ndarray, rates: np.ndarray) -> np.ndarray:
    factorials = np.array([math.lgamma(max(x, 0) + 1) for x in k.tolist()])
    density: np.ndarray = -rates + k * np.log(rates) - factorials
    return density
