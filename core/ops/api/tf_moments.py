"""Functions of `tf.nn` that bring tensors to mean 0, variance 1 or length 1."""

from __future__ import annotations

import numpy as np

from gradstep.core.ops.api.tf_creation import Axes, alike, constant, make_precise
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call, call_many
from gradstep.core.ops.catalogue.math.complex_numbers import complex_of, part
from gradstep.core.ops.typing.static_values import all_axes

Moments = tuple[Tensor, Tensor]


def moments(
    x: TensorLike,
    axes: Axes,
    shift: TensorLike = None,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> Moments:
    """Mean and variance over `axes`; `shift` is ignored, as in TensorFlow."""
    with builder_of((x,)).scope(name or "moments"):
        x = constant(x)
        y = make_precise(x)
        mean = call("Mean", y, _axes(axes), keep_dims=True, name="mean")
        squares = call("SquaredDifference", y, call("StopGradient", mean))
        variance = call("Mean", squares, _axes(axes), keep_dims=True, name="variance")
        if not (keepdims or keep_dims):
            mean, variance = _without(mean, axes), _without(variance, axes)
        return _like(mean, x), _like(variance, x)


def weighted_moments(
    x: TensorLike,
    axes: Axes,
    frequency_weights: TensorLike,
    name: str | None = None,
    keep_dims: bool | None = None,
    keepdims: bool | None = None,
) -> Moments:
    """Mean and variance over `axes`, where some elements count more than others."""
    with builder_of((x, frequency_weights)).scope(name or "weighted_moments"):
        x = constant(x)
        y = make_precise(x)
        weights = alike(frequency_weights, y)
        if weights.dtype is not y.dtype:
            weights = call("Cast", weights, DstT=y.dtype)
        weighted = call("Sum", weights * y, _axes(axes), keep_dims=True)
        total = call("Sum", weights + call("ZerosLike", y), _axes(axes), keep_dims=True)
        mean = call("DivNoNan", weighted, total)
        squares = weights * call("SquaredDifference", y, mean)
        spread = call("Sum", squares, _axes(axes), keep_dims=True)
        variance = call("DivNoNan", spread, total)
        if not (keepdims or keep_dims):
            mean, variance = _without(mean, axes), _without(variance, axes)
        return _like(mean, x), _like(variance, x)


def batch_normalization(
    x: TensorLike,
    mean: TensorLike,
    variance: TensorLike,
    offset: TensorLike,
    scale: TensorLike,
    variance_epsilon: float,
    name: str | None = None,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon), times scale plus offset where they are not None."""
    given = (x, mean, variance, scale, offset)
    with builder_of(given).scope(name or "batchnorm"):
        pixels, centre = constant(x), constant(mean)
        factor = call("Rsqrt", constant(variance) + variance_epsilon)
        if scale is not None:
            factor = factor * scale
        shift = -centre * factor if offset is None else offset - centre * factor
        return pixels * _like(factor, pixels) + _like(shift, pixels)


def fused_batch_norm(
    x: TensorLike,
    scale: TensorLike,
    offset: TensorLike,
    mean: TensorLike = None,
    variance: TensorLike = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
    exponential_avg_factor: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:
    """The normalized images, and the running mean and variance: FusedBatchNormV3."""
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise ValueError(
            "Both `mean` and `variance` must be a 1D tensor when `is_training` is False or "
            f"`exponential_avg_factor` != 1.0. Received: `mean` {mean!r} and `variance` "
            f"{variance!r}"
        )
    vector = constant(scale)
    empty = alike(np.zeros(0), vector)
    found = call_many(
        "FusedBatchNormV3",
        constant(x),
        vector,
        alike(offset, vector),
        empty if mean is None else alike(mean, vector),
        empty if variance is None else alike(variance, vector),
        epsilon=float(epsilon),
        exponential_avg_factor=float(exponential_avg_factor),
        data_format=data_format,
        is_training=is_training,
        name=name,
    )
    return found[0], found[1], found[2]


def l2_normalize(
    x: TensorLike,
    axis: Axes = None,
    epsilon: float = 1e-12,
    name: str | None = None,
    dim: Axes = None,
) -> Tensor:
    """x / sqrt(max(sum(x ** 2), epsilon)) along an axis, or several."""
    if axis is not None and dim is not None:
        raise ValueError("Cannot specify both 'dim' and 'axis'.")
    with builder_of((x,)).scope(name or "l2_normalize") as scope:
        whole = constant(x)
        axes = dim if axis is None else axis
        if whole.dtype.is_complex:
            return _complex_normalized(whole, axes, epsilon)
        inverse = _inverse_norm(call("Square", whole), axes, epsilon)
        return call("Mul", whole, inverse, name=f"{scope}/")


def _complex_normalized(x: Tensor, axes: Axes, epsilon: float) -> Tensor:
    real, imag = part("Real", x), part("Imag", x)
    inverse = _inverse_norm(call("Square", real) + call("Square", imag), axes, epsilon)
    return complex_of(real * inverse, imag * inverse)


def _inverse_norm(squares: Tensor, axes: Axes, epsilon: float) -> Tensor:
    over = all_axes(squares) if axes is None else _axes(axes)
    total = call("Sum", squares, over, keep_dims=True)
    return call("Rsqrt", call("Maximum", total, alike(epsilon, total)))


def _like(value: Tensor, x: Tensor) -> Tensor:
    return value if value.dtype is x.dtype else call("Cast", value, DstT=x.dtype)


def _axes(axes: Axes) -> np.ndarray:
    return np.array(axes, np.int32)


def _without(value: Tensor, axes: Axes) -> Tensor:
    return call("Squeeze", value, squeeze_dims=tuple(np.atleast_1d(_axes(axes)).tolist()))


FUNCTIONS = {
    "batch_normalization": batch_normalization,
    "fused_batch_norm": fused_batch_norm,
    "l2_normalize": l2_normalize,
    "moments": moments,
    "weighted_moments": weighted_moments,
}
