"""What lowerings of ONNX's operators are made of: axes, sizes that may be computed, casts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.lowering.lowering_table import Site, UnloweredError, fixed
from gradstep.core.lowering.onnx.onnx_known import known
from gradstep.core.lowering.onnx.onnx_table import wanted
from gradstep.core.lowering.plain_operands import add_axis as add_axis
from gradstep.core.lowering.plain_operands import cast as cast
from gradstep.core.lowering.plain_operands import ints as ints
from gradstep.core.lowering.plain_operands import scalar as scalar
from gradstep.core.lowering.plain_operands import transpose as transpose
from gradstep.core.ops.build.builder import Tensor, call

Size = int | Tensor  # a size, or a number that is one when it runs

COMPUTED = "has to be known before it runs"


def rank(x: Tensor) -> int:
    """Raises UnloweredError where it may be any."""
    found = x.shape.rank
    if found is None:
        raise UnloweredError(f"{x.name} is of unknown rank")
    return found


def dims(x: Tensor) -> tuple[int, ...]:
    """All sizes. Raises UnloweredError where one may be any."""
    rank(x)
    return fixed(tuple(x.shape))


def fixed_size(x: Tensor, axis: int) -> int:
    """Of one axis, whatever the others are. Raises UnloweredError where it may be any."""
    rank(x)
    return fixed((tuple(x.shape)[axis],))[0]


def fixed_sizes(x: Tensor, first: int, end: int | None = None) -> tuple[int, ...]:
    """Of the axes from one on, up to another: a batch may be of any size where images may not.
    Raises UnloweredError where one of these may be any."""
    rank(x)
    return fixed(tuple(x.shape)[first:end])


def static(x: Tensor, what: str) -> np.ndarray:
    """The same; `what` it says in words. Raises UnloweredError where it is not known."""
    value = known(x)
    if value is None:
        raise UnloweredError(f"{what} {COMPUTED}")
    return value


def static_ints(x: Tensor, what: str) -> list[int]:
    return [int(one) for one in static(x, what).reshape(-1)]


def number(x: Tensor, what: str) -> Any:
    """The one number that it is."""
    value = static(x, what).reshape(-1)
    if value.size != 1:
        raise UnloweredError(f"{what} is {value.size} numbers")
    return value[0].item()


def positive(axis: int, count: int) -> int:
    """An axis counted from the front. Raises UnloweredError for one that there is not."""
    if not -count <= axis < max(count, 1):
        raise UnloweredError(f"axis {axis} of {count}")
    return axis % max(count, 1)


def axes_of(x: Tensor, axes: Sequence[int] | None) -> list[int]:
    """All of them for None."""
    count = rank(x)
    return [*range(count)] if axes is None else [positive(int(a), count) for a in axes]


# -- sizes -----------------------------------------------------------------------------------------


def size(x: Tensor, axis: int) -> Size:
    """Of one axis, as a number where it is known."""
    found = tuple(x.shape)[axis]
    return call("Shape", x)[axis] if found is None else found


def sizes(x: Tensor) -> list[Size]:
    """Of all axes."""
    return [size(x, axis) for axis in range(rank(x))]


def product(parts: Sequence[Size]) -> Size:
    plain = math.prod(part for part in parts if isinstance(part, int))
    found: Size = plain
    for part in parts:
        if isinstance(part, Tensor):
            found = part if isinstance(found, int) and found == 1 else call("Mul", part, found)
    return found


def shape_tensor(parts: Sequence[Size]) -> Any:
    """Sizes as one array or tensor, int32."""
    if all(isinstance(part, int) for part in parts):
        return ints([part for part in parts if isinstance(part, int)])
    whole = next(part for part in parts if isinstance(part, Tensor))
    given = [p if isinstance(p, Tensor) else whole.builder.constant(np.int32(p)) for p in parts]
    return call("Pack", *given, axis=0)


def shape_of(x: Tensor) -> Any:
    """All sizes as one array or tensor, int32, whatever the rank."""
    return call("Shape", x) if x.shape.rank is None else shape_tensor(sizes(x))


def reshape(x: Tensor, parts: Sequence[Size]) -> Tensor:
    """Where one size alone is computed, it follows from the others; a -1 is such a size already."""
    if not parts and x.shape.rank == 0:
        return x
    computed = [i for i, part in enumerate(parts) if isinstance(part, Tensor)]
    if len(computed) == 1 and not {0, -1}.intersection(p for p in parts if isinstance(p, int)):
        parts = [-1 if i == computed[0] else part for i, part in enumerate(parts)]
        computed = []
    found = call("Reshape", x, shape_tensor(parts))
    return ensured(found, parts) if computed else found


def ensured(x: Tensor, parts: Sequence[Size]) -> Tensor:
    """What is of these sizes by the way it was made, such that what follows knows those that are
    numbers."""
    told = tuple(p if isinstance(p, int) and p >= 0 else None for p in parts)
    return x if told == x.shape.dims else call("EnsureShape", x, shape=Shape(told))


def flattened(x: Tensor, axis: int) -> Tensor:
    """As a matrix: the axes before one, and the others."""
    all_sizes = sizes(x)
    parts = [product(all_sizes[:axis]), product(all_sizes[axis:])]
    return reshape(x, parts)


def swapped(x: Tensor, a: int, b: int) -> Tensor:
    order = [*range(rank(x))]
    order[a], order[b] = order[b], order[a]
    return transpose(x, order)


def mixed(x: Tensor, axis: int, matrix: np.ndarray) -> Tensor:
    """An axis times a matrix."""
    last = rank(x) - 1
    turned = swapped(x, axis, last)
    flat = reshape(turned, [-1, matrix.shape[0]])
    weights = x.builder.constant(matrix.astype(x.dtype.numpy))
    found = call("MatMul", flat, weights)
    return swapped(reshape(found, [*sizes(turned)[:-1], matrix.shape[1]]), axis, last)


def squeeze(x: Tensor, axes: Sequence[int]) -> Tensor:
    return call("Squeeze", x, squeeze_dims=tuple(axes)) if axes else x


def along_axis(x: Tensor, axis: int, ndim: int) -> Tensor:
    """A vector such that it broadcasts along one axis of so many."""
    return reshape(x, [size(x, 0) if i == axis else 1 for i in range(ndim)])


def part(x: Tensor, axis: int, begin: Size, end: Size) -> Tensor:
    """From one place of an axis up to another."""
    index = (slice(None),) * axis + (slice(begin, end),)
    return x[index]


def concat(parts: Sequence[Tensor], axis: int) -> Tensor:
    return parts[0] if len(parts) == 1 else call("ConcatV2", *parts, np.int32(axis))


def full(site: Site, parts: Sequence[Size], value: np.ndarray | Tensor) -> Tensor:
    """One value everywhere."""
    shape = shape_tensor(parts)
    shape = shape if isinstance(shape, Tensor) else site.builder.constant(shape)
    return call("Fill", shape, value)


def indices_up_to(site: Site, end: Size) -> Tensor:
    """0, 1, … up to `end`, int32."""
    if isinstance(end, int):
        return site.constant(np.arange(end, dtype=np.int32))
    return call("Range", np.int32(0), end, np.int32(1))


# -- element types ---------------------------------------------------------------------------------


def in_float(build: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """What `build` makes of `x`; of whole numbers by way of floating-point ones."""
    if x.dtype.is_floating:
        return build(x)
    return cast(build(cast(x, DType.FLOAT64)), x.dtype)


def apply(type: str, *inputs: Any, **attrs: Any) -> Tensor:
    """An op; where it is not for such small or unsigned numbers, by way of wider ones."""
    try:
        return call(type, *inputs, **attrs)
    except GradstepError:
        first = next(x for x in inputs if isinstance(x, Tensor))
        wide = _wider(first.dtype)
        if wide is first.dtype:
            raise
        given = [_widened(x, wide) for x in inputs]
        found = call(type, *given, **attrs)
        return cast(found, first.dtype) if found.dtype is wide else found


def _wider(dtype: DType) -> DType:
    if dtype.is_integer or dtype is DType.BOOL:
        return DType.INT64
    return DType.FLOAT32 if dtype in (DType.FLOAT16, DType.BFLOAT16) else dtype


def _widened(x: Any, wide: DType) -> Any:
    return cast(x, wide) if isinstance(x, Tensor) else np.asarray(x).astype(wide.numpy)


def in_float32(build: Callable[..., Any]) -> Callable[..., Any]:
    """A lowering whose sums are of float32 where its first input has fewer bits."""

    @wraps(build)
    def wide(site: Site, x: Tensor, *more: Any, **told: Any) -> Any:
        kind = x.dtype
        if kind not in (DType.FLOAT16, DType.BFLOAT16):
            return build(site, x, *more, **told)
        given = [
            cast(one, DType.FLOAT32) if isinstance(one, Tensor) and one.dtype is kind else one
            for one in (x, *more)
        ]
        made = build(site, *given, **told)
        results = [made] if isinstance(made, Tensor) else made[: wanted(site)]
        return [cast(one, kind) if one.dtype is DType.FLOAT32 else one for one in results]

    return wide
