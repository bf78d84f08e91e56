"""The data panel by keys and menus: each choice is an edit, and what is wrong is said in a line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton, QWidget

from gradstep.core.document.data_edits import set_data
from gradstep.core.document.document import Document
from gradstep.core.document.value_edits import set_attr
from gradstep.core.graph.dtypes import Shape
from gradstep.gui.panels.classes.classes_panel import ClassesPanel
from gradstep.gui.panels.data.data_panel import DataPanel
from gradstep.gui.panels.training.curve_list import CurveList
from gradstep.gui.panels.training.training_head import TrainingHead
from gradstep.gui.panels.widgets.small_labels import Link, Text


@pytest.fixture
def panel(bench: Any, show: Callable[..., Any]) -> Any:
    bench.open("digits_in_batches")
    return show(DataPanel(bench.space), 1270, 260)


def type_into(panel: Any, name: str, text: str) -> None:
    field = panel.findChild(QLineEdit, f"data.{name}")
    field.selectAll()
    QTest.keyClick(field, Qt.Key.Key_Delete)
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)
    panel.workspace.debugger.flush()


def test_it_says_what_there_is_and_what_this_run_is_fed(bench: Any, panel: Any) -> None:
    said = panel.head.said.text()
    assert said == "digits: 1,438 rows, 359 held back · 45 steps an epoch"
    assert panel.batch.text().startswith("Run 1 is fed batch 1 of epoch 1, rows ")
    assert panel.rows.count() == 32
    assert panel.rows.headers[1:] == ("images  float32[?, 64]", "labels  float32[?, 10]")
    first = panel.rows.cell(0, 0).text
    bench.run("continue_", "continue_")
    assert panel.batch.text().startswith("Run 2 is fed batch 2 of epoch 1, rows ")
    assert panel.rows.cell(0, 0).text != first
    bench.run("run_to@0:0")
    assert panel.rows.cell(0, 0).text == first


@pytest.mark.slow
def test_numbers_are_edits_and_what_is_none_is_said(bench: Any, panel: Any) -> None:
    space = bench.space
    type_into(panel, "batch", "1,000")
    assert space.document.data.batch == 1000
    assert space.program.data.per_epoch == 2
    type_into(panel, "validate", "50 %")
    type_into(panel, "limit", "100")
    data = space.document.data
    assert (data.validate, data.limit, space.program.data.rows) == (0.5, 100, 50)
    type_into(panel, "batch", "0")
    assert panel.wrong.text() == "A batch has a whole number of rows, such as 32"
    assert space.document.data.batch == 1000
    panel.head.shuffle.click()
    panel.head.drop_last.click()
    assert (space.document.data.shuffle, space.document.data.drop_last) == (None, True)
    space.debugger.flush()
    assert panel.wrong.text().startswith("there are 50 rows, and no batch of 1000. Take smaller")
    for _ in range(5):
        space.undo_stack.undo()
    space.debugger.flush()
    assert space.document.data.batch == 32
    assert panel.wrong.isHidden()
    assert panel.head.batch.text() == "32"


def test_rows_that_are_in_no_file_have_a_name(bench: Any, panel: Any) -> None:
    space = bench.space
    columns = {"images:0": "normal([50, 64])", "labels:0": f"{[[1.0] * 10] * 50}"}
    changed = replace(space.document.data, columns=columns, validate=0)
    space.edit("generate", set_data(space.document, changed))
    space.debugger.flush()
    assert panel.head.said.text() == "normal, typed rows: 50 rows · 2 steps an epoch"


def test_a_placeholder_of_a_fixed_number_of_rows_is_freed_by_a_click(
    bench: Any, panel: Any
) -> None:
    """As the command line says it, and the way out beside it."""
    space = bench.space
    assert panel.free.isHidden()
    space.edit("fix it", set_attr(space.document, "images", "shape", Shape((8, 64))))
    space.debugger.flush()
    said = panel.wrong.text()
    assert said.startswith("images takes 8 rows in each run, and a batch has 32. Take batches of 8")
    assert panel.retry.isHidden()
    QTest.mouseClick(panel.free, Qt.MouseButton.LeftButton)
    space.debugger.flush()
    assert space.document.graph["images"].attrs["shape"] == Shape((None, 64))
    assert (panel.wrong.text(), panel.free.isHidden()) == ("", True)
    assert space.undo_stack.undoText() == "Take any number of rows"
    shape = set_attr(space.document, "images", "shape", Shape((32, 64)))
    columns = {**space.document.columns, "images:0": "@gone.npy"}
    assert shape.data is not None
    gone = replace(shape.data, columns=columns, drop_last=True, validate=0)
    space.edit("and there is no file", set_data(shape, gone))
    space.debugger.flush()
    assert "gone.npy" in panel.wrong.text()
    assert (panel.retry.isHidden(), panel.free.isHidden()) == (False, True)


@pytest.mark.slow
def test_rows_are_held_back_to_test_on_and_the_seed_that_is_emptied_is_1(
    bench: Any, panel: Any
) -> None:
    space = bench.space
    type_into(panel, "test", "10 %")
    assert (space.document.data.test, space.program.data.tested) == (0.1, 179)
    said = "digits: 1,259 rows, 359 held back, 179 to test · 40 steps an epoch"
    assert panel.head.said.text() == said
    type_into(panel, "test", "90 %")
    assert "1.1 of its rows are held back" in panel.wrong.text()
    type_into(panel, "test", "none")
    assert space.document.data.test == 0
    type_into(panel, "seed", "")
    assert space.document.data.shuffle == 1
    assert panel.wrong.text() == ""


@pytest.mark.slow
def test_what_a_field_cannot_be_hides_nothing_else(bench: Any, panel: Any) -> None:
    type_into(panel, "seed", "seven")
    assert panel.wrong.text() == "A seed is a whole number, such as 7"
    panel.columns.fed.emit("images:0", "@digits:labels")
    bench.space.debugger.flush()
    assert "of images: shape [32] does not fit [?, 64]" in panel.wrong.text()
    assert not panel.findChild(QWidget, "data.rows").isVisible(), "no rows, no empty table"
    bench.space.undo_stack.undo()
    bench.space.debugger.flush()
    assert panel.wrong.isHidden()
    assert panel.findChild(QWidget, "data.rows").isVisible()
    type_into(panel, "limit", "1")
    type_into(panel, "batch", "1")
    type_into(panel, "validate", "none")
    assert panel.head.said.text() == "digits: 1 row · 1 step an epoch"


def test_a_column_is_chosen_typed_and_transformed(bench: Any, panel: Any, qtbot: Any) -> None:
    space = bench.space
    field = panel.findChild(QComboBox, "data.column.images")
    QTest.keySequence(field.lineEdit(), "Ctrl+A")
    QTest.keyClicks(field.lineEdit(), "@digits:labels")
    QTest.keyClick(field.lineEdit(), Qt.Key.Key_Return)
    space.debugger.flush()
    assert space.document.columns["images:0"] == "@digits:labels"
    assert "of images: shape [32] does not fit [?, 64]" in panel.wrong.text()
    assert [p.node for p in space.program.problems if p.type == "data"] == ["images"]
    qtbot.wait(1)  # the lines are others now
    menu = panel.findChildren(QPushButton, "data.transform.images")[-1].menu()
    menu.aboutToShow.emit()
    next(a for a in menu.actions() if "standardise" in a.text()).trigger()
    assert space.document.columns["images:0"] == "@digits:labels | standardise"
    space.undo_stack.undo()
    space.undo_stack.undo()
    space.debugger.flush()
    assert panel.wrong.isHidden()
    panel.columns.fed.emit("images:0", "")
    assert [*space.document.columns] == ["labels:0"]


@pytest.mark.parametrize("text", ["@digits:labels", "@digits | scale(1/16)"])
def test_a_set_is_no_file_whatever_is_done_to_it(bench: Any, panel: Any, text: str) -> None:
    panel.columns.fed.emit("images:0", text)
    assert bench.space.document.columns["images:0"] == text
    panel.columns.fed.emit("images:0", "@rows.npy | scale(1/16)")
    assert bench.space.document.columns["images:0"].endswith("/rows.npy | scale(1/16)")


def test_a_file_that_is_dropped_makes_placeholders_in_an_empty_document(
    bench: Any, show: Callable[..., Any], tmp_path: Path, qtbot: Any
) -> None:
    space = bench.space
    space.open_document(Document())
    panel = show(DataPanel(space), 1270, 260)
    assert "Placeholders for its columns, x and y, are made" in panel.hint.text()
    assert not panel.head.batch.isVisible(), "nothing is put in batches yet"
    (tmp_path / "t.csv").write_text("a,b,label\n1,2,0\n3,4,1\n5,6,1\n")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path / "t.csv"))])
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    event = QDropEvent(QPointF(9, 9), copy, mime, left, Qt.KeyboardModifier.NoModifier)
    panel.dropEvent(event)
    qtbot.waitUntil(lambda: space.document.data is not None, timeout=20_000)
    texts = [text.rpartition(":")[2] for text in space.document.columns.values()]
    assert texts == ["a,b", "label"]
    assert [*space.document.columns] == ["x:0", "y:0"]
    space.debugger.flush()
    assert not panel.workspace.data.problem
    assert panel.head.batch.isVisible()
    assert panel.rows.cell(1, 1).text in ("1 2", "3 4", "5 6")
    space.undo_stack.undo()
    assert not len(space.document.graph)


def test_a_file_that_is_no_data_changes_nothing(bench: Any, panel: Any, tmp_path: Path, qtbot: Any
) -> None:  # fmt: skip
    from gradstep.gui import commands

    (tmp_path / "t.csv").write_text("a,b\n1\n")
    before = bench.space.document
    commands.begin_data(bench.space, str(tmp_path / "t.csv"))
    qtbot.waitUntil(lambda: "row 2 has 1 cell" in panel.wrong.text(), timeout=20_000)
    assert bench.space.document is before


def csv_columns(bench: Any, folder: Path, qtbot: Any) -> Path:
    """The tutorial's table of rows, fed to placeholders that are made for it."""
    from gradstep.gui import commands

    path = folder / "t.csv"
    path.write_text("a,b,label\n" + "".join(f"{i},{i / 3},{i % 2}\n" for i in range(70)))
    bench.space.open_document(Document())
    commands.begin_data(bench.space, commands.place_of_file(path))
    qtbot.waitUntil(lambda: bench.space.document.data is not None, timeout=20_000)
    bench.space.debugger.flush()
    return path


