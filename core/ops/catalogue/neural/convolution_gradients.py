"""The gradients of convolutions: of the input (transposed convolution) and of the filter."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.catalogue.neural.convolution import conv_samples, volume_samples
from gradstep.core.ops.catalogue.neural.convolution_kernels import (
    filter_gradient,
    filter_kernels,
    input_gradient,
    input_kernels,
)
from gradstep.core.ops.catalogue.neural.convolution_types import (
    Method,
    filter_type,
    input_type,
    out_sizes,
)
from gradstep.core.ops.catalogue.neural.grouped_convolution import CONV2D, CONV3D
from gradstep.core.ops.catalogue.neural.sliding_windows import Slide, certain
from gradstep.core.ops.catalogue.neural.window_attributes import (
    FORMATS_2D,
    FORMATS_3D,
    PADDINGS,
    PADDINGS_EXPLICIT,
)
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.table import Sample, Samples, op


def _way_back(method: Method, forward: Samples, told: int) -> Samples:
    """Samples of a gradient op from those of its method, with a gradient for the output."""

    def make(rng: np.random.Generator) -> list[Sample]:
        return [_with_gradient(method, rng, sample, told) for sample in forward(rng)]

    return make


def _with_gradient(method: Method, rng: np.random.Generator, sample: Sample, told: int) -> Sample:
    slide = Slide.of(sample.attrs)
    shapes = [x.shape for x in sample.inputs]
    inputs: list[Any] = list(sample.inputs)
    inputs[told] = ints(*shapes[told])
    inputs.append(rng.normal(size=certain(out_sizes(method, slide, *shapes))))
    return Sample(tuple(inputs), sample.attrs)


def input_samples(method: Method, forward: Samples) -> Samples:
    return _way_back(method, forward, 0)


def filter_samples(method: Method, forward: Samples) -> Samples:
    return _way_back(method, forward, 1)


_ATTRS_2D = {
    "strides": tuple,
    "use_cudnn_on_gpu": True,
    "padding": str,
    "explicit_paddings": (),
    "data_format": "NHWC",
    "dilations": (1, 1, 1, 1),
}
_ATTRS_3D = {
    "strides": tuple,
    "padding": str,
    "data_format": "NDHWC",
    "dilations": (1, 1, 1, 1, 1),
}
_CHOICES_2D = {"padding": PADDINGS_EXPLICIT, "data_format": FORMATS_2D}
_CHOICES_3D = {"padding": PADDINGS, "data_format": FORMATS_3D}
_EVERYWHERE = "every format, dilations and groups work everywhere, in TensorFlow only on a GPU"


op(
    "Conv2DBackpropInput",
    inputs="#input_sizes:int32 filter out_backprop",
    attrs=_ATTRS_2D,
    type_attrs={"T": "filter"},
    choices=_CHOICES_2D,
    formula="correlate_to_input(input_sizes, filter, out_backprop, slide)",
    infer=input_type(CONV2D),
    kernel=input_kernels(CONV2D),
    gradient=input_gradient(CONV2D),
    samples=input_samples(CONV2D, conv_samples),
    arithmetic="product",
    doc="The gradient of Conv2D with respect to its input; a transposed convolution.",
    differs=_EVERYWHERE,
)
op(
    "Conv2DBackpropFilter",
    inputs="input #filter_sizes:int32 out_backprop",
    attrs=_ATTRS_2D,
    type_attrs={"T": "input"},
    choices=_CHOICES_2D,
    formula="correlate_to_filter(input, filter_sizes, out_backprop, slide)",
    infer=filter_type(CONV2D),
    kernel=filter_kernels(CONV2D),
    gradient=filter_gradient(CONV2D),
    samples=filter_samples(CONV2D, conv_samples),
    arithmetic="product",
    doc="The gradient of Conv2D with respect to its filter.",
    differs=_EVERYWHERE,
)
op(
    "Conv3DBackpropInputV2",
    inputs="#input_sizes:int32,int64 filter out_backprop",
    attrs=_ATTRS_3D,
    type_attrs={"T": "filter", "Tshape": "input_sizes"},
    choices=_CHOICES_3D,
    formula="correlate_to_input(input_sizes, filter, out_backprop, slide)",
    infer=input_type(CONV3D),
    kernel=input_kernels(CONV3D),
    gradient=input_gradient(CONV3D),
    samples=input_samples(CONV3D, volume_samples),
    arithmetic="product",
    doc="The gradient of Conv3D with respect to its input; a transposed convolution.",
    differs=_EVERYWHERE,
)
op(
    "Conv3DBackpropFilterV2",
    inputs="input #filter_sizes:int32 out_backprop",
    attrs=_ATTRS_3D,
    type_attrs={"T": "input"},
    choices=_CHOICES_3D,
    formula="correlate_to_filter(input, filter_sizes, out_backprop, slide)",
    infer=filter_type(CONV3D),
    kernel=filter_kernels(CONV3D),
    gradient=filter_gradient(CONV3D),
    samples=filter_samples(CONV3D, volume_samples),
    arithmetic="product",
    doc="The gradient of Conv3D with respect to its filter.",
    differs=_EVERYWHERE,
)
