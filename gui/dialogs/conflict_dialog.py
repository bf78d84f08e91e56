"""The question before a file is overwritten that somebody else changed since it was read."""

from __future__ import annotations

from enum import Enum

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QAbstractButton, QMessageBox, QWidget

from gradstep.gui.look.plain_text import MessageBox


class Answer(Enum):
    OVERWRITE = "overwrite"
    SAVE_AS = "save_as"
    RELOAD = "reload"
    COMPARE = "compare"
    CANCEL = "cancel"


_BUTTONS = {
    Answer.OVERWRITE: "Overwrite",
    Answer.SAVE_AS: "Save as…",
    Answer.RELOAD: "Reload",
    Answer.COMPARE: "Compare",
}
_GONE = {Answer.OVERWRITE: "Save it again", Answer.SAVE_AS: "Save as…"}


def ask(window: QWidget, name: str, is_there: bool) -> Answer:
    """What to do about the file `name`. is_there: it was changed; else it was deleted. Escape
    leaves everything as it is."""
    if is_there:
        title, what = "Changed on disk", "was changed by another program since it was read here."
        more = (
            "Overwrite replaces what it holds now. Reload shows that here, and undo brings your "
            "edits back."
        )
    else:
        title, what = "No longer on disk", "was deleted or moved since it was read here."
        more = "Nothing is lost: the document is open here."
    box = MessageBox(window, title, f"{name} {what}", more)
    box.setObjectName("conflict")
    roles = QMessageBox.ButtonRole
    words = _BUTTONS if is_there else _GONE
    answers: dict[QAbstractButton, Answer] = {}
    for answer, text in words.items():
        button = box.addButton(text, roles.ActionRole)
        button.setObjectName(f"conflict.{answer.value}")
        answers[button] = answer
    cancel = box.addButton(QMessageBox.StandardButton.Cancel)
    cancel.setIcon(QIcon())
    box.setDefaultButton(cancel)
    box.setEscapeButton(cancel)
    box.exec()
    return answers.get(box.clickedButton(), Answer.CANCEL)
