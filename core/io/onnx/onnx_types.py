"""ONNX's element types and shapes: how numbers are stored, and what they are called here."""

from __future__ import annotations

from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.lowering.foreign_graph import ForeignTensor, Size

_HINT = "convert the model to a newer ONNX, or export it again"


class Stored(NamedTuple):
    """name: what the numbers are called. becomes: the same, or where there is no such type here,
    one that has all of them. array: as they are stored. bits: that one takes."""

    name: str
    becomes: str
    array: np.dtype
    bits: int

    @property
    def is_packed(self) -> bool:
        """Several numbers in a byte."""
        return self.bits < 8


def _stored(becomes: str, kind: Any, bits: int = 0) -> Stored:
    dtype = np.dtype(kind)
    name = becomes if dtype.hasobject else dtype.name
    return Stored(name, becomes, dtype, bits or 8 * dtype.itemsize)


# TensorProto.DataType -> what it is; those of few bits become the next that holds them.
STORED = {
    1: _stored("float32", "f4"), 2: _stored("uint8", "u1"), 3: _stored("int8", "i1"),
    4: _stored("uint16", "u2"), 5: _stored("int16", "i2"), 6: _stored("int32", "i4"),
    7: _stored("int64", "i8"), 8: _stored("string", object), 9: _stored("bool", "?"),
    10: _stored("float16", "f2"), 11: _stored("float64", "f8"), 12: _stored("uint32", "u4"),
    13: _stored("uint64", "u8"), 14: _stored("complex64", "c8"), 15: _stored("complex128", "c16"),
    16: _stored("bfloat16", ml_dtypes.bfloat16),
    17: _stored("float32", ml_dtypes.float8_e4m3fn),
    18: _stored("float32", ml_dtypes.float8_e4m3fnuz),
    19: _stored("float32", ml_dtypes.float8_e5m2),
    20: _stored("float32", ml_dtypes.float8_e5m2fnuz),
    21: _stored("uint8", ml_dtypes.uint4, 4), 22: _stored("int8", ml_dtypes.int4, 4),
    23: _stored("float32", ml_dtypes.float4_e2m1fn, 4),
    24: _stored("float32", ml_dtypes.float8_e8m0fnu),
    25: _stored("uint8", ml_dtypes.uint2, 2), 26: _stored("int8", ml_dtypes.int2, 2),
}  # fmt: skip
_NOT_READ = {27: "float6e2m3", 28: "float6e3m2"}


def stored_as(number: int) -> Stored:
    """Raises GradstepError (FileError) for a type that is not read."""
    if number not in STORED:
        name = _NOT_READ.get(number, f"number {number}")
        raise GradstepError(f"element type {name} is not supported", kind="FileError", hint=_HINT)
    return STORED[number]


def read_type(proto: Any) -> ForeignTensor:
    """What a TypeProto tells of a tensor; nothing is told where it is of something else."""
    if proto.WhichOneof("value") != "tensor_type" or proto.tensor_type.elem_type not in STORED:
        return UNTOLD
    told = proto.tensor_type
    name = STORED[told.elem_type].name
    if not told.HasField("shape"):
        return ForeignTensor(name, (), has_rank=False)
    return ForeignTensor(name, tuple(map(_size, told.shape.dim)))


UNTOLD = ForeignTensor("", (), has_rank=False)


def _size(dim: Any) -> Size:
    """A size that is not told may be any."""
    kind = dim.WhichOneof("value")
    if kind == "dim_value" and dim.dim_value >= 0:
        return int(dim.dim_value)
    return str(dim.dim_param) or "?"
