"""Conditions on one element: the breakpoints' language, said of each element by itself.

    3      0.66      nan      -inf      > 3      == nan      0 < value < 1
    abs(value) > 10 and not isnan(value)

A number by itself finds what is displayed so: 0.66 is any number that rounds to it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from gradstep.core.debug.breaks import expression
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.host.tensors.element_chunks import Array

Condition = Callable[[Array], Array]

_FUNCTIONS = ("isnan", "isinf", "isfinite", "abs", "sqrt", "exp", "log")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_SPECIAL = {"nan": np.nan, "inf": np.inf, "+inf": np.inf, "-inf": -np.inf}
_SUBJECT = TensorRef("value")
_HINT = "for example > 3, == nan, 0.66, abs(value) > 10, min, max"


@dataclass(frozen=True)
class _Elements(expression.Unrecorded):
    """What the breakpoints' language calls `value`."""

    elements: Array

    def value(self, ref: TensorRef) -> Array:
        return self.elements

    def gradient(self, ref: TensorRef, of: str = "") -> None:
        return None

    def update(self, ref: TensorRef) -> None:
        return None


def parse_condition(text: str) -> Condition:
    """bool[n] of the elements [n] for which it holds. Raises GradstepError (ExpressionError)."""
    text = text.strip()
    if not text:
        raise _error(text, "nothing is asked for")
    if text.lower() in _SPECIAL:
        number = _SPECIAL[text.lower()]
        return lambda x: _is_equal(x, np.float64(number))
    if _NUMBER.fullmatch(text):
        return _displayed_as(text)
    if text[0] in "<>=!":
        text = f"value {text}"
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _error(text, "it is no condition") from None
    return _compile(tree, text)


def _displayed_as(text: str) -> Condition:
    """Elements that are this number, to the digits that were given."""
    if not np.isfinite(float(text)) or _is_tiny(text):
        raise _error(text, "no element can be that")
    number = Decimal(text)
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent >= 0:
        return lambda x: x == (int(number) if kind_of(x.dtype) in "iu" else float(number))
    half = float(Decimal(5).scaleb(exponent - 1))
    slack = half * 1e-6  # the half itself is no number of base 2
    return lambda x: np.abs(x.astype(np.result_type(x, np.float64)) - float(number)) <= half + slack


def _is_tiny(text: str) -> bool:
    """Whether its last digit is far below the least number that is not 0, 4.9e-324."""
    digits, _, exponent = text.lower().partition("e")
    return int(exponent or 0) - len(digits) < -1000


def _compile(node: ast.expr, text: str) -> Condition:
    if isinstance(node, ast.BoolOp):
        parts = [_compile(value, text) for value in node.values]
        combine: Any = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
        return lambda x: combine.reduce([part(x) for part in parts])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _compile(node.operand, text)
        return lambda x: ~inner(x)
    if (like_nan := _asks_for_nan(node)) is not None:
        return lambda x: np.isnan(x) == like_nan
    _check(node, text)
    return _leaf(ast.unparse(node), text)


def _leaf(part: str, text: str) -> Condition:
    parsed = expression.parse(part)

    def holds(x: Array) -> Array:
        found = parsed.evaluate(expression.Scope(_Elements(x), _SUBJECT))
        if not isinstance(found, np.ndarray) or found.shape != x.shape or found.dtype != bool:
            raise _error(text, f"'{part}' is not true or false of an element")
        return found

    return holds


def _check(node: ast.expr, text: str) -> None:
    """What is said of a whole tensor, or of others, is no condition on an element."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and _name(each.func) not in _FUNCTIONS:
            name = ast.unparse(each.func)
            raise _error(text, f"{name}() is not of one element; {', '.join(_FUNCTIONS)} are")
        of_place = isinstance(each, ast.Name) and each.id in expression.PLACES
        if isinstance(each, ast.Subscript) or of_place:
            raise _error(text, "it may speak of `value`, an element, alone")


def _asks_for_nan(node: ast.expr) -> bool | None:
    """Whether it is `value == nan` (True) or `value != nan` (False): nothing equals NaN in IEEE
    754, and nobody means that here."""
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    names = {_name(node.left), _name(node.comparators[0])}
    if names != {"value", "nan"} or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
        return None
    return isinstance(node.ops[0], ast.Eq)


def _is_equal(x: Array, number: np.float64) -> Array:
    found: Array = np.isnan(x) if np.isnan(number) else x == number
    return found


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _error(text: str, why: str) -> GradstepError:
    return GradstepError(f"cannot look for '{text}': {why}", kind="ExpressionError", hint=_HINT)
