"""W2, a chain of 1,000 elementwise operations on 64 numbers, forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.bench.adam import scalar
from tests.bench.aligned import aligned, empty
from tests.bench.program import Program, weighted
from tests.bench.small_sizes import sized

RATES = {"check": 0.0, "time": 0.0}  # nothing is trained
LENGTH, SIZE = sized(1000, 40), 64
LEVELS = range(LENGTH // 3)  # tanh, times w, plus b; and one tanh more

_random = np.random.default_rng(2)
X = _random.uniform(-1, 1, SIZE).astype(np.float32)
# So near 1 and 0 that the gradient neither vanishes nor explodes on its way.
W = _random.uniform(0.995, 1.005, SIZE).astype(np.float32)
B = _random.uniform(-1e-3, 1e-3, SIZE).astype(np.float32)


def raw(rate: float) -> Program:
    x, w, b, ones = (aligned(a) for a in (X, W, B, np.ones_like(X)))
    outputs = [(empty((SIZE,)), empty((SIZE,))) for _ in LEVELS]  # of tanh, of the level
    top, room, grad = (empty((SIZE,)) for _ in range(3))
    loss, one = empty(()), scalar(1)
    backwards = [y for y, _ in reversed(outputs)]

    def step() -> None:
        tanh, add, subtract, multiply = np.tanh, np.add, np.subtract, np.multiply
        last = x
        for y, z in outputs:
            tanh(last, y)
            multiply(y, w, z)
            add(z, b, z)
            last = z
        tanh(last, top)
        add.reduce(top, 0, None, loss)
        multiply(top, top, room)
        subtract(one, room, room)
        multiply(ones, room, grad)
        for y in backwards:
            multiply(grad, w, grad)
            multiply(y, y, room)
            subtract(one, room, room)
            multiply(grad, room, grad)

    return Program(step, lambda: {"loss": float(loss), "gradient": weighted(grad)})


def ours(rate: float, **how: Any) -> Program:
    from gradstep.core.autodiff.reverse.tf_gradients import gradients
    from gradstep.core.ops import api as tf
    from gradstep.core.ops.build.builder import GraphBuilder, Tensor
    from tests.bench.ours import program

    build = GraphBuilder()
    x = build.placeholder("x", "float32", X.shape)
    w, b = build.constant(W), build.constant(B)
    last = x
    for _ in LEVELS:
        last = tf.tanh(last) * w + b
    loss = tf.reduce_sum(tf.tanh(last))
    (grad,) = gradients(loss, [x])
    assert isinstance(grad, Tensor)
    run = program(build.build(), [loss.ref, grad.ref], (), {"x": X}, {}, **how)
    return Program(
        run.step,
        lambda: {"loss": float(run.read(loss.ref)), "gradient": weighted(run.read(grad.ref))},
        facts={"calls": str(run.calls)},
    )


def torch(rate: float) -> Program:
    import torch

    from tests.bench.torch_inputs import refilling

    x, w, b = (torch.tensor(a) for a in (X, W, B))
    x.requires_grad_()
    last: list[Any] = [None]

    def step() -> None:
        x.grad = None
        y = x
        for _ in LEVELS:
            y = torch.tanh(y) * w + b
        loss = torch.tanh(y).sum()
        loss.backward()
        last[0] = loss.detach()

    return Program(
        step,
        lambda: {"loss": float(last[0]), "gradient": weighted(x.grad)},
        feed=refilling((x, X)),
    )


def autograd(rate: float) -> Program:
    from autograd import numpy as anp
    from autograd import value_and_grad

    def loss_of(x: Any) -> Any:
        for _ in LEVELS:
            x = anp.tanh(x) * W + B
        return anp.sum(anp.tanh(x))

    both = value_and_grad(loss_of)
    last: list[Any] = [None]

    def step() -> None:
        last[0] = both(X)

    return Program(step, lambda: {"loss": float(last[0][0]), "gradient": weighted(last[0][1])})


def jax(rate: float) -> Program:
    import jax
    from jax import numpy as jnp

    def loss_of(x: Any, w: Any, b: Any) -> Any:
        for _ in LEVELS:
            x = jnp.tanh(x) * w + b
        return jnp.sum(jnp.tanh(x))

    both = jax.jit(jax.value_and_grad(loss_of))
    arrays = [jnp.asarray(a) for a in (X, W, B)]
    last: list[Any] = [None]

    def step() -> None:
        last[0] = both(*arrays)

    return Program(
        step,
        lambda: {"loss": float(last[0][0]), "gradient": weighted(last[0][1])},
        finish=lambda: jax.block_until_ready(last),
    )
