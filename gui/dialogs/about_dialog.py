"""What this program is, its version, and whose work it stands on."""

from __future__ import annotations

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialogButtonBox, QWidget

from gradstep.core.version import version
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.look import icons
from gradstep.gui.look.plain_text import Label
from gradstep.gui.look.theme import sans
from gradstep.gui.model.workspace import Workspace

CREDITS = (
    "Made with Python, Qt (PySide6, LGPL) and NumPy. Set in Inter and JetBrains Mono (SIL Open "
    "Font License). MIT licence."
)


class AboutDialog(Dialog):
    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "about_dialog", "About Gradstep", parent)
        picture = Label()
        picture.setPixmap(icons.application_icon().pixmap(64, 64))
        self.column.addWidget(picture)
        self.add_text(f"Gradstep {version()}").setFont(sans(strong=True))
        self.add_text("A desktop debugger for backpropagation.")
        self.add_text(CREDITS, "muted")
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close = box.button(QDialogButtonBox.StandardButton.Close)
        close.setObjectName("about_dialog.close")
        close.setIcon(QIcon())
        box.rejected.connect(self.reject)
        self.column.addWidget(box)
        self.resize(380, 220)
