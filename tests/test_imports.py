"""What is imported of our own is there, inside functions too, where no start would see it."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
OURS = ("core", "gui", "gpu")
OVER_PYTORCH = "gradstep.gpu.torch_device."  # which need not be installed: looked at as text
_FROM = re.compile(r"^ *from (gradstep[\w.]*) import (?:\(([^)]*)\)|([^\n(]+))", re.MULTILINE)
_NAME = re.compile(r"^\s*(\w+)")


def imported(code: str) -> Iterator[tuple[str, str]]:
    """Module and name of each `from … import …` of our own."""
    for module, many, few in _FROM.findall(code):
        names = re.sub("#.*", "", many or few)
        yield from ((module, m[1]) for part in names.split(",") if (m := _NAME.match(part)))


def is_there(module: ModuleType, name: str) -> bool:
    within = hasattr(module, "__path__") and importlib.util.find_spec(f"{module.__name__}.{name}")
    return hasattr(module, name) or bool(within)


def is_written(module: str, name: str) -> bool:
    """Whether the text of a module defines the name at its top, or imports it there."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    found: set[str] = set()
    for node in ast.parse(Path(spec.origin).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update((alias.asname or alias.name) for alias in node.names)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.update(t.id for t in targets if isinstance(t, ast.Name))
    return name in found


def resolves(module: str, name: str) -> bool:
    if module.startswith(OVER_PYTORCH):
        return is_written(module, name)
    return is_there(importlib.import_module(module), name)


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
        if not resolves(module, name)
    ]
    assert len(named) > 2000
    assert missing == []


def test_a_name_that_is_gone_would_be_seen() -> None:
    line = "from gradstep.core.errors import NoSuchError, GradstepError"
    text = f"def f():\n    try:\n        pass\n    except ValueError:\n        {line}\n"
    found = [*imported(text)]
    assert found == [
        ("gradstep.core.errors", "NoSuchError"),
        ("gradstep.core.errors", "GradstepError"),
    ]
    errors = importlib.import_module("gradstep.core.errors")
    assert [is_there(errors, name) for _, name in found] == [False, True]
    assert is_there(importlib.import_module("gradstep.core"), "errors")
    arrays = f"{OVER_PYTORCH}torch_array"
    assert [resolves(arrays, name) for name in ("NoSuchArray", "TorchArray")] == [False, True]
    assert resolves(f"{OVER_PYTORCH}elementwise", "FUNCTIONS")
