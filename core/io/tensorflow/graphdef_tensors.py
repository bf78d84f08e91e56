"""TensorProto to and from arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, array_bytes
from gradstep.core.graph.splat_array import element_of, is_splat, splat
from gradstep.core.io.native.tensor_json import objects
from gradstep.core.io.tensorflow.graphdef_proto import TYPE_NUMBERS, dtype_of, message, type_name

# The repeated field that holds the values when tensor_content does not.
_FIELDS = {
    DType.FLOAT16: "half_val", DType.BFLOAT16: "half_val",
    DType.FLOAT32: "float_val", DType.FLOAT64: "double_val",
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


def tensor_bytes(proto: Any) -> int:
    """Bytes that the value of a TensorProto takes, or 0 for what is refused or takes none: of one
    value, however often it is repeated, only that is kept."""
    try:
        dtype, shape = _declared(proto)
        listed = 0 if proto.tensor_content else len(getattr(proto, _FIELDS[dtype]))
    except GradstepError:
        return 0
    if not proto.tensor_content and listed <= 1 + dtype.is_complex:
        return 0
    whole: int = math.prod(shape) * max(dtype.numpy.itemsize, 1)
    held = len(proto.tensor_content)
    return held if held and held != whole else whole  # of what is not there, `read_tensor` says so


def read_tensor(proto: Any) -> np.ndarray:
    """The value of a TensorProto. A short list of values is continued with its last one, as
    TensorFlow does; what that takes, `tensor_bytes` says. Raises GradstepError."""
    dtype, shape = _declared(proto)
    count = math.prod(shape)
    if proto.tensor_content:
        return _from_content(proto.tensor_content, dtype, shape, count)
    values = _listed(proto, dtype)
    if len(values) > count:
        raise _bad(f"a constant declares {count} elements but lists {len(values)}")
    return _continued(values, count, shape)


def _declared(proto: Any) -> tuple[DType, tuple[int, ...]]:
    dtype = read_type(proto.dtype)
    shape = _static(read_shape(proto.tensor_shape))
    if dtype not in _FIELDS:
        raise _bad(f"a constant cannot be of type {dtype.value}")
    try:
        array_bytes(shape, dtype.numpy.itemsize)
    except ValueError as error:
        raise _bad(f"a constant declares {dtype.value}{list(shape)}: {error}") from None
    return dtype, shape


def write_tensor(array: np.ndarray) -> Any:
    """The TensorProto of `array`."""
    dtype = DType.of(array.dtype)
    proto = message("TensorProto")(dtype=TYPE_NUMBERS[dtype])
    proto.tensor_shape.CopyFrom(write_shape(Shape(tuple(array.shape))))
    if dtype is DType.STRING:
        texts = (element_of(array) if is_splat(array) else array).ravel().tolist()
        proto.string_val.extend(t.encode() if isinstance(t, str) else t for t in texts)
    elif is_splat(array):
        getattr(proto, _FIELDS[dtype]).extend(_listing(element_of(array)))
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
    if _FIELDS[dtype] == "half_val":
        return np.array(values, np.uint16).view(dtype.numpy)
    if dtype.is_complex:
        parts = np.array(values, np.float32 if dtype is DType.COMPLEX64 else np.float64)
        return parts[: len(parts) // 2 * 2].view(dtype.numpy)
    return np.array(values).astype(dtype.numpy)


def _listing(element: np.ndarray) -> list[Any]:
    """The inverse of `_listed`, of one element."""
    if _FIELDS[DType.of(element.dtype)] == "half_val":
        return [int(element.view(np.uint16))]
    if element.dtype.kind == "c":
        return [float(element.real), float(element.imag)]
    return [element.item()]


def _continued(values: np.ndarray, count: int, shape: tuple[int, ...]) -> np.ndarray:
    if len(values) == count:
        return values.reshape(shape)
    if len(values) == 0:
        fill: Any = b"" if values.dtype == object else 0
        return splat(np.array(fill, values.dtype), shape)
    if len(values) == 1:
        return splat(values, shape)
    whole = np.empty(count, values.dtype)
    whole[: len(values)] = values
    whole[len(values) :] = values[-1]
    return whole.reshape(shape)


def _bad(message: str) -> GradstepError:
    return GradstepError(message, kind="FileError", hint="the file is damaged")
