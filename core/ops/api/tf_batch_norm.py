"""`tf.layers.batch_normalization`: moments of the batch, moving averages beside them.

Source: TensorFlow 1's layers/normalization.py. The moving averages are updated by operations of
their own, collected in tf.GraphKeys.UPDATE_OPS: whoever runs none of them keeps what they start
with. Matrices update with the biased variance; images, which the fused op normalizes, with
Bessel's correction n / (n - 1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.ops.api.tf_creation import alike, constant
from gradstep.core.ops.api.tf_dense_layers import chosen, last_size, layer_scope
from gradstep.core.ops.api.tf_moments import batch_normalization as normalized
from gradstep.core.ops.api.tf_moments import fused_batch_norm, moments
from gradstep.core.ops.api.tf_scopes import Scope, get_variable
from gradstep.core.ops.build.collections import GraphKeys, collect
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call
from gradstep.core.ops.build.variable import Variable
from gradstep.core.ops.build.variable_scopes import Reuse


@dataclass(frozen=True)
class _Norm:
    """The layer's variables [channels], and its settings."""

    gamma: Variable | None
    beta: Variable | None
    mean: Variable
    variance: Variable
    momentum: float
    epsilon: float

    def move(self, mean: Tensor, variance: Tensor) -> None:
        """Make the updates of the moving averages."""
        for moving, batch in ((self.mean, mean), (self.variance, variance)):
            with builder_of((moving,)).scope("AssignMovingAvg") as scope:
                step = (moving - batch) * alike(1.0 - self.momentum, moving)
                update = call("AssignSub", moving.handle, step, name=f"{scope}/")
            collect(update, GraphKeys.UPDATE_OPS)


def batch_normalization(
    inputs: TensorLike,
    axis: int = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = "zeros",
    gamma_initializer: Any = "ones",
    moving_mean_initializer: Any = "zeros",
    moving_variance_initializer: Any = "ones",
    training: TensorLike = False,
    trainable: bool = True,
    name: Scope = None,
    reuse: Reuse = None,
    fused: bool | None = None,
) -> Tensor:
    """gamma (x - mean) / sqrt(variance + epsilon) + beta for each channel, the last axis. While
    training, mean and variance are the batch's, else the moving averages. `training` may be a
    tensor."""
    with layer_scope(name, "batch_normalization", reuse, inputs):
        x = constant(inputs)
        rank = x.shape.rank
        if rank is None or axis not in (-1, rank - 1):
            raise ValueError(f"batch normalization is along the last axis here. Received: {axis}")
        size = last_size(x, "a BatchNormalization layer")

        def weights(what: str, initializer: Any, trained: bool = True) -> Variable:
            return get_variable(what, (size,), x.dtype, initializer, trainable and trained)

        norm = _Norm(
            weights("gamma", gamma_initializer) if scale else None,
            weights("beta", beta_initializer) if center else None,
            weights("moving_mean", moving_mean_initializer, trained=False),
            weights("moving_variance", moving_variance_initializer, trained=False),
            momentum,
            epsilon,
        )
        is_fused = rank == 4 if fused is None else fused
        return (_fused if is_fused else _plain)(x, norm, training)


def _plain(x: Tensor, norm: _Norm, training: TensorLike) -> Tensor:
    mean: Tensor = norm.mean
    variance: Tensor = norm.variance
    if isinstance(training, Tensor) or training:
        batch = moments(x, tuple(range((x.shape.rank or 1) - 1)))
        mean = chosen(training, lambda: batch[0], lambda: call("Identity", norm.mean))
        variance = chosen(training, lambda: batch[1], lambda: call("Identity", norm.variance))
        norm.move(mean, variance)
    return normalized(x, mean, variance, norm.beta, norm.gamma, norm.epsilon)


def _fused(x: Tensor, norm: _Norm, training: TensorLike) -> Tensor:
    size = last_size(x, "a BatchNormalization layer")
    gamma = alike(np.ones(size), x) if norm.gamma is None else norm.gamma
    beta = alike(np.zeros(size), x) if norm.beta is None else norm.beta

    def trained() -> tuple[Tensor, Tensor, Tensor]:
        return fused_batch_norm(x, gamma, beta, epsilon=norm.epsilon)

    def inferred() -> tuple[Tensor, Tensor, Tensor]:
        moving = norm.mean, norm.variance
        y, *_ = fused_batch_norm(x, gamma, beta, *moving, norm.epsilon, is_training=False)
        return y, *moving

    if not isinstance(training, Tensor) and not training:
        return inferred()[0]
    y, mean, variance = chosen(training, trained, inferred)
    norm.move(mean, variance)
    return y


FUNCTIONS: dict[str, Callable[..., Any]] = {"layers.batch_normalization": batch_normalization}
