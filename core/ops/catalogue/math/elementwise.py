"""Functions of one tensor, one element at a time."""

from __future__ import annotations

from typing import Any

from core.errors import GradstepError
from core.graph.dtypes import DType, TensorType
from core.ops.builder import OpView, Tensor, call
from core.ops.catalogue.control.flow import copy_to
from core.ops.known import zeros_like
from core.ops.samples import unary
from core.ops.table import InferContext, Sample, op
from core.ops.type_rules import floats, numeric, unref

op(
    "Neg",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="-x",
    infer=numeric(unref),
    ufunc="negative",
    takes_slices=True,
    gradient=lambda op, g: -g,
    samples=unary(),
    python="negative",
    doc="The value with the opposite sign.",
)
op(
    "Abs",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="abs(x)",
    infer=numeric(unref),
    ufunc="absolute",
    gradient=lambda op, g: g * call("Sign", op.inputs[0]),
    samples=unary(0.5),
    python="abs",
    doc="The absolute value.",
    kinks="the derivative at 0 is 0",
)
op(
    "Sign",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="sign(x)",
    infer=numeric(unref),
    ufunc="sign",
    gradient=lambda op, g: zeros_like(op.inputs[0]),
    samples=unary(0.5),
    python="sign",
    doc="-1, 0 or 1, as x is negative, zero or positive.",
    kinks="the derivative is 0 everywhere: zeros, not None",
)
op(
    "Floor",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="floor(x)",
    infer=floats,
    ufunc="floor",
    differentiable=False,
    samples=unary(),
    python="floor",
    doc="The largest whole number that is not above x.",
)
op(
    "Square",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="x * x",
    infer=numeric(unref),
    ufunc="square",
    gradient=lambda op, g: g * (op.inputs[0] * 2.0),
    samples=unary(),
    python="square",
    doc="x times x.",
)
op(
    "Sqrt",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="sqrt(x)",
    infer=floats,
    ufunc="sqrt",
    gradient=lambda op, g: call("SqrtGrad", op.outputs[0], g),
    samples=unary(0.5),
    python="sqrt",
    doc="The square root.",
    kinks="the derivative at 0 is infinite, but a zero gradient stays zero there",
)
op(
    "Rsqrt",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="1 / sqrt(x)",
    infer=floats,
    kernel=lambda xp, x: 1.0 / xp.sqrt(x),
    gradient=lambda op, g: call("RsqrtGrad", op.outputs[0], g),
    samples=unary(0.5),
    python="rsqrt",
    doc="One over the square root.",
)
op(
    "Reciprocal",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="1 / x",
    infer=floats,
    kernel=lambda xp, x: 1.0 / x,
    gradient=lambda op, g: call("ReciprocalGrad", op.outputs[0], g),
    samples=unary(0.5),
    arithmetic="rounded",
    python="reciprocal",
    doc="One over x.",
)
op(
    "Exp",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="exp(x)",
    infer=floats,
    ufunc="exp",
    gradient=lambda op, g: g * op.outputs[0],
    samples=unary(),
    python="exp",
    doc="e to the power of x.",
)
op(
    "Log",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="log(x)",
    infer=floats,
    ufunc="log",
    gradient=lambda op, g: g * call("Reciprocal", op.inputs[0]),
    samples=unary(0.5),
    python="log",
    doc="The natural logarithm.",
)
op(
    "Tanh",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="tanh(x)",
    infer=floats,
    ufunc="tanh",
    gradient=lambda op, g: call("TanhGrad", op.outputs[0], g),
    samples=unary(),
    python="tanh",
    doc="Hyperbolic tangent.",
)


def _sigmoid(xp: Any, x: Any) -> Any:
    if x.dtype.kind == "c":
        return 1.0 / (1.0 + xp.exp(-x))
    # e^-|x| never overflows; both branches have the same denominator.
    small = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, xp.ones_like(small), small) / (1.0 + small)


op(
    "Sigmoid",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="1 / (1 + exp(-x))",
    infer=floats,
    kernel=_sigmoid,
    gradient=lambda op, g: call("SigmoidGrad", op.outputs[0], g),
    samples=unary(),
    python="sigmoid",
    doc="The logistic function.",
)


def _relu_out(xp: Any, x: Any, *, out: Any) -> Any:
    return xp.maximum(x, 0, out=out)


op(
    "Relu",
    inputs="features",
    outputs="activations",
    type_attrs={"T": "features"},
    formula="maximum(features, 0)",
    infer=numeric(unref),
    kernel=lambda xp, x: xp.maximum(x, 0),
    out_kernel=_relu_out,
    gradient=lambda op, g: call("ReluGrad", g, op.outputs[0]),
    samples=unary(0.5),
    arithmetic="exact",
    python="relu",
    doc="The positive part.",
    kinks="the derivative at 0 is 0",
)


def _cast_type(ctx: InferContext) -> TensorType:
    source, target = ctx.types[0].dtype, DType(ctx.attr("DstT"))
    if DType.STRING in (source, target) or DType.RESOURCE in (source, target):
        raise ctx.fail(f"Cast {source.value} to {target.value} is not supported")
    return TensorType(target, ctx.types[0].shape)


def _cast_gradient(op: OpView, g: Tensor) -> Tensor | None:
    source, target = op.inputs[0].dtype, op.outputs[0].dtype
    if not all(kind.is_floating or kind.is_complex for kind in (source, target)):
        return None
    if source.is_complex:  # the other rules do not conjugate
        raise GradstepError(
            f"gradients of {source.value} tensors are not available",
            kind="UnimplementedError",
            hint="stop the gradient there, or override it",
        )
    return call("Cast", g, DstT=source)


def _cast(xp: Any, x: Any, *, DstT: DType) -> Any:  # noqa: N803
    target = DType(DstT).numpy
    if x.dtype.kind == "c" and target.kind in "fiu":
        x = xp.real(x)
    return x.astype(target)


def _cast_out(xp: Any, x: Any, *, DstT: DType, out: Any) -> Any:  # noqa: N803
    return copy_to(xp, _cast(xp, x, DstT=DstT), out=out)


op(
    "Cast",
    inputs="x",
    outputs="y",
    attrs={"DstT": DType, "Truncate": False},
    type_attrs={"SrcT": "x"},
    formula="astype(x, DstT)",
    infer=_cast_type,
    kernel=_cast,
    out_kernel=_cast_out,
    gradient=_cast_gradient,
    samples=lambda rng: [
        Sample((rng.uniform(-2, 2, (2, 3)),), {"DstT": to})
        for to in (DType.FLOAT64, DType.INT32, DType.BOOL)
    ],
    arithmetic="exact",
    doc="The same values in another element type; towards integers, rounded to zero; from complex "
    "numbers, the real part.",
    differs="no gradient flows back into complex tensors",
    kinks="None through any integer or boolean type",
)