def test_a_file_that_was_refused_is_read_again_once_it_is_mended(
    bench: Any, show: Callable[..., Any], tmp_path: Path, qtbot: Any
) -> None:
    space = bench.space
    panel = show(DataPanel(space), 1270, 260)
    path = csv_columns(bench, tmp_path, qtbot)
    rows = path.read_bytes()
    path.write_text("a,b,label\n1,2\n")
    old = space.data.batch
    space.data.look_again()
    qtbot.waitUntil(lambda: space.data.batch is not old, timeout=20_000)
    assert panel.batch.text() == "t.csv has changed on disk", "once, of all columns"
    path.unlink()
    space.data.look_again()
    qtbot.waitUntil(lambda: panel.batch.text() == "t.csv is gone", timeout=20_000)
    assert panel.again.isVisible()
    path.write_text("a,b,label\n1,2\n")
    panel.again.click()
    space.debugger.flush()
    assert "row 2 has 2 cells" in panel.wrong.text()
    path.write_bytes(rows)
    assert panel.retry.isVisible()
    panel.retry.click()
    space.debugger.flush()
    assert panel.wrong.isHidden()
    assert panel.retry.isHidden()
    assert panel.head.said.text().startswith("t.csv: 70 rows")
    type_into(panel, "batch", "x")
    assert panel.retry.isHidden(), "that is about no file"


