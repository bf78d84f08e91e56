"""What a device gives is kept from the window, and compared with where the device is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from gradstep.core.io.open_document import read
from gradstep.gui import commands
from gradstep.gui.panels.device_diff.device_diff_panel import DeviceDiffPanel


@pytest.fixture
def gather(bench: Any) -> Any:
    """The bench with the example open, and its devices known."""
    bench.open("gather")
    bench.space.debugger.ask_devices()
    return bench


def chooses(monkeypatch: pytest.MonkeyPatch, dialog: str, path: Path) -> None:
    monkeypatch.setattr(QFileDialog, dialog, lambda *words: (str(path), ""))


def menu(panel: DeviceDiffPanel) -> dict[str, Any]:
    return {action.objectName(): action for action in panel.devices.menu().actions()}


def test_recorded_here_and_compared_with_elsewhere(
    gather: Any,
    show: Callable[..., Any],
    qtbot: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    panel = show(DeviceDiffPanel(gather.space), 1100, 260)
    assert not panel.record.isVisible()
    qtbot.mouseClick(panel.run, Qt.MouseButton.LeftButton)
    [live] = gather.space.comparisons
    assert live.device == "emulate:tf-gpu"
    chooses(monkeypatch, "getSaveFileName", tmp_path / "there")
    qtbot.mouseClick(panel.record, Qt.MouseButton.LeftButton)
    file = tmp_path / "there.gradrec"
    qtbot.waitUntil(file.exists, timeout=20_000)
    qtbot.waitUntil(lambda: panel.devices.chosen == [str(file)], timeout=20_000)
    qtbot.mouseClick(panel.run, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: gather.space.comparisons[0] is not live, timeout=20_000)
    [again] = gather.space.comparisons
    assert again.device == str(file)
    assert [node.right for node in again.nodes] == [node.right for node in live.nodes]
    assert panel.model.cell(panel.model.row_of("b"), 4).fill == "hatched"
    assert not panel.record.isVisible()
    assert panel.smallest.isVisible()
    asked: list[str] = []
    gather.space.view_requested.connect(lambda what, target: asked.append(target))
    qtbot.mouseClick(panel.smallest, Qt.MouseButton.LeftButton)
    small, written = tmp_path / "small.gradstep", list[Path]()
    commands.find_smallest(gather.space, asked[-1], small, written.append)
    qtbot.waitUntil(lambda: written == [small], timeout=20_000)
    assert read(small).recorded is not None
    file.rename(tmp_path / "away")
    commands.find_smallest(gather.space, asked[-1], small, written.append)
    qtbot.waitUntil(lambda: "there is no such file" in gather.messages[-1], timeout=20_000)
    (tmp_path / "away").rename(file)
    assert menu(panel)[f"device_diff.device.{file}"].isChecked()
    qtbot.mouseClick(panel.go_on, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: gather.space.comparisons[0] is not again, timeout=20_000)


def test_one_that_is_opened_is_what_is_compared_with(
    gather: Any, show: Callable[..., Any], qtbot: Any, tmp_path: Path
) -> None:
    file = tmp_path / "gather.jax.gradrec"
    gather.space.recordings.record("emulate:jax", file)
    qtbot.waitUntil(file.exists, timeout=20_000)
    gather.space.open_document(read(file), name=file.name, read_from=file)
    panel = show(DeviceDiffPanel(gather.space), 1100, 260)
    qtbot.waitUntil(lambda: panel.devices.chosen == [str(file)], timeout=20_000)
    assert panel.devices.text() == "with gather.jax"
    gather.space.open_document(read(file), path=tmp_path / "gather.gradstep")
    qtbot.waitUntil(lambda: gather.space.recordings.files == (file,), timeout=20_000)
    assert gather.space.recordings.meant == ""  # it lies beside the document, and is offered


def test_one_of_another_program_is_refused_in_one_line(
    gather: Any,
    show: Callable[..., Any],
    qtbot: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "a.gradrec"
    gather.space.recordings.record("emulate:jax", file)
    qtbot.waitUntil(file.exists, timeout=20_000)
    gather.open("tutorial")
    panel = show(DeviceDiffPanel(gather.space), 1100, 260)
    chooses(monkeypatch, "getOpenFileName", file)
    menu(panel)["device_diff.add"].trigger()
    qtbot.waitUntil(lambda: panel.devices.chosen == [str(file)], timeout=20_000)
    qtbot.mouseClick(panel.run, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(gather.space.unavailable), timeout=20_000)
    assert "is of another program" in panel.verdict.text()
    assert not gather.space.comparisons
