"""Images in another size: by the nearest pixel, or between the four that are around.

Where a pixel of the result lies in the image is worked out in float32, as TensorFlow does; of
float64 images in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.neural.sliding_windows import Sizes, known_sizes, require_rank
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import want_rank, wrong_type
from gradstep.core.ops.numerics.row_updates import sum_rows
from gradstep.core.ops.typing.static_values import shape_of

_ATTRS = {"align_corners": False, "half_pixel_centers": False}


class Between(NamedTuple):
    """For each pixel along one axis of the result: the two of the image that it lies between, and
    how far on the way from the one to the other."""

    lower: np.ndarray
    upper: np.ndarray
    lerp: np.ndarray


def _places(size: int, out: int, corners: bool, centers: bool, kind: np.dtype) -> np.ndarray:
    """Where the `out` pixels lie on an axis of `size`, from the start of its first pixel."""
    spans = (size - 1, out - 1) if corners and out > 1 else (size, out)
    scale = kind.type(spans[0]) / kind.type(spans[1])
    number = np.arange(out, dtype=kind)
    found: np.ndarray = (number + kind.type(0.5)) * scale if centers else number * scale
    return found


def between(size: int, out: int, corners: bool, centers: bool, kind: np.dtype) -> Between:
    """Which pixels of an axis of `size` the `out` pixels of the result lie between."""
    at = _places(size, out, corners, centers, kind)
    at = at - kind.type(0.5) if centers else at
    floor = np.floor(at)
    upper = np.minimum(np.ceil(at).astype(np.int64), size - 1)
    lower = np.minimum(np.maximum(floor.astype(np.int64), 0), upper)
    return Between(lower, upper, at - floor)


def nearest(size: int, out: int, corners: bool, centers: bool) -> np.ndarray:
    """Which pixel of an axis of `size` each of the `out` pixels of the result takes."""
    at = _places(size, out, corners, centers, np.dtype(np.float32))
    rounded = np.floor(at + np.float32(0.5)) if corners else np.floor(at)
    return np.clip(rounded.astype(np.int64), 0, size - 1)


# -- types -------------------------------------------------------------------------------------


def _resized(result: Callable[[DType], DType]) -> Callable[[InferContext], TensorType]:
    """Type rule of `resize(images, size)`."""

    def rule(ctx: InferContext) -> TensorType:
        images, _ = ctx.types
        if not (images.dtype.is_integer or images.dtype.is_floating):
            raise wrong_type(ctx, images.dtype, "images of real numbers")
        sizes = known_sizes(images, 4)
        require_rank("images", sizes, 4)
        want_rank(ctx, 1, 1)
        height, width = _told(ctx)
        _check_centers(ctx.attr("align_corners"), ctx.attr("half_pixel_centers"))
        return TensorType(result(images.dtype), Shape((sizes[0], height, width, sizes[3])))

    return rule


def _told(ctx: InferContext) -> Sizes:
    size = ctx.constant(1)
    return (None, None) if size is None else _out_sizes(size)


def _out_sizes(size: Any) -> tuple[int, int]:
    found = integers(size)
    if len(found) != 2:
        raise GradstepError(
            f"Dimension must be 2 but is {len(found)}", hint="size is the new height and width"
        )
    if min(found) <= 0:
        raise GradstepError("output dimensions must be positive")
    return found[0], found[1]


def _check_centers(corners: bool, centers: bool) -> None:
    if corners and centers:
        raise GradstepError("If half_pixel_centers is True, align_corners must be False.")


def _floats(dtype: DType) -> DType:
    return DType.FLOAT64 if dtype is DType.FLOAT64 else DType.FLOAT32


def _back(ctx: InferContext) -> TensorType:
    """Type rule of `back(grads, original_image)`."""
    grads, image = (known_sizes(kind, 4) for kind in ctx.types)
    require_rank("grads", grads, 4)
    require_rank("original_image", image, 4)
    if not ctx.types[1].dtype.is_floating:
        raise wrong_type(ctx, ctx.types[1].dtype, "an image of floating-point numbers")
    return TensorType(ctx.types[1].dtype, Shape((grads[0], *image[1:3], grads[3])))


def _nearest_back(ctx: InferContext) -> TensorType:
    """Type rule of `back(grads, size)`."""
    grads = known_sizes(ctx.types[0], 4)
    require_rank("grads", grads, 4)
    return TensorType(ctx.types[0].dtype, Shape((grads[0], *_told(ctx), grads[3])))


# -- kernels -----------------------------------------------------------------------------------


def _bilinear(xp: Any, x: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    height, width = _checked(x, size)
    dtype = np.dtype(np.float64 if x.dtype == np.float64 else np.float32)
    x = x.astype(dtype)
    rows = between(x.shape[1], height, align_corners, half_pixel_centers, dtype)
    columns = between(x.shape[2], width, align_corners, half_pixel_centers, dtype)
    return _along(xp, _along(xp, x, columns, 2), rows, 1)


def _along(xp: Any, x: Any, places: Between, axis: int) -> Any:
    """`x` resized along one axis."""
    lower, upper = (xp.take(x, xp.asarray(i), axis=axis) for i in places[:2])
    lerp = xp.asarray(places.lerp).reshape((-1,) + (1,) * (3 - axis))
    return lower + (upper - lower) * lerp


def _bilinear_back(
    xp: Any, g: Any, image: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    """Each pixel's gradient, shared out among the four; along one axis after the other."""
    attrs = align_corners, half_pixel_centers, g.dtype
    rows = _shares(between(image.shape[1], g.shape[1], *attrs), image.shape[1])
    columns = _shares(between(image.shape[2], g.shape[2], *attrs), image.shape[2])
    along = xp.matmul(xp.moveaxis(g, 2, 3), xp.asarray(columns.astype(g.dtype)))
    found = xp.matmul(xp.moveaxis(along, 1, 3), xp.asarray(rows.astype(g.dtype)))
    return xp.moveaxis(xp.moveaxis(found, 3, 1), 3, 2).astype(image.dtype)


