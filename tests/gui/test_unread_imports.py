"""No import is looked at because it is made beside PySide6, nor a module's source read."""

from __future__ import annotations

import builtins
import linecache
import sys
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject

import gradstep.gui  # noqa: F401


def test_what_is_imported_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "beside_pyside.py"
    file.write_text("from PySide6.QtCore import QObject\n\nmade = QObject()\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = __import__(file.stem)  # as the statement does
    assert isinstance(module.made, QObject)
    assert str(file) not in linecache.cache


def test_what_is_there_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """An import in a function would take seven times as long."""
    looked: list[str] = []

    def look(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and "shibokensupport" in frame.f_code.co_filename:
            looked.append(frame.f_code.co_name)

    def ask() -> None:
        sys.setprofile(look)
        try:
            import os.path  # noqa: F401
        finally:
            sys.setprofile(None)

    ask()
    assert not looked
    monkeypatch.setattr(builtins, "__import__", builtins.__dict__["__feature_import__"])
    ask()
    assert looked  # so that what was found above is of some worth
