"""The question before unsaved edits would be lost."""

from __future__ import annotations

from enum import Enum

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMessageBox, QWidget

from gradstep.core.io.disk.file_stamp import OnDisk
from gradstep.gui.look.plain_text import MessageBox


class Answer(Enum):
    SAVE = "save"
    DISCARD = "discard"
    CANCEL = "cancel"


def ask(window: QWidget, name: str, found: OnDisk | None = None) -> Answer:
    """Save, discard, or stay where we are (also on Escape). found: what another program made of
    the file `name`, so that none holds what is open; None where it is as it was."""
    what, lost = f"{name} has unsaved changes.", "the edits since the last save are lost"
    if found is not None:
        lost = "what is open here is lost"
        how = "was changed by" if found.is_there else "was deleted or moved by"
        what = f"{name} {how} another program. No file holds what is open here."
    box = MessageBox(window, "Unsaved changes", what, f"Without saving, {lost}.")
    box.setObjectName("unsaved")
    button = QMessageBox.StandardButton
    box.setStandardButtons(button.Save | button.Discard | button.Cancel)
    for each in box.buttons():
        each.setIcon(QIcon())  # the words say it
    box.setDefaultButton(button.Save)
    answers = {button.Save: Answer.SAVE, button.Discard: Answer.DISCARD}
    return answers.get(button(box.exec()), Answer.CANCEL)
