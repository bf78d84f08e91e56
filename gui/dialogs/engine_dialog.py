"""Where the engine runs: on this machine, or on another one that ssh leads to."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from gradstep.core.errors import GradstepError
from gradstep.core.host.remote_engine import HERE, SCHEME
from gradstep.gui import commands
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.look.plain_text import plain
from gradstep.gui.model.error_words import words
from gradstep.gui.model.settings import settings
from gradstep.gui.model.workspace import Workspace

THIS = "This machine"
TIP = (
    "ssh://[user@]host[:port], and behind it the path of its environment, its Python or its "
    "command gradstep, where that is not found by its name"
)


class EngineDialog(Dialog):
    """One field: this machine, one of those that there were, or another."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "engine_dialog", "Engine", parent)
        self.add_text(
            "Where graphs run. Another machine needs the same version of Gradstep, and ssh has to "
            "get there without a question: by a key or an agent."
        )
        self.where = QComboBox()
        self.where.setObjectName("engine_dialog.where")
        self.where.setAccessibleName("Where the engine runs")
        self.where.setEditable(True)
        self.where.addItems([THIS, *settings().engines])
        self.where.setCurrentText(workspace.bridge.address or THIS)
        self.where.setToolTip(plain(TIP))
        line = self.where.lineEdit()
        assert isinstance(line, QLineEdit)
        line.setObjectName("engine_dialog.line")
        line.setAccessibleName("Where the engine runs")
        line.setPlaceholderText("ssh://user@host/path/of/its/environment")
        line.selectAll()
        self.column.addWidget(self.where)
        self.add_text(
            "The debugger goes on there at the same step, and windows begin there from now on. The "
            "document is sent, with the rows of files that its data names; its Python runs there, "
            "if you let it run.",
            "muted",
        )
        self.column.addStretch(1)
        self.add_buttons("Use it")
        self.resize(520, 264)
        self.where.setFocus()

    def apply(self) -> str:
        text = self.where.currentText().strip()
        address = "" if text in ("", THIS, HERE) else text
        if address and "://" not in address:
            address = SCHEME + address
        if address == self.workspace.bridge.address and self.workspace.engine_state != "dead":
            return ""
        try:
            commands.use_engine(self.workspace, address)
        except GradstepError as error:
            return words(error)
        return ""
