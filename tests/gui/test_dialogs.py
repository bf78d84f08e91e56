"""The dialogs: what is typed is checked where it is typed, and nothing is ever evaluated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as npst
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from PIL import Image
from PySide6.QtCore import QMimeData, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QLabel,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from gradstep.core.data.array_files import Reading
from gradstep.core.data.value_text import typed_value
from gradstep.core.document.document import CodeKind
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.gui import commands
from gradstep.gui.automation.driver import Driver
from gradstep.gui.dialogs.code_dialog import CodeDialog, syntax_problem
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.dialogs.override_dialog import NEW, OverrideDialog, template
from gradstep.gui.dialogs.py_func_conversion_dialog import PyFuncDialog
from gradstep.gui.dialogs.request_dialog import RequestDialog
from gradstep.gui.dialogs.value_dialog import ValueDialog, ValueHereDialog, _shown
from gradstep.gui.model.value_place import place_of
from gradstep.gui.panels.tensor.element_grid import ElementGrid


def found(driver: Driver, kind: type[Any]) -> Any:
    dialogs = [d for d in driver.window.findChildren(kind) if d.isVisible()]
    assert len(dialogs) == 1
    return dialogs[0]


@given(
    npst.arrays(
        st.sampled_from([np.float32, np.float64, np.int32, np.bool_]),
        npst.array_shapes(min_dims=0, max_dims=3, max_side=4),
    )
)
def test_what_is_shown_is_what_would_be_read(array: np.ndarray[Any, Any]) -> None:
    kind = TensorType(DType.of(array.dtype))
    again = typed_value(_shown(Constant(array)), kind, "x", Reading())
    np.testing.assert_array_equal(again, array)
    assert again.dtype == array.dtype


@pytest.mark.slow
def test_editing_a_feed(tutorial: Driver) -> None:
    tutorial.workspace.select(["data"])
    tutorial.key("Ctrl+E")
    dialog = found(tutorial, ValueDialog)
    assert dialog.text.toPlainText() == "[1., 2.]"
    dialog.text.setPlainText("[1, 2, 3]")
    assert "does not fit" in dialog.findChild(QLabel, "value_dialog.fits").text()
    assert not dialog.findChild(object, "value_dialog.apply").isEnabled()
    dialog.text.setPlainText("[3, 4]")
    dialog.finish()
    assert tutorial.workspace.document.feeds["data:0"].array.tolist() == [3.0, 4.0]


@pytest.mark.slow
def test_editing_an_initial_value(tutorial: Driver) -> None:
    tutorial.workspace.select(["c"])
    tutorial.key("Ctrl+E")
    dialog = found(tutorial, ValueDialog)
    dialog.text.setPlainText("[0.5, nan]")
    dialog.finish()
    np.testing.assert_array_equal(
        tutorial.workspace.document.initial["c"].array, np.array([0.5, np.nan], np.float32)
    )


@pytest.mark.slow
def test_a_variable_gets_another_value_where_the_debugger_stands(tutorial: Driver) -> None:
    space = tutorial.workspace
    space.control("continue_")
    tutorial.settle()
    space.select(["c"])
    tutorial.key("Ctrl+Alt+E")
    dialog = found(tutorial, ValueHereDialog)
    assert dialog.text.toPlainText() != "[0.06, -0.04]"  # it was trained since
    dialog.text.setPlainText("[1, 2]")
    dialog.finish()
    tutorial.settle()
    value = space.value("c:0")
    assert value is not None
    assert value.head.tolist() == [1.0, 2.0]
    assert space.document.initial["c"].array.tolist() == pytest.approx([0.06, -0.04])
    space.control("continue_")
    tutorial.settle()
    assert space.value("loss:0").head.item() < 0.01


@pytest.mark.slow
def test_a_value_from_a_folder_of_images(
    tutorial: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.fromarray(np.array([[3, 4]], np.uint8)).save(tmp_path / "1.png")
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *asked: str(tmp_path))
    tutorial.workspace.select(["data"])
    tutorial.key("Ctrl+E")
    dialog = found(tutorial, ValueDialog)
    fits = dialog.findChild(QWidget, "value_dialog.fits")
    dialog.findChild(QPushButton, "value_dialog.folder").click()
    tutorial.wait(lambda: "reading" not in fits.text(), "the images")
    assert "1.png has 1×2 pixels, which do not fit [2]" in fits.text()
    dialog.load(tmp_path / "1.png")
    tutorial.wait(lambda: "reading" not in fits.text(), "the image")
    assert fits.text() == "✓ shape [2]"
    dialog.finish()
    assert tutorial.workspace.document.feeds["data:0"].array.tolist() == [3.0, 4.0]


@pytest.mark.slow
def test_a_value_from_a_file(tutorial: Driver, tmp_path: Path) -> None:
    """Loaded or dropped, what it holds is checked before it is applied, and nothing waits."""
    (tmp_path / "t.csv").write_text("a,b\n3,4\n5,\n")
    tutorial.workspace.select(["data"])
    tutorial.key("Ctrl+E")
    dialog = found(tutorial, ValueDialog)
    fits, apply = (dialog.findChild(QWidget, f"value_dialog.{name}") for name in ("fits", "apply"))
    dialog.load(tmp_path / "t.csv")
    assert fits.text() == "reading…"
    assert not apply.isEnabled()
    tutorial.wait(lambda: "reading" not in fits.text(), "the table")
    assert "row 3, column 'b' is empty: fill it in" in fits.text()
    assert not apply.isEnabled()
    data = QMimeData()
    np.save(tmp_path / "x.npy", np.array([7, 8]))
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "x.npy"))])
    none = Qt.KeyboardModifier.NoModifier
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    at = QPointF(50, 50)
    QApplication.sendEvent(dialog, QDragEnterEvent(at.toPoint(), copy, data, left, none))
    QApplication.sendEvent(dialog, QDropEvent(at, copy, data, left, none))
    tutorial.wait(apply.isEnabled, "the array")
    assert fits.text() == "✓ shape [2]"
    dialog.finish()
    assert tutorial.workspace.document.feeds["data:0"].array.tolist() == [7.0, 8.0]


@pytest.mark.slow
def test_a_value_of_another_number_of_rows(tutorial: Driver) -> None:
    tutorial.workspace.select(["data"])
    tutorial.key("Ctrl+E")
    dialog = found(tutorial, ValueDialog)
    offer = dialog.findChild(QPushButton, "value_dialog.any_rows")
    dialog.text.setPlainText("[[1, 2], [3, 4]]")
    assert not offer.isVisible(), "the rank is another one"
    dialog.text.setPlainText("[1, 2, 3]")
    assert offer.isVisible()
    offer.click()
    assert dialog.findChild(QLabel, "value_dialog.fits").text() == "✓ shape [3]"
    assert str(tutorial.workspace.document.graph["data"].attrs["shape"]) == "[2]", "not yet"
    dialog.finish()
    assert str(tutorial.workspace.document.graph["data"].attrs["shape"]) == "[?]"
    tutorial.workspace.select(["c"])
    tutorial.key("Ctrl+E")
    variable = found(tutorial, ValueDialog)
    variable.text.setPlainText("[1, 2, 3]")
    assert not variable.findChild(QPushButton, "value_dialog.any_rows").isVisible()


@pytest.mark.slow
def test_the_strip_offers_it_for_what_is_typed_in_the_inspector(tutorial: Driver) -> None:
    commands.enter_value(
        tutorial.workspace, place_of(tutorial.workspace, tutorial.workspace.shown["data"]), "[1]"
    )
    fix = tutorial.window.findChild(QPushButton, "banner.message.fix")
    assert fix.isVisible()
    assert fix.text() == "Take any number of rows"
    tutorial.click("banner.message.fix")
    tutorial.settle()
    assert tutorial.workspace.document.feeds["data:0"].array.tolist() == [1]
    assert not fix.isVisible()


@pytest.mark.slow
def test_a_generated_value(tutorial: Driver) -> None:
    tutorial.workspace.select(["c"])
    tutorial.key("Ctrl+E")
    dialog = found(tutorial, ValueDialog)
    menu = dialog.findChild(QPushButton, "value_dialog.generate").menu()
    next(action for action in menu.actions() if action.text() == "glorot_uniform").trigger()
    assert dialog.text.toPlainText() == "glorot_uniform(seed=1)"
    apply = dialog.findChild(QPushButton, "value_dialog.apply")
    tutorial.wait(apply.isEnabled, "the numbers")
    dialog.finish()
    drawn = tutorial.workspace.document.initial["c"].array
    assert drawn.tolist() == pytest.approx([-0.63923, 1.02976], abs=1e-5)


@pytest.mark.parametrize(
    ("source", "words", "line"),
    [
        ("def f(op, grad):\n  return (grad\n", "line 2", 2),
        ("x = 1\n", "no function", 0),
        ("", "no function", 0),
        ("def f(op, grad):\n    return grad\n", "", 0),
    ],
)
def test_syntax_is_checked_and_not_run(source: str, words: str, line: int) -> None:
    text, at = syntax_problem(source)
    assert words in text
    assert at == line


@pytest.mark.slow
def test_a_wrong_line_is_marked_and_the_dialog_stays(tutorial: Driver) -> None:
    tutorial.workspace.select(["e"])
    tutorial.window.views.run("override", "")
    chooser = found(tutorial, OverrideDialog)
    assert chooser.gradient.currentText() == NEW
    chooser.finish()
    editor = found(tutorial, CodeDialog)
    editor.code.setPlainText("def backprop(op, grad):\n    return (grad\n")
    editor.finish()
    assert editor.isVisible()
    assert editor.code.extraSelections()[0].cursor.blockNumber() == 1
    assert "line 2" in editor.findChild(QLabel, "code_dialog.wrong").text()


@pytest.mark.slow
def test_enter_and_tab_indent(tutorial: Driver) -> None:
    tutorial.workspace.select(["e"])
    tutorial.window.views.run("override", "")
    found(tutorial, OverrideDialog).finish()
    editor = found(tutorial, CodeDialog)
    editor.code.setPlainText("")
    QTest.keyClicks(editor.code, "def f(op, grad):")
    QTest.keyClick(editor.code, Qt.Key.Key_Return)
    QTest.keyClicks(editor.code, "if 1:")
    QTest.keyClick(editor.code, Qt.Key.Key_Return)
    QTest.keyClicks(editor.code, "pass")
    QTest.keyClick(editor.code, Qt.Key.Key_Return)
    QTest.keyClick(editor.code, Qt.Key.Key_Tab)
    assert editor.code.toPlainText() == ("def f(op, grad):\n    if 1:\n        pass\n            ")
    QTest.keyClick(editor.code, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert not editor.isVisible(), "applied"
    assert "def f(op, grad):" in next(iter(tutorial.workspace.document.code.values())).source


@pytest.mark.slow
def test_the_articles_override_by_hand(tutorial: Driver) -> None:
    """From the tutorial: e becomes a Python function of c, k and d, and gets its own gradient."""
    space = tutorial.workspace
    space.select(["e"])
    tutorial.window.views.run("pyfunc", "")
    dialog = found(tutorial, PyFuncDialog)
    names = [dialog.inputs.item(row).text() for row in range(dialog.inputs.count())]
    assert names == ["data", "labels", "d"]
    dialog.inputs.item(names.index("d")).setCheckState(Qt.CheckState.Checked)
    dialog.finish()
    tutorial.settle()
    assert [str(ref) for ref in space.document.graph["e"].inputs] == ["c:0", "k:0", "d:0"]
    tutorial.window.views.run("override", "")
    found(tutorial, OverrideDialog).finish()
    editor = found(tutorial, CodeDialog)
    editor.name.setText("CustomAdd")
    editor.code.setPlainText(
        "def backprop(op, grad):\n"
        "    c, k, d = op.inputs\n"
        "    e = c + k\n"
        "    return ((e + d) * grad, d * grad, e * grad)\n"
    )
    editor.finish()
    assert space.document.code["CustomAdd"].kind is CodeKind.GRADIENT
    assert space.trusted
    tutorial.settle()
    tutorial.key("F5")
    gradient = space.gradient("c")
    assert gradient is not None
    np.testing.assert_allclose(gradient.head, [0.711478, -2.078167], rtol=1e-5)
    tutorial.wait(lambda: space.table is not None, "the check")
    assert space.table is not None
    assert space.table.supports == "native"


@pytest.mark.slow
def test_a_gradient_can_be_written_in_numpy(tutorial: Driver) -> None:
    space = tutorial.workspace
    space.select(["e"])
    tutorial.window.views.run("override", "")
    found(tutorial, OverrideDialog).finish()
    editor = found(tutorial, CodeDialog)
    choice = editor.kind
    assert choice.isVisibleTo(editor)
    choice.setCurrentIndex(choice.findData(CodeKind.NUMPY_GRADIENT))
    assert editor.windowTitle() == "Gradient function in NumPy"
    assert editor.code.toPlainText() == "def backprop(grad, c, k):\n    return grad, grad\n"
    editor.code.setPlainText("def backprop(grad, c, k):\n    return 2 * grad, grad\n")
    choice.setCurrentIndex(choice.findData(CodeKind.GRADIENT))
    choice.setCurrentIndex(choice.findData(CodeKind.NUMPY_GRADIENT))
    assert "2 * grad" in editor.code.toPlainText()  # what was written stays
    editor.finish()
    (item,) = space.document.code.values()
    assert item.kind is CodeKind.NUMPY_GRADIENT
    tutorial.settle()
    tutorial.key("F5")
    c, k = space.gradient("c"), space.gradient("k")
    assert c is not None
    assert k is not None
    np.testing.assert_allclose(k.head, [0.51415765, -0.95070684], rtol=1e-5)
    tutorial.workspace.select(["e"])
    tutorial.window.views.run("override", "")
    names = [found(tutorial, OverrideDialog).gradient.itemText(i) for i in range(2)]
    assert names == [item.name, "New function…"]


@pytest.mark.slow
def test_a_template_has_the_right_number_of_inputs(tutorial: Driver) -> None:
    graph = tutorial.workspace.document.graph
    assert "c, k = op.inputs" in template(graph["e"])
    assert syntax_problem(template(graph["e"])) == ("", 0)


@pytest.mark.slow
def test_asking_for_other_gradients(tutorial: Driver) -> None:
    tutorial.window.views.run("request", "")
    dialog = found(tutorial, RequestDialog)
    assert (dialog.of.text(), dialog.wrt.text()) == ("loss", "c, k")
    dialog.wrt.setText("c nowhere")
    dialog.finish()
    assert dialog.isVisible()
    dialog.of.setText("a")
    dialog.wrt.setText("d, k")
    dialog.finish()
    request = tutorial.workspace.document.request
    assert [ref.short for ref in (*request.of, *request.wrt)] == ["a", "d", "k"]


@pytest.mark.slow
def test_nothing_is_differentiated_by_an_empty_field(tutorial: Driver) -> None:
    """That is not taken for 'no gradients', which has a button of its own."""
    space, views = tutorial.workspace, tutorial.window.views
    before = space.document
    views.run("request", "")
    dialog = found(tutorial, RequestDialog)
    dialog.of.clear()
    dialog.finish()
    assert dialog.isVisible()
    assert space.document is before
    dialog.none.click()
    assert space.document.request.of == ()
    space.select([])
    views.run("request", "")
    again = found(tutorial, RequestDialog)
    assert again.of.text() == "loss"
    assert not again.none.isVisible()


@pytest.mark.slow
def test_a_complaint_of_several_lines_takes_no_room_from_the_fields(tutorial: Driver) -> None:
    tutorial.window.views.run("request", "")
    dialog = found(tutorial, RequestDialog)
    tutorial.settle()
    height = dialog.of.height()
    dialog.of.setText("nowhere_that_has_a_long_name_" * 4)
    dialog.finish()
    tutorial.settle()
    assert dialog.of.height() == height


@pytest.mark.slow
def test_the_request_says_what_gradients_start_with(tutorial: Driver) -> None:
    space = tutorial.workspace
    dialog = RequestDialog(space)
    assert (dialog.of.text(), dialog.grad_ys.text()) == ("loss", "")
    dialog.of.setText("a, d")
    dialog.grad_ys.setText("data")
    assert "Passed 1 grad_ys for 2 ys" in dialog.apply()
    dialog.grad_ys.setText("data, -")
    dialog.gate.setChecked(True)
    assert dialog.apply() == ""
    request = space.document.request
    assert request.grad_ys == (TensorRef("data"), None)
    assert (request.gate, request.unconnected_zero) == (True, False)
    again = RequestDialog(space)
    assert again.grad_ys.text() == "data, -"
    assert again.gate.isChecked()


@pytest.mark.slow
def test_f2_in_the_table_of_elements_is_for_the_element(tutorial: Driver) -> None:
    """And not for the name of the node, as elsewhere in the window."""
    space = tutorial.workspace
    space.control("run_to", "0:4")
    tutorial.settle()
    space.select(["d"])
    space.ask_window("show", "tensor")
    tutorial.settle()
    [grid] = [g for g in tutorial.window.findChildren(ElementGrid) if g.isVisible()]
    grid.setFocus()
    tutorial.key("F2")
    editor = QApplication.focusWidget()
    assert editor is not None
    assert editor.objectName() == "tensor.element"
    editor.setText("7")  # type: ignore[attr-defined]
    QTest.keyClick(editor, Qt.Key.Key_Return)
    tutorial.settle()
    assert space.value("d:0").head[0] == 7
    assert [branch.name for branch in space.stop.branches] == ["main", "b1"]


def answer(button: str, asked: list[str]) -> None:
    """Answer the question that comes next by one of its buttons."""

    def click() -> None:
        found = QApplication.activeModalWidget()
        if not isinstance(found, QMessageBox):
            QTimer.singleShot(10, click)
            return
        asked.append(found.objectName())
        found.findChild(QPushButton, button).click()

    click()


@pytest.mark.parametrize("action", ["graph.value", "edit.note"])
def test_what_was_written_is_not_lost_by_escape(tutorial: Driver, action: str) -> None:
    asked: list[str] = []

    def opened() -> Any:
        tutorial.workspace.select(["data"])
        tutorial.window.actions_.run(action)
        return found(tutorial, Dialog)

    dialog = opened()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    tutorial.settle()
    dialog = opened()
    text = dialog.findChild(QPlainTextEdit)
    QTest.keyClicks(text, "more")
    answer("confirm.no", asked)
    QTest.keyClick(text, Qt.Key.Key_Escape)
    assert dialog.isVisible()
    assert "more" in text.toPlainText()
    answer("confirm.yes", asked)
    dialog.close()
    assert not dialog.isVisible()
    assert asked == ["confirm", "confirm"]
    tutorial.settle()
    dialog = opened()
    QTest.keyClicks(dialog.findChild(QPlainTextEdit), "more")
    dialog.findChild(QPushButton, f"{dialog.objectName()}.cancel").click()
    assert not dialog.isVisible()
