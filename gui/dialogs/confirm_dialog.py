"""The question before something is thrown away that nothing brings back."""

from __future__ import annotations

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMessageBox, QWidget

from gradstep.gui.look.plain_text import MessageBox


def confirm(parent: QWidget, title: str, text: str, more: str, yes: str, no: str) -> bool:
    """Whether the user wants it. yes, no: what the buttons say; Enter and Escape mean `no`."""
    box = MessageBox(parent, title, text, more)
    box.setObjectName("confirm")
    roles = QMessageBox.ButtonRole
    wanted = box.addButton(yes, roles.DestructiveRole)
    kept = box.addButton(no, roles.RejectRole)
    for button, name in ((wanted, "yes"), (kept, "no")):
        button.setObjectName(f"confirm.{name}")
        button.setAccessibleName(button.text())
        button.setIcon(QIcon())
    box.setDefaultButton(kept)
    box.setEscapeButton(kept)
    box.exec()
    return box.clickedButton() is wanted
