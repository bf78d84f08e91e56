"""Places of a program where a change makes no difference that a test could or should see, by rule.

What no rule can tell is listed one by one in equivalent.toml, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_OF_SPEED = ("cache", "lru_cache", "functools.cache", "collector_paused")
_OF_TYPES = ("overload", "override", "final", "runtime_checkable")
_GUARDS = ("frozen", "slots", "gc", "kw_only", "strict", "cache_hash", "forbid_unknown_fields")
_OF_IDENTITY = ("eq",)  # what is the same only as itself is not compared
_TYPE_TESTS = ("isinstance", "issubclass", "cast")


def no_effect(operator: str, node: Any) -> str:
    """Why no change at this node (parso's) of the tree would do anything; empty where it might."""
    if node.type == "assert_stmt":
        return "an assertion"
    for inner, outer in _upwards(node):
        if _in_annotation(inner, outer):
            return "an annotation"
        if outer.type == "if_stmt" and "TYPE_CHECKING" in outer.children[1].get_code():
            return "for type checkers alone"
        if _is_type_alias(outer):
            return "a type alias"
        if _tests_a_type(inner, outer) and operator.startswith("ReplaceBinary"):
            return "a union of types"
        if outer.type == "assert_stmt":
            return "an assertion"
    if operator == "RemoveDecorator":
        return _decorator(node.children[1].get_code().strip().partition("(")[0])
    return _of_keyword(operator, node)


def _upwards(node: Any) -> Iterator[tuple[Any, Any]]:
    """(node, its parent), then (that, its parent), to the top."""
    while node.parent is not None:
        yield node, node.parent
        node = node.parent


def _in_annotation(inner: Any, outer: Any) -> bool:
    """Of a variable, a parameter or what a function returns."""
    if outer.type in ("annassign", "tfpdef"):
        return inner is not outer.children[0] and inner is outer.children[1 if _marks(outer) else 2]
    if outer.type == "funcdef":
        return outer.annotation is inner
    return False


def _marks(outer: Any) -> bool:
    """An `annassign` is [":", annotation, "=", value]; a `tfpdef` [name, ":", annotation]."""
    return outer.type == "annassign"


def _is_type_alias(node: Any) -> bool:
    """`Name = A | B`, outside of all functions."""
    if node.type != "expr_stmt" or node.get_code().count("=") != 1:
        return False
    target, value = node.children[0], node.children[-1]
    top = node.parent.parent.type == "file_input"
    return bool(
        top and target.type == "name" and value.type == "expr" and target.value[:1].isupper()
    )


def _tests_a_type(inner: Any, outer: Any) -> bool:
    """An argument of isinstance and the like, or what an `except` catches."""
    if outer.type == "except_clause":
        return True
    if outer.type != "trailer":
        return False
    before = outer.get_previous_sibling()
    return before is not None and before.get_code().strip() in _TYPE_TESTS


def _decorator(name: str) -> str:
    if name in _OF_SPEED:
        return "for speed alone"
    return "for type checkers alone" if name in _OF_TYPES else ""


def _of_keyword(operator: str, node: Any) -> str:
    """`frozen=True`, `strict=True`: they catch mistakes of ours, and do nothing where there are
    none."""
    argument = node.parent
    if operator not in ("ReplaceTrueWithFalse", "ReplaceFalseWithTrue") or argument is None:
        return ""
    guards = _GUARDS if operator == "ReplaceTrueWithFalse" else _OF_IDENTITY
    if argument.type == "argument" and argument.children[0].get_code().strip() in guards:
        return "a guard against mistakes of ours"
    return ""
