"""Cross-entropy of labels against the softmax of logits; classes are the last axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.neural.softmax import LAST, largest_calls, powers_of, sum_calls
from gradstep.core.ops.declare.declared_gradient import Defect, Gradient
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.shape_rules import broadcast_shapes, one_dtype
from gradstep.core.ops.declare.system_rules import TF_CPU, OutOfRange, Rules
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import real_floating, wrong_type
from gradstep.core.ops.declare.ufunc import Calls
from gradstep.core.ops.numerics.fused_functions import fused
from gradstep.core.ops.numerics.index_bounds import check, fill_outside


def _brief(shape: Shape) -> str:
    """As TensorFlow's kernels write a shape: [2,3]."""
    return str(shape).replace(" ", "")


def _loss_and_backprop(ctx: InferContext) -> tuple[TensorType, TensorType]:
    dtype = one_dtype(ctx)
    features, labels = ctx.types[0].shape, ctx.types[1].shape
    try:
        shape = broadcast_shapes(features, labels)
    except ValueError:
        raise ctx.fail(
            "logits and labels must be broadcastable: "
            f"logits_size={_brief(features)} labels_size={_brief(labels)}",
            hint="both want one row of classes for each example",
        ) from None
    if shape.rank == 0:
        raise ctx.fail("logits and labels need a last axis of classes, not scalars")
    loss = UNKNOWN if shape.dims is None else Shape(shape.dims[:-1])
    return TensorType(dtype, loss), TensorType(dtype, shape)


def _cross_entropy(xp: Any, features: Any, labels: Any) -> Any:
    if features.shape[-1:] != labels.shape[-1:]:  # a broadcast class counts as often as it stands
        features = features + xp.zeros_like(labels)
    below, powers, total = powers_of(xp, features)
    losses, backprop = _losses(xp, below, powers, total, labels)
    return xp.sum(losses, axis=-1), backprop


@fused
def _losses(xp: Any, below: Any, powers: Any, total: Any, labels: Any) -> tuple[Any, Any]:
    """Of each class. A label of 0 leaves its class out, even where the logit is -inf."""
    lost = xp.where(labels == 0, xp.zeros_like(labels), labels * (xp.log(total) - below))
    return lost, powers / total - labels


def _cross_entropy_calls(xp: Any, features: Any, labels: Any, *, out: Any, room: Any) -> Calls:
    losses, backprop = out
    if xp is not np or features.shape != labels.shape or features.size == 0:
        yield _put, xp, features, labels, out
        return
    row, dtype = (*features.shape[:-1], 1), features.dtype
    below, top, total = room(features.shape, dtype), room(row, dtype), room(row, dtype)
    unlabelled = room(labels.shape, np.dtype(bool))
    zero = np.zeros((), dtype)
    yield from largest_calls(features, top, room)
    yield np.subtract, features, top, below
    yield np.exp, below, backprop
    yield from sum_calls(backprop, total[..., 0])
    yield np.log, total, top
    yield np.subtract, top, below, below
    yield np.multiply, labels, below, below
    yield np.equal, labels, zero, unlabelled
    yield np.copyto, below, zero, "same_kind", unlabelled
    yield from sum_calls(below, losses)
    yield np.divide, backprop, total, backprop
    yield np.subtract, backprop, labels, backprop


def _put(xp: Any, features: Any, labels: Any, out: Any) -> None:
    for place, value in zip(out, _cross_entropy(xp, features, labels), strict=True):
        place[...] = value


def _to_logits(op: OpView, column: Tensor, g_backprop: Tensor | None) -> Tensor:
    """The gradient of the logits, through `backprop`, which the forward op has made already; the
    term for a gradient of `backprop` itself only where there is one (second derivatives)."""
    to_logits = column * op.outputs[1]
    if g_backprop is None or g_backprop.op.type == "ZerosLike":
        return to_logits
    y = call("Softmax", op.inputs[0])
    inner = call("Sum", g_backprop * y, LAST, keep_dims=True)
    return to_logits + (g_backprop - inner) * y


def _column(g_loss: Tensor) -> Tensor:
    return call("ExpandDims", g_loss, np.array(-1, np.int32))


def _cross_entropy_gradient(
    op: OpView, g_loss: Tensor, g_backprop: Tensor | None
) -> tuple[Tensor, Tensor]:
    column = _column(g_loss)
    to_labels = column * -call("LogSoftmax", op.inputs[0])
    return _to_logits(op, column, g_backprop), to_labels


def _with_labels(rng: np.random.Generator) -> list[Sample]:
    found = []
    for shape in ((3,), (2, 3), (2, 2, 3)):
        labels = rng.uniform(0.1, 1, shape)
        found.append(Sample((rng.normal(size=shape), labels / labels.sum(-1, keepdims=True))))
    spread = [((2, 3), (1, 3)), ((1, 3), (2, 3)), ((2, 1), (2, 3)), ((3,), (2, 3))]
    for logits, labels_shape in spread:
        values = rng.normal(size=logits), np.full(labels_shape, 1 / 3)
        found.append(Sample(values, differentiable=False))
    return found


