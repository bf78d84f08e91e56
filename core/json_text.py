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
    many = isinstance(value, list | dict) and value
    if not many or _room(value, _WIDTH - indent) >= 0:
        line = _line(value)
        if not many or indent + len(line) <= _WIDTH:
            return line
    if isinstance(value, dict):
        parts = [f"{_line(k)}: {_write(v, indent + 2)}" for k, v in sorted(value.items())]
        return _block("{", parts, "}", indent)
    return _block("[", [_write(item, indent + 2) for item in value], "]", indent)


def _room(value: Any, room: int) -> int:
    """What is left of so many places behind `value`, at most; below 0 it has none on the line. So
    that whole documents are not written at each level, to see that they are long."""
    if isinstance(value, str):
        return room - len(value) - 2
    if isinstance(value, dict):
        room -= 2 * len(value)  # braces, and what is between two
        for key, each in value.items():
            if room < 0:
                break
            room = _room(each, room - len(key) - 4)
        return room
    if isinstance(value, list):
        room -= 2 * len(value)
        for each in value:
            if room < 0:
                break
            room = _room(each, room)
        return room
    return room - 1


def _block(opening: str, parts: list[str], closing: str, indent: int) -> str:
    inner = ",\n".join(" " * (indent + 2) + part for part in parts)
    return f"{opening}\n{inner}\n{' ' * indent}{closing}"
