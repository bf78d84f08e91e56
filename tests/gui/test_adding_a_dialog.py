"""docs/adding-a-dialog.md, followed to the letter: its dialog, from the menu by its row."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit

from gradstep.gui import dialogs
from gradstep.gui.actions import action_table, dialog_table
from gradstep.gui.actions.action_table import ACTIONS
from gradstep.gui.automation.driver import Driver
from gradstep.gui.frame import window_commands
from tests.support.named_widgets import require_names

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adding-a-dialog.md").read_text(encoding="utf-8")
ROW, SOURCE = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
(MODULE,) = re.findall(r"In `gui/dialogs/(\w+).py`", PAGE)


@pytest.fixture(autouse=True)
def _added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The page's module beside the other dialogs, and its row behind theirs."""
    (tmp_path / f"{MODULE}.py").write_text(SOURCE, encoding="utf-8")
    names: dict[str, Any] = {}
    exec(ROW, vars(dialog_table), names)
    (record,) = names.values()
    actions = dialog_table.with_dialogs(ACTIONS, [record])
    monkeypatch.setattr(dialogs, "__path__", [*dialogs.__path__, str(tmp_path)])
    monkeypatch.setattr(window_commands, "DIALOGS", (*dialog_table.DIALOGS, record))
    monkeypatch.setattr(action_table, "ACTIONS", actions)
    yield
    sys.modules.pop(f"{dialogs.__name__}.{MODULE}", None)


@pytest.mark.new_window
@pytest.mark.slow
def test_the_pages_dialog_is_in_the_menu_and_gives_a_title(tutorial: Driver) -> None:
    window, space = tutorial.window, tutorial.workspace
    (menu,) = (top.menu() for top in window.menu.actions() if top.text() == "Edit")
    names = [row.objectName() for row in menu.actions()]
    assert names[names.index("edit.note") + 1] == "edit.title"

    window.actions_.run("edit.title")
    (made,) = (d for d in window.findChildren(QDialog) if d.isVisible())
    require_names(made)
    field = made.findChild(QLineEdit, "title_dialog.title")
    assert field.text() == space.document.title
    field.clear()
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert made.isVisible()
    wrong = made.findChild(QLabel, "title_dialog.wrong")
    assert wrong.text() == "A title needs at least one letter"
    field.setText("Mine")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert not made.isVisible()
    assert space.document.title == "Mine"
    space.undo_stack.undo()
    assert space.document.title != "Mine"
