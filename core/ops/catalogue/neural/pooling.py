"""Pooling: one value for each window, the largest or the mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.neural import pooling_kernels
from gradstep.core.ops.catalogue.neural.pooling_rules import given, kernels, pooled
from gradstep.core.ops.catalogue.neural.window_attributes import (
    FORMATS_2D,
    PADDINGS,
    PADDINGS_EXPLICIT,
)
from gradstep.core.ops.declare.table import Sample, op
from gradstep.core.ops.typing.static_values import shape_of


def max_samples(rng: np.random.Generator) -> list[Sample]:
    """Windows side by side, overlapping, with gaps and with padding; both formats; channels."""
    return [
        *mean_samples(rng),
        _sample(
            (1, 4, 3, 1),
            ksize=(1, 2, 3, 1),
            strides=(1, 1, 2, 1),
            padding="EXPLICIT",
            explicit_paddings=(0, 0, 1, 0, 1, 2, 0, 0),
        ),
        _sample((1, 1, 2, 4), ksize=(1, 1, 1, 2), strides=(1, 1, 1, 2), padding="VALID"),
    ]


def mean_samples(rng: np.random.Generator) -> list[Sample]:
    still, twos = (1, 1, 1, 1), (1, 2, 2, 1)
    nchw = {"padding": "SAME", "data_format": "NCHW"}
    return [
        _sample((2, 4, 2, 2), ksize=twos, strides=twos, padding="VALID"),
        _sample((1, 3, 4, 1), ksize=(1, 2, 3, 1), strides=still, padding="SAME"),
        _sample((1, 5, 3, 1), ksize=still, strides=twos, padding="SAME"),
        _sample((1, 2, 3, 3), ksize=(1, 1, 3, 2), strides=(1, 1, 2, 2), **nchw),
    ]


def _sample(shape: tuple[int, ...], **attrs: Any) -> Sample:
    """All values differ by far more than the step of a finite difference. A maximum with EXPLICIT
    padding has no second derivative."""
    size = int(np.prod(shape))
    values = np.random.default_rng(size).permutation(size) / 3.0 - size / 7.0
    return Sample((values.reshape(shape),), attrs, attrs["padding"] != "EXPLICIT")


def _max_gradient(back: str) -> Any:
    def rule(op: OpView, g: Tensor) -> Tensor:
        return call(back, op.inputs[0], op.outputs[0], g, **given(op))

    return rule


def _mean_gradient(back: str) -> Any:
    def rule(op: OpView, g: Tensor) -> Tensor:
        return call(back, shape_of(op.inputs[0]), g, **given(op))

    return rule


_TIES = "where several are the largest, the gradient goes to the first"
_EVERYWHERE = (
    "NCHW works everywhere, which TensorFlow computes on a GPU only; an image smaller than the "
    "window is refused, whenever its size is known"
)

op(
    "MaxPool",
    inputs="input",
    attrs={
        "ksize": tuple,
        "strides": tuple,
        "padding": str,
        "explicit_paddings": (),
        "data_format": "NHWC",
    },
    type_attrs={"T": "input"},
    choices={"padding": PADDINGS_EXPLICIT, "data_format": FORMATS_2D},
    formula="pool(max, input, slide)",
    infer=pooled(maximum=True),
    kernel=kernels(pooling_kernels.largest),
    gradient=_max_gradient("MaxPoolGrad"),
    samples=max_samples,
    arithmetic="exact",
    doc="The largest value of each window; NaN is passed over.",
    kinks=_TIES,
    differs=_EVERYWHERE,
)
op(
    "AvgPool",
    inputs="value",
    attrs={"ksize": tuple, "strides": tuple, "padding": str, "data_format": "NHWC"},
    type_attrs={"T": "value"},
    choices={"padding": PADDINGS, "data_format": FORMATS_2D},
    formula="pool(mean, value, slide)",
    infer=pooled(maximum=False),
    kernel=kernels(pooling_kernels.mean),
    gradient=_mean_gradient("AvgPoolGrad"),
    samples=mean_samples,
    arithmetic="reducing",
    doc="The mean of each window; padding does not count.",
    differs=_EVERYWHERE,
)
