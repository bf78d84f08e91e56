"""Functions of `tf.nn` that pool; their numbers and paddings are those of convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradstep.core.ops.api.tf_convolutions import (
    Numbers,
    Padding,
    chosen,
    padding_attributes,
    sequence,
)
from gradstep.core.ops.build.tensor import Tensor, TensorLike, call, call_many


def _pool(
    type: str,
    value: TensorLike,
    ksize: Numbers,
    strides: Numbers,
    padding: Padding,
    data_format: str | None,
    name: str | None,
) -> Tensor:
    given = data_format or "NHWC"
    attrs = {
        "ksize": sequence(ksize, 2, given, "ksize"),
        "strides": sequence(strides, 2, given, "strides"),
        "data_format": given,
        **padding_attributes(padding),
    }
    return call(type, value, **attrs, name=name)


def max_pool(
    value: TensorLike = None,
    ksize: Numbers = None,
    strides: Numbers = None,
    padding: Padding = "VALID",
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike = None,
) -> Tensor:
    image = chosen("'input' and 'value'", value, input)
    return _pool("MaxPool", image, ksize, strides, padding, data_format, name)


def avg_pool(
    value: TensorLike = None,
    ksize: Numbers = None,
    strides: Numbers = None,
    padding: str = "VALID",
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike = None,
) -> Tensor:
    image = chosen("'input' and 'value'", value, input)
    return _pool("AvgPool", image, ksize, strides, padding, data_format, name)


def max_pool_with_argmax(
    input: TensorLike,
    ksize: Numbers,
    strides: Numbers,
    padding: str,
    data_format: str = "NHWC",
    Targmax: str = "int64",  # noqa: N803
    name: str | None = None,
    include_batch_in_index: bool = False,
) -> tuple[Tensor, ...]:
    """The largest values, and where each is in the flattened image."""
    if data_format != "NHWC":
        raise ValueError("`data_format` values other than 'NHWC' are not supported")
    return call_many(
        "MaxPoolWithArgmax",
        input,
        ksize=sequence(ksize, 2, data_format, "ksize"),
        strides=sequence(strides, 2, data_format, "strides"),
        padding=padding,
        Targmax=Targmax,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "avg_pool": avg_pool,
    "max_pool": max_pool,
    "max_pool_with_argmax": max_pool_with_argmax,
}
