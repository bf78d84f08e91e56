"""TensorProtos as arrays: what stands in the file, or in one beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import array_bytes
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.disk.regular_file import RegularFile
from gradstep.core.io.native.tensor_json import objects
from gradstep.core.io.onnx.onnx_types import STORED, Stored, stored_as

_EXTERNAL = 1  # TensorProto.DataLocation
_LISTED = {  # type -> the field that has its numbers, where they are not raw; int32_data for others
    1: "float_data", 7: "int64_data", 8: "string_data", 11: "double_data", 12: "uint64_data",
    13: "uint64_data", 14: "float_data", 15: "double_data",
}  # fmt: skip
_ONE_FILE = "save it as one file: onnx.save(onnx.load(path), new_path, save_as_external_data=False)"


class Tensors:
    """Reads the tensors of one model, whose file is `name`, within what memory is left."""

    def __init__(self, name: str, budget: Budget) -> None:
        self._folder, self._budget = Path(name).parent, budget
        self._beside: dict[str, RegularFile] = {}

    def read(self, proto: Any) -> np.ndarray:
        """The numbers of a TensorProto, those of few bits as of the next type that has them. Raises
        GradstepError: FileError, or OverBudgetError."""
        try:
            return self._read(proto)
        except GradstepError as error:
            if error.kind != "FileError":
                raise
            raise GradstepError(
                f"tensor '{proto.name:.80}': {error.message}", kind=error.kind, hint=error.hint
            ) from None

    def take(self, size: int) -> None:
        """Say that a tensor is about to take so many bytes. Raises OverBudgetError."""
        self._budget.take(size, "its tensors")

    def close(self) -> None:
        """Let go of the files beside the model."""
        for file in self._beside.values():
            file.close()
        self._beside = {}

    def _read(self, proto: Any) -> np.ndarray:
        stored = stored_as(proto.data_type)
        shape = _shape(proto, stored)
        if proto.HasField("segment"):
            raise _bad("it is in segments, which nobody writes")
        if proto.data_location == _EXTERNAL:
            raw = self._external(proto, _bytes(math.prod(shape), stored))
        elif proto.raw_data or not _listed(proto):
            raw = proto.raw_data
        else:
            return _of_list(proto, stored, shape)
        if stored.array.hasobject or len(raw) != _bytes(math.prod(shape), stored):
            raise _bad(f"it is {stored.name}{list(shape)}, and has {len(raw)} bytes")
        self.take(array_bytes(shape, max(stored.array.itemsize, 1)))
        return _of_bytes(raw, stored, shape)

    # -- beside the model ----------------------------------------------------------------------

    def _external(self, proto: Any, expected: int) -> bytes:
        told = {one.key: one.value for one in proto.external_data}
        place = told.get("location", "")
        offset = _whole(told, "offset", 0)
        length = _whole(told, "length", expected)
        if length != expected:
            raise _bad(f"it takes {expected} bytes, and '{place:.80}' has {length} for it")
        self._budget.take(length, f"what is in {place:.80}")
        try:
            file = self._open(place)
            data = file.at(offset, length) if offset + length <= file.size else b""
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise GradstepError(
                f"its numbers are in '{place:.80}', beside the model, which cannot be read: {why}",
                kind="FileError",
                hint=f"put that file into the model's folder, or {_ONE_FILE}",
            ) from None
        if len(data) != length:
            raise _bad(f"its numbers are behind the end of '{place:.80}'")
        return data

    def _open(self, place: str) -> RegularFile:
        """A regular file in the model's folder, wherever a link in there leads. Raises OSError, and
        ValueError for a place that is not in it."""
        if place not in self._beside:
            self._beside[place] = RegularFile(_within(self._folder, place))
        return self._beside[place]


def _within(folder: Path, place: str) -> Path:
    """Raises ValueError for what leads out of the folder; nothing out there is touched."""
    posix, windows = PurePosixPath(place), PureWindowsPath(place)
    parts = {*posix.parts, *windows.parts}
    if not place or "\0" in place or posix.is_absolute() or windows.anchor or ".." in parts:
        raise ValueError("it is not in the model's folder")
    root = folder.resolve()
    found = (root / place).resolve()
    if not found.is_relative_to(root):
        raise ValueError("it is a link that leads out of the model's folder")
    return found


def _whole(told: Mapping[str, str], key: str, otherwise: int) -> int:
    text = told.get(key, "")
    if not text:
        return otherwise
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise _bad(f"its {key} is '{text:.40}'")
    return int(text)


# -- in the file -----------------------------------------------------------------------------------


def _shape(proto: Any, stored: Stored) -> tuple[int, ...]:
    shape = tuple(proto.dims)
    try:
        array_bytes(shape, max(stored.array.itemsize, 1))
    except ValueError as error:
        raise _bad(f"it is {stored.name}{list(shape)}: {error}") from None
    return shape


def _bytes(count: int, stored: Stored) -> int:
    return -(-count * stored.bits // 8)


def _listed(proto: Any) -> Any:
    return getattr(proto, _LISTED.get(proto.data_type, "int32_data"))


def _of_bytes(raw: bytes, stored: Stored, shape: tuple[int, ...]) -> np.ndarray:
    count = math.prod(shape)
    if stored.is_packed:
        flat = _unpacked(np.frombuffer(raw, np.uint8), stored, count)
    else:
        flat = np.frombuffer(raw, stored.array.newbyteorder("<")).astype(stored.array, copy=False)
    return _as_here(flat, stored).reshape(shape)


def _unpacked(raw: np.ndarray, stored: Stored, count: int) -> np.ndarray:
    """The lower bits of a byte come first."""
    shifts = np.arange(0, 8, stored.bits, dtype=np.uint8)
    parts = (raw[:, None] >> shifts) & ((1 << stored.bits) - 1)
    found: np.ndarray = parts.reshape(-1)[:count].astype(np.uint8)
    if stored.becomes == "int8":  # of the sign as many as there are places
        gap = 8 - stored.bits
        return (found << gap).view(np.int8) >> gap
    return found if stored.becomes == "uint8" else found.view(stored.array)


def _of_list(proto: Any, stored: Stored, shape: tuple[int, ...]) -> np.ndarray:
    values, count = _listed(proto), math.prod(shape)
    if stored.array.hasobject:
        flat = objects(list(values), (len(values),))
    elif stored.is_packed:
        raw = np.array(values, np.int64).astype(np.uint8)
        flat = _unpacked(raw, stored, count)
    elif stored.array.kind == "c":
        parts = np.array(values, np.float32 if stored.bits == 64 else np.float64)
        flat = parts[: len(parts) // 2 * 2].view(stored.array)
    elif _is_by_bits(proto.data_type):
        kind = np.uint16 if stored.bits == 16 else np.uint8
        flat = np.array(values, np.int64).astype(kind).view(stored.array)
    else:
        flat = np.array(values).astype(stored.array)
    if flat.size != count:
        raise _bad(f"it is {stored.name}{list(shape)}, and has {flat.size} numbers")
    return _as_here(flat, stored).reshape(shape)


def _is_by_bits(number: int) -> bool:
    """Whether int32_data has the bits of a number and not what it is."""
    return number in (10, 16, 17, 18, 19, 20, 24)


def _as_here(flat: np.ndarray, stored: Stored) -> np.ndarray:
    """Of a type that there is here."""
    if stored.array.hasobject or stored in (STORED[16], STORED[10]):
        return flat
    return flat.astype(stored.becomes, copy=False)


def _bad(message: str) -> GradstepError:
    return GradstepError(message, kind="FileError", hint="the file is damaged: use another copy")
