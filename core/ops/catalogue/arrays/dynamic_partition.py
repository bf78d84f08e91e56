"""DynamicPartition and DynamicStitch: rows dealt out to several tensors, and put together again."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call, call_many
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import brackets, one_dtype, starts_with
from gradstep.core.ops.declare.system_rules import TF_CPU, Rules
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import output_count, wrong_type
from gradstep.core.ops.numerics.index_bounds import bounds_hint, check, subscript
from gradstep.core.ops.numerics.row_updates import write_rows
from gradstep.core.ops.typing.static_values import shape_of


def _parts(ctx: InferContext) -> tuple[TensorType, ...]:
    data, partitions = ctx.types
    number = output_count(ctx, "num_partitions")
    if partitions.dtype is not DType.INT32:
        raise wrong_type(ctx, partitions.dtype, "partitions of element type int32")
    if data.shape.dims is None or partitions.shape.dims is None:
        return (TensorType(data.dtype),) * number
    _check_start(data.shape, partitions.shape)
    inner = data.shape.dims[len(partitions.shape.dims) :]
    return (TensorType(data.dtype, Shape((None, *inner))),) * number


def _check_start(data: Shape, partitions: Shape) -> None:
    if not starts_with(data, partitions):
        raise GradstepError(
            f"data.shape must start with partitions.shape, got data.shape = {brackets(data)}, "
            f"partitions.shape = {brackets(partitions)}",
            hint="there is one partition for each row",
        )


def _partition(
    xp: Any, data: Any, partitions: Any, *, num_partitions: int, rules: Rules = TF_CPU
) -> Any:
    _check_start(Shape(data.shape), Shape(partitions.shape))
    rows = data.reshape((partitions.size, *data.shape[partitions.ndim :]))
    flat = partitions.reshape(-1)

    def refuse_outside() -> None:
        if rules.scatter == "raise":
            outside = (partitions < 0) | (partitions >= num_partitions)
            check(xp, outside, lambda place: _no_such_part(partitions, place, num_partitions))

    if xp is np:
        refuse_outside()
        return tuple(rows[flat == number] for number in range(num_partitions))
    order = xp.argsort(flat, kind="stable")
    edges = xp.arange(num_partitions + 1).astype(flat.dtype)
    ends = xp.searchsorted(xp.take(flat, order), edges).tolist()
    if ends[-1] - ends[0] < partitions.size:
        refuse_outside()
    in_order = xp.take(rows, order, axis=0)
    return tuple(in_order[ends[n] : ends[n + 1]] for n in range(num_partitions))


def _no_such_part(partitions: Any, place: tuple[int, ...], number: int) -> GradstepError:
    return GradstepError(
        f"partitions{subscript(place)} = {partitions[place].item()} is not in [0, {number})",
        index=place,
        hint=bounds_hint(number),
    )


def _put_back(op: OpView, *grads: Tensor) -> tuple[Tensor, None]:
    """The rows' numbers are dealt out the same way; they say where the gradients belong."""
    data, partitions = op.inputs
    numbers = call_many(
        "DynamicPartition", _numbers(partitions), partitions, num_partitions=len(grads)
    )
    rows = call("ParallelDynamicStitch", *numbers, *grads)
    return call("Reshape", rows, shape_of(data)), None


def _numbers(x: Tensor) -> Tensor | np.ndarray:
    """0, 1, 2, … in the shape of `x`."""
    if x.shape.is_static:
        sizes = x.shape.static()
        return np.arange(np.prod(sizes, dtype=np.int64), dtype=np.int32).reshape(sizes)
    ends = np.array(0, np.int32), call("Size", x), np.array(1, np.int32)
    return call("Reshape", call("Range", *ends), call("Shape", x))


op(
    "DynamicPartition",
    inputs="data partitions",
    outputs="outputs*",
    attrs={"num_partitions": int},
    type_attrs={"T": "data"},
    formula="data[partitions == 0]",
    infer=_parts,
    kernel=Kernels(_partition, asks="how many there are"),
    gradient=_put_back,
    samples=lambda rng: [
        Sample((rng.normal(size=shape), np.array(parts, np.int32)), {"num_partitions": number})
        for shape, parts, number in (
            ((4, 2), [0, 1, 0, 1], 3),
            ((2, 2), [[0, 1], [1, 1]], 2),
            ((2,), 0, 2),
        )
    ],
    arithmetic="exact",
    doc="The rows of each partition, in order; how many there are depends on the values.",
)


