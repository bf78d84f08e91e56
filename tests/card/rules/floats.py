"""Floating-point numbers where their functions are a matter of taste."""

from __future__ import annotations

import numpy as np

from tests.card.rules.row import Row, a, f32, inf, jax_nn, nan, unary


def rows() -> dict[str, Row]:
    x, y = a(6, -1, 1, -1, 0, 5, inf), a(0.1, inf, 0, 0, 0, -3, 2)
    left, right = a(1, nan, 0.0, -0.0), a(nan, 1, -0.0, 0.0)
    base, to = a(0, -8, 1, 0, nan, -1, inf), a(0, 1 / 3, nan, -1, 0, inf, 0)
    return {
        "float //": Row((x, y), lambda xp, x, y: x // y, lambda t, x, y: x // y),
        "float %": Row((x, y), lambda xp, x, y: x % y, lambda t, x, y: x % y),
        "fmod": Row((x, y), lambda xp, x, y: xp.fmod(x, y), lambda t, x, y: t.fmod(x, y)),
        "pow": Row((base, to), lambda xp, x, y: x**y, lambda t, x, y: x**y),
        "maximum nan": Row(
            (left, right), lambda xp, x, y: xp.maximum(x, y), lambda t, x, y: t.maximum(x, y)
        ),
        "minimum nan": Row(
            (left, right), lambda xp, x, y: xp.minimum(x, y), lambda t, x, y: t.minimum(x, y)
        ),
        "clip nan": Row((left,), lambda xp, x: xp.clip(x, 0, 1), lambda t, x: t.clip(x, 0, 1)),
        "relu nan": Row(
            (left,), lambda xp, x: xp.maximum(x, 0), lambda t, x: t.relu(x),
            jax=lambda xp, x: jax_nn().relu(x),
        ),
        "sign": unary(nan, -0.0, -3, inf)("sign"),
        "round": Row(
            (a(0.5, 1.5, 2.5, -0.5),), lambda xp, x: xp.rint(x), lambda t, x: t.round(x)
        ),
        "sqrt": unary(-1, -0.0, inf)("sqrt"),
        "log": unary(0, -1, 1e-40)("log"),
        "softmax": Row(
            (np.array([[-inf, -inf], [inf, 0], [nan, 0], [1e4, -1e4]], f32),),
            lambda xp, x: (e := xp.exp(x - x.max(1, keepdims=True))) / e.sum(1, keepdims=True),
            lambda t, x: t.softmax(x, 1),
            jax=lambda xp, x: jax_nn().softmax(x, 1),
        ),
    }  # fmt: skip
