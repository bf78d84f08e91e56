"""docs/problems.md has every code that a problem can have."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradstep.core.graph import problems

ROOT = Path(__file__).parents[3]
DOCUMENTED = set(re.findall(r"^\| (`.*`) \|", (ROOT / "docs/problems.md").read_text(), re.M))


def codes_in(tree: ast.AST) -> Iterator[str]:
    """The second argument of each `Problem(…)` and `Problem.of(…)`, where it is written out, or
    named as graph/problems.py names it."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and len(call.args) > 1:
            named = call.func.value if isinstance(call.func, ast.Attribute) else call.func
            if isinstance(named, ast.Name) and named.id == "Problem":
                yield from filter(None, map(_code, ast.walk(call.args[1])))


def _code(x: ast.AST) -> str:
    found = x.value if isinstance(x, ast.Constant) else None
    if isinstance(x, ast.Name):
        found = getattr(problems, x.id, None)
    return found if isinstance(found, str) else ""


@pytest.mark.slow
def test_every_code_is_documented_and_used() -> None:
    texts = (file.read_text() for file in (ROOT / "core").rglob("*.py"))
    used = {code for text in texts if "Problem" in text for code in codes_in(ast.parse(text))}
    documented = {code for row in DOCUMENTED for code in re.findall(r"`([^`]+)`", row)}
    assert used
    assert used == documented
