"""Reverse and Roll: the same elements turned round, or shifted along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import unref, want_rank, wrong_type
from gradstep.core.ops.numerics.index_bounds import check
from gradstep.core.ops.typing.static_values import constant_of


def _axes(wanted: Sequence[int], rank: int) -> tuple[int, ...]:
    """Axes counted from the front. Raises GradstepError for one that is not there or is twice."""
    found: list[int] = []
    for index, axis in enumerate(wanted):
        if not -rank <= axis < rank:
            raise GradstepError(
                f"'axis'[{index}] = {axis} is out of valid range [0, {rank - 1}",
                hint=f"axes go from {-rank} to {rank - 1}" if rank else "a scalar has no axes",
            )
        if axis % rank in found:
            raise GradstepError(f"axis {axis % rank} specified more than once.")
        found.append(axis % rank)
    return tuple(found)


def _reversed(ctx: InferContext) -> TensorType:
    axes, rank = ctx.constant(1), ctx.types[0].shape.rank
    want_rank(ctx, 1, 1)
    if axes is not None and rank is not None:
        _axes(integers(axes), rank)
    return unref(ctx)


def _turned_back(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    return call(op.type, g, op.inputs[1]), None


op(
    "ReverseV2",
    inputs="tensor #axis:int32,int64",
    type_attrs={"T": "tensor", "Tidx": "axis"},
    formula="flip(tensor, axes(axis))",
    infer=_reversed,
    kernel=lambda xp, x, axis: xp.flip(x, _axes(integers(axis), x.ndim)),
    gradient=_turned_back,
    samples=lambda rng: [
        Sample((rng.normal(size=(2, 3)), ints(*axes))) for axes in ((0,), (-1, 0), ())
    ],
    arithmetic="exact",
    python="reverse reverse_v2",
    doc="The elements in reverse order along some axes.",
)


def _flags(dims: Any, rank: int) -> tuple[int, ...]:
    """The axes whose flag is set."""
    if len(dims) != rank:
        raise GradstepError(
            "'dims' must have the same number of values as 'input' has dimensions. 'input' has "
            f"{rank}'dims' has {len(dims)} values",
            hint="give one flag for each axis",
        )
    return tuple(axis for axis, flag in enumerate(integers(dims)) if flag)


def _reversed_by_flags(ctx: InferContext) -> TensorType:
    dims, rank = ctx.constant(1), ctx.types[0].shape.rank
    want_rank(ctx, 1, 1)
    if ctx.types[1].dtype.value != "bool":
        raise wrong_type(ctx, ctx.types[1].dtype, "flags of element type bool")
    if dims is not None and rank is not None:
        _flags(dims, rank)
    return unref(ctx)


op(
    "Reverse",
    inputs="tensor #dims",
    type_attrs={"T": "tensor"},
    formula="flip(tensor, axes(nonzero(dims)))",
    infer=_reversed_by_flags,
    kernel=lambda xp, x, dims: xp.flip(x, _flags(dims, x.ndim)),
    gradient=_turned_back,
    samples=lambda rng: [Sample((rng.normal(size=(2, 3)), np.array([True, False])))],
    arithmetic="exact",
    doc="The elements in reverse order along the axes whose flag is set.",
)


def _sequences(ctx: InferContext) -> TensorType:
    source, lengths = ctx.types
    want_rank(ctx, 1, 1)
    if source.shape.dims is None:
        return unref(ctx)
    seq, batch = ctx.attr("seq_dim"), ctx.attr("batch_dim")
    _check_places(seq, batch, len(source.shape.dims))
    if lengths.shape.dims is not None:
        _check_lengths(lengths.shape.dims[0], batch, source.shape.dims[batch])
    return unref(ctx)


def _check_lengths(count: int | None, batch: int, size: int | None) -> None:
    if None not in (count, size) and count != size:
        raise GradstepError(
            f"Length of seq_lengths != input.dims({batch}), ({count} vs. {size})",
            hint="give a length for each sequence",
        )


def _check_places(seq: int, batch: int, rank: int) -> None:
    if seq < 0:
        raise GradstepError(f"Invalid seq_dim {seq}")
    if batch < 0:
        raise GradstepError(f"Invalid batch_dim {batch}")
    for name, axis in (("seq_dim", seq), ("batch_dim", batch)):
        if axis >= rank:
            raise GradstepError(f"{name} must be < input rank ( {axis} vs. {rank})")
    if seq == batch:
        raise GradstepError(f"batch_dim == seq_dim == {seq}", hint="they are different axes")


def _reverse_sequence(xp: Any, x: Any, seq_lengths: Any, *, seq_dim: int, batch_dim: int) -> Any:
    _check_places(seq_dim, batch_dim, x.ndim)
    batch, size = x.shape[batch_dim], x.shape[seq_dim]
    _check_lengths(seq_lengths.size, batch_dim, batch)
    lengths = seq_lengths.reshape((batch, 1))
    wrong = (seq_lengths < 0) | (seq_lengths > size)
    check(xp, wrong, lambda place: _wrong_length(seq_lengths, place, seq_dim))
    place = xp.arange(size).reshape((1, size))
    source = xp.where(place < lengths, lengths - 1 - place, place)
    rows = xp.moveaxis(x, (batch_dim, seq_dim), (0, 1))
    source = source.reshape(source.shape + (1,) * (x.ndim - 2))
    return xp.moveaxis(xp.take_along_axis(rows, source, axis=1), (0, 1), (batch_dim, seq_dim))


def _wrong_length(lengths: Any, place: tuple[int, ...], axis: int) -> GradstepError:
    fault = "< 0" if lengths[place].item() < 0 else f"> input.dims({axis})"
    return GradstepError(f"seq_lens({place[0]}) {fault}", index=place)


def _sequences_back(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    axes = {name: op.get_attr(name) for name in ("seq_dim", "batch_dim")}
    return call("ReverseSequence", g, op.inputs[1], **axes), None


op(
    "ReverseSequence",
    inputs="input seq_lengths:int32,int64",
    attrs={"seq_dim": int, "batch_dim": 0},
    type_attrs={"T": "input", "Tlen": "seq_lengths"},
    formula="reverse_sequence(input, seq_lengths, seq_dim, batch_dim)",
    infer=_sequences,
    kernel=Kernels(_reverse_sequence, asks="whether a length is beyond the axis"),
    gradient=_sequences_back,
    samples=lambda rng: [
        Sample(
            (rng.normal(size=shape), np.array(lengths, np.int64)), {"seq_dim": s, "batch_dim": b}
        )
        for shape, lengths, s, b in (
            ((2, 4), [2, 3], 1, 0),
            ((4, 2, 2), [0, 4], 0, 2),
            ((2, 3, 2), [1, 3], 1, 0),
        )
    ],
    arithmetic="exact",
    doc="Of each sequence in a batch, the first elements in reverse order, the rest as they were.",
)


def _rolled(ctx: InferContext) -> TensorType:
    source, shift, axis = ctx.types[0].shape, *(ctx.constant(i) for i in (1, 2))
    if shift is not None and axis is not None and source.rank is not None:
        _shifts(shift, axis, source.rank)
    return unref(ctx)


def _shifts(shift: Any, axis: Any, rank: int) -> dict[int, int]:
    """Axis -> how far its elements move. Raises GradstepError for axes that are not there."""
    if rank == 0:
        raise GradstepError("input must be 1-D or higher")
    for name, value in (("shift", shift), ("axis", axis)):
        if value.ndim > 1:
            raise GradstepError(
                f"{name} must be a scalar or a 1-D vector. Found: {brackets(value.shape)}"
            )
    if shift.shape != axis.shape:
        raise GradstepError("shift and axis must have the same size")
    found: dict[int, int] = {}
    for far, at in zip(integers(shift), integers(axis), strict=True):
        place = at + rank if at < 0 else at
        if not 0 <= place < rank:
            raise GradstepError(
                f"axis {place} is out of range", hint=f"axes go from {-rank} to {rank - 1}"
            )
        found[place] = found.get(place, 0) + far
    return found


def _roll(xp: Any, x: Any, shift: Any, axis: Any) -> Any:
    for at, far in _shifts(shift, axis, x.ndim).items():
        x = xp.roll(x, far, at)
    return x


def _rolled_back(op: OpView, g: Tensor) -> tuple[Tensor, None, None]:
    _, shift, axis = op.inputs
    known = constant_of(shift)
    return call("Roll", g, call("Neg", shift) if known is None else -known, axis), None, None


op(
    "Roll",
    inputs="input #shift:int32,int64 #axis:int32,int64",
    type_attrs={"T": "input", "Tshift": "shift", "Taxis": "axis"},
    formula="roll(input, axes(shift), axes(axis))",
    infer=_rolled,
    kernel=_roll,
    gradient=_rolled_back,
    samples=lambda rng: [
        Sample((rng.normal(size=(2, 3)), np.array(shift, np.int32), np.array(axis, np.int32)))
        for shift, axis in ((1, 0), ([-1, 1], [1, 0]), ([1, 4], [-1, 1]))
    ],
    arithmetic="exact",
    python="roll",
    doc="The elements shifted along axes; those that leave at one end come in at the other.",
)
