"""TensorProto to and from arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core.errors import GradstepError
from core.graph.dtypes import DType, Shape
from core.io.graphdef_messages import TYPE_NUMBERS, dtype_of, message, type_name
from core.io.tensor_json import objects

MAX_BYTES = 1 << 30  # of one constant; a protobuf message cannot be larger than twice that

# The repeated field that holds the values when tensor_content does not.
_FIELDS = {
    DType.FLOAT16: "half_val", DType.FLOAT32: "float_val", DType.FLOAT64: "double_val",
    DType.INT8: "int_val", DType.INT16: "int_val", DType.INT32: "int_val", DType.INT64: "int64_val",
    DType.UINT8: "int_val", DType.UINT16: "int_val", DType.UINT32: "uint32_val",
    DType.UINT64: "uint64_val", DType.BOOL: "bool_val", DType.STRING: "string_val",
    DType.COMPLEX64: "scomplex_val", DType.COMPLEX128: "dcomplex_val",
}  # fmt: skip


def read_type(number: int) -> DType:
    """The element type of a DataType number. Raises GradstepError for one Gradstep lacks."""
    try:
        return dtype_of(number)
    except KeyError:
        raise GradstepError(
            f"element type {type_name(number)} is not supported",
            kind="UnimplementedError",
            hint="cast it to float32 before saving the graph",
        ) from None


def read_shape(proto: Any) -> Shape:
    """A partial shape from a TensorShapeProto."""
    if proto.unknown_rank:
        return Shape(None)
    return Shape(tuple(None if dim.size < 0 else dim.size for dim in proto.dim))


def write_shape(shape: Shape) -> Any:
    """The TensorShapeProto of a partial shape."""
    proto = message("TensorShapeProto")()
    if shape.dims is None:
        proto.unknown_rank = True
    for size in shape.dims or ():
        proto.dim.add(size=-1 if size is None else size)
    return proto


def read_tensor(proto: Any) -> np.ndarray:
    """The value of a TensorProto. Its declared size is checked before memory is taken; a short
    list of values is continued with its last one, as TensorFlow does. Raises GradstepError."""
    dtype = read_type(proto.dtype)
    shape = _static(read_shape(proto.tensor_shape))
    count = math.prod(shape)
    if dtype not in _FIELDS:
        raise _bad(f"a constant cannot be of type {dtype.value}")
    if count * max(dtype.numpy.itemsize, 1) > MAX_BYTES:
        raise _bad(f"a constant declares {dtype.value}{list(shape)}, over {MAX_BYTES} bytes")
    if proto.tensor_content:
        return _from_content(proto.tensor_content, dtype, shape, count)
    values = _listed(proto, dtype)
    if len(values) > count:
        raise _bad(f"a constant declares {count} elements but lists {len(values)}")
    return _continued(values, count).reshape(shape)


def write_tensor(array: np.ndarray) -> Any:
    """The TensorProto of `array`."""
    dtype = DType.of(array.dtype)
    proto = message("TensorProto")(dtype=TYPE_NUMBERS[dtype])
    proto.tensor_shape.CopyFrom(write_shape(Shape(tuple(array.shape))))
    if dtype is DType.STRING:
        texts = array.ravel().tolist()
        proto.string_val.extend(t.encode() if isinstance(t, str) else t for t in texts)
    else:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    return proto


def _static(shape: Shape) -> tuple[int, ...]:
    try:
        return shape.static()
    except ValueError:
        raise _bad(f"a constant has the unknown shape {shape}") from None


def _from_content(content: bytes, dtype: DType, shape: tuple[int, ...], count: int) -> np.ndarray:
    expected = count * dtype.numpy.itemsize
    if dtype is DType.STRING or len(content) != expected:
        raise _bad(
            f"a constant declares {dtype.value}{list(shape)}, {expected} bytes, "
            f"but holds {len(content)}"
        )
    return np.frombuffer(content, dtype.numpy).reshape(shape)


def _listed(proto: Any, dtype: DType) -> np.ndarray:
    values = getattr(proto, _FIELDS[dtype])
    if dtype is DType.STRING:
        return objects(list(values), (len(values),))
    if dtype is DType.FLOAT16:
        return np.array(values, np.uint16).view(np.float16)
    if dtype.is_complex:
        parts = np.array(values, np.float32 if dtype is DType.COMPLEX64 else np.float64)
        return parts[: len(parts) // 2 * 2].view(dtype.numpy)
    return np.array(values).astype(dtype.numpy)


def _continued(values: np.ndarray, count: int) -> np.ndarray:
    if len(values) == count:
        return values
    if len(values) == 0:
        fill: Any = b"" if values.dtype == object else 0
        return np.full(count, fill, values.dtype)
    return np.concatenate([values, np.repeat(values[-1:], count - len(values))])


def _bad(message: str) -> GradstepError:
    return GradstepError(message, kind="FileError", hint="the file is damaged")
