"""Whether the attributes of an operation are of the kinds that its op type declares."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Operation
from gradstep.core.graph.opaque_attributes import Unread
from gradstep.core.ops.declare.table import OpDef

# Declared kind -> what Python's values may be, and how users call it.
_KINDS: dict[type, tuple[tuple[type, ...], str]] = {
    DType: ((DType,), "an element type"),
    Shape: ((Shape,), "a shape"),
    Constant: ((Constant,), "a tensor"),
    bool: ((bool, np.bool_), "true or false"),
    int: ((int, np.integer), "a whole number"),
    float: ((float, int, np.floating, np.integer), "a number"),
    str: ((str, bytes), "text"),
    tuple: ((tuple, list), "a list"),
}
_Kind = TypeVar("_Kind")
_MANY = {
    DType: "element types",
    Shape: "shapes",
    int: "whole numbers",
    float: "numbers",
    str: "texts",
}
_DTYPES = frozenset(kind.value for kind in DType)
_LIMIT = 2**63  # TensorFlow keeps whole numbers and sizes in 64 bits
# What the lists consist of that attributes of these names are, in whichever op.
_ITEMS: dict[str, type] = {
    **dict.fromkeys(("component_types", "output_types", "Tin", "Tout"), DType),
    **dict.fromkeys(("shapes", "output_shapes"), Shape),
    **dict.fromkeys(("strides", "ksize", "ksizes", "rates", "dilations"), int),
    **dict.fromkeys(("explicit_paddings", "squeeze_dims"), int),
    "boundaries": float,
    "allowed_devices": str,
}


def items_of(name: str) -> type | None:
    """What a list consists of that is an attribute of that name; None where nobody knows."""
    return _ITEMS.get(name)


def check_attributes(definition: OpDef, op: Operation) -> None:
    """Raise GradstepError (ValueError) for the first declared attribute of another kind. One that
    is missing is nobody's business until it is asked for."""
    for name, declared in definition.attrs.items():
        if name in op.attrs and not fits(name, op.attrs[name], declared):
            raise _misfit(op, name, declared if isinstance(declared, type) else type(declared))


def attribute(op: Operation, name: str, kind: type[_Kind], default: _Kind | None = None) -> _Kind:
    """An attribute of `op`, which is of one of the kinds above; `default` where there is none. For
    what looks at operations of which nobody knows yet that they are sound. Raises GradstepError
    (ValueError) at `op` where it is missing, or of another kind."""
    value = op.attrs.get(name, default)
    if value is None:
        raise GradstepError(
            f"attribute '{name}' is missing",
            kind="ValueError",
            node=op.name,
            hint=f"set it to {_wanted(name, kind)}",
        )
    if isinstance(value, Unread) or not fits(name, value, kind):
        raise _misfit(op, name, kind)
    found: _Kind = DType(value) if kind is DType else value  # type: ignore[assignment]
    return found


def hinted_items(op: Operation, name: str) -> tuple[Any, ...]:
    """The items of an attribute that no op type declares and anybody may write, such as `_class`.
    None where it is no list: what it would say is of use, and nothing hangs on it."""
    value = op.attrs.get(name)
    return tuple(value) if isinstance(value, (tuple, list)) else ()


def _misfit(op: Operation, name: str, kind: type) -> GradstepError:
    return GradstepError(
        f"attribute '{name}' must be {_wanted(name, kind)}, not {op.attrs[name]!r:.60}",
        kind="ValueError",
        node=op.name,
        hint="correct the attribute",
    )


def check_read(definition: OpDef, op: Operation) -> None:
    """Raise GradstepError (UnimplementedError) for a declared attribute that is only passed on."""
    for name in definition.attrs:
        if isinstance(value := op.attrs.get(name), Unread):
            raise value.error(op.name, name)


def _wanted(name: str, kind: type) -> str:
    if kind is tuple and name in _ITEMS:
        return f"a list of {_MANY[_ITEMS[name]]}"
    return _KINDS[kind][1]


def fits(name: str, value: Any, declared: Any) -> bool:
    """Whether a value may be an attribute of that name which is declared so: as a kind, or by a
    value to begin with."""
    kind = declared if isinstance(declared, type) else type(declared)
    if kind not in _KINDS or isinstance(value, Unread):
        return True
    if kind is tuple:
        items = _ITEMS.get(name)
        return isinstance(value, tuple | list) and (
            items is None or all(_is(item, items) for item in value)
        )
    return _is(value, kind)


def _is(value: Any, kind: type) -> bool:
    if kind is DType and isinstance(value, str):
        return value in _DTYPES
    if not isinstance(value, _KINDS[kind][0]) or (isinstance(value, bool) and kind is not bool):
        return False
    if isinstance(value, int | np.integer):
        return bool(-_LIMIT <= value < _LIMIT)
    if isinstance(value, Shape):
        return value.dims is None or all(d is None or 0 <= d < _LIMIT for d in value.dims)
    return not isinstance(value, str) or _is_unicode(value)


def _is_unicode(text: str) -> bool:
    """Whether it can be written to a file: no half of a pair of surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
