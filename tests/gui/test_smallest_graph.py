"""From a NaN in the window to the few operations that show it, beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QPushButton

from gradstep.core.io.open_document import read
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.gui.actions import action_table
from gradstep.gui.automation.driver import Driver


def test_why_offers_the_smallest_graph(
    driver: Driver, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.open(EXAMPLES / "nan_gradient.gradstep")
    space, beside = driver.workspace, list[Path]()
    monkeypatch.setattr(driver.window, "open_beside", lambda: _Beside(beside))
    driver.workspace.control("continue_")
    driver.settle()
    space.select(["p"])
    assert action_table.run("run.why", space)
    fix = driver.window.findChild(QPushButton, "banner.message.fix")
    assert isinstance(fix, QPushButton)
    qtbot.waitUntil(fix.isVisible, timeout=20_000)
    assert fix.text() == "Smallest graph…"
    file = tmp_path / "small.gradstep"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *words: (str(file), ""))
    qtbot.mouseClick(fix, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: beside == [file], timeout=20_000)
    assert read(file).graph.order == ("p", "logp", "cotangent")


class _Beside:
    def __init__(self, opened: list[Path]) -> None:
        self.workspace = self
        self.ask_window: Callable[[str, str], None] = lambda what, path: opened.append(Path(path))
