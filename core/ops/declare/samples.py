"""Inputs on which the table's tests run every op.

Floating-point inputs are drawn in float64 and stand for both float32 and float64: the tests cast
them. Inputs of other element types are taken as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.declare.table import Sample, Samples


def unary(low: float = -2.0, high: float = 2.0) -> Samples:
    """A vector, a matrix and a scalar, uniform in [low, high]."""

    def make(rng: np.random.Generator) -> list[Sample]:
        return [Sample((rng.uniform(low, high, shape),)) for shape in ((3,), (2, 3), ())]

    return make


def binary(low: float = 0.5, high: float = 2.0, symmetric: bool = True) -> Samples:
    """Pairs of equal and of broadcasting shapes, sizes uniform in [low, high], signs random
    if `symmetric`."""

    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
        sign = rng.choice([-1.0, 1.0], shape) if symmetric else 1.0
        return rng.uniform(low, high, shape) * sign

    def make(rng: np.random.Generator) -> list[Sample]:
        shapes = [((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (2,))]
        return [Sample((draw(rng, a), draw(rng, b))) for a, b in shapes]

    return make


def with_complex(samples: Samples, differentiable: bool = True) -> Samples:
    """`samples`, and the first of them once more with its floating-point inputs made complex.

    differentiable: whether TensorFlow's gradient of the op is right for complex numbers.
    """

    def make(rng: np.random.Generator) -> list[Sample]:
        plain = samples(rng)
        inputs = tuple(_turned(x) if x.dtype.kind == "f" else x for x in plain[0].inputs)
        return [*plain, Sample(inputs, plain[0].attrs, differentiable)]

    return make


def _turned(x: np.ndarray) -> np.ndarray:
    """`x` off the real axis, each element a little further; away from the imaginary one, too."""
    angles = 0.3 * np.arange(x.size, dtype=np.float64).reshape(x.shape)
    turned: np.ndarray = x * (1 + 0.5j) * np.exp(1j * angles)
    return turned


def equal_shapes(count: int, low: float = 0.5, high: float = 2.0) -> Samples:
    """`count` tensors of one shape, uniform in [low, high]: vectors, matrices and scalars."""

    def make(rng: np.random.Generator) -> list[Sample]:
        return [
            Sample(tuple(rng.uniform(low, high, shape) for _ in range(count)))
            for shape in ((3,), (2, 3), ())
        ]

    return make


def ints(*values: Any) -> np.ndarray:
    """An int32 vector: a shape, axes, indices."""
    return np.array(values, np.int32)
