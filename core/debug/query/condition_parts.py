"""What a condition is about: the number that is compared, and the elements for which it holds."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from gradstep.core.debug.breaks.expression import Scope, parse

_ABOUT = ("any", "all", "isnan", "isinf", "isfinite", "isnone", "written")


def locate(text: str, scope: Scope) -> tuple[tuple[int, ...] | None, Any]:
    """Of a condition that holds in `scope`: the index of the first element for which it does, and
    the number there; None, and what was compared as a whole, where it is about no elements. Raises
    GradstepError as evaluating it does."""
    each, false = _elementwise(_part(_tree(text), scope))
    truth, number = _evaluated(each, scope), _evaluated(_compared(each), scope)
    index = None
    if isinstance(truth, np.ndarray) and truth.ndim and np.shape(number) == truth.shape:
        holds = np.logical_not(truth) if false else truth
        index = tuple(int(i) for i in np.unravel_index(int(np.argmax(holds != 0)), truth.shape))
    return index, number if index is None else number[index]


def _part(node: ast.expr, scope: Scope) -> ast.expr:
    """Of several conditions the first that holds."""
    if not isinstance(node, ast.BoolOp):
        return node
    parts = (value for value in node.values if parse(ast.unparse(value)).holds(scope))
    return _part(next(parts, node.values[0]), scope)


def _elementwise(node: ast.expr) -> tuple[ast.expr, bool]:
    """The condition of each element, and whether it is to be false: inside any(…), not all(…)."""
    if _called(node) == "any":
        return _elementwise(_argument(node))
    negated = _negated(node)
    if negated is not None and _called(negated) == "all":
        return _argument(negated), True
    return node, False


def _compared(node: ast.expr) -> ast.expr:
    """The left side of a comparison, the argument of a question."""
    if isinstance(node, ast.Compare):
        return node.left
    if (negated := _negated(node)) is not None:
        return _compared(negated)
    return _compared(_argument(node)) if _called(node) in _ABOUT else node


def _negated(node: ast.expr) -> ast.expr | None:
    """What `not` is said of; None where it is not."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    return None


def _called(node: ast.expr) -> str:
    called = node.func if isinstance(node, ast.Call) and len(node.args) == 1 else None
    return called.id if isinstance(called, ast.Name) else ""


def _argument(node: ast.expr) -> ast.expr:
    assert isinstance(node, ast.Call)
    return node.args[0]


def _evaluated(node: ast.expr, scope: Scope) -> Any:
    return parse(ast.unparse(node)).evaluate(scope)


def _tree(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body
