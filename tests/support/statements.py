"""The statements of Python code, without the expressions in them: a tenth of what there is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_HOLDING = ("body", "orelse", "finalbody", "handlers", "cases")


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Those in `tree`, however deep, in any order."""
    waiting = [tree]
    while waiting:
        inside = statements_in(waiting.pop())
        waiting += inside
        yield from inside


def statements_in(node: ast.AST) -> list[ast.AST]:
    """Those directly in it."""
    return [each for name in _HOLDING for each in getattr(node, name, ())]
