"""Several windows: what one opens has a document, an engine and a life of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from gradstep.gui.automation.driver import Driver
from gradstep.gui.frame.main_window import MainWindow
from gradstep.gui.look import theme
from gradstep.gui.model import shown_workspaces


@pytest.mark.slow
def test_a_new_window_has_a_document_of_its_own_and_outlives_the_first(
    tutorial: Driver, examples: Path
) -> None:
    first = tutorial.window
    tutorial.workspace.set_theme(theme.LIGHT)
    first.actions_.run("file.new_window")
    visible = [w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)]
    (new,) = (w for w in visible if w.isVisible() and w is not first)
    assert new.welcome.isVisible()
    assert new.workspace.theme is theme.LIGHT
    beside = Driver(new)
    beside.open(examples / "gather.gradstep")
    assert tutorial.workspace.name == "tutorial.gradstep"
    assert shown_workspaces.others(tutorial.workspace) == [new.workspace]
    first.discard()
    beside.key("F10")
    assert new.workspace.stop.step == 1
    new.discard()
    beside.wait(lambda: not isValid(new), "the window to be deleted")
