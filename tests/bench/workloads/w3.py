"""W3, softmax regression: 784 to 10, batch 100, gradient descent."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.bench.program import Program, moved

RATES = {"check": 0.02, "time": 1e-6}
BATCH, INPUTS, CLASSES = 100, 784, 10

_random = np.random.default_rng(3)
CLASS = _random.integers(0, CLASSES, BATCH)
DATA = {
    "x": _random.uniform(0, 1, (BATCH, INPUTS)).astype(np.float32),
    "labels": np.eye(CLASSES, dtype=np.float32)[CLASS],
}
START = {
    "w": (0.01 * _random.standard_normal((INPUTS, CLASSES))).astype(np.float32),
    "b": np.zeros(CLASSES, np.float32),
}


def ours(rate: float, **how: Any) -> Program:
    from gradstep.core.ops import api as tf
    from gradstep.core.ops.build.builder import GraphBuilder
    from tests.bench.ours import declared, placed, training

    build = GraphBuilder()
    x, labels = placed(build, DATA)
    w, b = declared(build, START)
    logits = tf.nn.bias_add(tf.matmul(x, w), b)
    loss = tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits), axis=0
    )
    descent = ("GradientDescent", {"learning_rate": rate})
    return training(build, loss, START, DATA, descent, **how)


def torch(rate: float) -> Program:
    import torch
    from torch.nn.functional import cross_entropy, linear

    from tests.bench.torch_inputs import refilling

    x, labels = torch.tensor(DATA["x"]), torch.tensor(CLASS)
    w = torch.tensor(np.ascontiguousarray(START["w"].T), requires_grad=True)
    b = torch.tensor(START["b"], requires_grad=True)
    descent = torch.optim.SGD([w, b], lr=rate)
    last: list[Any] = [None]

    def step() -> None:
        descent.zero_grad()
        loss = cross_entropy(linear(x, w, b), labels)
        loss.backward()
        last[0] = loss.detach()
        descent.step()

    def numbers() -> dict[str, float]:
        now = [w.detach().T, b.detach()]
        return {"loss": float(last[0]), "moved": moved(now, START.values())}

    return Program(step, numbers, feed=refilling((x, DATA["x"]), (labels, CLASS)))


def jax(rate: float) -> Program:
    import jax
    from jax import numpy as jnp

    from tests.bench.jax_training import descend

    def loss_of(values: Any, x: Any, labels: Any) -> Any:
        w, b = values
        return -jnp.mean(jnp.sum(labels * jax.nn.log_softmax(x @ w + b), axis=1))

    return descend(loss_of, [*START.values()], [*DATA.values()], rate)