op(
    "SoftmaxCrossEntropyWithLogits",
    inputs="features labels",
    outputs="loss backprop",
    type_attrs={"T": "features"},
    formula="sum(labels * (log(sum(exp(features + 0 * labels), -1, keepdims=True)) - features), "
    "-1)",
    infer=real_floating(_loss_and_backprop),
    kernel=Kernels(_cross_entropy, calls=_cross_entropy_calls),
    gradient=Gradient(
        _cross_entropy_gradient,
        defects=(
            Defect(
                "labels",
                "what arrives at backprop, softmax(features) - labels, is passed on to the "
                "features alone",
                "nn_grad.py, _SoftmaxCrossEntropyWithLogitsGrad; recorded from TensorFlow 2.21",
                order=2,
            ),
        ),
    ),
    samples=_with_labels,
    causes=Causes(flat="fitted"),
    doc="The cross-entropy of labels against the softmax of features, and its derivative to them.",
    kinks="where logits and labels are broadcast against each other, the gradients have the shape "
    "of the result, and so do not fit what was broadcast",
    differs="takes any rank from 1, TensorFlow's only 2; the derivative to the features assumes "
    "labels that sum to 1, as TensorFlow's does",
)


def _misfit(features: Shape, labels: Shape) -> GradstepError | None:
    """What is wrong with these shapes, in the words of TensorFlow's kernel."""
    rows, classes = features.dims if features.rank == 2 and features.dims else (None, None)
    message = ""
    if features.rank not in (None, 2):
        message = f"logits must be 2-D, but got shape {_brief(features)}"
    elif labels.rank not in (None, 1):
        message = f"labels must be 1-D, but got shape {_brief(labels)}"
    elif labels.dims and None not in (rows, labels.dims[0]) and rows != labels.dims[0]:
        message = (
            "logits and labels must have the same first dimension, got logits shape "
            f"{_brief(features)} and labels shape {_brief(labels)}"
        )
    elif classes == 0:
        message = f"Must have at least one class, but got logits shape {_brief(features)}"
    hint = "logits [rows, classes], labels [rows]; tf.nn's function takes other ranks"
    return GradstepError(message, hint=hint) if message else None


def _sparse_types(ctx: InferContext) -> tuple[TensorType, TensorType]:
    features, labels = ctx.types
    if not features.dtype.is_floating:
        raise wrong_type(ctx, features.dtype, "real floating-point logits")
    if labels.dtype not in (DType.INT32, DType.INT64):
        raise wrong_type(ctx, labels.dtype, "labels of int32 or int64")
    error = _misfit(features.shape, labels.shape)
    if error is not None:
        raise ctx.fail(error.message, error.hint)
    matrix = features.shape if features.shape.dims is not None else Shape.of(None, None)
    vector = labels.shape if labels.shape.dims is not None else Shape.of(None)
    rows = Shape((matrix.dims or (None,))[:1]).merge(vector)
    backprop = Shape((*rows, *(matrix.dims or (None, None))[1:]))
    return TensorType(features.dtype, rows), TensorType(features.dtype, backprop)


def _sparse(xp: Any, features: Any, labels: Any, *, rules: Rules = TF_CPU) -> Any:
    error = _misfit(Shape(features.shape), Shape(labels.shape))
    if error is not None:
        raise error
    classes = features.shape[-1]
    outside = (labels < 0) | (labels >= classes)
    if rules.gather is OutOfRange.RAISE:
        check(xp, outside, lambda place: _bad_label(labels, classes))
        outside = None
    below, powers, total = powers_of(xp, features)
    hit = xp.arange(classes) == labels[:, None]
    losses, backprop = _losses_at(xp, below, powers, total, hit)
    loss = xp.sum(losses, axis=-1)
    return fill_outside(xp, loss, outside, np.nan), fill_outside(xp, backprop, outside, np.nan)


@fused
def _losses_at(xp: Any, below: Any, powers: Any, total: Any, hit: Any) -> tuple[Any, Any]:
    """Of each class, where it is the one that is hit."""
    lost = xp.where(hit, xp.log(total) - below, xp.zeros_like(below))
    return lost, powers / total - hit.astype(below.dtype)


def _bad_label(labels: Any, classes: int) -> GradstepError:
    """Names the least label where one is negative, else the greatest, as TensorFlow does."""
    values = labels.tolist()
    worst = min(values) if min(values) < 0 else max(values)
    return GradstepError(
        f"Received a label value of {worst} which is outside the valid range of [0, {classes}).  "
        f"Label values: {' '.join(map(str, values))}",
        index=(values.index(worst),),
        hint=f"labels number the classes from 0 to {classes - 1}; a GPU gives a NaN row instead",
    )


def _sparse_gradient(
    op: OpView, g_loss: Tensor, g_backprop: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    return _to_logits(op, _column(g_loss), g_backprop), None


def _class_numbers(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((rng.normal(size=(3, 4)), np.array([3, 0, 1], np.int32))),
        Sample((rng.normal(size=(2, 2)), np.array([1, 1], np.int64))),
        Sample((np.zeros((0, 2)), np.zeros(0, np.int64))),
    ]


op(
    "SparseSoftmaxCrossEntropyWithLogits",
    inputs="features labels",
    outputs="loss backprop",
    type_attrs={"T": "features", "Tlabels": "labels"},
    formula="log(sum(exp(features), -1)) - features[arange(labels.size), labels]",
    infer=_sparse_types,
    kernel=_sparse,
    gradient=_sparse_gradient,
    samples=_class_numbers,
    causes=Causes(flat="fitted"),
    doc="The cross-entropy of one class number a row against the softmax of features, and its "
    "derivative to them.",
    kinks="the labels have no gradient; a label that is no class is an error on the CPU, and a "
    "row of NaN on a GPU",
)