def test_rows_are_packed_into_the_document_and_fed_without_their_file(
    bench: Any, show: Callable[..., Any], tmp_path: Path, qtbot: Any
) -> None:
    space = bench.space
    panel = show(DataPanel(space), 1270, 260)
    path = csv_columns(bench, tmp_path, qtbot)
    assert panel.head.said.text().startswith("t.csv: 70 rows")
    before = space.document
    fed = [panel.rows.cell(row, column).text for row in range(32) for column in range(3)]
    button = panel.findChild(Link, "data.pack.x")
    assert button.accessibleName() == "Pack the rows of x into the document"
    button.click()
    panel.findChild(Link, "data.pack.y").click()  # while x is read
    qtbot.waitUntil(lambda: len(space.document.packed) == 2, timeout=20_000)
    space.debugger.flush()
    assert space.document.columns == {
        "x:0": "@packed:t.csv:a,b | standardise",
        "y:0": "@packed:t.csv:label",
    }
    path.unlink()
    space.debugger.reopen()
    space.debugger.flush()
    old = space.data.batch
    space.data.look_again()
    qtbot.waitUntil(lambda: space.data.batch is not old, timeout=20_000)
    assert [panel.rows.cell(row, c).text for row in range(32) for c in range(3)] == fed
    assert panel.wrong.isHidden()
    assert panel.head.said.text().startswith("t.csv (packed): 70 rows")

    def shown(kind: Any, name: str) -> list[Any]:
        return [each for each in panel.findChildren(kind, name) if each.isVisible()]

    qtbot.waitUntil(lambda: bool(shown(Text, "data.packed.x")), timeout=20_000)
    said = [(each.text(), each.accessibleName()) for each in shown(Text, "data.packed.x")]
    assert said == [("70 packed", "packed, 70 rows")]
    assert not shown(Link, "data.pack.x")
    space.undo_stack.undo()
    space.undo_stack.undo()
    assert space.document is before


