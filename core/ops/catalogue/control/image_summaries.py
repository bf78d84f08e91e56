"""Summaries of images for TensorBoard: each as a PNG file under a tag.

How numbers become colours is TensorFlow's (summary_image_op.cc).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import SCALAR, DType, TensorType
from gradstep.core.graph.model import Constant
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import wrong_type
from gradstep.core.ops.formats.png import png_bytes
from gradstep.core.ops.formats.protobuf import bytes_field, int_field
from gradstep.core.ops.formats.summary_proto import image

_KINDS = (DType.UINT8, DType.FLOAT16, DType.FLOAT32, DType.FLOAT64)
_ZERO = 1e-6  # an image whose largest number is below this stays black
_RED = Constant(np.array([255, 0, 0, 255], np.uint8))
# Numbers of an image's fields.
_HEIGHT, _WIDTH, _COLORSPACE, _ENCODED = 1, 2, 3, 4


def _checked(ctx: InferContext) -> TensorType:
    tag, images = ctx.types
    if tag.dtype is not DType.STRING:
        raise wrong_type(ctx, tag.dtype, "a tag of type string")
    if images.dtype not in _KINDS:
        raise wrong_type(ctx, images.dtype, "images of uint8 or floating-point numbers")
    _check_shapes(tag.shape.dims, images.shape.dims)
    return TensorType(DType.STRING, SCALAR)


def _check_shapes(tag: Any, images: Any) -> None:
    if tag:
        raise GradstepError("Tags must be a scalar", hint="all images of a batch have one tag")
    if images is not None and (len(images) != 4 or images[3] not in (1, 3, 4, None)):
        raise GradstepError(
            f"Tensor must be 4-D with last dim 1, 3, or 4, not {brackets(images)}",
            hint="images are [batch, height, width, channels]: grey, RGB or RGBA",
        )


def _image_summary(
    xp: Any, tag: Any, tensor: Any, *, max_images: int, bad_color: Constant
) -> np.ndarray:
    _check_shapes(tag.shape, tensor.shape)
    name = tag.item().encode() if isinstance(tag.item(), str) else tag.item()
    values = []
    for number, pixels in enumerate(np.asarray(tensor)[:max_images]):
        own = name + (f"/image/{number}" if max_images > 1 else "/image").encode()
        values.append(image(own, _picture(pixels_of(pixels, bad_color.array))))
    found = np.empty((), object)
    found[()] = b"".join(values)
    return found


def _picture(pixels: np.ndarray) -> bytes:
    sizes = zip((_HEIGHT, _WIDTH, _COLORSPACE), pixels.shape, strict=True)
    fields = b"".join(int_field(number, size) for number, size in sizes)
    return fields + bytes_field(_ENCODED, png_bytes(pixels))


def pixels_of(image: np.ndarray, bad_color: np.ndarray) -> np.ndarray:
    """Colours of an image, uint8. Numbers are scaled so that the largest becomes 255; where some
    are negative, 0 becomes 128, and the farthest from it 1 or 255. What is not finite is bad."""
    if image.dtype == np.uint8:
        return image
    finite = np.isfinite(image).all(axis=-1)
    numbers = image[finite].astype(np.float32)
    low, high = (numbers.min(), numbers.max()) if numbers.size else (np.inf, -np.inf)
    if low < 0:
        top, span, offset = np.float32(max(abs(low), abs(high))), 127, 128
    else:
        top, span, offset = np.float32(high), 255, 0
    scale = image.dtype.type(0 if top < _ZERO else np.float32(span) / top)
    safe = np.where(finite[..., None], image, 0)
    colours = (safe * scale + image.dtype.type(offset)).astype(np.uint8)
    return np.where(finite[..., None], colours, bad_color[: image.shape[-1]])


def _samples(rng: np.random.Generator) -> list[Sample]:
    tag = np.array(b"digits", object)
    spoilt = rng.normal(size=(2, 2, 3, 3))
    spoilt[0, 1, 2, 0] = np.nan
    return [
        Sample((tag, rng.uniform(size=(4, 3, 2, 1)))),
        Sample((tag, spoilt), {"max_images": 1}),
        Sample((tag, rng.integers(0, 256, (1, 2, 2, 4)).astype(np.uint8))),
        Sample((tag, np.zeros((1, 2, 2, 1)))),
    ]


op(
    "ImageSummary",
    inputs="#tag #tensor",
    outputs="summary",
    attrs={"max_images": 3, "bad_color": _RED},
    type_attrs={"T": "tensor"},
    formula="image_summary(tag, tensor, max_images, bad_color)",
    infer=_checked,
    kernel=_image_summary,
    gradient=NOT_DIFFERENTIABLE,
    samples=_samples,
    arithmetic="exact",  # it runs on the host, whatever the device
    doc="A Summary of the first images of a batch, as PNG files.",
    differs="the files have the same pixels, compressed otherwise",
)
