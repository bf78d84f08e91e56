"""Event files beside one's own trainings: their curves over each other, drops, what is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QToolButton

from gradstep.core.io.event_files import EventFile
from gradstep.core.ops.formats.summary_proto import number
from gradstep.gui import commands
from gradstep.gui.actions import action_table
from gradstep.gui.panels.training.curve_colors import colors
from gradstep.gui.panels.training.training_panel import TrainingPanel


def write(folder: Path, first: int = 1, **curves: list[float]) -> Path:
    """An event file of these; as TensorBoard has them, from step `first` on."""
    with EventFile(folder) as file:
        for tag, values in curves.items():
            for step, value in enumerate(values, first):
                file.add_summary(step, number(tag.encode(), value))
    return file.path


@pytest.fixture
def panel(bench: Any, show: Callable[..., Any]) -> Any:
    bench.open("softmax_digits")
    return show(TrainingPanel(bench.space), 1270, 320)


def drop(panel: Any, path: Path) -> bool:
    """Whether it was taken."""
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    copy, left, none = (
        Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    enter = QDragEnterEvent(QPointF(9, 9).toPoint(), copy, mime, left, none)
    enter.ignore()
    panel.dragEnterEvent(enter)
    if enter.isAccepted():
        panel.dropEvent(QDropEvent(QPointF(9, 9), copy, mime, left, none))
    return enter.isAccepted()


def opened(panel: Any, qtbot: Any) -> None:
    qtbot.waitUntil(lambda: not panel.workspace.events.is_reading, timeout=20_000)


def test_their_loss_lies_under_ones_own(panel: Any, bench: Any, qtbot: Any, tmp_path: Path) -> None:
    write(tmp_path / "a", loss=[3.0, 2.0, 1.5, 9.0])
    panel.training.steps = 10
    commands.train(bench.space)
    assert drop(panel, tmp_path)
    opened(panel, qtbot)
    own = panel.training.curves[0]
    (theirs,) = panel.training.earlier.points_beside(own)
    assert theirs.numbers.tolist() == [3, 2, 1.5, 9]
    assert theirs.steps.tolist() == [0, 1, 2, 3]
    assert panel.drawn == panel.training.curves, "it is no curve of its own"
    assert [each.name for each in panel.training.earlier] == ["1 · a"]
    (plot,) = panel.plot._plots.values()
    low, high = plot.bounds
    assert high == 9, "the plot reaches as far as theirs"
    assert low <= own.points.numbers.min()


@pytest.mark.slow
def test_what_only_they_have_is_drawn_by_itself(
    panel: Any, bench: Any, qtbot: Any, tmp_path: Path
) -> None:
    write(tmp_path / "one", accuracy=[0.5, 0.75], speed=[7.0])
    write(tmp_path / "two", first=0, accuracy=[0.25, 0.5, 0.625])
    commands.open_events(bench.space, tmp_path)
    opened(panel, qtbot)
    assert bench.views[-1] == ("show", "training")
    assert [curve.title for curve in panel.drawn] == ["loss", "accuracy", "speed"]
    accuracy = panel.drawn[1]
    assert accuracy.points.steps.tolist() == [0, 1, 2], "the newest; its steps begin with 0"
    (pale,) = panel.training.earlier.points_beside(accuracy)
    assert pale.numbers.tolist() == [0.5, 0.75]
    assert [key.group for key in panel.plot._plots] == ["value", "tag accuracy", "tag speed"]
    assert panel.curves.place.text() == "step 3 · last"
    panel.head.copy.copied.emit("csv")
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines == ["step,accuracy,speed", "1,0.25,7.0", "2,0.5,", "3,0.625,"]
    before = bench.space.stop
    panel._go(2)
    assert bench.space.stop is before
    panel.findChild(QToolButton, f"training.drop.{accuracy.text}").click()
    assert [curve.title for curve in panel.drawn] == ["loss", "speed"]
    assert [curve.title for curve in panel.training.curves] == ["loss"]
    panel.findChild(QToolButton, "training.earlier.drop.1").click()
    assert [curve.title for curve in panel.drawn] == ["loss"]


def test_without_a_document_they_are_there_too(
    bench: Any, show: Callable[..., Any], qtbot: Any, tmp_path: Path
) -> None:
    bench.space.close_document()
    panel = show(TrainingPanel(bench.space), 1270, 320)
    commands.open_events(bench.space, write(tmp_path / "logs", loss=[2.0, 1.0]))
    opened(panel, qtbot)
    assert [curve.title for curve in panel.drawn] == ["loss"]
    assert panel.plot is not None
    assert panel.plot.isVisible()
    assert not panel.head.isVisible()
    assert [each.name for each in panel.training.earlier] == ["1 · logs"]


def test_what_cannot_be_shown_is_said(panel: Any, bench: Any, qtbot: Any, tmp_path: Path) -> None:
    said: list[tuple[str, str]] = []
    bench.space.message.connect(lambda level, text: said.append((level, text)))
    (tmp_path / "none").mkdir()
    (tmp_path / "x.gradstep").touch()
    assert not drop(panel, tmp_path / "x.gradstep"), "the window opens it"
    for path, words in (
        (tmp_path / "none", "none has no event files"),
        (write(tmp_path / "empty"), "has event files without curves"),
        (tmp_path / "gone", "has no event files"),
    ):
        commands.open_events(bench.space, path)
        opened(panel, qtbot)
        assert words in said[-1][1]
    cut = write(tmp_path / "cut", loss=[1.0, 2.0])
    cut.write_bytes(cut.read_bytes()[:-3])
    commands.open_events(bench.space, cut)
    opened(panel, qtbot)
    assert "cut off at byte" in said[-1][1]
    (training,) = panel.training.earlier
    assert next(iter(training.points.values())).numbers.tolist() == [1]


@pytest.mark.slow
def test_the_menu_asks_for_a_folder(
    driver: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(tmp_path / "run", loss=list(np.linspace(2, 1, 5)))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    assert action_table.run("run.events", driver.workspace)
    driver.wait(lambda: len(driver.workspace.training.earlier), "the curves")


@pytest.mark.slow
def test_each_is_listed_in_the_colour_that_it_is_drawn_in(
    panel: Any, bench: Any, qtbot: Any, tmp_path: Path
) -> None:
    write(tmp_path / "one", accuracy=[0.5, 0.75], speed=[7.0])
    commands.open_events(bench.space, tmp_path)
    opened(panel, qtbot)
    listed = panel._colors()
    for curve, color in zip(panel.drawn, listed, strict=True):
        (drawn,) = colors(panel.theme, [curve])
        assert color == drawn
