"""An operation as a call of `tf.raw_ops` in Python, and values as they are written there."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Operation
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.graph.splat_array import element_of, is_splat
from gradstep.core.ops.declare.table import OpDef, lookup

# What an element type is written as; "bfloat16" is known once TensorFlow is imported.
_TYPES = {"object": "object", "bool": "bool", "bfloat16": '"bfloat16"'}
_LARGE = 4096  # elements; a longer constant has no place in a script
# Where tf.raw_ops calls an argument otherwise than the op's definition does.
RENAMED: Mapping[str, Mapping[str, str]] = {
    "Select": {"t": "x", "e": "y"},
    "ExpandDims": {"dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"},
    "Where": {"input": "condition"},
    **{type: {"split_dim": "axis"} for type in ("Split", "SplitV")},
    **{
        type: {"reduction_indices": "axis"}
        for type in ("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum")
    },
}
# Attributes that tf.raw_ops finds out by itself.
_IMPLIED = {
    "AssignVariableOp": {"dtype"},
    "AssignAddVariableOp": {"dtype"},
    "AssignSubVariableOp": {"dtype"},
    "IsVariableInitialized": {"dtype"},
}


def raw_call(op: Operation, inputs: Sequence[str], *more: str) -> str:
    """The call that makes `op`. inputs: in Python; more: further arguments."""
    arguments = _arguments(op, lookup(op.type, op.name), inputs)
    return f"tf.raw_ops.{op.type}({', '.join([*arguments, *more])})"


def _arguments(op: Operation, definition: OpDef, inputs: Sequence[str]) -> Iterator[str]:
    renamed = RENAMED.get(op.type, {})
    grouped: dict[str, list[str]] = {spec.name: [] for spec in definition.inputs}
    for given, text in zip(definition.arity(len(inputs)), inputs, strict=True):
        grouped[given.partition("[")[0]].append(text)
    for spec in definition.inputs:
        tensors = ", ".join(grouped[spec.name])
        yield f"{renamed.get(spec.name, spec.name)}={f'[{tensors}]' if spec.variadic else tensors}"
    derived = {*definition.type_attrs, *_IMPLIED.get(op.type, ())}
    for key, value in op.attrs.items():
        if key in definition.attrs and key not in derived:
            text = value_text(value)
            if isinstance(value, Constant):
                text = f"tf.make_tensor_proto({text})"
            yield f"{renamed.get(key, key)}={text}"
    if op.type == "VarHandleOp" and "shared_name" not in op.attrs:
        yield f"shared_name={op.name!r}"  # without one, all handles are one variable there


def value_text(value: Any) -> str:
    """Python text of an attribute value. Raises GradstepError for a constant that is too long."""
    if isinstance(value, DType):
        return f"tf.{value.value}"
    if isinstance(value, Shape):
        return "None" if value.dims is None else repr(list(value.dims))
    if isinstance(value, Constant):
        return _array(value.array)
    if isinstance(value, tuple):
        return "[" + ", ".join(value_text(v) for v in value) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    return repr(value)


def _array(array: np.ndarray) -> str:
    if is_splat(array):
        return f"np.broadcast_to({_array(element_of(array))}, {array.shape})"
    if array.size > _LARGE:
        raise GradstepError(
            f"a constant of {array.size} elements is too long for a script",
            kind="FileError",
            hint="convert to .pb instead",
        )
    if kind_of(array.dtype) == "f":
        # The fewest digits that give each element back.
        values = np.array([float(str(x)) for x in array.ravel()]).reshape(array.shape).tolist()
    else:
        values = array.tolist()
    dtype = _TYPES.get(array.dtype.name, f"np.{array.dtype.name}")
    text = re.sub(r"\b(nan|inf)\b", r"np.\1", repr(values)) if dtype != "object" else repr(values)
    shape = f".reshape({array.shape})" if array.size == 0 else ""
    return f"np.array({text}, {dtype}){shape}"
