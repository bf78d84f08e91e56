"""Attributes of ONNX's operators as arguments: numbers, texts, lists, arrays, graphs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import array_bytes
from gradstep.core.io.native.tensor_json import objects
from gradstep.core.io.onnx.onnx_scope import OnnxScope, bad
from gradstep.core.io.onnx.onnx_tensors import Tensors
from gradstep.core.io.onnx.onnx_types import read_type
from gradstep.core.lowering.foreign_graph import ForeignSubgraph
from gradstep.core.lowering.onnx.onnx_table import CAPTURED, INPUTS

Graphs = Callable[[Any, "list[OnnxScope] | None"], ForeignSubgraph]

# AttributeProto.AttributeType -> the field that has the value
_FIELDS = {
    1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "floats", 7: "ints", 8: "strings", 9: "tensors",
    10: "graphs", 11: "sparse_tensor", 12: "sparse_tensors", 13: "tp", 14: "type_protos",
}  # fmt: skip
_CONSTANTS = {  # Constant's attributes besides tensors -> the element type
    "value_float": np.float32, "value_floats": np.float32, "value_int": np.int64,
    "value_ints": np.int64, "value_string": object, "value_strings": object,
}  # fmt: skip


class Attributes:
    """Reads those of nodes. given: in a function, the attributes that it was called with, as they
    stand in the file, by name."""

    def __init__(
        self, tensors: Tensors, graphs: Graphs, given: Mapping[str, Any] | None = None
    ) -> None:
        self._tensors, self._graphs, self._given = tensors, graphs, given or {}

    def read(
        self, protos: Iterable[Any], captured: list[OnnxScope] | None = None
    ) -> dict[str, Any]:
        """By name. captured: where the scopes of graphs are noted."""
        found = {}
        for proto in protos:
            own = self._given.get(proto.ref_attr_name) if proto.ref_attr_name else proto
            if own is not None:
                name = f"{proto.name}_" if proto.name in (INPUTS, CAPTURED) else proto.name
                if name in found:
                    raise bad(f"an operator has two attributes of the name '{name:.60}'")
                found[name] = self._value(own, captured)
        return found

    def of_call(self, protos: Iterable[Any], function: Any) -> Attributes:
        """What the nodes of a function that is called with these read theirs with."""
        given = {one.name: one for one in function.attribute_proto}
        for proto in protos:
            own = self._given.get(proto.ref_attr_name) if proto.ref_attr_name else proto
            if own is not None:
                given[proto.name] = own
        return Attributes(self._tensors, self._graphs, given)

    def constant(self, told: Mapping[str, Any]) -> np.ndarray:
        """What a Constant is. Raises GradstepError (FileError)."""
        for name, value in told.items():
            if isinstance(value, np.ndarray):
                return value
            if name in _CONSTANTS:
                return _array(value, _CONSTANTS[name])
        raise bad("a Constant has no value")

    def dense(self, proto: Any) -> np.ndarray:
        """A SparseTensorProto with its zeros. Raises GradstepError."""
        values, indices = self._tensors.read(proto.values), self._tensors.read(proto.indices)
        shape = tuple(proto.dims)
        try:
            self._tensors.take(array_bytes(shape, values.dtype.itemsize))
            found = np.zeros(shape, values.dtype)
            places = indices.reshape(-1) if indices.ndim < 2 else _flat(indices, shape)
            found.reshape(-1)[places] = values
        except (ValueError, IndexError, TypeError) as error:
            raise bad(f"a sparse tensor is none: {error!s:.80}") from None
        return found

    def _value(self, proto: Any, captured: list[OnnxScope] | None) -> Any:
        field = _FIELDS.get(proto.type) or _field_that_is_there(proto)
        value = getattr(proto, field)
        if field == "s":
            return value.decode(errors="replace")
        if field == "strings":
            return [one.decode(errors="replace") for one in value]
        if field == "t":
            return self._tensors.read(value)
        if field == "g":
            return self._graphs(value, captured)
        if field == "graphs":
            return [self._graphs(one, None) for one in value]
        if field == "tensors":
            return [self._tensors.read(one) for one in value]
        if field == "sparse_tensor":
            return self.dense(value)
        if field == "tp":
            return read_type(value)
        return list(value) if field in ("floats", "ints") else value if field in "fi" else None


def _field_that_is_there(proto: Any) -> str:
    """Of old files, which do not say."""
    there = [field.name for field, _ in proto.ListFields() if field.name in _FIELDS.values()]
    return there[0] if there else "i"


def _array(value: Any, kind: Any) -> np.ndarray:
    if kind is not object:
        return np.array(value, kind)
    texts = value if isinstance(value, list) else [value]
    return objects([text.encode() for text in texts], (len(texts),) if texts is value else ())


def _flat(indices: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    steps = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    found: np.ndarray = indices @ np.array(steps, np.int64)
    return found
