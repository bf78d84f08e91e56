"""From a NaN in the window to what may mend it: tried beside the run as it is, and taken."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLabel, QPushButton

from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.gui import commands
from gradstep.gui.actions import action_table
from gradstep.gui.automation.driver import Driver


def _dialog(driver: Driver, qtbot: Any) -> QDialog:
    """Once all that it shows has been tried."""

    def shown() -> list[QDialog]:
        dialogs = driver.window.findChildren(QDialog, "repairs_dialog")
        return [each for each in dialogs if each.isVisible()]

    qtbot.waitUntil(lambda: bool(shown()), timeout=20_000)
    qtbot.waitUntil(lambda: None not in driver.workspace.repairs.found, timeout=20_000)
    driver.settle()
    return shown()[0]


def _button(parent: Any, name: str) -> QPushButton:
    found = [each for each in parent.findChildren(QPushButton, name) if each.isVisible()]
    assert found, name
    return found[0]


def test_what_why_names_is_tried_and_taken_and_undone(driver: Driver, qtbot: Any) -> None:
    driver.open(EXAMPLES / "nan_gradient.gradstep")
    space = driver.workspace
    space.control("continue_")
    driver.settle()
    space.select(["p"])
    keys = driver.window.actions_
    assert not keys["run.try"].isEnabled()
    assert not keys["run.smallest"].isEnabled()
    assert action_table.run("run.why", space)
    offered = driver.window.findChild(QPushButton, "banner.message.try")
    assert isinstance(offered, QPushButton)
    qtbot.waitUntil(offered.isVisible, timeout=20_000)
    qtbot.mouseClick(offered, Qt.MouseButton.LeftButton)
    dialog = _dialog(driver, qtbot)
    said = [label.text() for label in dialog.findChildren(QLabel) if label.isVisible()]
    assert any("That mends it." in text for text in said)
    assert {"NaN or infinite", "1 of 3", "0 of 3"} <= {*said}
    before = space.document
    qtbot.mouseClick(_button(dialog, "repairs_dialog.branch.0"), Qt.MouseButton.LeftButton)
    driver.settle()
    assert space.repairs.found == [], "the dialog is closed"
    assert space.document is before
    assert space.stop is not None
    assert [branch.current for branch in space.stop.branches] == [False, True]
    commands.switch_branch(space, "main")
    space.select(["p"])
    driver.settle()
    assert action_table.run("run.why", space)
    qtbot.waitUntil(offered.isVisible, timeout=20_000)
    driver.settle()
    assert keys["run.smallest"].isEnabled()
    keys["run.try"].trigger()  # as from the menu, or the list of commands
    dialog = _dialog(driver, qtbot)
    qtbot.mouseClick(_button(dialog, "repairs_dialog.take.0"), Qt.MouseButton.LeftButton)
    driver.settle()
    assert space.document is not before
    gradient = space.gradient("p:0")
    assert gradient is not None
    assert gradient.stats is not None
    assert gradient.stats.nans == 0
    commands.switch_branch(space, "b1")  # what was tried there is so everywhere
    driver.settle()
    assert [branch.current for branch in space.stop.branches] == [False, True]
    space.undo_stack.undo()
    driver.settle()
    assert space.stop.branches[1].edits[0][0] == "safe_where"
    assert space.document.graph == before.graph
