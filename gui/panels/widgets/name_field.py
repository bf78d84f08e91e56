"""A field for a name: Enter applies it, Escape gives up, what is wrong with it is said beside."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit

from gradstep.core.errors import GradstepError
from gradstep.gui import commands
from gradstep.gui.look.theme import mono
from gradstep.gui.model.error_words import words
from gradstep.gui.model.workspace import Workspace


class NameField(QLineEdit):
    """The name of a node, or of a scope, whose id ends in "/".

    refused: why the name cannot be taken; "" once something else is typed. ended: the name was
    applied, or given up. Leaving the field applies a name that can be taken, and gives up another,
    unless it stays: to be mended.
    """

    refused = Signal(str)
    ended = Signal()

    def __init__(self, workspace: Workspace, id: str, name: str, stays: bool = False) -> None:
        super().__init__(id.rstrip("/"))
        self._workspace, self._id, self._stays = workspace, id, stays
        self._is_wrong = False
        self._finishes = False  # it is being applied: leaving is not to apply it once more
        self.setObjectName(name)
        self.setAccessibleName(self.tr("Name"))
        self.setFont(mono(12))
        self.textEdited.connect(lambda: self._tell(""))

    def show_name(self, id: str) -> None:
        """Be the field of another node, or of the same under another name. What was typed for the
        one before is applied to that, if it can be."""
        if self.isModified() and self.hasFocus() and not self._finishes:
            self._apply()
        if self._is_wrong and self._stays and id == self._id:
            return
        self._id = id
        self.setText(id.rstrip("/"))
        self._tell("")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._give_up()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._finish()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self._finishes:
            return
        if event.reason() is Qt.FocusReason.PopupFocusReason or self._apply() or self._stays:
            return
        self._give_up()

    def _finish(self) -> None:
        """Apply the name, and give up the focus."""
        self._finishes = True  # the canvas may take the focus as soon as the name is another
        if self._apply():
            self.clearFocus()
        self._finishes = False

    def _apply(self) -> bool:
        """Whether the name is the one that is in the field."""
        try:
            commands.change_name(self._workspace, self._id, self.text().strip())
        except GradstepError as error:
            self._tell(words(error))
            return False
        self._tell("")
        self.ended.emit()
        return True

    def _give_up(self) -> None:
        self.setText(self._id.rstrip("/"))
        self._tell("")
        self.ended.emit()

    def _tell(self, reason: str) -> None:
        self._is_wrong = bool(reason)
        self.refused.emit(reason)
