"""AdjustContrastv2: colours of images changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import want_rank, wrong_type

_KINDS = (DType.FLOAT16, DType.FLOAT32, DType.FLOAT64)


def _adjusted(ctx: InferContext) -> TensorType:
    images = ctx.types[0]
    if images.dtype not in _KINDS:
        raise wrong_type(ctx, images.dtype, "images of floating-point numbers")
    want_rank(ctx, 1, 0)
    if images.shape.rank is not None:
        _check_rank(images.shape.rank)
    return TensorType(images.dtype, images.shape)


def _check_rank(rank: int) -> None:
    if rank < 3:
        raise GradstepError(
            f"Shape must be at least rank 3 but is rank {rank}",
            hint="images are [..., height, width, channels]",
        )


def _contrast(xp: Any, images: Any, contrast_factor: Any) -> Any:
    """Half precision is worked out in single precision, as in TensorFlow."""
    _check_rank(images.ndim)
    wide = images.astype(np.float32) if images.dtype == np.float16 else images
    pixels = max(images.shape[-3] * images.shape[-2], 1)
    mean = xp.sum(wide, axis=(-3, -2), keepdims=True) / pixels
    factor = contrast_factor.astype(wide.dtype)
    return ((wide - mean) * factor + mean).astype(images.dtype)


op(
    "AdjustContrastv2",
    inputs="images contrast_factor:float32,float64",
    type_attrs={"T": "images"},
    formula="(images - mean(images, (-3, -2), keepdims=True)) * contrast_factor"
    " + mean(images, (-3, -2), keepdims=True)",
    infer=_adjusted,
    kernel=_contrast,
    samples=lambda rng: [
        Sample((rng.normal(size=(2, 3, 4, 3)), np.array(1.5))),
        Sample((rng.normal(size=(2, 2, 1)), np.array(0.0))),
    ],
    arithmetic="reducing",
    doc="Each channel's distance from its mean over the image, made larger or smaller.",
    kinks="it has no gradient: asking for one is a LookupError, as in TensorFlow",
)
