"""JSON for people: sorted keys, indented by two, short values on one line; why text is none."""

from __future__ import annotations

import json
from typing import Any

import msgspec

_WIDTH = 96
# Made once: json.dumps makes an encoder for each value.
_line = json.JSONEncoder(ensure_ascii=False, sort_keys=True, allow_nan=False).encode
# Whatever msgspec raises for bytes that are not the record asked for: text that is not UTF-8 is
# found in some places by msgspec, in some by Python.
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def pretty(value: Any) -> str:
    """`value` as JSON text that ends with a newline. Raises ValueError for NaN."""
    return _write(value, 0) + "\n"


def why_unreadable(error: Exception) -> str:
    """In words, what of UNREADABLE it was."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)


def _write(value: Any, indent: int) -> str:
    line = _line(value)
    if indent + len(line) <= _WIDTH or not isinstance(value, list | dict) or not value:
        return line
    if isinstance(value, dict):
        parts = [f"{_line(k)}: {_write(v, indent + 2)}" for k, v in sorted(value.items())]
        return _block("{", parts, "}", indent)
    return _block("[", [_write(item, indent + 2) for item in value], "]", indent)


def _block(opening: str, parts: list[str], closing: str, indent: int) -> str:
    inner = ",\n".join(" " * (indent + 2) + part for part in parts)
    return f"{opening}\n{inner}\n{' ' * indent}{closing}"
