"""Models of ONNX for tests, written with our own messages: no ONNX is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from gradstep.core.io.onnx.onnx_messages import message

TYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
    "bool": 9, "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14,
    "complex128": 15, "bfloat16": 16, "float8_e4m3fn": 17, "float8_e4m3fnuz": 18,
    "float8_e5m2": 19, "float8_e5m2fnuz": 20, "uint4": 21, "int4": 22, "float4_e2m1fn": 23,
    "float8_e8m0fnu": 24, "uint2": 25, "int2": 26,
}  # fmt: skip
Declared = Mapping[str, tuple[str, Sequence[int | str] | None]]


def tensor(array: np.ndarray, name: str = "") -> Any:
    """A TensorProto."""
    made = message("TensorProto")(name=name, data_type=TYPES[str(array.dtype)])
    made.dims.extend(array.shape)
    made.raw_data = array.tobytes()
    return made


def node(type: str, inputs: str, outputs: str, name: str = "", **attributes: Any) -> Any:
    """A NodeProto. inputs and outputs: names, separated by blanks; "-" for one that is left out."""
    made = message("NodeProto")(op_type=type, name=name)
    made.input.extend("" if one == "-" else one for one in inputs.split())
    made.output.extend("" if one == "-" else one for one in outputs.split())
    for key, value in attributes.items():
        _set(made.attribute.add(name=key), value)
    return made


def _set(made: Any, value: Any) -> None:
    if isinstance(value, np.ndarray):
        made.type = 4
        made.t.CopyFrom(tensor(value))
    elif isinstance(value, str):
        made.type, made.s = 3, value.encode()
    elif isinstance(value, float):
        made.type, made.f = 1, value
    elif isinstance(value, int):
        made.type, made.i = 2, value
    elif isinstance(value, list) and value and isinstance(value[0], float):
        made.type = 6
        made.floats.extend(value)
    elif isinstance(value, list) and value and isinstance(value[0], str):
        made.type = 8
        made.strings.extend(one.encode() for one in value)
    elif isinstance(value, list):
        made.type = 7
        made.ints.extend(value)
    else:
        made.type = 5
        made.g.CopyFrom(value)


def graph(
    nodes: Sequence[Any],
    inputs: Declared,
    outputs: Declared,
    weights: Mapping[str, np.ndarray] | None = None,
) -> Any:
    """A GraphProto. inputs, outputs: name -> element type, and sizes or None."""
    made = message("GraphProto")(name="test")
    made.node.extend(nodes)
    for place, declared in ((made.input, inputs), (made.output, outputs)):
        for name, (kind, sizes) in declared.items():
            told = place.add(name=name).type.tensor_type
            told.elem_type = TYPES[kind]
            for size in sizes or ():
                key = "dim_value" if isinstance(size, int) else "dim_param"
                told.shape.dim.add(**{key: size})
            if sizes == ():
                told.shape.SetInParent()
    made.initializer.extend(tensor(a, name) for name, a in (weights or {}).items())
    return made


def model(of: Any, opset: int = 20, **more: Any) -> bytes:
    """The bytes of a ModelProto around a GraphProto."""
    made = message("ModelProto")(ir_version=10, producer_name="tests", **more)
    made.opset_import.add(domain="", version=opset)
    made.graph.CopyFrom(of)
    data: bytes = made.SerializeToString(deterministic=True)
    return data


def one_node(
    type: str, arrays: Mapping[str, np.ndarray], opset: int = 20, **attributes: Any
) -> bytes:
    """A model of one operator that takes these and gives `y`; its type is not told."""
    inputs = {name: (str(a.dtype), a.shape) for name, a in arrays.items()}
    made = graph([node(type, " ".join(arrays), "y", **attributes)], inputs, {})
    made.output.add(name="y")
    return model(made, opset)


def small(kind: str, values: Sequence[float]) -> np.ndarray:
    """Numbers of a type of few bits ("float8_e4m3fn")."""
    return np.array(values, np.float32).astype(getattr(ml_dtypes, kind))
