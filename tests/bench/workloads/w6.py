"""W6, an LSTM unrolled over 50 steps: batch 32, 10 inputs, 128 units, gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.bench.program import Program, moved
from tests.bench.small_sizes import sized

RATES = {"check": 0.5, "time": 1e-7}
STEPS, BATCH, INPUTS, UNITS = sized(50, 4), sized(32, 4), 10, sized(128, 16)

_random = np.random.default_rng(6)


def _weights(*shape: int) -> np.ndarray:
    return (_random.standard_normal(shape) * shape[0] ** -0.5).astype(np.float32)


DATA = {
    "x": _random.standard_normal((STEPS, BATCH, INPUTS)).astype(np.float32),
    "wanted": _random.standard_normal((BATCH, 1)).astype(np.float32),
}
START = {
    "wx": _weights(INPUTS, 4 * UNITS),
    "wh": _weights(UNITS, 4 * UNITS),
    "b": np.zeros(4 * UNITS, np.float32),
    "wy": _weights(UNITS, 1),
}


def ours(rate: float, **how: Any) -> Program:
    from gradstep.core.ops import api as tf
    from gradstep.core.ops.build.builder import GraphBuilder
    from tests.bench.ours import declared, placed, training

    build = GraphBuilder()
    x, wanted = placed(build, DATA)
    wx, wh, b, wy = declared(build, START)
    h = c = build.constant(np.zeros((BATCH, UNITS), np.float32))
    for x_t in tf.unstack(x):
        gates = tf.nn.bias_add(tf.matmul(x_t, wx) + tf.matmul(h, wh), b)
        i, f, g, o = tf.split(gates, 4, axis=1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
    loss = tf.reduce_mean(tf.square(tf.matmul(h, wy) - wanted))
    descent = ("GradientDescent", {"learning_rate": rate})
    return training(build, loss, START, DATA, descent, **how)


def torch(rate: float) -> Program:
    import torch

    from tests.bench.torch_inputs import refilling

    x, wanted = (torch.tensor(a) for a in DATA.values())
    values = [torch.tensor(a, requires_grad=True) for a in START.values()]
    wx, wh, b, wy = values
    zeros = torch.zeros(BATCH, UNITS)
    descent = torch.optim.SGD(values, lr=rate)
    last: list[Any] = [None]

    def step() -> None:
        descent.zero_grad()
        h = c = zeros
        for x_t in x.unbind():
            i, f, g, o = (x_t @ wx + h @ wh + b).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        loss = torch.mean((h @ wy - wanted) ** 2)
        loss.backward()
        last[0] = loss.detach()
        descent.step()

    def numbers() -> dict[str, float]:
        now = [a.detach() for a in values]
        return {"loss": float(last[0]), "moved": moved(now, START.values())}

    return Program(step, numbers, feed=refilling((x, DATA["x"]), (wanted, DATA["wanted"])))


def jax(rate: float) -> Program:
    """By `scan`, as its users write it; unrolled it compiles for minutes."""
    import jax
    from jax import numpy as jnp

    from tests.bench.jax_training import descend

    def loss_of(values: Any, x: Any, wanted: Any) -> Any:
        wx, wh, b, wy = values

        def cell(carried: Any, x_t: Any) -> Any:
            h, c = carried
            i, f, g, o = jnp.split(x_t @ wx + h @ wh + b, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

        zeros = jnp.zeros((BATCH, UNITS), jnp.float32)
        (h, _), _ = jax.lax.scan(cell, (zeros, zeros), x)
        return jnp.mean((h @ wy - wanted) ** 2)

    return descend(loss_of, [*START.values()], [*DATA.values()], rate)
