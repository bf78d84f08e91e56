"""Adam as one writes it by hand in NumPy: all parameters in one vector, a block at a time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tests.bench.aligned import empty

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
_BLOCK = 1 << 14  # elements: 64 KiB, so that a block stays in the cache for all of its calls


def scalar(x: float) -> np.ndarray:
    """A 0-d float32 array: NumPy's fastest scalar."""
    return np.array(x, np.float32)


class Flat:
    """Arrays laid one behind the other in a vector."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        self.vector = empty((sum(a.size for a in arrays.values()),))
        self.views: dict[str, np.ndarray] = {}
        start = 0
        for name, a in arrays.items():
            self.views[name] = self.vector[start : start + a.size].reshape(a.shape)
            self.views[name][...] = a
            start += a.size


class Adam:
    """Updates `values` by `gradients`; epsilon outside the bias correction, as in TensorFlow."""

    def __init__(self, values: np.ndarray, gradients: np.ndarray, rate: float) -> None:
        self.rate, self.step_count = rate, 0
        moments = [np.zeros_like(values) for _ in range(2)]
        starts = range(0, values.size, _BLOCK)
        parts = (values, gradients, *moments)
        self.blocks = [tuple(x[i : i + _BLOCK] for x in parts) for i in starts]
        self.room = empty((min(_BLOCK, values.size),))
        self.constants = tuple(map(scalar, (BETA1, 1 - BETA1, BETA2, 1 - BETA2, EPSILON)))
        self.size = scalar(0.0)

    def step(self) -> None:
        self.step_count += 1
        t = self.step_count
        self.size[...] = self.rate * (1 - BETA2**t) ** 0.5 / (1 - BETA1**t)
        beta1, rest1, beta2, rest2, epsilon = self.constants
        size = self.size
        for p, g, m, v in self.blocks:
            room = self.room[: p.size]
            np.multiply(m, beta1, m)
            np.multiply(g, rest1, room)
            np.add(m, room, m)
            np.multiply(g, g, room)
            np.multiply(room, rest2, room)
            np.multiply(v, beta2, v)
            np.add(v, room, v)
            np.sqrt(v, room)
            np.add(room, epsilon, room)
            np.divide(m, room, room)
            np.multiply(room, size, room)
            np.subtract(p, room, p)
