"""W4, a multilayer perceptron: 784-512-512-10, relu, batch 128, Adam."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from tests.bench.adam import Adam, Flat, scalar
from tests.bench.aligned import aligned, empty
from tests.bench.program import Program, moved
from tests.bench.small_sizes import sized

RATES = {"check": 1e-3, "time": 1e-9}
BATCH, SIZES = sized(128, 32), (784, 512, 512, 10)

_random = np.random.default_rng(4)
CLASS = _random.integers(0, SIZES[-1], BATCH)
DATA = {
    "x": _random.uniform(0, 1, (BATCH, SIZES[0])).astype(np.float32),
    "labels": np.eye(SIZES[-1], dtype=np.float32)[CLASS],
}
START: dict[str, np.ndarray] = {}
for _i, (_n, _m) in enumerate(pairwise(SIZES)):
    START[f"w{_i}"] = (_random.standard_normal((_n, _m)) * (2 / _n) ** 0.5).astype(np.float32)
    START[f"b{_i}"] = np.zeros(_m, np.float32)


def raw(rate: float, rows: tuple[np.ndarray, np.ndarray] | None = None) -> Program:
    """rows: where x and labels are put before each step; DATA, if nowhere."""
    x, labels = rows or [aligned(a) for a in DATA.values()]
    values, grads = Flat(START), Flat(START)
    adam = Adam(values.vector, grads.vector, rate)
    (w0, b0, w1, b1, w2, b2) = values.views.values()
    (dw0, db0, dw1, db1, dw2, db2) = grads.views.values()
    h0, h1, d0, d1, mask, zeros = (empty((BATCH, 512)) for _ in range(6))
    zeros[...] = 0
    z, p, t = (empty((BATCH, 10)) for _ in range(3))
    top, total, logarithm = (empty((BATCH, 1)) for _ in range(3))
    loss, share = empty(()), scalar(1 / BATCH)

    def forward() -> None:
        np.matmul(x, w0, h0)
        np.add(h0, b0, h0)
        np.maximum(h0, zeros, out=h0)
        np.matmul(h0, w1, h1)
        np.add(h1, b1, h1)
        np.maximum(h1, zeros, out=h1)
        np.matmul(h1, w2, z)
        np.add(z, b2, z)

    def cross_entropy() -> None:
        np.maximum.reduce(z, 1, None, top, True)
        np.subtract(z, top, z)
        np.exp(z, p)
        np.add.reduce(p, 1, None, total, True)
        np.log(total, logarithm)
        np.subtract(logarithm, z, t)
        np.multiply(t, labels, t)
        np.add.reduce(t, (0, 1), None, loss)
        np.multiply(loss, share, loss)
        np.divide(p, total, p)
        np.subtract(p, labels, p)
        np.multiply(p, share, p)

    def backward() -> None:
        np.matmul(h1.T, p, dw2)
        np.add.reduce(p, 0, None, db2)
        np.matmul(p, w2.T, d1)
        np.greater(h1, zeros, out=mask, casting="unsafe")
        np.multiply(d1, mask, d1)
        np.matmul(h0.T, d1, dw1)
        np.add.reduce(d1, 0, None, db1)
        np.matmul(d1, w1.T, d0)
        np.greater(h0, zeros, out=mask, casting="unsafe")
        np.multiply(d0, mask, d0)
        np.matmul(x.T, d0, dw0)
        np.add.reduce(d0, 0, None, db0)

    def step() -> None:
        forward()
        cross_entropy()
        backward()
        adam.step()

    return Program(
        step,
        lambda: {"loss": float(loss), "moved": moved(values.views.values(), START.values())},
    )


def ours(rate: float, **how: Any) -> Program:
    from gradstep.core.ops import api as tf
    from gradstep.core.ops.build.builder import GraphBuilder
    from tests.bench.ours import declared, placed, training

    build = GraphBuilder()
    x, labels = placed(build, DATA)
    w0, b0, w1, b1, w2, b2 = declared(build, START)
    h = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w0), b0))
    h = tf.nn.relu(tf.nn.bias_add(tf.matmul(h, w1), b1))
    logits = tf.nn.bias_add(tf.matmul(h, w2), b2)
    loss = tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits), axis=0
    )
    return training(build, loss, START, DATA, ("Adam", {"learning_rate": rate}), **how)


def torch(rate: float) -> Program:
    import torch
    from torch.nn.functional import cross_entropy, linear, relu

    from tests.bench.torch_inputs import refilling

    x, labels = torch.tensor(DATA["x"]), torch.tensor(CLASS)
    values = [torch.tensor(np.ascontiguousarray(a.T), requires_grad=True) for a in START.values()]
    w0, b0, w1, b1, w2, b2 = values
    adam = torch.optim.Adam(values, lr=rate, fused=True, capturable=x.is_cuda)
    last: list[Any] = [None]

    def step() -> None:
        adam.zero_grad()
        h = relu(linear(x, w0, b0))
        h = relu(linear(h, w1, b1))
        loss = cross_entropy(linear(h, w2, b2), labels)
        loss.backward()
        last[0] = loss.detach()
        adam.step()

    def numbers() -> dict[str, float]:
        now = [a.detach().T if a.ndim == 2 else a.detach() for a in values]
        return {"loss": float(last[0]), "moved": moved(now, START.values())}

    return Program(step, numbers, feed=refilling((x, DATA["x"]), (labels, CLASS)))
