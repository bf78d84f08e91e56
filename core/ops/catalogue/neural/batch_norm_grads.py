"""The ops that carry gradients back through batch normalization, and their own gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.neural.batch_norm import (
    WIDER,
    channels_of,
    check_element_types,
    images,
)
from gradstep.core.ops.catalogue.neural.batch_norm_kernels import gradient_kernels
from gradstep.core.ops.catalogue.neural.image_channels import (
    FORMATS,
    FORMATS_3D,
    align_channels_tensor,
    check_size,
    other_axes,
)
from gradstep.core.ops.declare.float_attributes import single
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import merge_shapes
from gradstep.core.ops.typing.static_values import zeros_like


def _gradients(ctx: InferContext) -> tuple[TensorType, ...]:
    dtype, vectors = ctx.types[0].dtype, ctx.types[2].dtype
    images(ctx, 0)
    x = merge_shapes(ctx, images(ctx, 1), ctx.types[0].shape)
    for kind in ctx.types[2:]:
        check_element_types(ctx, ctx.types[1].dtype, kind.dtype)
    channels, form = channels_of(ctx, x), ctx.attr("data_format")
    if not ctx.attr("is_training") and form.startswith("NC"):
        raise ctx.fail(
            f"The implementation of {ctx.op.type} with is_training=False only support NHWC tensor "
            "format for now.",
            hint="transpose the images before and after it",
        )
    for index, name in enumerate(("scale", "reserve_space_1", "reserve_space_2"), 2):
        dims = ctx.types[index].shape.dims
        check_size(name, dims[0] if dims else None, channels)
    vector, empty = TensorType(vectors, Shape.of(channels)), TensorType(vectors, Shape.of(0))
    return TensorType(dtype, x), vector, vector, empty, empty


@dataclass(frozen=True)
class _Images:
    """How means and sums over all but the channels are taken of this op's images."""

    form: str
    rank: int
    wide: DType

    @property
    def axes(self) -> np.ndarray:
        return np.array(other_axes(self.form, self.rank), np.int32)

    def mean(self, x: Tensor) -> Tensor:
        return call("Mean", x, self.axes, keep_dims=True)

    def sum(self, x: Tensor) -> Tensor:
        return call("Sum", x, self.axes)

    def lined(self, vector: Tensor) -> Tensor:
        return align_channels_tensor(vector, self.form, self.rank)

    def widened(self, x: Tensor) -> Tensor:
        """float16 is too imprecise: TensorFlow, too, calculates in float32 there."""
        return x if x.dtype is self.wide else call("Cast", x, DstT=self.wide)


Terms = list[Tensor]


def _second(
    op: OpView, to_x: Tensor | None, to_scale: Tensor | None, to_offset: Tensor | None, *_: Any
) -> list[Tensor | None]:
    """Of the same formulas that TensorFlow differentiates, written out: a gradient for y_backprop,
    x and scale from those of x_backprop, scale_backprop and offset_backprop."""
    grad, x, scale = op.inputs[:3]
    form = op.get_attr("data_format")
    how = _Images(form, x.shape.rank or len(form), scale.dtype)
    a, pixels = how.widened(grad), how.widened(x)
    b, s, o = (_given(g) for g in (to_x, to_scale, to_offset))
    b = b if b is None else how.widened(b)
    rule = _second_in_training if op.get_attr("is_training") else _second_in_use
    for_grad, for_x, for_scale = rule(op, how, a, pixels, b, s)
    if o is not None:
        for_grad = [*(for_grad or [zeros_like(a)]), how.lined(o)]
    results = [_total(for_grad, grad), _total(for_x, x), _total(for_scale, scale)]
    return [*results, *[None] * (len(op.inputs) - 3)]


def _second_in_training(
    op: OpView, how: _Images, a: Tensor, x: Tensor, b: Tensor | None, s: Tensor | None
) -> tuple[Terms, Terms, Terms]:
    for_grad: Terms = []
    for_x: Terms = []
    for_scale: Terms = []
    centred = x - how.mean(x)
    root = _root(how.mean(call("Square", centred)), op)
    unit = centred * root
    a_centred = a - how.mean(a)
    a_unit = how.mean(a * unit)
    if b is not None:
        scaled = how.lined(op.inputs[2]) * root
        b_centred = b - how.mean(b)
        b_unit = how.mean(b * unit)
        bent = unit * (how.mean(b * a_centred) - 3.0 * a_unit * b_unit)
        for_grad.append(scaled * (b_centred - unit * b_unit))
        for_x.append(-scaled * root * (bent + a_centred * b_unit + b_centred * a_unit))
        for_scale.append(how.sum(b * root * (a_centred - unit * a_unit)))
    if s is not None:
        lined = how.lined(s)
        for_grad.append(lined * unit)
        for_x.append(lined * root * (a_centred - unit * a_unit))
    return for_grad, for_x, for_scale


