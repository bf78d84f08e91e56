"""Building by hand what reads axes, shapes and indices: ports that say what they take, constants of
the right kind, and values that stay while something is unfinished."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox

from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Edge
from tests.gui.walk.test_building import add, inputs, set_attribute
from tests.support.controls import LEFT, NONE, in_window

pytestmark = pytest.mark.xvfb
X = np.float32([[1, 2, 6], [3, 4, 5]])
SHIFT = Qt.KeyboardModifier.ShiftModifier


def test_means_reshapes_and_gathers_from_nothing(user) -> None:
    begin(user)
    draw_mean(user)
    draw_reshape(user)
    draw_gather(user)
    refuse_a_wire(user)
    cast_on_the_way(user)
    change_a_dtype(user)
    leave_something_open(user)
    assert not [p for p in user.workspace.inference.problems if p.code != "unconnected"]


def begin(user) -> None:
    """x, fed a matrix, on an empty page."""
    user.click("welcome.file.new")
    user.wait(lambda: user.workspace.is_open, "an empty graph")
    user.settle()
    add(user, "Tab", "Placeholder", "x", QPoint(120, 240))
    set_attribute(user, "x", "attr.shape", "[2, 3]")
    set_attribute(user, "x", "value", str(X.tolist()))


def into_the_air(user, node: str, index: int, to: QPoint, text: str) -> str:
    """Drag an open input onto nothing, take what is offered first, and type its value. Returns the
    new node's name."""
    user.drag(user.input(node, index), to)
    user.press("Return")
    user.settle()
    (made,) = user.workspace.selection
    field = QApplication.focusWidget()
    assert field.objectName() == "inspector.attr.value", "what is typed next is its value"
    QTest.keyClicks(field, text)
    user.take_picture(f"typed-ports-{node}-{index}")
    user.key("Return")
    assert QApplication.focusWidget() is user.canvas
    return made


def draw_mean(user) -> None:
    """m = the mean of each row. Its value is there while the axis is still open: that of x is."""
    add(user, "Tab", "Mean", "m", QPoint(480, 120))
    user.drag(user.output("x"), user.input("m", 0))
    assert np.array_equal(user.value("x"), X)
    assert "waits for input 'reduction_indices' of m" in user.says("m")
    user.take_picture("typed-ports-open")
    axis = into_the_air(user, "m", 1, QPoint(300, 60), "1")
    op = user.workspace.document.graph[axis]
    assert (op.type, op.attrs["dtype"]) == ("Const", DType.INT32)
    assert inputs(user, "m") == ["x", axis]
    assert np.array_equal(user.value("m"), X.mean(1))


def draw_reshape(user) -> None:
    add(user, "Tab", "Reshape", "r", QPoint(480, 260))
    user.drag(user.output("x"), user.input("r", 0))
    into_the_air(user, "r", 1, QPoint(300, 330), "[3, 2]")
    assert np.array_equal(user.value("r"), X.reshape(3, 2))


def draw_gather(user) -> None:
    """Rows 1 and 0 of x, in that order."""
    add(user, "Tab", "GatherV2", "g", QPoint(480, 420))
    user.drag(user.output("x"), user.input("g", 0))
    into_the_air(user, "g", 1, QPoint(120, 420), "[1, 0]")
    into_the_air(user, "g", 2, QPoint(120, 520), "0")
    assert np.array_equal(user.value("g"), X[[1, 0]])
    user.take_picture("typed-ports-three")


def hover(user, start: QPoint, end: QPoint, modifiers: Qt.KeyboardModifier = NONE) -> None:
    """Press at one point, and hold the pointer over another."""
    user.bring_forward(user.window)
    window, offset = in_window(user.canvas.viewport())
    QTest.mousePress(window, LEFT, modifiers, offset + start)
    for share in (0.2, 0.6, 0.95, 1.0):
        QTest.mouseMove(window, offset + start + (end - start) * share)


def release(user, at: QPoint, modifiers: Qt.KeyboardModifier = NONE) -> None:
    window, offset = in_window(user.canvas.viewport())
    QTest.mouseRelease(window, LEFT, modifiers, offset + at)
    user.settle()


def refuse_a_wire(user) -> None:
    """Means are no indices: the port says so beside the pointer, and a drop there does nothing."""
    before = user.workspace.document
    hover(user, user.output("m"), user.input("g", 1))
    user.wait(lambda: "Tindices" in user.tip() or "indices" in user.tip(), "the reason")
    assert "Shift: with a Cast to int32" in user.tip()
    user.take_picture("typed-ports-refused")
    release(user, user.input("g", 1))
    assert user.workspace.document is before
    assert "does not fit input 'indices' of 'g'" in user.text("banner.message.text")


def cast_on_the_way(user) -> None:
    """With Shift a Cast comes between. There are no rows 3 and 4: the run stops at g, and there the
    user goes on after taking it back."""
    hover(user, user.output("m"), user.input("g", 1), SHIFT)
    release(user, user.input("g", 1), SHIFT)
    (cast,) = user.workspace.selection
    op = user.workspace.document.graph[cast]
    assert (op.type, op.attrs["DstT"], inputs(user, cast)) == ("Cast", DType.INT32, ["m"])
    assert inputs(user, "g")[1] == cast
    user.key("Ctrl+Z")
    assert cast not in user.workspace.document.graph, "one step back"
    user.key("F5")


def change_a_dtype(user) -> None:
    """The axis in int64, by the list in the inspector, and back by undo."""
    axis = inputs(user, "m")[1]
    user.select(axis)
    box = user.find("inspector.attr.dtype")
    assert isinstance(box, QComboBox)
    user.click_at(box, box.rect().center())
    QTest.keyClicks(box.view(), "int64")
    QTest.keyClick(box.view(), Qt.Key.Key_Return)
    user.settle()
    op = user.workspace.document.graph[axis]
    assert (op.attrs["dtype"], op.attrs["value"].array.dtype) == (DType.INT64, np.int64)
    assert np.array_equal(user.value("m"), X.mean(1))
    user.click_canvas(user.node("m"))
    user.key("Ctrl+Z")
    assert user.workspace.document.graph[axis].attrs["dtype"] == DType.INT32


def leave_something_open(user) -> None:
    """A new node, and a wire pulled off: what does not need them keeps its value and its step."""
    at_end = user.workspace.stop.reason
    add(user, "Tab", "AddV2", "half", QPoint(700, 200))
    user.drag(user.output("m"), user.input("half", 0))
    assert np.array_equal(user.value("g"), X[[1, 0]])
    assert user.workspace.stop.reason == at_end == "end"
    user.show_tab("Problems")
    rows = user.find("problems.list").model()
    assert [rows.index(i, 0).data().partition(".")[0] for i in range(rows.rowCount())] == ["half"]
    user.take_picture("typed-ports-unfinished")
    user.show_tab("Inspector")
    assert Edge("half", 1) not in user.workspace.document.graph.consumers["m"]
