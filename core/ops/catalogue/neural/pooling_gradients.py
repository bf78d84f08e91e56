"""The gradients of pooling, and theirs."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.neural import pooling_kernels
from gradstep.core.ops.catalogue.neural.pooling import max_samples, mean_samples
from gradstep.core.ops.catalogue.neural.pooling_rules import (
    MAX_AGAIN,
    MAX_BACK,
    MEAN_BACK,
    given,
    max_again_type,
    max_back_type,
    mean_back_type,
)
from gradstep.core.ops.catalogue.neural.pooling_windows import Pool
from gradstep.core.ops.catalogue.neural.sliding_windows import certain
from gradstep.core.ops.catalogue.neural.window_attributes import (
    FORMATS_2D,
    PADDINGS,
    PADDINGS_EXPLICIT,
)
from gradstep.core.ops.declare.parted_calls import make_calls
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.table import Sample, Samples, op
from gradstep.core.ops.typing.static_values import zeros_like


def _with_output(type: str, forward: Samples, again: bool = False) -> Samples:
    """Samples of a gradient op: the input, what pooling makes of it, and a gradient for that (or,
    for the gradient's gradient, for the input)."""

    def make(rng: np.random.Generator) -> list[Sample]:
        found = []
        for sample in forward(rng):
            (x,), pool = sample.inputs, Pool(type, sample.attrs, depth=True)
            y = np.empty(certain(pool.out_sizes(x.shape)))
            make_calls(pooling_kernels.largest(np, x, pool.axes(x.shape), y, np.empty), np.empty)
            grad = rng.normal(size=x.shape if again else y.shape)
            if not (again and sample.attrs["padding"] == "EXPLICIT"):
                found.append(Sample((x, y, grad), sample.attrs, sample.differentiable))
        return found

    return make


def _with_sizes(type: str, forward: Samples) -> Samples:
    def make(rng: np.random.Generator) -> list[Sample]:
        found = []
        for sample in forward(rng):
            (x,), pool = sample.inputs, Pool(type, sample.attrs, depth=False)
            grad = rng.normal(size=certain(pool.out_sizes(x.shape)))
            found.append(Sample((ints(*x.shape), grad), sample.attrs))
        return found

    return make


def _back_gradient(again: str) -> Any:
    """Of `back(orig_input, orig_output, grad)`: which element is the largest does not change."""

    def rule(op: OpView, g: Tensor) -> list[Tensor]:
        x, y, _ = op.inputs
        attrs = {k: v for k, v in given(op).items() if k != "explicit_paddings"}
        return [zeros_like(x), zeros_like(y), call(again, x, y, g, **attrs)]

    return rule


def _mean_gradient(forward: str) -> Any:
    return lambda op, g: [None, call(forward, g, **given(op))]


_KINKS = "zeros for orig_input and orig_output: which element is the largest does not change"
_FIRST = "NCHW and windows over channels work everywhere, which TensorFlow computes on a GPU only"
_ATTRS: dict[str, Any] = {
    "ksize": tuple,
    "strides": tuple,
    "padding": str,
    "data_format": "NHWC",
}
_CHOICES = {"padding": PADDINGS, "data_format": FORMATS_2D}

op(
    "MaxPoolGrad",
    inputs="orig_input orig_output grad",
    attrs={**_ATTRS, "explicit_paddings": ()},
    type_attrs={"T": "grad"},
    choices={**_CHOICES, "padding": PADDINGS_EXPLICIT},
    formula="pool_max_back(orig_input, grad, slide)",
    infer=max_back_type,
    kernel=MAX_BACK,
    gradient=_back_gradient("MaxPoolGradGrad"),
    samples=_with_output("MaxPool", max_samples),
    arithmetic="reducing",
    doc="The gradient of MaxPool: each window's goes to the first of its largest values.",
    kinks=_KINKS + "; with padding EXPLICIT there is no second derivative, as in TensorFlow",
    differs=_FIRST,
)
op(
    "MaxPoolGradGrad",
    inputs="orig_input orig_output grad",
    attrs=_ATTRS,
    type_attrs={"T": "grad"},
    choices=_CHOICES,
    formula="pool_at(orig_input, grad, slide)",
    infer=max_again_type,
    kernel=MAX_AGAIN,
    gradient=_back_gradient("MaxPoolGrad"),
    samples=_with_output("MaxPool", max_samples, again=True),
    arithmetic="exact",
    doc="The gradient of MaxPoolGrad: what `grad` has where each window's largest value is.",
    kinks=_KINKS,
    differs=_FIRST,
)
op(
    "AvgPoolGrad",
    inputs="#orig_input_shape:int32 grad",
    attrs=_ATTRS,
    type_attrs={"T": "grad"},
    choices=_CHOICES,
    formula="pool_mean_back(orig_input_shape, grad, slide)",
    infer=mean_back_type,
    kernel=MEAN_BACK,
    gradient=_mean_gradient("AvgPool"),
    samples=_with_sizes("AvgPool", mean_samples),
    arithmetic="reducing",
    doc="The gradient of AvgPool: each window's is shared out among its elements.",
    differs="NCHW works everywhere, which TensorFlow computes on a GPU only; a gradient of another "
    "shape than the output's is refused",
)
