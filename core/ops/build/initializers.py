"""Initializers: what variables start with, drawn from TensorFlow's own random streams.

Source: TensorFlow 1's init_ops.py. With a seed the numbers are TensorFlow's; without one they
follow from the variable's name, so that the same network starts the same every time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.numerics import stream_draws as streams
from gradstep.core.ops.numerics.philox import Seeds, seeds_of

GRAPH_SEED = 87654321  # of a graph that was given none
_SPREAD_KEPT = 0.87962566103423978  # the standard deviation of a normal cut off at 2
Sizes = tuple[int, ...]
Draw = Callable[[Seeds, int, int, np.dtype], np.ndarray]


class Initializer(Protocol):
    """Makes the first value of the variable `name`."""

    def __call__(self, shape: Sizes, dtype: np.dtype, name: str) -> np.ndarray: ...


@dataclass(frozen=True)
class Constant:
    """The same number everywhere, or an array of the variable's shape (or as many elements)."""

    value: Any = 0

    def __call__(self, shape: Sizes, dtype: np.dtype, name: str) -> np.ndarray:
        array = np.asarray(self.value, dtype)
        return array.reshape(shape) if array.ndim else np.full(shape, array, dtype)


@dataclass(frozen=True)
class RandomUniform:
    """Uniform in [minval, maxval)."""

    minval: float = 0.0
    maxval: float = 1.0
    seed: int | None = None

    def __call__(self, shape: Sizes, dtype: np.dtype, name: str) -> np.ndarray:
        drawn = _drawn(streams.uniforms, "random_uniform/RandomUniform", self.seed)
        low, high = dtype.type(self.minval), dtype.type(self.maxval)
        return np.asarray(drawn(shape, dtype, name) * (high - low) + low)


@dataclass(frozen=True)
class RandomNormal:
    """Normal, of that mean and standard deviation."""

    mean: float = 0.0
    stddev: float = 1.0
    seed: int | None = None

    def __call__(self, shape: Sizes, dtype: np.dtype, name: str) -> np.ndarray:
        drawn = _drawn(streams.normals, "random_normal/RandomStandardNormal", self.seed)
        return np.asarray(drawn(shape, dtype, name) * dtype.type(self.stddev) + self.mean)


@dataclass(frozen=True)
class TruncatedNormal:
    """Normal, those beyond two standard deviations drawn again."""

    mean: float = 0.0
    stddev: float = 1.0
    seed: int | None = None

    def __call__(self, shape: Sizes, dtype: np.dtype, name: str) -> np.ndarray:
        drawn = _drawn(streams.truncated_normals, "truncated_normal/TruncatedNormal", self.seed)
        return np.asarray(drawn(shape, dtype, name) * dtype.type(self.stddev) + self.mean)


@dataclass(frozen=True)
class VarianceScaling:
    """Numbers whose variance is scale / fan, so that signals keep their size through a layer.

    mode: the fan is "fan_in", "fan_out" or "fan_avg". distribution: "truncated_normal",
    "untruncated_normal" or "uniform". Glorot's are scale 1 with fan_avg, He's 2 with fan_in.
    """

    scale: float = 1.0
    mode: str = "fan_in"
    distribution: str = "truncated_normal"
    seed: int | None = None

    def __call__(self, shape: Sizes, dtype: np.dtype, name: str) -> np.ndarray:
        variance = self.scale / max(1.0, _fan(shape, self.mode))
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * variance)
            return RandomUniform(-limit, limit, self.seed)(shape, dtype, name)
        if self.distribution == "untruncated_normal":
            return RandomNormal(0.0, math.sqrt(variance), self.seed)(shape, dtype, name)
        spread = math.sqrt(variance) / _SPREAD_KEPT
        return TruncatedNormal(0.0, spread, self.seed)(shape, dtype, name)


@dataclass(frozen=True)
class UnitMatrix:
    """Ones on the diagonal of a matrix, times `gain`."""

    gain: float = 1.0

    def __call__(self, shape: Sizes, dtype: np.dtype, name: str) -> np.ndarray:
        if len(shape) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        return np.asarray(self.gain * np.eye(*shape, dtype=dtype), dtype)


GLOROT_UNIFORM = VarianceScaling(1.0, "fan_avg", "uniform")

# By the names that layers take for `kernel_initializer` and the like, as in Keras.
INITIALIZERS: dict[str, Initializer] = {
    "glorot_uniform": GLOROT_UNIFORM,
    "glorot_normal": VarianceScaling(1.0, "fan_avg"),
    "he_uniform": VarianceScaling(2.0, "fan_in", "uniform"),
    "he_normal": VarianceScaling(2.0, "fan_in"),
    "lecun_normal": VarianceScaling(1.0, "fan_in"),
    "random_uniform": RandomUniform(-0.05, 0.05),
    "random_normal": RandomNormal(stddev=0.05),
    "truncated_normal": TruncatedNormal(stddev=0.05),
    "zeros": Constant(0),
    "ones": Constant(1),
    "identity": UnitMatrix(),
}


def initializer_of(given: Any, otherwise: Initializer | None = None) -> Initializer:
    """An initializer by its name or as it is; a number or an array is what to start with; None is
    `otherwise`, or Glorot's. Raises ValueError for a name that is not known."""
    if given is None:
        return otherwise or GLOROT_UNIFORM
    if isinstance(given, str):
        if given not in INITIALIZERS:
            raise ValueError(f"Unknown initializer: {given}; there are {', '.join(INITIALIZERS)}")
        return INITIALIZERS[given]
    return given if callable(given) else Constant(given)


def _drawn(draw: Draw, op: str, seed: int | None) -> Initializer:
    """Numbers of a stream, as the operation inside TensorFlow's initializer draws them."""

    def initializer(shape: Sizes, dtype: np.dtype, name: str) -> np.ndarray:
        if kind_of(dtype) not in "iufc":
            raise ValueError(f"'{name}' is of {dtype}, of which there are no random values")
        given = (0, 0) if seed is None else (GRAPH_SEED, seed)
        seeds = seeds_of(*given, f"{name}/Initializer/{op}")
        return draw(seeds, 0, math.prod(shape), dtype).reshape(shape)

    return initializer


def _fan(shape: Sizes, mode: str) -> float:
    """How many numbers go into each output, come out of each input, or the mean of both."""
    if len(shape) < 2:
        fan_in = fan_out = float(math.prod(shape))
    else:
        field = math.prod(shape[:-2])
        fan_in, fan_out = float(field * shape[-2]), float(field * shape[-1])
    return {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[mode]