def test_rows_that_cannot_be_packed_are_said_and_change_nothing(
    bench: Any, show: Callable[..., Any], tmp_path: Path, qtbot: Any
) -> None:
    space = bench.space
    panel = show(DataPanel(space), 1270, 260)
    path = csv_columns(bench, tmp_path, qtbot)
    before = space.document
    path.unlink()
    panel.findChild(Link, "data.pack.x").click()
    qtbot.waitUntil(lambda: "there is no such file" in panel.wrong.text(), timeout=20_000)
    assert space.document is before
    panel.columns.fed.emit("y:0", "")
    assert "cannot open" not in space.data.error, "the user does something else"


def test_sets_that_come_with_the_program_are_not_packed(panel: Any) -> None:
    assert panel.findChild(QComboBox, "data.column.images") is not None
    assert panel.findChild(Link, "data.pack.images") is None


def test_training_counts_epochs(bench: Any, show: Callable[..., Any]) -> None:
    bench.open("digits_in_batches")
    training = bench.space.training
    head = show(TrainingHead(bench.space), 1270, 60)
    head.refresh()
    assert (head.unit.currentText(), head.steps.text()) == ("epochs", "5")
    assert training.wanted == 225
    assert [curve.title for curve in training.curves] == ["loss", "loss, held back"]
    training.epochs = 1
    training.train()
    loss, held = training.curves
    rows = CurveList(lambda: bench.space.theme)
    rows.show_curves(training.curves, [QColor()] * 2)
    for step, known in ((3, False), (44, True)):
        rows.show_step(step, "{}")
        assert bool(rows._rows[1].number.text()) == known, "nothing, and not NaN"
    assert len(loss.points.numbers) == len(held.points.numbers) == 45
    assert held.points.numbers[-1] < 1
    bench.open("softmax_digits")
    head.refresh()
    assert (head.unit.currentText(), head.unit.isEnabled()) == ("steps", False)
    assert [curve.title for curve in training.curves] == ["loss"]


@pytest.mark.slow
def test_a_metric_that_is_followed_is_measured_over_the_rows_held_back(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    """As a mean over them, after each epoch: what Classes counts. A number that is none of the
    rows, or a tensor, has no such curve."""
    from gradstep.gui import commands

    bench.open("digits_in_batches")
    space, training = bench.space, bench.space.training
    space.select(["accuracy", "softmax/weights", "axes"])
    commands.follow_selected(space)
    commands.follow_selected(space)  # is there already
    held = [curve for curve in training.curves if curve.validates]
    assert [curve.title for curve in held] == ["loss, held back", "accuracy, held back"]
    training.epochs = 2
    training.train()
    points = held[1].points.numbers
    assert np.isfinite(points[[44, 89]]).all()
    classes = show(ClassesPanel(space), 330, 400)
    qtbot.waitUntil(lambda: classes.view.seen is not None, timeout=20_000)
    assert points[89] == pytest.approx(classes.view.seen.right / 359)
    training.drop(held[1])
    assert held[1] not in training.curves
    type_into(show(DataPanel(space), 1270, 260), "validate", "none")
    space.select(["accuracy"])
    commands.follow_selected(space)
    assert not [curve for curve in training.curves if curve.validates]
