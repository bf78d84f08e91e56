"""What a file holds otherwise than the window, node by node."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialogButtonBox, QTreeWidget, QTreeWidgetItem, QWidget

from gradstep.core.io.native.diff_sentences import Change, Kind
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.look.theme import mono, sans
from gradstep.gui.model.workspace import Workspace

SIGNS = {Kind.ADDED: "+", Kind.REMOVED: "−", Kind.CHANGED: "~"}
HEADINGS = {
    Kind.ADDED: "Only in this window",
    Kind.REMOVED: "Only in the file",
    Kind.CHANGED: "Different: in the file → in this window",
}
OPEN = 200  # rows that are shown unfolded
MOST = 2000  # rows


class DifferencesDialog(Dialog):
    """Read, and closed."""

    def __init__(
        self,
        workspace: Workspace,
        name: str,
        found: Sequence[Change],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(workspace, "differences_dialog", f"Compare with {name}", parent)
        self.add_text(_summary(name, found)).setTextFormat(Qt.TextFormat.PlainText)
        self.tree = QTreeWidget()
        self.tree.setObjectName("differences_dialog.tree")
        self.tree.setAccessibleName("Differences")
        self.tree.setHeaderHidden(True)
        self.tree.setColumnCount(1)
        self.tree.setSelectionMode(QTreeWidget.SelectionMode.NoSelection)
        self.tree.setWordWrap(True)
        for kind in Kind:
            self._add(kind, [change for change in found if change.kind is kind])
        self.tree.setVisible(bool(found))
        self.column.addWidget(self.tree, 1)
        box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        for button in box.buttons():
            button.setIcon(QIcon())  # the word says it
        box.rejected.connect(self.reject)
        self.column.addWidget(box)
        self.resize(640, 480 if found else 120)

    def _add(self, kind: Kind, found: Sequence[Change]) -> None:
        if not found:
            return
        top = QTreeWidgetItem([f"{HEADINGS[kind]} ({len(found)})"])
        top.setFont(0, sans(strong=True))
        self.tree.addTopLevelItem(top)
        for change in found[:MOST]:
            item = QTreeWidgetItem([f"{SIGNS[kind]} {_title(change)}"])
            item.setFont(0, mono(12))
            top.addChild(item)
            for detail in change.details if kind is Kind.CHANGED else ():
                line = QTreeWidgetItem([detail])
                line.setFont(0, mono(12))
                line.setForeground(0, self.workspace.theme.muted)
                item.addChild(line)
            item.setExpanded(len(found) <= OPEN)
        if len(found) > MOST:
            top.addChild(QTreeWidgetItem([f"and {len(found) - MOST} more"]))
        top.setExpanded(True)


def _title(change: Change) -> str:
    beside = f" ({change.details[0]})" if change.details and change.kind is not Kind.CHANGED else ""
    return f"{change.what} {change.name}".rstrip() + beside


def _summary(name: str, found: Sequence[Change]) -> str:
    if not found:
        return f"{name} holds the same document as this window."
    counts = {kind: sum(change.kind is kind for change in found) for kind in Kind}
    parts = [
        (counts[Kind.ADDED], "only here"),
        (counts[Kind.REMOVED], "only in the file"),
        (counts[Kind.CHANGED], "different"),
    ]
    said = ", ".join(f"{count} {what}" for count, what in parts if count)
    return f"{name} and this window: {said}."
