"""Attribute values and tensors as records of the file, and back."""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
from collections.abc import Callable
from typing import Any, Protocol

import msgspec
import numpy as np
from msgspec import UNSET

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, array_bytes
from gradstep.core.graph.model import Constant
from gradstep.core.graph.opaque_attributes import Unread
from gradstep.core.graph.splat_array import element_of, is_splat, splat
from gradstep.core.io.native import file_schema, npy, tensor_json

DIGITS = 16  # of a tensor's hash, in the name of its file
INLINE = 64  # elements; larger tensors get a file of their own


class TensorSource(Protocol):
    """Where the files of large tensors are read from."""

    def tensor(self, name: str) -> np.ndarray: ...


class TensorFiles:
    """The .npy members that a document needs, named by their content, each kept once. splats:
    whether any tensor is written as its one value."""

    def __init__(self) -> None:
        self.members: dict[str, bytes] = {}
        self.splats = False
        self._names: dict[int, tuple[np.ndarray, str]] = {}  # of arrays that several have

    def record(self, constant: Constant) -> file_schema.TensorRecord:
        """The record of a tensor: its data if short and exactly writable as JSON, else a file; of
        one value (gradstep.core.graph.splat_array) that alone."""
        array = constant.array
        dtype, shape = DType.of(array.dtype), list(array.shape)
        if is_splat(array):
            self.splats = True
            held = self._held(dtype, element_of(array))
            return msgspec.structs.replace(held, shape=shape, splat=True)
        return self._held(dtype, array)

    def _held(self, dtype: DType, array: np.ndarray) -> file_schema.TensorRecord:
        shape = list(array.shape)
        if dtype is DType.STRING:
            data = tensor_json.to_json(array)["data"]
            return file_schema.TensorRecord(dtype=dtype, shape=shape, data=data)
        if array.size <= INLINE:
            data = tensor_json.to_json(array)["data"]
            again = tensor_json.from_json(dtype, shape, data)
            if again.tobytes() == array.tobytes():  # NaNs with a payload go to a file
                return file_schema.TensorRecord(dtype=dtype, shape=shape, data=data)
        return file_schema.TensorRecord(dtype=dtype, shape=shape, file=self._file(array))

    def _file(self, array: np.ndarray) -> str:
        _, name = self._names.get(id(array), (array, ""))
        if not name:
            data = npy.to_bytes(array)
            digest = hashlib.sha256(data).hexdigest()
            name = f"tensors/{digest[:DIGITS]}.npy"
            if self.members.setdefault(name, data) != data:  # somebody made them begin alike
                name = f"tensors/{digest}.npy"
                self.members[name] = data
            self._names[id(array)] = array, name
        return name


def read_tensor(record: file_schema.TensorRecord, source: TensorSource) -> Constant:
    """The inverse of `TensorFiles.record`. Raises GradstepError."""
    if not record.splat:
        return Constant.taking(_array(record, record.shape, source))
    try:
        array_bytes(record.shape, record.dtype.numpy.itemsize)
    except ValueError as error:
        raise GradstepError(str(error), kind="FileError") from None
    return Constant(splat(_array(record, [], source), record.shape))


def _array(record: file_schema.TensorRecord, shape: list[int], source: TensorSource) -> np.ndarray:
    """What a record holds, which is to be of `shape`."""
    if record.file:
        array = source.tensor(record.file)
        if array.dtype != record.dtype.numpy or list(array.shape) != shape:
            raise GradstepError(
                f"{record.file} is {array.dtype}{list(array.shape)}, "
                f"but the document says {record.dtype.value}{shape}",
                kind="FileError",
            )
        return array
    if record.data is UNSET:
        raise GradstepError("a tensor has neither data nor a file", kind="FileError")
    return tensor_json.from_json(record.dtype, shape, record.data)


def write_attribute(value: Any, files: TensorFiles) -> file_schema.AttributeRecord:
    """One attribute value as a record. Raises GradstepError for a value of no known kind."""
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            record: file_schema.AttributeRecord = write(value, files)
            return record
    raise GradstepError(
        f"an attribute of type {type(value).__name__} cannot be saved", kind="FileError"
    )


def read_attribute(record: file_schema.AttributeRecord, source: TensorSource) -> Any:
    """The inverse of `write_attribute`. Raises GradstepError."""
    reader = _READERS.get(type(record))
    return record if reader is None else reader(record, source)


def read_shape(dims: list[int | None] | None) -> Shape:
    """A partial shape from its record. Raises GradstepError for a negative size."""
    if dims is not None and any(d is not None and d < 0 for d in dims):
        raise GradstepError(f"{dims} is not a shape", kind="FileError")
    return Shape(None if dims is None else tuple(dims))


def _write_float(value: float, files: TensorFiles) -> file_schema.AttributeRecord:
    if math.isfinite(value):
        return float(value)
    return file_schema.FloatAttribute(value=str(tensor_json.number_to_json(float(value))))


def _write_shape(value: Shape, files: TensorFiles) -> file_schema.AttributeRecord:
    return file_schema.ShapeAttribute(value=None if value.dims is None else list(value.dims))


def _write_unread(value: Unread, files: TensorFiles) -> file_schema.AttributeRecord:
    data = base64.b64encode(value.data).decode()
    return file_schema.UnreadAttribute(value=data, why=value.why, hint=value.hint)


def _write_list(value: tuple[Any, ...], files: TensorFiles) -> file_schema.AttributeRecord:
    return file_schema.ListAttribute(value=[write_attribute(item, files) for item in value])


def read_base64(text: str) -> bytes:
    """Bytes from a record. Raises GradstepError."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise GradstepError(f"{text[:40]!r} is not base64", kind="FileError") from None


def _read_float(record: file_schema.FloatAttribute, source: TensorSource) -> float:
    try:
        return tensor_json.number_from_json(record.value)
    except ValueError as error:
        raise GradstepError(str(error), kind="FileError") from None


def _read_list(record: file_schema.ListAttribute, source: TensorSource) -> tuple[Any, ...]:
    return tuple(read_attribute(item, source) for item in record.value)


# In this order: a DType is a str, and a bool is an int.
_WRITERS: tuple[tuple[type | tuple[type, ...], Callable[[Any, TensorFiles], Any]], ...] = (
    (DType, lambda value, files: file_schema.TypeAttribute(value=value)),
    ((bool, np.bool_), lambda value, files: bool(value)),
    ((int, np.integer), lambda value, files: int(value)),
    ((float, np.floating), _write_float),
    (str, lambda value, files: value),
    (
        bytes,
        lambda value, files: file_schema.BytesAttribute(value=base64.b64encode(value).decode()),
    ),
    (Shape, _write_shape),
    (Unread, _write_unread),
    (Constant, lambda value, files: file_schema.TensorAttribute(value=files.record(value))),
    ((tuple, list), _write_list),
)
_READERS: dict[type, Callable[[Any, TensorSource], Any]] = {
    file_schema.FloatAttribute: _read_float,
    file_schema.BytesAttribute: lambda record, source: read_base64(record.value),
    file_schema.UnreadAttribute: lambda record, source: Unread(
        read_base64(record.value), record.why, record.hint
    ),
    file_schema.TypeAttribute: lambda record, source: record.value,
    file_schema.ShapeAttribute: lambda record, source: read_shape(record.value),
    file_schema.TensorAttribute: lambda record, source: read_tensor(record.value, source),
    file_schema.ListAttribute: _read_list,
}
