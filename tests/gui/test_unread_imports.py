"""No module's source is read because it is imported beside PySide6."""

from __future__ import annotations

import linecache
from pathlib import Path

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
