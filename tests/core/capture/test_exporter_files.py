"""The exporter as a module: it wants its framework, and is loaded once."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from gradstep.core.capture import exporter_files
from gradstep.core.errors import GradstepError


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
