"""The question before unsaved edits would be lost."""

from __future__ import annotations

from enum import Enum

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMessageBox, QWidget

from gradstep.gui.look.plain_text import MessageBox


class Answer(Enum):
    SAVE = "save"
    DISCARD = "discard"
    CANCEL = "cancel"


def ask(window: QWidget, name: str) -> Answer:
    """Save, discard, or stay where we are (also on Escape)."""
    lost = "Without saving, the edits since the last save are lost."
    box = MessageBox(window, "Unsaved changes", f"{name} has unsaved changes.", lost)
    box.setObjectName("unsaved")
    button = QMessageBox.StandardButton
    box.setStandardButtons(button.Save | button.Discard | button.Cancel)
    for each in box.buttons():
        each.setIcon(QIcon())  # the words say it
    box.setDefaultButton(button.Save)
    answers = {button.Save: Answer.SAVE, button.Discard: Answer.DISCARD}
    return answers.get(button(box.exec()), Answer.CANCEL)
