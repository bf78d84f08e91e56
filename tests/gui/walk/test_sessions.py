"""Another graph in a window of its own: its values in variables, its nodes on the clipboard."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication

from gradstep.core.graph.model import TensorRef
from gradstep.gui.frame.main_window import MainWindow
from tests.support.window import User

pytestmark = pytest.mark.xvfb


def test_another_graph_in_another_window_and_its_values_copied(user, examples) -> None:
    user.open(examples / "tutorial.gradstep")
    user.key("F5")
    trained = user.value("c")
    user.key("Ctrl+Alt+N")
    shown = [w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)]
    (window,) = (w for w in shown if w is not user.window and w.isVisible())
    other = User(window)
    try:
        other.open(examples / "override_add.gradstep")
        start = other.value("c")
        other.show_tab("Sessions")
        other.click("sessions.copy")
        assert (
            other.find("copy_values_dialog.source").currentText()
            == "tutorial.gradstep (its window)"
        )
        other.type_into("copy_values_dialog.wanted", "c")
        other.click("copy_values_dialog.apply")
        user.settle()  # whose engine is asked for them first
        other.settle()
        assert not np.allclose(trained, start)
        np.testing.assert_array_equal(other.value("c"), trained)
        other.take_picture("values-of-another-window")
        other.key("Ctrl+Z")
        np.testing.assert_array_equal(other.value("c"), start)
        np.testing.assert_array_equal(user.value("c"), trained)
        copy_and_paste(user, other)
    finally:
        window.discard()


def copy_and_paste(user: User, other: User) -> None:
    """Two nodes of one window into the other, and one of them cut out again."""
    user.window.raise_()  # as a window manager does
    user.select("data", "d")
    user.key("Ctrl+C")
    other.window.raise_()
    other.click_canvas(QPoint(5, 5))
    other.key("Ctrl+V")
    assert other.workspace.selection == ("data_1", "d_1")
    assert other.workspace.document.graph["d_1"].inputs == (TensorRef("data_1"), None)
    other.key("Ctrl+X")
    assert "d_1" not in other.workspace.document.graph
    other.key("Ctrl+Z")
    assert "d_1" in other.workspace.document.graph
