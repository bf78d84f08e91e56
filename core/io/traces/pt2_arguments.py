"""Arguments and types as a .pt2 writes them: {"as_tensor": {"name": "x"}}, {"as_int": 2}, more."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gradstep.core.io.traces.pt2_archive import SCALAR_TYPES, bad
from gradstep.core.lowering.foreign_graph import ElementType, ForeignTensor, Size, Symbol

Find = Callable[[str], Any]  # what a name of the graph's stands for

_SYMBOL = re.compile(r"Symbol\('(\w+)'[^)]*\)")
_PLAIN = ("as_int", "as_float", "as_bool", "as_string", "as_ints", "as_floats", "as_bools",
          "as_strings", "as_int_lists", "as_complex")  # fmt: skip
_NO_NUMBER = ("as_none", "as_device", "as_memory_format", "as_layout", "as_operator", "as_graph",
              "as_custom_obj")  # fmt: skip
_NAMED = ("as_tensor", "as_sym_int", "as_sym_float", "as_sym_bool", "as_optional_tensor")
_LISTS = ("as_tensors", "as_optional_tensors", "as_sym_ints", "as_sym_floats", "as_sym_bools",
          "as_nested_tensors")  # fmt: skip


def read_argument(told: dict[str, Any], find: Find) -> Any:
    """What an argument is: numbers and texts as they are; what is no number, None."""
    ((kind, value),) = told.items()
    if kind in _PLAIN:
        return value
    if kind in _NO_NUMBER:
        return None
    if kind in _NAMED:
        return _named(value, find)
    if kind in _LISTS:
        return [_named(one, find) for one in value]
    if kind == "as_scalar_type":
        return ElementType(scalar_type(value))
    raise bad(f"has an argument of the unknown kind '{kind:.40}'")


def _named(told: Any, find: Find) -> Any:
    """A tensor or a size by its name, or what stands in its place."""
    if isinstance(told, list):
        return [_named(one, find) for one in told]
    match told:
        case {"name": str(name)} | {"as_name": str(name)}:
            return find(name)
        case {"as_expr": {"expr_str": str(text)}}:
            return Symbol(_SYMBOL.sub(r"\1", text))
    return read_argument(told, find)


def scalar_type(number: int) -> str:
    """The name of an element type by its number."""
    if number not in SCALAR_TYPES:
        raise bad(f"has the unknown element type {number!r:.20}")
    return SCALAR_TYPES[number]


def read_type(told: dict[str, Any]) -> ForeignTensor:
    """Of a tensor, what its record says."""
    return ForeignTensor(scalar_type(told["dtype"]), tuple(map(_size, told["sizes"])))


def _size(told: dict[str, Any]) -> Size:
    if "as_int" in told:
        return int(told["as_int"])
    return _SYMBOL.sub(r"\1", told["as_expr"]["expr_str"])


def names_of(told: dict[str, Any]) -> list[str]:
    """The names that an output gives: of one thing, or of a list."""
    ((kind, value),) = told.items()
    many = value if isinstance(value, list) else [value]
    if kind in _NAMED or kind in _LISTS:
        return [one.get("name") or one.get("as_name") or "" for one in many if one]
    return [""]
