"""Functions of `tf` that change shapes, cut and join."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops.api.tf_creation import Axes, constant, ints
from gradstep.core.ops.build.tensor import Tensor, TensorLike, call, call_many


def transpose(x: TensorLike, perm: TensorLike = None, name: str | None = None) -> Tensor:
    """The axes in the order `perm`, or reversed."""
    x = constant(x)
    if perm is None and x.shape.rank is not None:
        perm = np.arange(x.shape.rank, dtype=np.int32)[::-1]
    elif perm is None:
        rank = call("Rank", x)
        places = call("Range", np.array(0, np.int32), rank, np.array(1, np.int32))
        perm = call("Sub", call("Sub", rank, places), np.array(1, np.int32))
    return call("Transpose", x, ints(perm), name=name)


def expand_dims(x: TensorLike, axis: TensorLike, name: str | None = None) -> Tensor:
    return call("ExpandDims", constant(x), ints(axis), name=name)


def squeeze(x: TensorLike, axis: Axes = None, name: str | None = None) -> Tensor:
    axes = () if axis is None else tuple(np.atleast_1d(np.array(axis, np.int32)).tolist())
    return call("Squeeze", constant(x), squeeze_dims=axes, name=name)


def concat(values: Sequence[TensorLike], axis: TensorLike, name: str | None = None) -> Tensor:
    if len(values) == 1:
        return call("Identity", values[0], name=name)
    return call("ConcatV2", *values, ints(axis), name=name)


def stack(values: Sequence[TensorLike], axis: int = 0, name: str | None = None) -> Tensor:
    return call("Pack", *values, axis=axis, name=name)


def unstack(
    value: Tensor, num: int | None = None, axis: int = 0, name: str | None = None
) -> list[Tensor]:
    """The slices along an axis; `num` is needed where that size is not known."""
    if num is None and value.shape.dims is not None:
        rank = len(value.shape.dims)
        if not -rank <= axis < rank:
            raise ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")
        num = value.shape.dims[axis]
    if num is None:
        raise ValueError(f"Cannot infer argument `num` from shape {value.shape}")
    return list(call_many("Unpack", value, num=num, axis=axis, name=name))


def split(
    value: TensorLike,
    num_or_size_splits: TensorLike,
    axis: TensorLike = 0,
    num: int | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """So many equal pieces along an axis, or pieces of the given sizes."""
    value = constant(value)
    if isinstance(num_or_size_splits, int | np.integer):
        count = int(num_or_size_splits)
        return list(call_many("Split", ints(axis), value, num_split=count, name=name))
    sizes = constant(num_or_size_splits)
    if num is None and sizes.shape.dims:
        num = sizes.shape.dims[0]
    if num is None:
        raise ValueError(f"Cannot infer argument `num` from shape {sizes.shape}")
    return list(call_many("SplitV", value, sizes, ints(axis), num_split=num, name=name))


def pad(
    tensor: TensorLike,
    paddings: TensorLike,
    mode: str = "CONSTANT",
    name: str | None = None,
    constant_values: TensorLike = 0,
) -> Tensor:
    """A border of one value, or one that mirrors the tensor."""
    tensor, paddings, mode = constant(tensor), ints(paddings), mode.upper()
    if mode in ("REFLECT", "SYMMETRIC"):
        return call("MirrorPad", tensor, paddings, mode=mode, name=name)
    if mode != "CONSTANT":
        raise ValueError(
            "Value of argument `mode` expected to be one of CONSTANT, REFLECT, or SYMMETRIC. "
            f"Received `mode` = {mode}"
        )
    if isinstance(constant_values, Tensor) or np.any(np.asarray(constant_values)):
        value = tensor.builder.tensor(constant_values, dtype=tensor.dtype)
        return call("PadV2", tensor, paddings, value, name=name)
    return call("Pad", tensor, paddings, name=name)


def reverse_sequence(
    input: TensorLike,
    seq_lengths: TensorLike,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Of each sequence in a batch, the first elements in reverse order."""
    if seq_axis is None:
        raise ValueError("reverse_sequence() needs seq_axis, the axis of the sequences")
    axes = {"seq_dim": seq_axis, "batch_dim": batch_axis or 0}
    return call("ReverseSequence", constant(input), ints(seq_lengths), **axes, name=name)


def strided_slice(
    input_: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: TensorLike = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    name: str | None = None,
) -> Tensor:
    """Python's x[a:b:c, ...], its parts as tensors and masks."""
    begin = constant(begin)
    if strides is None:
        strides = call("OnesLike", begin)
    return call(
        "StridedSlice",
        constant(input_),
        begin,
        constant(end),
        constant(strides),
        begin_mask=begin_mask,
        end_mask=end_mask,
        ellipsis_mask=ellipsis_mask,
        new_axis_mask=new_axis_mask,
        shrink_axis_mask=shrink_axis_mask,
        name=name,
    )


def ensure_shape(x: TensorLike, shape: Any, name: str | None = None) -> Tensor:
    """The tensor itself, if it has that shape; None stands for a size that may be any."""
    wanted = shape if isinstance(shape, Shape) else Shape(None if shape is None else tuple(shape))
    return call("EnsureShape", constant(x), shape=wanted, name=name)


def size(input: TensorLike, name: str | None = None, out_type: DType | str = "int32") -> Tensor:
    return call("Size", constant(input), out_type=DType(out_type), name=name)


def shape(input: TensorLike, name: str | None = None, out_type: DType | str = "int32") -> Tensor:
    return call("Shape", constant(input), out_type=DType(out_type), name=name)


def shape_n(
    input: Sequence[TensorLike], out_type: DType | str = "int32", name: str | None = None
) -> list[Tensor]:
    tensors = [constant(x) for x in input]
    return list(call_many("ShapeN", *tensors, out_type=DType(out_type), name=name))


def _blocks(op_type: str) -> Any:
    def function(
        input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC"
    ) -> Tensor:
        attrs = {"block_size": block_size, "data_format": data_format}
        return call(op_type, constant(input), **attrs, name=name)

    function.__doc__ = f"The op {op_type}."
    return function


FUNCTIONS = {
    "concat": concat,
    "depth_to_space": _blocks("DepthToSpace"),
    "ensure_shape": ensure_shape,
    "expand_dims": expand_dims,
    "pad": pad,
    "reverse_sequence": reverse_sequence,
    "shape": shape,
    "shape_n": shape_n,
    "size": size,
    "space_to_depth": _blocks("SpaceToDepth"),
    "split": split,
    "squeeze": squeeze,
    "stack": stack,
    "strided_slice": strided_slice,
    "transpose": transpose,
    "unstack": unstack,
}
