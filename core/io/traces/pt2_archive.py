"""The zip that torch.export.save writes: its program as JSON, its weights as the bytes they were.

Nothing in it is unpickled: sample inputs, and weights of odd kinds, are pickles, and stay closed.
"""

from __future__ import annotations

import math
import re
from typing import Any

import msgspec
import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.native.zip_archive import Archive
from gradstep.core.json_text import UNREADABLE, why_unreadable

MAJOR = 8  # of the schema that torch._export.serde.schema had in PyTorch 2.5 to 2.14
_PROGRAM = re.compile(r"(?:^|/)models/[^/]+\.json$")
_WEIGHTS = re.compile(r"(?:^|/)data/(?:weights|constants)/[^/]+_config\.json$")
_OLD = re.compile(r"(?:^|/)serialized_exported_program\.json$")
_HINT = "write the file again: torch.export.save(torch.export.export(model, args), path)"

# torch._export.serde.schema.ScalarType
SCALAR_TYPES = {
    1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32",
    8: "float64", 10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16", 28: "uint16",
    29: "float8_e4m3fn", 30: "float8_e5m2", 34: "uint32", 35: "uint64",
}  # fmt: skip


class Pt2Archive:
    """program: what stands in the JSON. Raises GradstepError (FileError) for what is not read."""

    def __init__(self, data: bytes, budget: Budget | None = None) -> None:
        self._archive = Archive(data, budget)
        self.program = self._program()
        self._weights: dict[str, tuple[str, dict[str, Any]]] = {}
        for member in filter(_WEIGHTS.search, self._archive):
            folder = member.rpartition("/")[0]
            for name, told in self._json(member)["config"].items():
                self._weights[name] = (folder, told)

    def _program(self) -> dict[str, Any]:
        members = [*filter(_PROGRAM.search, self._archive)]
        if not members and any(map(_OLD.search, self._archive)):
            raise bad("is of before PyTorch 2.7, whose weights are a pickle, which is never opened")
        if len(members) != 1:
            raise bad(f"holds {len(members)} programs")
        program = self._json(members[0])
        major = program.get("schema_version", {}).get("major")
        if major != MAJOR:
            raise bad(f"is of version {major!r:.20} of PyTorch's schema; this one reads {MAJOR}")
        return program

    def _json(self, member: str) -> dict[str, Any]:
        try:
            found = msgspec.json.decode(self._archive.json(member))
        except UNREADABLE as error:
            raise bad(f"{member} is not valid: {why_unreadable(error)}") from None
        if not isinstance(found, dict):
            raise bad(f"{member} is not valid: expected an object")
        return found

    def place(self, name: str) -> tuple[str, str]:
        """Where a weight lies: two names of one place and the same strides are one tensor."""
        if name not in self._weights:
            raise bad(f"has no value for '{name}'")
        folder, told = self._weights[name]
        return f"{folder}/{told['path_name']}", str(told["tensor_meta"])

    def weight(self, name: str) -> np.ndarray:
        """What a parameter, buffer or constant is."""
        if name not in self._weights:
            raise bad(f"has no value for '{name}'")
        folder, told = self._weights[name]
        meta, member = told["tensor_meta"], f"{folder}/{told['path_name']}"
        if told.get("use_pickle") or meta is None:
            raise bad(f"has a pickle for '{name}', which is never opened")
        return _array(self._archive.raw(member), meta, name)


def _array(data: bytes, meta: dict[str, Any], name: str) -> np.ndarray:
    kind = SCALAR_TYPES.get(meta["dtype"], "")
    if not kind or kind.startswith("float8"):
        raise bad(f"has '{name}' of an element type that cannot be read ({kind or meta['dtype']})")
    stored = DType(kind).numpy
    flat = np.frombuffer(data, stored.newbyteorder("<"))
    shape = tuple(size["as_int"] for size in meta["sizes"])
    strides = tuple(step["as_int"] for step in meta["strides"])
    start = meta["storage_offset"]["as_int"]
    if not math.prod(shape):
        return np.zeros(shape, stored)
    last = start + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    if start < 0 or min(strides, default=0) < 0 or last >= flat.size:
        raise bad(f"has '{name}' of {flat.size} numbers, which is not {list(shape)}")
    steps = tuple(step * flat.itemsize for step in strides)
    view = np.lib.stride_tricks.as_strided(flat[start:], shape, steps, writeable=False)
    return np.ascontiguousarray(view).astype(stored, copy=False).reshape(shape)


def bad(message: str) -> GradstepError:
    return GradstepError(message, kind="FileError", hint=_HINT)
