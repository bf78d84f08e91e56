"""Setting an attribute of an operation such that those which hang on it agree with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Operation
from gradstep.core.ops.build.constant_cast import require_texts
from gradstep.core.ops.build.python_values import attribute
from gradstep.core.ops.declare.attribute_kinds import check_attributes, items_of
from gradstep.core.ops.declare.definition import OpDef
from gradstep.core.ops.declare.table import find


def with_attribute(op: Operation, name: str, value: Any) -> Operation:
    """`op` with an attribute set (None: as if it had never been), and with it what its record says
    to follow. Raises GradstepError where that cannot be: then nothing is to change."""
    definition = find(op.type)
    if definition is None:
        return _set(op, name, value)
    try:
        _require_own(definition, name, value)
        if isinstance(value, Constant):
            require_texts(value.array)
        changed = _set(op, name, _as_kept(name, value, definition.attrs.get(name)))
        check_attributes(definition, changed)
        _require_choice(definition, changed, name)
        follow = definition.follow.get(name)
        return changed if follow is None else replace(changed, attrs=follow(changed.attrs))
    except GradstepError as error:
        raise error.at(op.name) from None


def _as_kept(name: str, value: Any, declared: Any) -> Any:
    """`value` with element types that are written as text made such."""
    if isinstance(value, tuple | list) and items_of(name) is DType:
        return tuple(attribute(item, DType) for item in value)
    return attribute(value, declared)


def _set(op: Operation, name: str, value: Any) -> Operation:
    attrs = {key: old for key, old in op.attrs.items() if key != name}
    return replace(op, attrs=attrs if value is None else {**attrs, name: value})


def _require_own(definition: OpDef, name: str, value: Any) -> None:
    """Raise GradstepError for what follows from the inputs, and for taking away what must be."""
    rule = definition.type_attrs.get(name)
    if rule is not None and name not in definition.attrs:
        raise GradstepError(
            f"attribute '{name}' follows from the operation's inputs",
            kind="ValueError",
            hint="rewire the input, or put a Cast before it",
        )
    if value is None and isinstance(definition.attrs.get(name), type):
        raise GradstepError(
            f"{definition.type} needs its attribute '{name}'",
            kind="ValueError",
            hint="write another value",
        )


def _require_choice(definition: OpDef, op: Operation, name: str) -> None:
    if name in definition.choices and name in op.attrs:
        definition.attr(op, name)


def as_long_as(lists: str, other: str) -> Mapping[str, Any]:
    """`follow` for two lists with an entry each for the same things, of which `other` may be
    empty: it is given up where the number changes, and cannot have another."""

    def after_lists(attrs: Mapping[str, Any]) -> Mapping[str, Any]:
        fits = len(attrs.get(other, ())) in (0, len(attrs[lists]))
        return attrs if fits else {**attrs, other: ()}

    def after_other(attrs: Mapping[str, Any]) -> Mapping[str, Any]:
        have, wanted = len(attrs.get(other, ())), len(attrs.get(lists, ()))
        if have in (0, wanted):
            return attrs
        raise GradstepError(
            f"'{other}' has {have} entries, and '{lists}' has {wanted}",
            kind="ValueError",
            hint=f"write {wanted}, or none",
        )

    return {lists: after_lists, other: after_other}