def _stitched(ctx: InferContext) -> TensorType:
    half = len(ctx.types) // 2
    indices, data = ctx.types[:half], ctx.types[half:]
    for kind in indices:
        if kind.dtype is not DType.INT32:
            raise wrong_type(ctx, kind.dtype, "indices of element type int32")
    dtype, inner = one_dtype(ctx, data), UNKNOWN
    for number, (places, values) in enumerate(zip(indices, data, strict=True)):
        if places.shape.dims is not None and values.shape.dims is not None:
            _check_values(number, places.shape, values.shape)
            own = Shape(values.shape.dims[len(places.shape.dims) :])
            try:
                inner = inner.merge(own)
            except ValueError:
                raise _unlike(number, indices, data) from None
    if inner.dims is None:
        return TensorType(dtype)
    known = [ctx.constant(i) for i in range(half)]
    if any(k is None for k in known):
        return TensorType(dtype, Shape((None, *inner.dims)))
    rows = 1 + max((int(k.max()) for k in known if k.size), default=-1)
    return TensorType(dtype, Shape((rows, *inner.dims)))


def _check_values(number: int, indices: Shape, data: Shape) -> None:
    if not starts_with(data, indices):
        raise GradstepError(
            f"data[{number}].shape = {brackets(data)} does not start with "
            f"indices[{number}].shape = {brackets(indices)}",
            hint="there is one index for each row",
        )


def _stitch(xp: Any, *inputs: Any) -> Any:
    half = len(inputs) // 2
    indices, data = inputs[:half], inputs[half:]
    inner = data[0].shape[indices[0].ndim :]
    for number, (places, values) in enumerate(zip(indices, data, strict=True)):
        _check_values(number, Shape(places.shape), Shape(values.shape))
        if values.shape[places.ndim :] != inner:
            raise _unlike(number, indices, data)
    rows = xp.concatenate([places.reshape(-1) for places in indices])
    if rows.size == 0:
        return xp.zeros((0, *inner), dtype=data[0].dtype)
    lowest, highest = xp.stack([xp.min(rows), xp.max(rows)]).tolist()
    if lowest < 0:
        raise _outside(indices, rows)
    flat = [v.reshape((i.size, *inner)) for i, v in zip(indices, data, strict=True)]
    total = xp.zeros((highest + 1, *inner), dtype=data[0].dtype)
    return write_rows(xp, total, xp.concatenate(flat), rows)


def _dims(x: Any) -> Any:
    """Of an array or a tensor's type."""
    return x.shape.dims if isinstance(x, TensorType) else x.shape


def _unlike(number: int, indices: Any, data: Any) -> GradstepError:
    shapes = ", ".join(
        f"{name}[{i}].shape = {brackets(_dims(values[i]))}"
        for name, values in (("data", data), ("indices", indices))
        for i in (0, number)
    )
    return GradstepError(f"Need data[0].shape[1:] = data[{number}].shape[1:], got {shapes}")


def _outside(indices: Any, rows: Any) -> GradstepError:
    at = next(i for i, row in enumerate(rows.tolist()) if row < 0)
    for places in indices:
        if at < places.size:
            break
        at -= places.size
    return GradstepError(
        f"indices[{at}] is out of range", index=(at,), hint="indices are not negative"
    )


def _dealt_out(op: OpView, g: Tensor) -> list[Tensor | None]:
    """As in TensorFlow, a row written several times gives its gradient to all of them."""
    half = len(op.inputs) // 2
    zero = np.array(0, np.int32)
    rows = [call("GatherV2", g, places, zero) for places in op.inputs[:half]]
    return [*[None] * half, *rows]


def _stitch_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((ints(0, 2), ints(1, 3), rng.normal(size=(2, 3)), rng.normal(size=(2, 3)))),
        Sample((ints([2], [0]), np.int32(4), rng.normal(size=(2, 1)), rng.normal(size=()))),
        Sample((ints(), np.zeros((0, 2)))),
    ]


_TWICE = "of several rows for one place the last is kept, and all get its gradient"

for _type, _doc in (
    (
        "DynamicStitch",
        "Rows of several tensors put where their indices say; rows that none names are 0.",
    ),
    (
        "ParallelDynamicStitch",
        "DynamicStitch, but TensorFlow does not say which of several rows for one place it keeps.",
    ),
):
    op(
        _type,
        inputs="indices* data*",
        outputs="merged",
        type_attrs={"T": "data", "N": "len(data)"},
        formula="stitched(indices, data)",
        infer=_stitched,
        kernel=Kernels(_stitch, asks="which index is the largest"),
        gradient=_dealt_out,
        samples=_stitch_samples,
        arithmetic="exact",
        doc=_doc,
        kinks=_TWICE,
    )
