"""The actions of a window, as they follow its workspace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtWidgets import QWidget

from gradstep.gui.actions.action_set import ActionSet
from gradstep.gui.actions.action_table import ACTIONS
from gradstep.gui.model.workspace import Workspace
from tests.support.deleting import delete


def test_undo_is_offered_at_once_and_no_more_once_the_workspace_goes(qtbot: Any) -> None:
    """It goes before its actions do, and says by then that there is nothing to undo."""
    frame, space = QWidget(), Workspace()
    qtbot.addWidget(frame)
    actions = ActionSet(space, frame, ACTIONS)
    assert not actions["edit.undo"].isEnabled()
    space.edit("Note", replace(space.document, note="x"))
    assert actions["edit.undo"].isEnabled()
    assert actions["edit.undo"].text() == "Undo Note"
    with qtbot.captureExceptions() as raised:
        delete(space)
    assert not raised
