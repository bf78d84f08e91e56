"""The same numbers in another element type, and the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.ufunc import Calls

_WITHOUT_NUMBERS = (DType.STRING, DType.RESOURCE)


def _cast_type(ctx: InferContext) -> TensorType:
    source, target = ctx.types[0].dtype, DType(ctx.attr("DstT"))
    if source in _WITHOUT_NUMBERS or target in _WITHOUT_NUMBERS:
        raise ctx.fail(f"Cast {source.value} to {target.value} is not supported")
    return TensorType(target, ctx.types[0].shape)


def _cast_gradient(op: OpView, g: Tensor) -> Tensor | None:
    source, target = op.inputs[0].dtype, op.outputs[0].dtype
    if not all(kind.is_floating or kind.is_complex for kind in (source, target)):
        return None
    return call("Cast", g, DstT=source)


def _cast(xp: Any, x: Any, *, DstT: DType, Truncate: bool) -> Any:  # noqa: N803
    target = DType(DstT).numpy
    if x.dtype.kind == "c" and target.kind != "c":
        x = xp.real(x)
    if Truncate:
        x = _shortened(x, target)
    return _to_integers(xp, x, target) if _is_risky(x.dtype, target) else x.astype(target)


def _is_risky(source: np.dtype, target: np.dtype) -> bool:
    """Whether there are numbers of type `source` that `target` has no room for."""
    return source.kind == "f" and target.kind in "iu"


def _to_integers(xp: Any, x: Any, target: np.dtype) -> Any:
    """Rounded to zero. What does not fit goes the way it goes in TensorFlow on a CPU, number by
    number: over int32 or int64, where it is the smallest number, and then its low bits."""
    x = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    if target == np.uint64:
        return _to_uint64(xp, x)
    wide = np.dtype(np.int64 if target in (np.int64, np.uint32) else np.int32)
    return _held(xp, x, wide).astype(target)


def _held(xp: Any, x: Any, wide: np.dtype) -> Any:
    limit = 2.0 ** (8 * wide.itemsize - 1)
    return xp.where((x >= -limit) & (x < limit), x, -limit).astype(wide)


def _to_uint64(xp: Any, x: Any) -> Any:
    low = _held(xp, x, np.dtype(np.int64)).astype(np.uint64)
    upper = (x >= 2.0**63) & (x < 2.0**64)
    high = xp.where(upper, x - 2.0**63, 0.0).astype(np.int64).astype(np.uint64)
    return xp.where(upper, high + low, low)  # `low` is 2**63 there


# Bits of a floating-point type that hold digits, by its size in bytes.
_DIGITS = {2: 10, 4: 23, 8: 52}


def _shortened(x: Any, target: np.dtype) -> Any:
    """`x` without the digits that `target` has no room for: rounded to zero, not to nearest."""
    have, want = _part(x.dtype), _part(target)
    spare = _DIGITS.get(have, 0) - _DIGITS.get(want, 0)
    if x.dtype.kind not in "fc" or target.kind not in "fc" or spare <= 0:
        return x
    bits = {4: np.int32, 8: np.int64}[have]
    return (_flat(x).view(bits) & (-1 << spare)).view(x.dtype).reshape(x.shape)


def _part(dtype: np.dtype) -> int:
    return dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize


def _flat(x: Any) -> Any:
    """All elements in a row, lying next to each other, as a change of type needs them."""
    return x.reshape(-1).copy()


def _cast_calls(
    xp: Any,
    x: Any,
    *,
    DstT: DType,  # noqa: N803
    Truncate: bool,  # noqa: N803
    out: Any,
    room: Any,
) -> Calls:
    if Truncate or not np.can_cast(x.dtype, out.dtype, "same_kind"):
        yield _cast_into, xp, x, DstT, Truncate, out
    else:
        yield xp.copyto, out, x


def _cast_into(xp: Any, x: Any, to: DType, truncate: bool, out: Any) -> None:
    xp.copyto(out, _cast(xp, x, DstT=to, Truncate=truncate))


def _cast_samples(rng: np.random.Generator) -> list[Sample]:
    x = rng.uniform(-2, 2, (2, 3))
    whole = np.array([-300, 0, 7], np.int32)
    kinds = (DType.FLOAT64, DType.INT32, DType.BOOL, DType.COMPLEX128, DType.UINT64)
    return [
        *(Sample((abs(x) if to is DType.UINT64 else x,), {"DstT": to}) for to in kinds),
        Sample((whole,), {"DstT": DType.UINT8}),
        Sample((whole != 0,), {"DstT": DType.FLOAT32}),
        Sample((x + 1j * x[::-1],), {"DstT": DType.COMPLEX128}),
        Sample((x + 1j * x[::-1],), {"DstT": DType.FLOAT64}),
    ]


op(
    "Cast",
    inputs="x",
    outputs="y",
    attrs={"DstT": DType, "Truncate": False},
    type_attrs={"SrcT": "x"},
    formula="astype(x, DstT)",
    infer=_cast_type,
    kernel=Kernels(_cast, calls=_cast_calls),
    gradient=_cast_gradient,
    samples=_cast_samples,
    arithmetic="exact",
    causes=Causes(vanishes="rounded"),
    doc="The same numbers in another element type: towards integers rounded to zero, from complex "
    "numbers the real part. Truncate: shorter floating-point numbers are rounded to zero, too.",
    kinks="None through any integer or boolean type",
    differs="numbers that an integer type has no room for are the same everywhere; in TensorFlow "
    "they depend on the processor, and for 8 and 16 bits on the place in the tensor",
)


def _bitcast_type(ctx: InferContext) -> TensorType:
    source, target = ctx.types[0].dtype, DType(ctx.attr("type"))
    for kind in (source, target):
        if kind in (*_WITHOUT_NUMBERS, DType.BOOL):
            raise ctx.fail(f"Bitcast {source.value} to {target.value} is not supported")
    sizes = source.numpy.itemsize, target.numpy.itemsize
    return TensorType(target, _bitcast_shape(ctx, ctx.types[0].shape, *sizes))


def _bitcast_shape(ctx: InferContext, shape: Shape, source: int, target: int) -> Shape:
    if shape.dims is None or source == target:
        return shape
    if source > target:
        return Shape((*shape.dims, source // target))
    ratio = target // source
    if not shape.dims:
        raise ctx.fail("Shape must be at least rank 1 but is rank 0")
    if shape.dims[-1] not in (None, ratio):
        raise ctx.fail(
            f"Cannot bitcast from {ctx.types[0].dtype.value} to {ctx.attr('type')} due to shape. "
            f"{shape.dims[-1]} does not match {ratio}",
            hint=f"the last axis becomes one number: it must have size {ratio}",
        )
    return Shape(shape.dims[:-1])


def _bitcast(xp: Any, x: Any, *, type: DType) -> Any:
    target = DType(type).numpy
    shape = _bitcast_result(x.shape, x.dtype.itemsize, target.itemsize)
    if not x.size:
        return xp.zeros(shape, target)
    return _flat(x).view(target).reshape(shape)


def _bitcast_result(shape: tuple[int, ...], source: int, target: int) -> tuple[int, ...]:
    if source >= target:
        return shape if source == target else (*shape, source // target)
    return shape[:-1]


def _bitcast_samples(rng: np.random.Generator) -> list[Sample]:
    words = rng.integers(-(2**31), 2**31, (2, 2), np.int32)
    return [
        Sample((words,), {"type": DType.FLOAT32}),
        Sample((words,), {"type": DType.UINT8}),
        Sample((words,), {"type": DType.INT64}),
        Sample((words[0, 0],), {"type": DType.UINT16}),
    ]


op(
    "Bitcast",
    inputs="input",
    attrs={"type": DType},
    type_attrs={"T": "input"},
    formula="bits_as(input, type)",
    infer=_bitcast_type,
    kernel=Kernels(_bitcast, takes_bfloat16=True),
    gradient=NOT_DIFFERENTIABLE,
    samples=_bitcast_samples,
    arithmetic="exact",
    doc="The same bits as numbers of another element type; smaller ones get an axis of their own.",
)
