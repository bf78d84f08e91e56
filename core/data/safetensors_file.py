"""Tensors in a .safetensors file: a header in JSON, then their bytes.

Source: the format's page, https://huggingface.co/docs/safetensors. Every place that the header
names is checked against the file before a byte of it is read.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import array_bytes
from gradstep.core.graph.number_kinds import BFLOAT16
from gradstep.core.graph.suggestions import instead
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.disk.regular_file import RegularFile
from gradstep.core.io.native.npy import Header, read_elements

_START = 8  # bytes that say how long the header is
_TYPES: dict[str, Any] = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": BFLOAT16, "C64": "<c8", "BOOL": "|b1",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1",
}  # fmt: skip


def is_safetensors(head: bytes, size: int) -> bool:
    """Whether a file of `size` bytes that begins with `head` is one: nothing else begins with the
    length of a JSON object that it has room for."""
    if len(head) <= _START or head[_START : _START + 1] != b"{":
        return False
    return 2 <= int.from_bytes(head[:_START], "little") <= size - _START


class SafetensorsFile:
    """An open file of tensors, by name."""

    def __init__(self, file: RegularFile, budget: Budget) -> None:
        """Raises GradstepError, OSError."""
        self._file = file
        length = int.from_bytes(file.at(0, _START), "little")
        self._data = _START + length  # where the tensors begin
        text = file.at(_START, length)
        budget.take_json(text, "its header")
        try:
            entries = json.loads(text)
        except (ValueError, RecursionError):
            raise self._bad("has a header that is no JSON") from None
        if not isinstance(entries, dict):
            raise self._bad("has a header that is no JSON object")
        entries.pop("__metadata__", None)
        self._entries: dict[str, Any] = entries

    @property
    def names(self) -> list[str]:
        return list(self._entries)

    def header(self, name: str) -> Header:
        """What is said of a tensor. Raises GradstepError where that cannot be."""
        if name not in self._entries:
            raise GradstepError(
                f"{self._file.name} has no tensor named '{name}'",
                kind="FileError",
                hint=instead(name, self._entries) or "name another file",
            )
        entry = self._entries[name]
        try:
            code, (begin, end) = entry["dtype"], entry["data_offsets"]
            shape = tuple(entry["shape"])
            whole = all(type(number) is int and number >= 0 for number in (begin, end, *shape))
        except (TypeError, KeyError, ValueError):
            whole, code, shape, begin, end = False, "", (), 0, 0
        if not whole:
            raise self._bad(f"does not say what '{name}' is")
        if code not in _TYPES:
            raise self._bad(f"holds '{name}' as {code!r:.20}, which NumPy lacks", "save it as F32")
        header = Header(np.dtype(_TYPES[code]), shape, self._data + begin)
        self._require_place(name, header, end - begin)
        return header

    def read(self, header: Header) -> np.ndarray:
        """The tensor, which cannot be written to. Raises GradstepError, OSError."""
        return read_elements(self._file.from_(header.offset), header, self._file.name)

    def _require_place(self, name: str, header: Header, length: int) -> None:
        try:
            size = array_bytes(header.shape, header.dtype.itemsize)
        except ValueError as error:
            raise self._bad(f"cannot hold '{name}': {error}") from None
        if size != length or (size and header.offset + size > self._file.size):
            raise self._bad(
                f"declares '{name}' as {header.dtype}{list(header.shape)}, {size} bytes, and gives "
                f"it {length} of the {max(0, self._file.size - self._data)} that it holds"
            )

    def _bad(self, what: str, hint: str = "use another copy of the file") -> GradstepError:
        return GradstepError(f"{self._file.name} {what}", kind="FileError", hint=hint)
