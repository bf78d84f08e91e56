"""Batch normalization in one op, as it is trained and as it is used, in TensorFlow's versions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import SCALAR, DType, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call, call_many
from gradstep.core.ops.catalogue.neural.batch_norm_kernels import normalize_kernels, when_needed
from gradstep.core.ops.catalogue.neural.image_channels import (
    FORMATS,
    FORMATS_3D,
    channel_axis,
    check_size,
)
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import merge_shapes, want_rank, wrong_type

WIDER = "takes float64, too, which TensorFlow's do not"


def images(ctx: InferContext, index: int) -> Shape:
    """The shape of input `index`, images of 2 or 3 dimensions with channels."""
    shape = ctx.types[index].shape
    if shape.rank not in (None, 4, 5):
        raise ctx.fail(
            f"input must be 4 or 5-dimensional{str(shape).replace(' ', '')}",
            hint="batch, height, width and channels; reshape a matrix to [rows, 1, 1, columns]",
        )
    return shape


def channels_of(ctx: InferContext, shape: Shape) -> int | None:
    if shape.dims is None:
        return None
    return shape.dims[channel_axis(ctx.attr("data_format"), len(shape.dims))]


def check_element_types(ctx: InferContext, x: DType, vectors: DType) -> None:
    """float16 and bfloat16 images are normalized with float32 vectors; others with their own."""
    if not x.is_floating:
        raise wrong_type(ctx, x, "real floating-point images")
    half = x.is_short and ctx.op.type not in ("FusedBatchNorm", "FusedBatchNormGrad")
    wanted = DType.FLOAT32 if half else x
    if vectors is not wanted:
        raise wrong_type(ctx, vectors, f"{wanted.value} vectors with {x.value} images")


def _vector_size(ctx: InferContext, index: int) -> int | None:
    want_rank(ctx, index, 1)
    dims = ctx.types[index].shape.dims
    return dims[0] if dims else None


def _normalized(ctx: InferContext) -> tuple[TensorType, ...]:
    x = images(ctx, 0)
    vectors = ctx.types[1].dtype
    for kind in ctx.types[1:]:
        check_element_types(ctx, ctx.types[0].dtype, kind.dtype)
    channels = channels_of(ctx, x)
    when = when_needed(ctx.attr("is_training"), ctx.attr("exponential_avg_factor"))
    for index, name in enumerate(("scale", "offset", "mean", "variance"), 1):
        size = _vector_size(ctx, index)
        if index < 3 or when is not None:
            check_size(name, size, channels, when or "" if index > 2 else "")
    known = merge_shapes(
        ctx, Shape.of(channels), merge_shapes(ctx, *(t.shape for t in ctx.types[1:3]))
    )
    vector = TensorType(vectors, known)
    results = (TensorType(ctx.types[0].dtype, x), *[vector] * 4)
    return (*results, TensorType(vectors, SCALAR)) if ctx.op.type.endswith("V3") else results


def _gradient(op: OpView, g: Tensor, *others: Tensor) -> list[Tensor | None]:
    """Through y alone, as in TensorFlow: gradients of the other outputs are dropped."""
    attrs = {name: op.get_attr(name) for name in ("epsilon", "data_format", "is_training")}
    x, scale, _, mean, variance = op.inputs
    more = op.outputs[5:]
    kind = op.type.replace("Norm", "NormGrad")
    if attrs["is_training"]:
        found = call_many(kind, g, x, scale, *op.outputs[3:5], *more, **attrs)
        return [*found[:3], None, None]
    there, back = _channels_last(attrs["data_format"])
    if there is not None:
        g, x = call("Transpose", g, there), call("Transpose", x, there)
        attrs["data_format"] = attrs["data_format"].replace("C", "") + "C"
    to_x, *to_vectors = call_many(kind, g, x, scale, mean, variance, *more, **attrs)[:3]
    return [to_x if back is None else call("Transpose", to_x, back), *to_vectors, None, None]


def _channels_last(data_format: str) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The axes of channels last, and back; None where they are: TensorFlow's kernels differentiate
    a network in use only so."""
    rank = len(data_format)
    if not data_format.startswith("NC"):
        return None, None
    there = np.array([0, *range(2, rank), 1], np.int32)
    return there, np.array([0, rank - 1, *range(1, rank - 1)], np.int32)


def _samples(rng: np.random.Generator) -> list[Sample]:
    def case(shape: tuple[int, ...], channels: int, given: bool, **attrs: Any) -> Sample:
        vectors = [rng.uniform(0.5, 2, channels) for _ in range(4)]
        if not given:
            vectors[2:] = [np.zeros(0), np.zeros(0)]
        # In use, the mean and the variance have no gradient though the result depends on them.
        return Sample((rng.normal(size=shape), *vectors), attrs, attrs.get("is_training", True))

    return [
        case((2, 2, 1, 3), 3, False),
        case((2, 3, 1, 2), 3, True, data_format="NCHW", exponential_avg_factor=0.25, epsilon=0.5),
        case((2, 1, 2, 2), 2, True, is_training=False),
        case((2, 2, 1, 2), 2, True, is_training=False, data_format="NCHW"),
    ]


_WHOLE: dict[str, Any] = {
    "inputs": "x scale offset mean variance",
    "attrs": {
        "epsilon": 0.0001,
        "exponential_avg_factor": 1.0,
        "data_format": "NHWC",
        "is_training": True,
    },
    "formula": "batch_norm(x, scale, offset, mean, variance, epsilon, data_format, is_training)",
    "infer": _normalized,
    "gradient": _gradient,
    "samples": _samples,
    "kinks": "no gradient flows to mean and variance, nor from any output but y",
}
_OUTPUTS = "y batch_mean batch_variance reserve_space_1 reserve_space_2"
_WIDER = (
    f"{WIDER}; where it is not training, the reserve spaces hold the mean and the variance, in "
    "TensorFlow whatever was in memory"
)

op(
    "FusedBatchNorm",
    outputs=_OUTPUTS,
    type_attrs={"T": "x"},
    choices={"data_format": FORMATS},
    kernel=normalize_kernels(5),
    doc="Each channel shifted and scaled to mean 0 and variance 1, of the batch or as given, then "
    "scaled and offset; and the batch's mean and unbiased variance for the running averages.",
    differs=_WIDER,
    **_WHOLE,
)
op(
    "FusedBatchNormV2",
    outputs=_OUTPUTS,
    type_attrs={"T": "x", "U": "scale"},
    choices={"data_format": FORMATS},
    kernel=normalize_kernels(5),
    doc="FusedBatchNorm, for float16 images too.",
    differs=_WIDER,
    **_WHOLE,
)
op(
    "FusedBatchNormV3",
    outputs=f"{_OUTPUTS} reserve_space_3",
    type_attrs={"T": "x", "U": "scale"},
    choices={"data_format": FORMATS_3D},
    kernel=normalize_kernels(6),
    doc="FusedBatchNormV2, for images of three dimensions too, with room for what cuDNN keeps.",
    differs=_WIDER,
    **_WHOLE,
)
