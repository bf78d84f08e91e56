"""Functions of `tf.nn`: activations, layers and dropout, built of the ops TensorFlow builds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real

import numpy as np

from gradstep.core.graph.dtypes import Shape
from gradstep.core.ops.api.tf_creation import alike, constant, ints
from gradstep.core.ops.api.tf_random import random_uniform
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call
from gradstep.core.ops.typing.static_values import shape_of


def leaky_relu(features: TensorLike, alpha: float = 0.2, name: str | None = None) -> Tensor:
    features = constant(features)
    if features.dtype.is_integer:
        features = call("Cast", features, DstT="float32")
    return call("LeakyRelu", features, alpha=float(alpha), name=name)


def crelu(features: TensorLike, name: str | None = None, axis: int = -1) -> Tensor:
    """Both the positive and the negative part, one behind the other along an axis."""
    features = constant(features)
    with builder_of((features,)).scope(name or "CRelu") as scope:
        both = call("ConcatV2", features, -features, np.array(axis, np.int32), name=f"{scope}/")
        return call("Relu", both)


def swish(features: TensorLike, beta: TensorLike = 1.0) -> Tensor:
    """features * sigmoid(beta * features). TensorFlow's carries its gradient in an IdentityN; it
    is the one that follows from these ops."""
    x = constant(features)
    factor = _converted(beta, x)
    return x * call("Sigmoid", factor * x)


def gelu(features: TensorLike, approximate: bool = False, name: str | None = None) -> Tensor:
    x = constant(features)
    if not x.dtype.is_floating:
        raise ValueError(
            "`features.dtype` must be a floating point tensor."
            f"Received:features.dtype={x.dtype.value}"
        )
    with builder_of((x,)).scope(name or "Gelu"):
        if not approximate:
            return 0.5 * x * call("Erfc", -x * _converted(0.7071067811865476, x))
        cubed = x + _converted(0.044715, x) * x**3
        return 0.5 * x * (1.0 + call("Tanh", 0.7978845608028654 * cubed))


def _converted(value: TensorLike, x: Tensor) -> Tensor:
    """A number in float32 first, as TensorFlow reads it, and then in the element type of `x`."""
    number = constant(value)
    return number if number.dtype is x.dtype else call("Cast", number, DstT=x.dtype)


def xw_plus_b(
    x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> Tensor:
    with builder_of((x, weights, biases)).scope(name or "xw_plus_b") as scope:
        product = call("MatMul", constant(x), constant(weights))
        return call("BiasAdd", product, constant(biases), name=f"{scope}/")


def relu_layer(
    x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None
) -> Tensor:
    with builder_of((x, weights, biases)).scope(name or "relu_layer") as scope:
        product = call("MatMul", constant(x), constant(weights))
        return call("Relu", call("BiasAdd", product, constant(biases)), name=f"{scope}/")


def local_response_normalization(
    input: TensorLike,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    attrs = {"bias": float(bias), "alpha": float(alpha), "beta": float(beta)}
    return call("LRN", constant(input), depth_radius=depth_radius, **attrs, name=name)


def fake_quant_with_min_max_args(
    inputs: TensorLike,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:
    return call(
        "FakeQuantWithMinMaxArgs",
        constant(inputs),
        min=float(min),
        max=float(max),
        num_bits=num_bits,
        narrow_range=narrow_range,
        name=name,
    )


def _along(op_type: str) -> Callable[..., Tensor]:
    def function(
        logits: TensorLike,
        axis: int | None = None,
        name: str | None = None,
        dim: int | None = None,
    ) -> Tensor:
        logits = constant(logits)
        axis = one_of("axis", axis, "dim", dim, -1)
        if axis in (-1, (logits.shape.rank or 0) - 1):
            return call(op_type, logits, name=name)
        order = _swapped(axis, logits.shape.rank)
        turned = call(op_type, call("Transpose", logits, order))
        return call("Transpose", turned, order, name=name)

    function.__name__ = op_type
    function.__doc__ = f"The op {op_type} along `axis`, which is swapped with the last one for it."
    return function


def one_of(name: str, value: int | None, old: str, other: int | None, default: int) -> int:
    """An argument that has two names. Raises ValueError when both are given."""
    if value is not None and other is not None:
        raise ValueError(f"Cannot specify both '{old}' and '{name}'.")
    given = other if value is None else value
    return default if given is None else given


def axis_in(axis: int, rank: int | None) -> int:
    """`axis` counted from the front. Raises ValueError for one that is not there."""
    if rank is None:
        raise ValueError(f"`dim` {axis} needs logits whose number of dimensions is known")
    if not -rank <= axis < rank:
        raise ValueError(
            f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of "
            f"dimensions in the input. Received: dim={axis}"
        )
    return axis % rank


def _swapped(axis: int, rank: int | None) -> np.ndarray:
    place, order = axis_in(axis, rank), list(range(rank or 0))
    order[place], order[-1] = order[-1], order[place]
    return np.array(order, np.int32)


Sizes = TensorLike | Sequence[int | None] | None


def dropout(
    x: TensorLike,
    keep_prob: TensorLike = None,
    noise_shape: Sizes = None,
    seed: int | None = None,
    name: str | None = None,
    rate: TensorLike = None,
) -> Tensor:
    """Each element is 0 with probability `rate`, else divided by 1 - rate."""
    if keep_prob is not None and rate is not None:
        raise ValueError("Cannot specify both 'keep_prob' and 'rate'.")
    rate = 1.0 - keep_prob if keep_prob is not None else rate
    if rate is None:
        raise ValueError(f"`rate` must be provided. Received: rate={rate}")
    whole = constant(x)
    _check_dropout(whole, rate)
    if isinstance(rate, Real) and rate == 0:
        return whole
    builder = builder_of((whole,))
    with builder.as_default(), builder.scope(name or "dropout"):  # a drawn shape is no tensor
        kept = _scaled_up(whole, rate)
        noise = random_uniform(_noise_shape(whole, noise_shape), dtype=whole.dtype, seed=seed)
        keep = call("GreaterEqual", noise, alike(rate, whole))
        return call("SelectV2", keep, kept, alike(0, whole))


def _check_dropout(x: Tensor, rate: TensorLike) -> None:
    if isinstance(rate, Real) and not 0 <= float(rate) < 1:
        raise ValueError(
            f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}"
        )
    if not x.dtype.is_floating:
        raise ValueError(
            "`x.dtype` must be a floating point tensor as `x` will be scaled. "
            f"Received: x_dtype={x.dtype.value}"
        )


def _scaled_up(x: Tensor, rate: TensorLike) -> Tensor:
    if isinstance(rate, Tensor):
        return call("RealDiv", x, call("Sub", alike(1, x), rate))
    return call("Mul", x, alike(1 / (1 - rate), x))


def _noise_shape(x: Tensor, noise_shape: Sizes) -> TensorLike:
    """The shape to draw: None in it means the size of `x`."""
    if noise_shape is None:
        return shape_of(x)
    if isinstance(noise_shape, Tensor) or x.shape.rank != len(noise_shape):
        return ints(noise_shape)
    pairs = zip(noise_shape, x.shape, strict=True)
    sizes = tuple(own if size is None else size for size, own in pairs)
    if None in sizes:
        raise ValueError(
            f"Cannot convert a partially known TensorShape {Shape(sizes)} to a Tensor."
        )
    return ints(sizes)


FUNCTIONS = {
    "crelu": crelu,
    "dropout": dropout,
    "fake_quant_with_min_max_args": fake_quant_with_min_max_args,
    "gelu": gelu,
    "leaky_relu": leaky_relu,
    "local_response_normalization": local_response_normalization,
    "log_softmax": _along("LogSoftmax"),
    "lrn": local_response_normalization,
    "relu_layer": relu_layer,
    "silu": swish,
    "softmax": _along("Softmax"),
    "swish": swish,
    "xw_plus_b": xw_plus_b,
}
