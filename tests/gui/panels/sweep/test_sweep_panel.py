"""The sweep panel by clicks: sorting, failed runs, coordinates, curves, a run in the debugger."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from gradstep.core.errors import GradstepError
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.protocol.message_parts import ErrorInfo
from gradstep.core.sweep.run_list import grid
from gradstep.core.sweep.setting_syntax import parse_setting
from gradstep.core.sweep.sweep_folder import SweepFolder
from gradstep.core.sweep.sweep_records import VERSION, RunRow, SweepRecord
from gradstep.gui import commands
from gradstep.gui.dialogs.sweep_dialog import SweepDialog
from gradstep.gui.look.theme import ASSETS
from gradstep.gui.panels.sweep.sweep_panel import SweepPanel

LEFT = Qt.MouseButton.LeftButton
TUTORIAL = ASSETS / "examples" / "tutorial.gradstep"
LONG = 60_000  # milliseconds


@pytest.fixture
def folder(tmp_path: Path) -> SweepFolder:
    """Four runs, of which one failed and one is not over."""
    settings = [parse_setting("learning_rate=0.5,words,0.1,20")]
    record = SweepRecord(VERSION, "tutorial", ["--steps=30"], settings, [*grid(settings, ())], 30)
    found = SweepFolder.begin(tmp_path / "swept", record, gradstep_file.to_bytes(read(TUTORIAL)))
    error = ErrorInfo(type="ValueError", message="it is a <b>number</b>", hint="write numbers")
    for number, loss in ((1, 0.25), (3, 0.5)):
        values = record.runs[number - 1].values
        row = RunRow(number=number, values=values, steps=30, loss=loss, best=loss, best_step=30)
        found.add_row(row)
        found.add_points(number, [(1, 0.7), (15, 0.6), (30, loss)])
    found.add_row(RunRow(number=2, values=record.runs[1].values, error=error))
    return found


@pytest.fixture
def panel(bench: Any, show: Callable[..., Any], folder: SweepFolder, qtbot: Any) -> Any:
    bench.open("tutorial")
    panel = show(SweepPanel(bench.space), 1270, 260)
    bench.space.sweep.open(folder.path)
    qtbot.waitUntil(lambda: bench.space.sweep.seen is not None, timeout=LONG)
    return panel


def column(panel: Any, number: int) -> list[str]:
    model = panel.table.runs
    return [model.cell(row, number).text for row in range(model.count())]


def sort_by(panel: Any, title: str) -> None:
    """A click on a column's title."""
    header = panel.table.column_header
    titles = [str(text).strip(" ▴▾") for text in panel.table.runs.headers]
    x = header.sectionViewportPosition(titles.index(title)) + 10
    QTest.mouseClick(header.viewport(), LEFT, pos=QPoint(x, 8))


def test_what_there_is_before_a_sweep(bench: Any, show: Callable[..., Any]) -> None:
    bench.open("tutorial")
    panel = show(SweepPanel(bench.space), 900, 240)
    assert "Sweep… begins one" in panel.hint.text()
    assert not panel.parts.isVisible()
    QTest.mouseClick(panel.findChild(QPushButton, "sweep.start"), LEFT)
    assert bench.views[-1] == ("sweep", "")


def test_rows_are_sorted_by_a_click_and_failed_ones_say_why(panel: Any) -> None:
    assert column(panel, 0) == ["1", "3", "2"]  # by loss; what failed at the end
    assert panel.head.said.text() == "3 of 4 runs · 1 failed · best 0.25 (run 1)"
    sort_by(panel, "loss")
    assert column(panel, 0) == ["3", "1", "2"]
    sort_by(panel, "run")
    assert column(panel, 0) == ["1", "2", "3"]
    sort_by(panel, "learning_rate")
    assert column(panel, 1) == ["0.1", "0.5", "words"]
    last = panel.table.runs.columnCount() - 1
    assert column(panel, last)[2] == "it is a <b>number</b>"
    assert panel.table.runs.cell(2, last).tone == "problem"
    assert panel.findChild(QPushButton, "sweep.go_on").isVisible()


def test_a_line_that_is_clicked_is_a_run_that_is_selected(panel: Any, qtbot: Any) -> None:
    plot = panel.parallel
    rows = {row.number: row for row in panel.sweep.seen.rows}
    assert sorted(panel.curves.curves) == [1, 3]
    for number in (3, 1):
        a, b = plot._line(rows[number])
        middle = QPointF((a + b) / 2)
        assert plot.run_at(middle) == number
        QTest.mouseClick(plot, LEFT, pos=middle.toPoint())
        assert panel.table.selected == (number,)
        qtbot.waitUntil(lambda number=number: [*panel.curves.curves] == [number], timeout=LONG)
    assert plot.run_at(QPointF(2, 2)) == 0
    assert len(plot._line(rows[2])) == 1  # a word has a place, and no loss


def test_what_is_selected_stays_selected_when_more_is_over(
    panel: Any, folder: SweepFolder, qtbot: Any
) -> None:
    panel.table.select_run(3)
    folder.add_row(RunRow(number=4, values={"learning_rate": "20"}, steps=30, loss=0.01))
    panel.sweep._look()
    qtbot.waitUntil(lambda: panel.table.runs.count() == 4, timeout=LONG)
    assert column(panel, 0) == ["4", "1", "3", "2"]
    assert panel.table.selected == (3,)
    assert not panel.findChild(QPushButton, "sweep.go_on").isVisible()


