"""Adding a border to a tensor: one value all over, or the tensor mirrored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call, call_many
from gradstep.core.ops.declare.shape_rules import brackets, one_dtype
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.typing.static_values import constant_of, shape_of

Pair = tuple[int, int]  # how much before and after along one axis


def _padded(ctx: InferContext) -> TensorType:
    """The output's type where paddings are input 1."""
    source, paddings = ctx.types[0], ctx.constant(1)
    _check_shapes(source.shape, ctx.types[1].shape)
    if paddings is None:
        return TensorType(source.dtype, _some_shape(ctx))
    pairs = _pairs(paddings, source.shape)
    dims = (None,) * len(pairs) if source.shape.dims is None else source.shape.dims
    grown = zip(dims, pairs, strict=True)
    return TensorType(
        source.dtype, Shape(tuple(None if d is None else d + sum(p) for d, p in grown))
    )


def _some_shape(ctx: InferContext) -> Shape:
    """As many unknown sizes as there are axes."""
    rank, paddings = ctx.types[0].shape.rank, ctx.types[1].shape
    if rank is None and paddings.dims is not None:
        rank = paddings.dims[0]
    return UNKNOWN if rank is None else Shape((None,) * rank)


def _check_shapes(source: Shape, paddings: Shape) -> None:
    """Raises GradstepError when paddings of that shape cannot be those of `source`."""
    if paddings.dims is None:
        return
    if len(paddings.dims) != 2 or paddings.dims[1] not in (None, 2):
        raise GradstepError(
            f"paddings must be a matrix with 2 columns: {brackets(paddings)}",
            hint="give a row [before, after] for each axis",
        )
    if source.rank is not None and paddings.dims[0] not in (None, source.rank):
        raise GradstepError(
            "The first dimension of paddings must be the rank of inputs"
            f"{brackets(paddings)} {brackets(source)}",
            hint="give a row [before, after] for each axis",
        )


def _pairs(paddings: Any, source: Shape) -> list[Pair]:
    """The rows of paddings. Raises GradstepError when they are not what `source` needs."""
    _check_shapes(source, Shape(paddings.shape))
    found = [(int(before), int(after)) for before, after in paddings.tolist()]
    for before, after in found:
        if before < 0 or after < 0:
            raise GradstepError(
                f"Paddings must be non-negative: {before} {after}", hint="Slice cuts a border off"
            )
    return found


def _pad(xp: Any, x: Any, paddings: Any) -> Any:
    return xp.pad(x, _pairs(paddings, Shape(x.shape)) or 0)


def _start(paddings: Tensor) -> Tensor | np.ndarray:
    """The first column: where the tensor begins in the padded one."""
    known = constant_of(paddings)
    if known is not None:
        return known[:, 0]
    return call_many("Unpack", paddings, num=2, axis=1)[0]


def _unpadded(op: OpView, g: Tensor) -> list[Tensor | None]:
    """The gradient without its border; none to paddings, and as in TensorFlow none to the value
    in the border either."""
    x, paddings, *value = op.inputs
    sizes = shape_of(x, paddings.dtype)
    return [call("Slice", g, _start(paddings), sizes), None, *[None for _ in value]]


_BORDERS: tuple[tuple[tuple[int, ...], list[list[int]]], ...] = (
    ((2, 3), [[1, 0], [0, 2]]),
    ((3,), [[0, 0]]),
    ((3,), [[2, 1]]),
)


def _samples(*extra: Any, **attrs: Any) -> Any:
    return lambda rng: [
        Sample((rng.normal(size=shape), np.array(rows, np.int32), *extra), attrs)
        for shape, rows in _BORDERS
    ]


op(
    "Pad",
    inputs="input #paddings:int32,int64",
    type_attrs={"T": "input", "Tpaddings": "paddings"},
    formula="pad(input, paddings)",
    infer=_padded,
    kernel=_pad,
    gradient=_unpadded,
    samples=_samples(),
    arithmetic="exact",
    doc="Zeros before and after along each axis.",
)


def _padded_with(ctx: InferContext) -> TensorType:
    one_dtype(ctx, (ctx.types[0], ctx.types[2]))
    _want_scalar(ctx.types[2].shape)
    return _padded(ctx)


def _want_scalar(shape: Shape) -> None:
    if shape.rank not in (None, 0):
        raise GradstepError(f"constant_values must be a scalar. Found: {brackets(shape)}")


def _pad_with(xp: Any, x: Any, paddings: Any, value: Any) -> Any:
    _want_scalar(Shape(value.shape))
    pairs = _pairs(paddings, Shape(x.shape))
    sizes = tuple(n + sum(pair) for n, pair in zip(x.shape, pairs, strict=True))
    full = xp.array(xp.broadcast_to(value, sizes))
    full[tuple(slice(b, b + n) for n, (b, _) in zip(x.shape, pairs, strict=True))] = x
    return full


op(
    "PadV2",
    inputs="input #paddings:int32,int64 constant_values",
    type_attrs={"T": "input", "Tpaddings": "paddings"},
    formula="pad(input, paddings, constant_values=constant_values)",
    infer=_padded_with,
    kernel=_pad_with,
    gradient=_unpadded,
    samples=_samples(np.array(0.75)),
    arithmetic="exact",
    doc="One value before and after along each axis; as in TensorFlow, it gets no gradient.",
)


