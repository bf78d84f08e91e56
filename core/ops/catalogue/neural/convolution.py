"""Convolution of images and volumes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gradstep.core.ops.catalogue.neural.convolution_kernels import out_gradient, out_kernels
from gradstep.core.ops.catalogue.neural.convolution_types import out_type
from gradstep.core.ops.catalogue.neural.grouped_convolution import CONV2D, CONV3D
from gradstep.core.ops.catalogue.neural.window_attributes import (
    FORMATS_2D,
    FORMATS_3D,
    PADDINGS,
    PADDINGS_EXPLICIT,
)
from gradstep.core.ops.declare.table import Sample, op

_Sizes = tuple[int, ...]
_Attrs = Mapping[str, object]


def conv_samples(rng: np.random.Generator) -> list[Sample]:
    """Both formats, every padding, strides, dilations, one tap, few and many channels, groups."""
    one = {"strides": (1, 1, 1, 1)}
    return [
        _sample(rng, (2, 3, 2, 2), (3, 2, 2, 2), {**one, "padding": "SAME"}),
        _sample(rng, (1, 4, 3, 1), (2, 3, 1, 2), {"strides": (1, 2, 1, 1), "padding": "VALID"}),
        _sample(rng, (1, 3, 2, 4), (2, 2, 4, 2), {**one, "padding": "SAME"}),
        _sample(rng, (2, 2, 2, 3), (1, 1, 3, 2), {**one, "padding": "VALID"}),
        _sample(rng, (1, 3, 2, 4), (2, 2, 2, 2), {**one, "padding": "VALID"}),
        _sample(
            rng,
            (1, 3, 3, 1),
            (2, 2, 1, 2),
            {**one, "padding": "EXPLICIT", "explicit_paddings": (0, 0, 1, 0, 2, 1, 0, 0)},
        ),
        _sample(
            rng,
            (1, 2, 4, 3),
            (3, 2, 2, 1),
            {
                "strides": (1, 1, 2, 1),
                "padding": "SAME",
                "dilations": (1, 1, 1, 2),
                "data_format": "NCHW",
            },
        ),
    ]


def volume_samples(rng: np.random.Generator) -> list[Sample]:
    one = {"strides": (1, 1, 1, 1, 1)}
    strided = {"strides": (1, 1, 2, 1, 1), "padding": "VALID", "data_format": "NCDHW"}
    return [
        _sample(rng, (1, 2, 3, 2, 2), (2, 2, 1, 2, 2), {**one, "padding": "SAME"}),
        _sample(rng, (1, 1, 4, 2, 3), (2, 1, 2, 1, 2), strided),
    ]


def _sample(rng: np.random.Generator, image: _Sizes, filter: _Sizes, attrs: _Attrs) -> Sample:
    return Sample((rng.normal(size=image), rng.normal(size=filter)), attrs)


op(
    "Conv2D",
    inputs="input filter",
    attrs={
        "strides": tuple,
        "use_cudnn_on_gpu": True,
        "padding": str,
        "explicit_paddings": (),
        "data_format": "NHWC",
        "dilations": (1, 1, 1, 1),
    },
    type_attrs={"T": "input"},
    choices={"padding": PADDINGS_EXPLICIT, "data_format": FORMATS_2D},
    formula="correlate(input, filter, slide)",
    infer=out_type(CONV2D),
    kernel=out_kernels(CONV2D),
    gradient=out_gradient(CONV2D),
    samples=conv_samples,
    arithmetic="product",
    doc="At every place of an image, the products of a window and each filter added up.",
    differs="NCHW, and gradients with dilations or groups, work everywhere, in TensorFlow on a GPU "
    "only; an image smaller than the window is refused, whenever its size is known",
)
op(
    "Conv3D",
    inputs="input filter",
    attrs={
        "strides": tuple,
        "padding": str,
        "data_format": "NDHWC",
        "dilations": (1, 1, 1, 1, 1),
    },
    type_attrs={"T": "input"},
    choices={"padding": PADDINGS, "data_format": FORMATS_3D},
    formula="correlate(input, filter, slide)",
    infer=out_type(CONV3D),
    kernel=out_kernels(CONV3D),
    gradient=out_gradient(CONV3D),
    samples=volume_samples,
    arithmetic="product",
    doc="Conv2D for volumes: a window of three axes slides along three.",
    differs="NCDHW and dilations, which TensorFlow computes on a GPU only, work everywhere; with "
    "padding SAME and strides larger than the window, its CPU starts further inside",
)