def _shares(places: Between, size: int) -> np.ndarray:
    """[out, size]: how much of each pixel of the image is in each of the result."""
    found = np.zeros((len(places.lower), size))
    every = np.arange(len(places.lower))
    np.add.at(found, (every, places.lower), 1 - places.lerp)
    np.add.at(found, (every, places.upper), places.lerp)
    return found


def _nearest(xp: Any, x: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
    height, width = _checked(x, size)
    rows = nearest(x.shape[1], height, align_corners, half_pixel_centers)
    columns = nearest(x.shape[2], width, align_corners, half_pixel_centers)
    return xp.take(xp.take(x, xp.asarray(rows), axis=1), xp.asarray(columns), axis=2)


def _nearest_sums(
    xp: Any, g: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool
) -> Any:
    height, width = _out_sizes(size)
    rows = nearest(height, g.shape[1], align_corners, half_pixel_centers)
    columns = nearest(width, g.shape[2], align_corners, half_pixel_centers)
    places = xp.asarray(np.add.outer(rows * width, columns))
    pixels = xp.moveaxis(g, 0, 2)  # [height, width, batch, channels]
    total = sum_rows(xp, pixels, places, None, height * width)
    return xp.moveaxis(total.reshape((height, width, *total.shape[1:])), 2, 0)


def _checked(x: Any, size: Any) -> tuple[int, int]:
    require_rank("images", x.shape, 4)
    if 0 in x.shape[1:3]:
        raise GradstepError(f"input image must be of non-zero size, not {brackets(x.shape)}")
    return _out_sizes(size)


# -- gradients ---------------------------------------------------------------------------------


def _given(op: OpView) -> dict[str, Any]:
    return {name: op.get_attr(name) for name in _ATTRS}


def _bilinear_gradient(op: OpView, g: Tensor) -> tuple[Tensor | None, None]:
    image = op.inputs[0]
    if not image.dtype.is_floating:
        return None, None
    return call("ResizeBilinearGrad", g, image, **_given(op)), None


def _nearest_gradient(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    sizes = shape_of(op.inputs[0])[1:3]
    return call("ResizeNearestNeighborGrad", g, sizes, **_given(op)), None


# -- samples -----------------------------------------------------------------------------------

_KINDS: tuple[tuple[int, int, dict[str, bool]], ...] = (
    (5, 3, {}),
    (2, 4, {"align_corners": True}),
    (5, 2, {"half_pixel_centers": True}),
    (1, 6, {"align_corners": True}),
)


def _samples(rng: np.random.Generator) -> list[Sample]:
    return [Sample((rng.normal(size=(2, 3, 4, 2)), ints(h, w)), attrs) for h, w, attrs in _KINDS]


def _with_images(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((rng.normal(size=(2, h, w, 2)), rng.normal(size=(2, 3, 4, 2))), attrs)
        for h, w, attrs in _KINDS
    ]


def _with_sizes(rng: np.random.Generator) -> list[Sample]:
    return [Sample((rng.normal(size=(2, h, w, 2)), ints(3, 4)), attrs) for h, w, attrs in _KINDS]


op(
    "ResizeBilinear",
    inputs="images #size:int32",
    outputs="resized_images",
    attrs=_ATTRS,
    type_attrs={"T": "images"},
    formula="resized(bilinear, images, size, align_corners, half_pixel_centers)",
    infer=_resized(_floats),
    kernel=_bilinear,
    gradient=_bilinear_gradient,
    samples=_samples,
    arithmetic="product",
    doc="Images of another size; each pixel is interpolated between the four around it.",
    differs="of float64 images it is float64; TensorFlow's is float32 of any",
)
op(
    "ResizeBilinearGrad",
    inputs="grads:float32,float64 original_image",
    attrs=_ATTRS,
    type_attrs={"T": "original_image"},
    formula="resized_back(bilinear, grads, shape(original_image)[1:3], align_corners, "
    "half_pixel_centers)",
    infer=_back,
    kernel=_bilinear_back,
    gradient=NOT_DIFFERENTIABLE,
    samples=_with_images,
    arithmetic="product",
    doc="The gradient of ResizeBilinear: each pixel's is shared out among the four.",
)
op(
    "ResizeNearestNeighbor",
    inputs="images #size:int32",
    outputs="resized_images",
    attrs=_ATTRS,
    type_attrs={"T": "images"},
    formula="resized(nearest, images, size, align_corners, half_pixel_centers)",
    infer=_resized(lambda dtype: dtype),
    kernel=_nearest,
    gradient=_nearest_gradient,
    samples=_samples,
    arithmetic="exact",
    doc="Images of another size; each pixel is the nearest one.",
)
op(
    "ResizeNearestNeighborGrad",
    inputs="grads:uint8,int8,int32,float16,float32,float64,bfloat16 #size:int32",
    attrs=_ATTRS,
    type_attrs={"T": "grads"},
    formula="resized_back(nearest, grads, size, align_corners, half_pixel_centers)",
    infer=_nearest_back,
    kernel=_nearest_sums,
    samples=_with_sizes,
    arithmetic="reducing",
    doc="The gradient of ResizeNearestNeighbor: each pixel has the sum of those that took it.",
    kinks="it has no gradient: asking for one is a LookupError, as in TensorFlow",
)
