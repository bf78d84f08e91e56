"""What is imported of our own is there, inside functions too, where no start would see it."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = ("core", "gui", "gpu")


def imported(text: str) -> Iterator[tuple[str, str]]:
    """Of our own: module, name."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gradstep":
            yield from ((node.module or "", alias.name) for alias in node.names)


def is_there(module: ModuleType, name: str) -> bool:
    within = hasattr(module, "__path__") and importlib.util.find_spec(f"{module.__name__}.{name}")
    return hasattr(module, name) or bool(within)


@pytest.mark.slow
def test_every_name_that_is_imported_is_there(qapp: object) -> None:
    named: dict[tuple[str, str], str] = {}
    for folder in OURS:
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            named |= dict.fromkeys(imported(text), str(path.relative_to(ROOT)))
    missing = [
        f"{path}: {module}.{name}"
        for (module, name), path in named.items()
        if not is_there(importlib.import_module(module), name)
    ]
    assert len(named) > 2000
    assert missing == []


def test_a_name_that_is_gone_would_be_seen() -> None:
    text = "def f():\n    from gradstep.core.errors import NoSuchError, GradstepError\n"
    found = [*imported(text)]
    assert found == [
        ("gradstep.core.errors", "NoSuchError"),
        ("gradstep.core.errors", "GradstepError"),
    ]
    errors = importlib.import_module("gradstep.core.errors")
    assert [is_there(errors, name) for _, name in found] == [False, True]
    assert is_there(importlib.import_module("gradstep.core"), "errors")
