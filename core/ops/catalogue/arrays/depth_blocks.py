"""SpaceToDepth and DepthToSpace: blocks of pixels moved into the channels, and back."""

from __future__ import annotations

from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import count

Dims = tuple[int | None, ...]

_FORMATS = ("NHWC", "NCHW")


def _depth(ctx: InferContext) -> TensorType:
    """The output's type of both ops between space and channels."""
    source, size = ctx.types[0], count(ctx, "block_size", 2)
    if source.shape.dims is None:
        return TensorType(source.dtype, Shape((None,) * 4))
    sizes = _block_sizes(ctx.op.type, source.shape.dims, size, ctx.attr("data_format"))
    return TensorType(source.dtype, Shape(sizes))


def _block_sizes(type: str, dims: Dims, size: int, data_format: str) -> Dims:
    if len(dims) != 4:
        raise GradstepError(f"Input rank should be: 4 instead of: {len(dims)}")
    nchw = data_format == "NCHW"
    batch, height, width, depth = (dims[0], *dims[2:], dims[1]) if nchw else dims
    if type == "SpaceToDepth":
        if any(d is not None and d % size for d in (height, width)):
            raise GradstepError(
                f"Image width {width} and height {height} should be divisible by block_size: {size}"
            )
        space = tuple(None if d is None else d // size for d in (height, width))
        channels = None if depth is None else depth * size**2
    else:
        if depth is not None and depth % size**2:
            raise GradstepError(f"Input depth dimension {depth} should be divisible by: {size**2}")
        space = tuple(None if d is None else d * size for d in (height, width))
        channels = None if depth is None else depth // size**2
    return (batch, channels, *space) if nchw else (batch, *space, channels)


def _space_to_depth(xp: Any, x: Any, *, block_size: int, data_format: str) -> Any:
    sizes, size = _block_sizes("SpaceToDepth", x.shape, block_size, data_format), block_size
    if data_format == "NCHW":
        n, c, h, w = x.shape
        apart = x.reshape((n, c, h // size, size, w // size, size))
        return xp.transpose(apart, (0, 3, 5, 1, 2, 4)).reshape(sizes)
    n, h, w, c = x.shape
    apart = x.reshape((n, h // size, size, w // size, size, c))
    return xp.transpose(apart, (0, 1, 3, 2, 4, 5)).reshape(sizes)


def _depth_to_space(xp: Any, x: Any, *, block_size: int, data_format: str) -> Any:
    sizes, size = _block_sizes("DepthToSpace", x.shape, block_size, data_format), block_size
    if data_format == "NCHW":
        n, c, h, w = x.shape
        apart = x.reshape((n, size, size, c // size**2, h, w))
        return xp.transpose(apart, (0, 3, 4, 1, 5, 2)).reshape(sizes)
    n, h, w, c = x.shape
    apart = x.reshape((n, h, w, size, size, c // size**2))
    return xp.transpose(apart, (0, 1, 3, 2, 4, 5)).reshape(sizes)


def _depth_gradient(op: OpView, g: Tensor) -> Tensor:
    other = "DepthToSpace" if op.type == "SpaceToDepth" else "SpaceToDepth"
    names = ("block_size", "data_format")
    return call(other, g, **{name: op.get_attr(name) for name in names})


def _declare(type: str, kernel: Any, formula: str, doc: str) -> None:
    shapes = {"NHWC": (1, 4, 2, 8), "NCHW": (1, 8, 4, 2)}
    op(
        type,
        inputs="input",
        attrs={"block_size": int, "data_format": "NHWC"},
        choices={"data_format": _FORMATS},
        type_attrs={"T": "input"},
        formula=f"{formula}(input, block_size, data_format)",
        infer=_depth,
        kernel=kernel,
        gradient=_depth_gradient,
        samples=lambda rng: [
            Sample((rng.normal(size=shape),), {"block_size": 2, "data_format": name})
            for name, shape in shapes.items()
        ],
        arithmetic="exact",
        doc=doc,
        differs="NCHW runs everywhere; TensorFlow has it on a GPU only",
    )


_declare(
    "SpaceToDepth",
    _space_to_depth,
    "depth_of_blocks",
    "Blocks of pixels laid one after the other into the channels.",
)
_declare(
    "DepthToSpace",
    _depth_to_space,
    "blocks_of_depth",
    "Channels laid out as blocks of pixels.",
)
