"""Copy and paste of nodes, within a document and between windows."""

from __future__ import annotations

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication

from gradstep.core.document import clipboard
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.native import gradstep_file
from gradstep.gui.commands.node_commands import remove_nodes
from gradstep.gui.commands.refusals import says_why
from gradstep.gui.model.workspace import Workspace

MIME = "application/x-gradstep"
LIMIT = 256 << 20  # bytes of memory that a piece may take: programs put it there, not files


@says_why
def copy_selection(workspace: Workspace) -> bool:
    """Put the selected nodes, with the wires among them, on the clipboard; whether it went."""
    part = clipboard.piece(workspace.document, workspace.selection)
    data = QMimeData()
    data.setData(MIME, gradstep_file.to_bytes(part))
    data.setText("\n".join(part.graph.operations))
    QGuiApplication.clipboard().setMimeData(data)
    return True


def cut_selection(workspace: Workspace) -> None:
    """Copy the selected nodes, and delete them."""
    if copy_selection(workspace):
        remove_nodes(workspace, workspace.selection)


@says_why
def paste(workspace: Workspace) -> list[str]:
    """Add what is on the clipboard, and select it. Returns the names."""
    held: QMimeData | None = QGuiApplication.clipboard().mimeData()  # none where it is empty
    data = b"" if held is None else held.data(MIME).data()
    if not data:
        workspace.say("There are no nodes on the clipboard")
        return []
    part = gradstep_file.from_bytes(bytes(data), "the clipboard", Budget(LIMIT))
    document, added = clipboard.paste(workspace.document, part)
    workspace.edit("Paste", document)
    workspace.select(added)
    return added
