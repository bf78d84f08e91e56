"""W5, the tutorial's convolutional network on 64 images of 28 by 28, with Adam."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.bench.program import Program, moved
from tests.bench.small_sizes import sized

RATES = {"check": 1e-4, "time": 1e-9}
BATCH, CLASSES = sized(64, 1), 10

_random = np.random.default_rng(5)
CLASS = _random.integers(0, CLASSES, BATCH)
DATA = {
    "x": _random.uniform(0, 1, (BATCH, 28, 28, 1)).astype(np.float32),
    "labels": np.eye(CLASSES, dtype=np.float32)[CLASS],
}
_SHAPES = {
    "f1": (5, 5, 1, 32),
    "f2": (5, 5, 32, 64),
    "w1": (7 * 7 * 64, 1024),
    "w2": (1024, CLASSES),
}
START: dict[str, np.ndarray] = {}
for _name, _shape in _SHAPES.items():
    _fan = int(np.prod(_shape[:-1]))
    START[_name] = (_random.standard_normal(_shape) * (2 / _fan) ** 0.5).astype(np.float32)
    START[_name.replace("f", "c").replace("w", "b")] = np.full(_shape[-1], 0.1, np.float32)


def ours(rate: float, **how: Any) -> Program:
    from gradstep.core.ops import api as tf
    from gradstep.core.ops.build.builder import GraphBuilder, Tensor
    from tests.bench.ours import declared, placed, training

    build = GraphBuilder()
    x, labels = placed(build, DATA)
    f1, c1, f2, c2, w1, b1, w2, b2 = declared(build, START)

    def layer(x: Tensor, filters: Tensor, bias: Tensor) -> Tensor:
        y = tf.nn.conv2d(x, filters, strides=[1, 1, 1, 1], padding="SAME")
        y = tf.nn.relu(tf.nn.bias_add(y, bias))
        return tf.nn.max_pool(y, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")

    images = layer(layer(x, f1, c1), f2, c2)
    h = tf.reshape(images, [-1, 7 * 7 * 64])
    h = tf.nn.relu(tf.nn.bias_add(tf.matmul(h, w1), b1))
    logits = tf.nn.bias_add(tf.matmul(h, w2), b2)
    loss = tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits), axis=0
    )
    return training(build, loss, START, DATA, ("Adam", {"learning_rate": rate}), **how)


def _as_torch(start: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Filters as output, input, height, width; the first dense layer's rows channel by channel."""
    w1 = start["w1"].reshape(7, 7, 64, 1024).transpose(3, 2, 0, 1).reshape(1024, -1)
    other = {"f1": start["f1"].transpose(3, 2, 0, 1), "f2": start["f2"].transpose(3, 2, 0, 1)}
    arrays = {**start, **other, "w1": w1, "w2": start["w2"].T}
    return [np.ascontiguousarray(a) for a in arrays.values()]


def torch(rate: float) -> Program:
    import torch
    from torch.nn.functional import conv2d, cross_entropy, linear, max_pool2d, relu

    from tests.bench.torch_inputs import refilling

    images = DATA["x"].transpose(0, 3, 1, 2).copy()
    x, labels = torch.tensor(images), torch.tensor(CLASS)
    start = _as_torch(START)
    values = [torch.tensor(a, requires_grad=True) for a in start]
    f1, c1, f2, c2, w1, b1, w2, b2 = values
    adam = torch.optim.Adam(values, lr=rate, fused=True, capturable=x.is_cuda)
    last: list[Any] = [None]

    def step() -> None:
        adam.zero_grad()
        h = max_pool2d(relu(conv2d(x, f1, c1, padding=2)), 2)
        h = max_pool2d(relu(conv2d(h, f2, c2, padding=2)), 2)
        h = relu(linear(h.flatten(1), w1, b1))
        loss = cross_entropy(linear(h, w2, b2), labels)
        loss.backward()
        last[0] = loss.detach()
        adam.step()

    def numbers() -> dict[str, float]:
        return {"loss": float(last[0]), "moved": moved([a.detach() for a in values], start)}

    return Program(step, numbers, feed=refilling((x, images), (labels, CLASS)))


def jax(rate: float) -> Program:
    import jax
    from jax import lax
    from jax import numpy as jnp

    from tests.bench.jax_training import adam

    def layer(x: Any, filters: Any, bias: Any) -> Any:
        order = ("NHWC", "HWIO", "NHWC")
        y = lax.conv_general_dilated(x, filters, (1, 1), "SAME", dimension_numbers=order)
        window = (1, 2, 2, 1)
        return lax.reduce_window(jax.nn.relu(y + bias), -jnp.inf, lax.max, window, window, "SAME")

    def loss_of(values: Any, x: Any, labels: Any) -> Any:
        f1, c1, f2, c2, w1, b1, w2, b2 = values
        h = layer(layer(x, f1, c1), f2, c2).reshape(BATCH, -1)
        h = jax.nn.relu(h @ w1 + b1)
        return -jnp.mean(jnp.sum(labels * jax.nn.log_softmax(h @ w2 + b2), axis=1))

    return adam(loss_of, [*START.values()], [*DATA.values()], rate)