def test_a_run_is_trained_to_its_end_in_the_debugger(
    bench: Any, panel: Any, folder: SweepFolder, qtbot: Any
) -> None:
    panel.table.select_run(1)
    QTest.mouseClick(panel.findChild(QPushButton, "sweep.show_run"), LEFT)
    qtbot.waitUntil(lambda: any(what == "open" for what, _ in bench.views), timeout=LONG)
    path = Path(bench.views[-1][1])
    assert path.parent == folder.path / "opened"
    document = read(path)
    assert document.optimizers[0].hyper["learning_rate"] == 0.5
    assert document.title.endswith("run 1: learning_rate=0.5")
    bench.space.open_document(document, path)
    bench.space.debugger.flush()
    assert bench.space.training.made == 30
    assert bench.space.stop.run == 29
    assert panel.sweep.seen is not None  # another document, the same sweep
    bench.open("tutorial")
    assert bench.space.training.made == 0
    path.write_bytes(b"what the user made of it")
    commands.debug_run(bench.space, 1)
    qtbot.waitUntil(lambda: bench.views[-1][1].endswith("run-1-2.gradstep"), timeout=LONG)
    assert path.read_bytes() == b"what the user made of it"


def test_a_folder_that_is_none_is_said(bench: Any, panel: Any, tmp_path: Path, qtbot: Any) -> None:
    bench.space.sweep.open(tmp_path)
    qtbot.waitUntil(lambda: "no folder of a sweep" in panel.head.said.text(), timeout=LONG)


def test_the_dialog_says_how_many_runs_and_what_is_wrong(
    bench: Any, qtbot: Any, tmp_path: Path
) -> None:
    bench.open("tutorial")
    dialog = SweepDialog(bench.space)
    qtbot.addWidget(dialog)
    assert dialog.count.text() == "5 runs"
    dialog.settings.setPlainText("learning_rate=0.1:10:log4\nc=[0,0],[1,1]")
    assert dialog.count.text() == "8 runs"
    dialog.drawn.setText("6")
    assert dialog.count.text() == "6 runs"
    for field, text, wrong in (
        (dialog.drawn, "many", "'many' is no number of combinations"),
        (dialog.seeds, "3", "nothing here is random"),
        (dialog.settings, "lerning_rate=1", "did you mean learning_rate?"),
        (dialog.settings, "", "nothing varies"),
    ):
        before = field.toPlainText() if field is dialog.settings else field.text()
        (field.setPlainText if field is dialog.settings else field.setText)(text)
        assert dialog.count.text() == ""
        assert wrong in dialog.apply()
        (field.setPlainText if field is dialog.settings else field.setText)(before)
    dialog.folder.setText(str(tmp_path.parent))
    assert "holds something already" in dialog.apply()
    dialog.close()


@pytest.mark.slow
def test_a_sweep_is_made_and_stopped_from_the_window(
    bench: Any, show: Callable[..., Any], qtbot: Any, tmp_path: Path
) -> None:
    bench.open("tutorial")
    panel, sweep = show(SweepPanel(bench.space), 1270, 260), bench.space.sweep
    dialog = SweepDialog(bench.space)
    qtbot.addWidget(dialog)
    dialog.settings.setPlainText("learning_rate=0.1,words")
    dialog.steps.setText("20")
    dialog.workers.setText("1")
    dialog.folder.setText(str(tmp_path / "a"))
    dialog.finish()
    assert bench.views[-1] == ("show", "sweep")
    assert panel.head.start.text() == "Stop"
    qtbot.waitUntil(lambda: sweep.is_idle, timeout=LONG)
    assert panel.head.said.text().startswith("2 of 2 runs · 1 failed · best ")
    commands.start_sweep(
        bench.space, tmp_path / "b", ["--set=learning_rate=0.1", "--steps=900000000"]
    )
    qtbot.waitUntil(lambda: bool(sweep.seen and sweep.seen.running), timeout=LONG)
    QTest.mouseClick(panel.head.start, LEFT)
    assert not panel.head.start.isEnabled()
    qtbot.waitUntil(lambda: sweep.is_idle, timeout=LONG)
    assert panel.head.said.text() == "0 of 1 run"
    assert sweep.failure == ""
    commands.start_sweep(bench.space, tmp_path / "b", ["--set=learning_rate=0.1"])
    qtbot.waitUntil(lambda: sweep.is_idle, timeout=LONG)
    assert "holds a sweep already" in panel.head.said.text()


def test_one_that_is_stopped_before_it_has_begun_does_not_begin(
    bench: Any, qtbot: Any, tmp_path: Path
) -> None:
    bench.open("tutorial")
    sweep = bench.space.sweep
    commands.start_sweep(bench.space, tmp_path / "a", ["--set=learning_rate=0.1"])
    sweep.stop()
    assert sweep.is_stopping
    qtbot.waitUntil(lambda: sweep.is_idle, timeout=LONG)
    assert (sweep.is_stopping, sweep.failure) == (False, "")
    assert not (tmp_path / "a").exists()


def test_what_could_not_be_read_is_read_again_where_more_came_meanwhile(
    panel: Any, folder: SweepFolder, qtbot: Any
) -> None:
    """As a file that grows while it is read."""
    sweep = panel.sweep
    qtbot.waitUntil(lambda: not sweep._is_reading, timeout=LONG)
    sweep._is_reading = True  # somebody is at it
    sweep._look()
    folder.add_row(RunRow(number=4, values={"learning_rate": "20"}, steps=30, loss=0.01))
    sweep._cannot_read(GradstepError("it changed while it was read", kind="FileError"))
    qtbot.waitUntil(lambda: panel.table.runs.count() == 4, timeout=LONG)