def _second_in_use(
    op: OpView, how: _Images, a: Tensor, x: Tensor, b: Tensor | None, s: Tensor | None
) -> tuple[Terms, Terms, Terms]:
    for_grad: Terms = []
    for_x: Terms = []
    for_scale: Terms = []
    root = _root(how.lined(op.inputs[4]), op)
    if b is not None:
        for_grad.append(b * how.lined(op.inputs[2]) * root)
        for_scale.append(how.sum(b * a * root))
    if s is not None:
        lined = how.lined(s) * root
        for_grad.append(lined * (x - how.lined(op.inputs[3])))
        for_x.append(lined * a)
    return for_grad, for_x, for_scale


def _root(variance: Tensor, op: OpView) -> Tensor:
    return call("Rsqrt", variance + single(op.get_attr("epsilon")))


def _given(gradient: Tensor | None) -> Tensor | None:
    """None, too, for the zeros that stand for it."""
    return None if gradient is None or gradient.op.type == "ZerosLike" else gradient


def _total(terms: Terms, like: Tensor) -> Tensor:
    """The sum in the element type of `like`."""
    if not terms:
        return zeros_like(like)
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total if total.dtype is like.dtype else call("Cast", total, DstT=like.dtype)


def _samples(reserved: int) -> Any:
    def case(rng: np.random.Generator, shape: tuple[int, ...], channels: int, **attrs: Any) -> Any:
        vectors = [rng.uniform(0.5, 2, channels) for _ in range(3)]
        pair = rng.normal(size=shape), rng.normal(size=shape)
        # The reserve spaces follow from x, which differences of x alone would not know.
        return Sample((*pair, *vectors, *[np.zeros(0)] * reserved), attrs, differentiable=False)

    return lambda rng: [
        case(rng, (2, 2, 1, 3), 3),
        case(rng, (2, 2, 1, 2), 2, data_format="NCHW", epsilon=0.5),
        case(rng, (2, 1, 2, 2), 2, is_training=False),
    ]


_WHOLE: dict[str, Any] = {
    "attrs": {"epsilon": 0.0001, "data_format": "NHWC", "is_training": True},
    "formula": "batch_norm_grad(y_backprop, x, scale, reserve_space_1, reserve_space_2, epsilon, "
    "data_format, is_training)",
    "infer": _gradients,
    "kernel": gradient_kernels(),
    "gradient": _second,
    "kinks": "its own gradients go to y_backprop, x and scale; in training they take the reserve "
    "spaces for what they are, functions of x",
    "differs": f"{WIDER}; its own second derivatives are the true ones, TensorFlow's leave out "
    "that the mean follows from x",
}
_INPUTS = "y_backprop x:y_backprop scale reserve_space_1 reserve_space_2"
_OUTPUTS = "x_backprop scale_backprop offset_backprop"

op(
    "FusedBatchNormGrad",
    inputs=_INPUTS,
    outputs=f"{_OUTPUTS} reserve_space_3 reserve_space_4",
    type_attrs={"T": "y_backprop"},
    choices={"data_format": FORMATS},
    samples=_samples(0),
    doc="The gradient of FusedBatchNorm to x, scale and offset, from the gradient of y.",
    **_WHOLE,
)
op(
    "FusedBatchNormGradV2",
    inputs=_INPUTS,
    outputs=f"{_OUTPUTS} reserve_space_3 reserve_space_4",
    type_attrs={"T": "y_backprop", "U": "reserve_space_1"},
    choices={"data_format": FORMATS},
    samples=_samples(0),
    doc="The gradient of FusedBatchNormV2 to x, scale and offset, from the gradient of y.",
    **_WHOLE,
)
op(
    "FusedBatchNormGradV3",
    inputs=f"{_INPUTS} reserve_space_3",
    outputs=f"{_OUTPUTS} reserve_space_4 reserve_space_5",
    type_attrs={"T": "y_backprop", "U": "reserve_space_1"},
    choices={"data_format": FORMATS_3D},
    samples=_samples(1),
    doc="The gradient of FusedBatchNormV3 to x, scale and offset, from the gradient of y.",
    **_WHOLE,
)
