"""Depthwise convolution and its gradients."""

from __future__ import annotations

import numpy as np

from gradstep.core.ops.catalogue.neural.convolution_gradients import filter_samples, input_samples
from gradstep.core.ops.catalogue.neural.convolution_kernels import (
    filter_gradient,
    filter_kernels,
    input_gradient,
    input_kernels,
    out_gradient,
    out_kernels,
)
from gradstep.core.ops.catalogue.neural.convolution_types import filter_type, input_type, out_type
from gradstep.core.ops.catalogue.neural.depthwise_planes import DEPTHWISE
from gradstep.core.ops.catalogue.neural.window_attributes import FORMATS_2D, PADDINGS_EXPLICIT
from gradstep.core.ops.declare.table import Sample, op


def _samples(rng: np.random.Generator) -> list[Sample]:
    def one(image: tuple[int, ...], filter: tuple[int, ...], **attrs: object) -> Sample:
        return Sample((rng.normal(size=image), rng.normal(size=filter)), attrs)

    still, wide = (1, 1, 1, 1), (0, 0, 1, 0, 2, 1, 0, 0)
    return [
        one((2, 3, 2, 2), (3, 2, 2, 1), strides=still, padding="SAME"),
        one((1, 4, 3, 1), (2, 3, 1, 3), strides=(1, 2, 2, 1), padding="VALID"),
        one((1, 2, 3, 2), (2, 2, 2, 2), strides=still, padding="EXPLICIT", explicit_paddings=wide),
        one(
            (1, 2, 4, 3),
            (2, 2, 2, 1),
            strides=still,
            padding="SAME",
            dilations=(1, 1, 2, 2),
            data_format="NCHW",
        ),
    ]


_ATTRS = {
    "strides": tuple,
    "padding": str,
    "explicit_paddings": (),
    "data_format": "NHWC",
    "dilations": (1, 1, 1, 1),
}
_CHOICES = {"padding": PADDINGS_EXPLICIT, "data_format": FORMATS_2D}
_EVERYWHERE = "NCHW and dilations work everywhere, which TensorFlow computes on a GPU only"


op(
    "DepthwiseConv2dNative",
    inputs="input filter",
    attrs=_ATTRS,
    type_attrs={"T": "input"},
    choices=_CHOICES,
    formula="correlate_planes(input, filter, slide)",
    infer=out_type(DEPTHWISE),
    kernel=out_kernels(DEPTHWISE),
    gradient=out_gradient(DEPTHWISE),
    samples=_samples,
    arithmetic="product",
    doc="A convolution of each channel by itself, with one or more filters of its own.",
    differs=_EVERYWHERE,
)
op(
    "DepthwiseConv2dNativeBackpropInput",
    inputs="#input_sizes:int32 filter out_backprop",
    attrs=_ATTRS,
    type_attrs={"T": "filter"},
    choices=_CHOICES,
    formula="correlate_planes_to_input(input_sizes, filter, out_backprop, slide)",
    infer=input_type(DEPTHWISE),
    kernel=input_kernels(DEPTHWISE),
    gradient=input_gradient(DEPTHWISE),
    samples=input_samples(DEPTHWISE, _samples),
    arithmetic="product",
    doc="The gradient of DepthwiseConv2dNative with respect to its input.",
    differs=_EVERYWHERE,
)
op(
    "DepthwiseConv2dNativeBackpropFilter",
    inputs="input #filter_sizes:int32 out_backprop",
    attrs=_ATTRS,
    type_attrs={"T": "input"},
    choices=_CHOICES,
    formula="correlate_planes_to_filter(input, filter_sizes, out_backprop, slide)",
    infer=filter_type(DEPTHWISE),
    kernel=filter_kernels(DEPTHWISE),
    gradient=filter_gradient(DEPTHWISE),
    samples=filter_samples(DEPTHWISE, _samples),
    arithmetic="product",
    doc="The gradient of DepthwiseConv2dNative with respect to its filter.",
    differs=_EVERYWHERE,
)
