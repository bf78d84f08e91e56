"""Training steps in JAX, compiled by jit: what its workloads share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.bench.program import Program, moved

Loss = Callable[..., Any]  # of the values and the data -> a scalar
Arrays = Sequence[np.ndarray]


def descend(loss_of: Loss, start: Arrays, data: Arrays, rate: float) -> Program:
    """By gradient descent. The data are arguments of the compiled step."""
    import jax

    @jax.jit
    def update(values: Any, *data: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(values, *data)
        return loss, [p - rate * g for p, g in zip(values, grads, strict=True)]

    return _repeated(update, [*map(jax.numpy.asarray, start)], start, data, lambda state: state)


def adam(loss_of: Loss, start: Arrays, data: Arrays, rate: float) -> Program:
    """By Adam, its epsilon where TensorFlow has it."""
    import jax
    from jax import numpy as jnp

    def moved_by(p: Any, g: Any, m: Any, v: Any, size: Any) -> Any:
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        return p - size * m / (jnp.sqrt(v) + 1e-8), m, v

    @jax.jit
    def update(state: Any, *data: Any) -> Any:
        values, means, squares, power1, power2 = state
        power1, power2 = power1 * 0.9, power2 * 0.999
        loss, grads = jax.value_and_grad(loss_of)(values, *data)
        size = rate * jnp.sqrt(1 - power2) / (1 - power1)
        new = [moved_by(*each, size) for each in zip(values, grads, means, squares, strict=True)]
        return loss, (*(list(x) for x in zip(*new, strict=True)), power1, power2)

    values = [jnp.asarray(x) for x in start]
    zeros = [jnp.zeros_like(x) for x in values]
    state = (values, zeros, zeros, jnp.float32(1), jnp.float32(1))
    return _repeated(update, state, start, data, lambda state: state[0])


def _repeated(
    update: Callable[..., Any], state: Any, start: Arrays, data: Arrays, values: Callable[..., Any]
) -> Program:
    """`update` makes a loss and the next state of a state and the data; values: what of a state
    was trained."""
    import jax

    placed = [jax.numpy.asarray(array) for array in data]
    last: list[Any] = [None, state]

    def step() -> None:
        last[:] = update(last[1], *placed)

    return Program(
        step,
        lambda: {"loss": float(last[0]), "moved": moved(values(last[1]), start)},
        finish=lambda: jax.block_until_ready(last),
    )