def _mirrored(ctx: InferContext) -> TensorType:
    kind, paddings = _padded(ctx), ctx.constant(1)
    if paddings is not None and ctx.types[0].shape.dims is not None:
        pairs = _pairs(paddings, ctx.types[0].shape)
        _check_mirrors(ctx.types[0].shape.dims, pairs, ctx.attr("mode"))
    return kind


def _check_mirrors(
    dims: tuple[int | None, ...], pairs: list[Pair], mode: str, which: str = "dimension"
) -> None:
    """Raises GradstepError where there is less to mirror than the border takes."""
    symmetric = mode == "SYMMETRIC"
    bound, fault = ("no greater", "greater") if symmetric else ("less", "not less")
    for size, (before, after) in zip(dims, pairs, strict=True):
        if size is not None and max(before, after) >= size + symmetric:
            raise GradstepError(
                f"paddings must be {bound} than the {which} size: {before}, {after} "
                f"{fault} than {size}",
                hint="a border shows each element once at most",
            )


def _mirror(xp: Any, x: Any, paddings: Any, *, mode: str) -> Any:
    pairs = _pairs(paddings, Shape(x.shape))
    _check_mirrors(x.shape, pairs, mode)
    return xp.pad(x, pairs, mode.lower()) if pairs else xp.array(x)


def _mirror_gradient(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    return call("MirrorPadGrad", g, op.inputs[1], mode=op.get_attr("mode")), None


_MODES = ("REFLECT", "SYMMETRIC")


op(
    "MirrorPad",
    inputs="input #paddings:int32,int64",
    attrs={"mode": str},
    choices={"mode": _MODES},
    type_attrs={"T": "input", "Tpaddings": "paddings"},
    formula="pad(input, paddings, mode.lower())",
    infer=_mirrored,
    kernel=_mirror,
    gradient=_mirror_gradient,
    samples=lambda rng: [s for mode in _MODES for s in _samples(mode=mode)(rng)],
    arithmetic="exact",
    doc="A border that mirrors the tensor, with the elements at its edge (SYMMETRIC) or without.",
)


def _core(ctx: InferContext) -> TensorType:
    source, paddings = ctx.types[0], ctx.constant(1)
    _check_shapes(source.shape, ctx.types[1].shape)
    if paddings is None or source.shape.dims is None:
        return TensorType(source.dtype, _some_shape(ctx))
    pairs = _pairs(paddings, source.shape)
    return TensorType(source.dtype, Shape(_core_dims(source.shape.dims, pairs, ctx.attr("mode"))))


def _core_dims(
    dims: tuple[int | None, ...], pairs: list[Pair], mode: str
) -> tuple[int | None, ...]:
    """Sizes without the border. Raises GradstepError when it is no border of them."""
    for size, pair in zip(dims, pairs, strict=True):
        total = pair[0] + pair[1]
        if size is not None and total and total >= size:
            raise GradstepError(
                "Total paddings must be less than the input dimension size: "
                f"{total} was not less than {size}"
            )
    inner = tuple(None if d is None else d - sum(p) for d, p in zip(dims, pairs, strict=True))
    _check_mirrors(inner, pairs, mode, "output dimension")
    return inner


def _fold(xp: Any, x: Any, paddings: Any, *, mode: str) -> Any:
    """Each element of the border is added to the one that it mirrors, axis by axis."""
    pairs = _pairs(paddings, Shape(x.shape))
    _core_dims(x.shape, pairs, mode)
    edge = 0 if mode == "SYMMETRIC" else 1
    for axis, (before, after) in _borders(pairs):
        size = x.shape[axis] - before - after
        total = xp.array(_part(x, axis, before, before + size))
        first = _part(total, axis, edge, edge + before)
        first[...] = first + xp.flip(_part(x, axis, 0, before), axis)
        last = _part(total, axis, size - edge - after, size - edge)
        last[...] = last + xp.flip(_part(x, axis, before + size, before + size + after), axis)
        x = total
    return x


def _borders(pairs: list[Pair]) -> Iterator[tuple[int, Pair]]:
    return ((axis, pair) for axis, pair in enumerate(pairs) if any(pair))


def _part(x: Any, axis: int, start: int, stop: int) -> Any:
    return x[(*(slice(None),) * axis, slice(start, stop))]


def _mirror_again(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    return call("MirrorPad", g, op.inputs[1], mode=op.get_attr("mode")), None


op(
    "MirrorPadGrad",
    inputs="input #paddings:int32,int64",
    attrs={"mode": str},
    choices={"mode": _MODES},
    type_attrs={"T": "input", "Tpaddings": "paddings"},
    formula="unmirror(input, paddings, mode)",
    infer=_core,
    kernel=_fold,
    gradient=_mirror_again,
    samples=lambda rng: [
        Sample((rng.normal(size=(6, 3)), np.array([[2, 1], [0, 1]], np.int32)), {"mode": mode})
        for mode in _MODES
    ],
    arithmetic="reducing",
    doc="The gradient of MirrorPad: each element of the border is added to the one it mirrors.",
)
