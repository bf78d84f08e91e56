"""The exporter as a module: it wants its framework, and is loaded once."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import ModuleType

import pytest

from gradstep.core.capture import exporter_files
from gradstep.core.errors import GradstepError

# How a trace gets to the disk: each exporter stands alone, and has these as the other has them.
ALIKE = (
    "_packing",
    "_Writer._keep",
    "_Writer._unique",
    "_Writer.write",
    "_Writer._write_tensors",
)


def test_a_framework_that_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporter_files, "EXPORTERS", {"no_such_framework": Path("/x/gs_none.py")})
    with pytest.raises(GradstepError, match="no_such_framework is not installed") as caught:
        exporter_files.load_exporter("no_such_framework")
    assert "gradstep capture no_such_framework" in caught.value.hint


def test_it_is_loaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`json` stands for a framework that is there."""
    path = tmp_path / "gradstep_json.py"
    path.write_text("import json\nmade = object()\n", encoding="utf-8")
    monkeypatch.setattr(exporter_files, "EXPORTERS", {"json": path})
    try:
        first = exporter_files.load_exporter("json")
        assert isinstance(first, ModuleType)
        assert exporter_files.load_exporter("json") is first
        assert exporter_files.load_exporter("json").made is first.made
    finally:
        sys.modules.pop("gradstep_json", None)


def test_one_that_fails_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "gradstep_json.py"
    path.write_text("1 / 0\n", encoding="utf-8")
    monkeypatch.setattr(exporter_files, "EXPORTERS", {"json": path})
    with pytest.raises(ZeroDivisionError):
        exporter_files.load_exporter("json")
    assert "gradstep_json" not in sys.modules


@pytest.mark.parametrize("name", ALIKE)
def test_both_write_a_file_in_one_way(name: str) -> None:
    mine, theirs = (_function(exporter_files.exporter_text(one), name) for one in ("torch", "jax"))
    assert mine == theirs


def _function(text: str, path: str) -> str | None:
    """The text of a function, or of a class's."""
    found: ast.AST = ast.parse(text)
    for name in path.split("."):
        found = next(one for one in ast.iter_child_nodes(found) if _name(one) == name)
    return ast.get_source_segment(text, found)


def _name(node: ast.AST) -> str:
    return node.name if isinstance(node, ast.FunctionDef | ast.ClassDef) else ""
