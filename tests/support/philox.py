"""Random numbers one by one, in Python's own integers and functions: slow, and easy to read."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

_LOW = 0xFFFFFFFF


def block(seed: int, seed2: int, number: int) -> list[int]:
    """Block `number` of the stream: four numbers of 32 bits."""
    counter = [number & _LOW, number >> 32, seed2 & _LOW, (seed2 >> 32) & _LOW]
    key = [seed & _LOW, (seed >> 32) & _LOW]
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [
            (b >> 32) ^ counter[1] ^ key[0],
            b & _LOW,
            (a >> 32) ^ counter[3] ^ key[1],
            a & _LOW,
        ]
        key = [(key[0] + 0x9E3779B9) & _LOW, (key[1] + 0xBB67AE85) & _LOW]
    return counter


def words(seed: int, seed2: int, number: int = 0) -> Iterator[int]:
    """All numbers of the stream from block `number` on."""
    while True:
        yield from block(seed, seed2, number)
        number += 1


def uniform(source: Iterator[int]) -> float:
    """In [0, 1): 52 bits of two words behind the point of a number in [1, 2)."""
    high, low = next(source), next(source)
    bits = 1023 << 52 | (high & 0xFFFFF) << 32 | low
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0]) - 1.0


def normal_pair(source: Iterator[int]) -> tuple[float, float]:
    length = math.sqrt(-2 * math.log(max(uniform(source), 1e-7)))
    angle = 2 * math.pi * uniform(source)
    return length * math.sin(angle), length * math.cos(angle)


def philox_uniform(shape: Any, seed: int, seed2: int) -> Any:
    source = words(seed, seed2)
    return _filled(shape, lambda _: uniform(source))


def philox_normal(shape: Any, seed: int, seed2: int) -> Any:
    source = words(seed, seed2)
    pairs = [normal_pair(source) for _ in range(-(-_count(shape) // 2))]
    return _filled(shape, lambda i: pairs[i // 2][i % 2])


def philox_truncated_normal(shape: Any, seed: int, seed2: int) -> Any:
    """Two numbers have 128 blocks of their own."""

    def number(i: int) -> float:
        source = words(seed, seed2, i // 2 * 128)
        kept: list[float] = []
        while len(kept) < 2:
            kept += [x for x in normal_pair(source) if abs(x) < 2]
        return kept[i % 2]

    return _filled(shape, number)


def philox_integers(shape: Any, minval: Any, maxval: Any, seed: int, seed2: int) -> Any:
    source, span = words(seed, seed2), int(maxval) - int(minval)

    def number(_: int) -> int:
        bits = next(source)
        if minval.dtype == np.int64:
            bits |= next(source) << 32
        return int(minval) + bits % span

    return _filled(shape, number, minval.dtype)


def philox_shuffle(value: Any, seed: int, seed2: int) -> Any:
    if value.ndim == 0:
        return value
    rows, source = list(value), words(seed, seed2)
    for i in range(len(rows) - 1):
        j = i + next(source) % (len(rows) - i)
        rows[i], rows[j] = rows[j], rows[i]
    return np.array(rows).reshape(value.shape)


def philox_choices(logits: Any, num_samples: Any, seed: int, seed2: int) -> Any:
    source = words(seed, seed2)
    found = []
    for row in logits:
        top = max(x for x in row if math.isfinite(x))
        weights = [math.exp(x - top) if math.isfinite(x) else 0.0 for x in row]
        for _ in range(int(num_samples)):
            wanted = uniform(source) * sum(weights)
            found.append(next(i for i in range(len(row)) if sum(weights[: i + 1]) > wanted))
    return np.array(found, np.int64).reshape(len(logits), int(num_samples))


def philox_candidates(
    law: str, num_sampled: int, unique: bool, range_max: int, seed: int, seed2: int
) -> Any:
    source, found = words(seed, seed2), list[int]()
    while len(found) < num_sampled:
        if law == "Log":
            wanted = uniform(source) * math.log1p(range_max)
            drawn = (math.floor(math.exp(wanted)) - 1) % range_max
        elif law == "Lea":
            drawn = _below(range_max, source)
        else:
            drawn = next(source) | next(source) << 32
            if drawn < (1 << 64) % range_max:
                continue
            drawn %= range_max
        if not unique or drawn not in found:
            found.append(drawn)
    return np.array(found, np.int64)


def _below(count: int, source: Iterator[int]) -> int:
    """In [0, count), of words that are not among the first that would be one too many."""
    drawn = next(source)
    while drawn < (1 << 32) % count:
        drawn = next(source)
    return drawn % count


def philox_unigrams(
    num_sampled: int,
    unique: bool,
    unigrams: Any,
    distortion: float,
    num_reserved_ids: int,
    seed: int,
    seed2: int,
) -> Any:
    """A class fills its own bucket as far as it goes; what is left, others give that have more."""
    weights = [0.0] * num_reserved_ids + [u**distortion for u in unigrams]
    filled = [[(place, w * len(weights) / sum(weights))] for place, w in enumerate(weights)]
    low = [bucket for bucket in filled if bucket[0][1] < 1]
    high = [bucket for bucket in filled if bucket[0][1] >= 1]
    while low and high:
        small, large = low.pop(), high.pop()
        missing = 1 - small[0][1]
        small.append((large[0][0], missing))
        large[0] = (large[0][0], large[0][1] - missing)
        (low if large[0][1] < 1 else high).append(large)
    source, found = words(seed, seed2), list[int]()
    while len(found) < num_sampled:
        share = (next(source) & 0x7FFFFF) / (1 << 23)
        bucket = filled[_below(len(filled), source)]
        drawn = bucket[0 if share < bucket[0][1] else -1][0]
        if not unique or drawn not in found:
            found.append(drawn)
    return np.array(found, np.int64)


def philox_poisson(shape: Any, rate: Any, seed: int, seed2: int) -> Any:
    """Each number has 256 blocks of its own; all numbers of one rate come before the next."""
    count, rates = _count(shape), rate.reshape(-1).tolist()
    found = np.zeros((count, len(rates)))
    for place, (r, c) in enumerate(np.ndindex(len(rates), count)):
        source = _last_first(words(seed, seed2, place * 256))
        found[c, r] = _multiply(rates[r], source) if rates[r] < 10 else _reject(rates[r], source)
    return found.reshape((*shape.tolist(), *rate.shape))


def _last_first(source: Iterator[int]) -> Iterator[float]:
    """Uniform numbers, the second of each block before the first."""
    while True:
        first, second = uniform(source), uniform(source)
        yield second
        yield first


def _multiply(rate: float, numbers: Iterator[float]) -> int:
    product, count = next(numbers), 0
    while product > math.exp(-rate):
        product, count = product * next(numbers), count + 1
    return count


def _reject(rate: float, numbers: Iterator[float]) -> float:
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    while True:
        u, v = next(numbers) - 0.5, next(numbers)
        inside = 0.5 - abs(u)
        k = math.floor((2 * a / inside + b) * u + rate + 0.43)
        if inside >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return k
        if k < 0 or (inside < 0.013 and v > inside):
            continue
        ratio = v * (1.1239 + 1.1328 / (b - 3.4)) / (a / inside**2 + b)
        if math.log(ratio) <= -rate + k * math.log(rate) - math.lgamma(k + 1):
            return k


def philox_gamma(shape: Any, alpha: Any, seed: int, seed2: int) -> Any:
    """Each number has 256 blocks of its own; all numbers of one alpha come before the next."""
    count, alphas = _count(shape), alpha.reshape(-1).tolist()
    found = np.zeros((count, len(alphas)))
    for place, (r, c) in enumerate(np.ndindex(len(alphas), count)):
        found[c, r] = _gamma(alphas[r], words(seed, seed2, place * 256))
    return found.reshape((*shape.tolist(), *alpha.shape))


def _gamma(alpha: float, source: Iterator[int]) -> float:
    """Marsaglia and Tsang's method; an exponential number for alpha 1."""
    uniforms, normals = _last_first(source), _normals(source)
    if alpha == 1:
        return -math.log(1 - next(uniforms))
    d = alpha - 1 / 3 + (alpha < 1)
    for x in normals:
        v = (1 + x / (3 * math.sqrt(d))) ** 3
        if v > 0 and math.log(next(uniforms)) < x * x / 2 + d * (1 - v + math.log(v)):
            return d * v * (next(uniforms) ** (1 / alpha) if alpha < 1 else 1)
    raise AssertionError


def _normals(source: Iterator[int]) -> Iterator[float]:
    while True:
        first, second = normal_pair(source)
        yield second
        yield first


def _count(shape: Any) -> int:
    return math.prod(shape.tolist())


def _filled(shape: Any, number: Any, dtype: Any = float) -> Any:
    return np.array([number(i) for i in range(_count(shape))], dtype).reshape(shape.tolist())


NAMES = {name: f for name, f in list(globals().items()) if name.startswith("philox_")}
