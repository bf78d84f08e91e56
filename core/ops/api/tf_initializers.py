"""Initializers by TensorFlow 1's names: `tf.glorot_uniform_initializer(seed=1)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradstep.core.ops.build.initializers import (
    Constant,
    Initializer,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    UnitMatrix,
    VarianceScaling,
)


def _zeros() -> Initializer:
    return Constant(0)


def _ones() -> Initializer:
    return Constant(1)


def _scaling(scale: float, mode: str, distribution: str) -> Callable[..., Initializer]:
    def initializer(seed: int | None = None) -> Initializer:
        return VarianceScaling(scale, mode, distribution, seed)

    return initializer


_MADE: dict[str, Callable[..., Any]] = {
    "constant": Constant,
    "glorot_normal": _scaling(1.0, "fan_avg", "truncated_normal"),
    "glorot_uniform": _scaling(1.0, "fan_avg", "uniform"),
    "he_normal": _scaling(2.0, "fan_in", "truncated_normal"),
    "he_uniform": _scaling(2.0, "fan_in", "uniform"),
    "identity": UnitMatrix,
    "lecun_normal": _scaling(1.0, "fan_in", "truncated_normal"),
    "lecun_uniform": _scaling(1.0, "fan_in", "uniform"),
    "ones": _ones,
    "random_normal": RandomNormal,
    "random_uniform": RandomUniform,
    "truncated_normal": TruncatedNormal,
    "variance_scaling": VarianceScaling,
    "zeros": _zeros,
}
FUNCTIONS = {
    **{f"{name}_initializer": make for name, make in _MADE.items()},
    **{f"initializers.{name}": make for name, make in _MADE.items()},
}
