"""What may be done to a program: Cosmic Ray's operators, as far as somebody could have made such a
mistake, and two that it lacks. A `+` that becomes a `-` is one; a `>>` fails in any case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import parso
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names

_FAMILIES = (
    ("Add", "Sub"),
    ("Mul", "Div", "FloorDiv"),
    ("FloorDiv", "Mod"),
    ("BitAnd", "BitOr", "BitXor"),
    ("Lt", "LtE", "Gt", "GtE"),
    ("Eq", "NotEq"),
    ("Is", "IsNot"),
)
_UNARY = ("USub_Nothing", "Not_Nothing", "Invert_Nothing", "Delete_Not")
_OTHERS = (
    "AddNot",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ExceptionReplacer",
    "NumberReplacer",
    "RemoveDecorator",
    "ZeroIterationForLoop",
)


class DropOperand(Operator):  # type: ignore[misc]
    """`a and b` becomes `a`, or `b`; likewise with `or`."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        if node.type in ("and_test", "or_test"):
            for operand in node.children[::2]:
                yield operand.start_pos, operand.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        at = 2 * index
        del node.children[max(at - 1, 0) : max(at - 1, 0) + 2]
        node.children[0] = parso.parse(" " + node.children[0].get_code().lstrip())
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        return ()


class DropStatement(Operator):  # type: ignore[misc]
    """A call, or an assignment to what has a value already, is left out."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        if node.type == "simple_stmt" and _droppable(node.children[0]):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        first = node.get_first_leaf()
        return parso.parse(f"{first.prefix}pass\n")

    @classmethod
    def examples(cls) -> tuple[()]:
        return ()


def _droppable(statement: Any) -> bool:
    if statement.type == "atom_expr":
        return True
    if statement.type != "expr_stmt":
        return False
    target, sign = statement.children[0], statement.children[1]
    if sign.type == "annassign":
        return target.type != "name" and "=" in sign.get_code()
    if sign.get_code().strip() != "=" or target.type == "atom_expr":
        return True
    return target.type == "name" and _assigned_before(statement, target.value)


def _assigned_before(statement: Any, name: str) -> bool:
    """Whether the function has given `name` a value, by an earlier line or as a parameter."""
    scope = parso.tree.search_ancestor(statement, "funcdef")
    if scope is None:
        return False
    named = scope.get_used_names() if hasattr(scope, "get_used_names") else None
    leaves = named.get(name, ()) if named else _names(scope, name)
    return any(leaf.start_pos < statement.start_pos and leaf.is_definition() for leaf in leaves)


def _names(node: Any, name: str) -> Iterator[Any]:
    if node.type == "name" and node.value == name:
        yield node
    for child in getattr(node, "children", ()):
        yield from _names(child, name)


def _plausible(name: str) -> bool:
    """Of Cosmic Ray's names: "ReplaceBinaryOperator_Add_Sub" and the like."""
    kind, _, change = name.partition("_")
    if kind == "ReplaceUnaryOperator":
        return change in _UNARY
    if kind in ("ReplaceBinaryOperator", "ReplaceComparisonOperator"):
        old, new = change.split("_")
        return any(old in family and new in family for family in _FAMILIES)
    return name in _OTHERS


def _operators() -> dict[str, Any]:
    names = {name.partition("/")[2]: name for name in operator_names()}
    known = {short: get_operator(name)() for short, name in names.items() if _plausible(short)}
    return {**known, "DropOperand": DropOperand(), "DropStatement": DropStatement()}


def kind_of(operator: str) -> str:
    """Operators of one kind change one place in different ways."""
    return operator.partition("_")[0]


OPERATORS = _operators()
