"""W7, ten elementwise operations on 4 million numbers, forward and backward: memory-bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.bench.program import Program, weighted
from tests.bench.small_sizes import sized

RATES = {"check": 0.0, "time": 0.0}  # nothing is trained
SIZE = sized(4_000_000, 70_000)

_random = np.random.default_rng(7)
X = _random.uniform(-1, 1, SIZE).astype(np.float32)
W = _random.uniform(-1, 1, SIZE).astype(np.float32)


def chain(x: Any, w: Any, relu: Any) -> Any:
    """The ten operations, on anything with operators."""
    a = x * w
    b = a + x
    c = relu(b)
    d = c * w
    e = d - x
    f = e * e
    g = f + a
    h = g * c
    i = h - w
    return i * g


def ours(rate: float, forward: bool = False, **how: Any) -> Program:
    from gradstep.core.autodiff.reverse.tf_gradients import gradients
    from gradstep.core.ops import api as tf
    from gradstep.core.ops.build.builder import GraphBuilder, Tensor
    from tests.bench.ours import program

    build = GraphBuilder()
    x, w = (build.placeholder(name, "float32", X.shape) for name in ("x", "w"))
    y = chain(x, w, tf.nn.relu)
    grad = y if forward else gradients(y, [x])[0]
    assert isinstance(grad, Tensor)
    fetches = [y.ref] if forward else [y.ref, grad.ref]
    run = program(build.build(), fetches, (), {"x": X, "w": W}, {}, **how)
    return Program(
        run.step,
        lambda: {"value": weighted(run.read(y.ref)), "gradient": weighted(run.read(grad.ref))},
        facts={"calls": str(run.calls)},
    )


def torch(rate: float, forward: bool = False) -> Program:
    import torch

    from tests.bench.torch_inputs import refilling

    x, w = torch.tensor(X, requires_grad=not forward), torch.tensor(W)
    ones = torch.ones_like(w)
    last: list[Any] = [None]

    def step() -> None:
        x.grad = None
        y = last[0] = chain(x, w, torch.relu)
        if not forward:
            y.backward(ones)

    def numbers() -> dict[str, float]:
        y = last[0].detach()
        return {"value": weighted(y), "gradient": weighted(y if forward else x.grad)}

    return Program(step, numbers, feed=refilling((x, X), (w, W)))


def jax(rate: float) -> Program:
    import jax
    from jax import numpy as jnp

    @jax.jit
    def both(x: Any, w: Any) -> Any:
        y, pull = jax.vjp(lambda x: chain(x, w, jax.nn.relu), x)
        return y, pull(jnp.ones_like(y))[0]

    x, w = jnp.asarray(X), jnp.asarray(W)
    last: list[Any] = [None]

    def step() -> None:
        last[0] = both(x, w)

    return Program(
        step,
        lambda: dict(zip(("value", "gradient"), map(weighted, last[0]), strict=True)),
        finish=lambda: jax.block_until_ready(last),
    )
