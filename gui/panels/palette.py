"""The palette: every op type by family, to search and to put on the canvas."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit

from core.ops.table import OpDef, all_ops
from gui.panels.panel import Panel, search_row
from gui.panels.row_tree import Row
from gui.panels.row_view import RowTree
from gui.theme import GRID
from gui.workspace import Workspace

MIME_TYPE = "application/x-gradstep-op"  # the op type's name, UTF-8


def palette_rows(definitions: Iterable[OpDef], words: str = "") -> list[Row]:
    """Families in order of declaration; with `words`, op types whose name or description has
    each of them, those whose name begins with it first."""
    parts = words.lower().split()
    families: dict[str, list[Row]] = {}
    for definition in definitions:
        text = f"{definition.type} {definition.family} {definition.doc}".lower()
        if all(part in text for part in parts):
            families.setdefault(definition.family, []).append(_row(definition))
    if parts:
        found = [row for rows in families.values() for row in rows]
        return sorted(found, key=lambda row: _rank(row.name.lower(), parts[0]))
    return [_family(name, rows) for name, rows in families.items()]


def _family(name: str, rows: list[Row]) -> Row:
    title = name.replace("_", " ")
    return Row(f"family:{name}", title, str(len(rows)), heading=True, children=tuple(rows))


def _row(definition: OpDef) -> Row:
    inputs = " ".join(f"{s.name}{'…' if s.variadic else ''}" for s in definition.inputs)
    tip = "\n".join(filter(None, [definition.doc, definition.formula, definition.differs]))
    return Row(
        f"type:{definition.type}", definition.type, inputs, "faint", definition.type, tip=tip
    )


def _rank(name: str, word: str) -> tuple[bool, bool, str]:
    return not name.startswith(word), word not in name, name


class PalettePanel(Panel):
    """Double-click, Enter or drag adds a node."""

    title = "Palette"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "palette")
        self.search = QLineEdit()
        self.search.setObjectName("palette.search")
        self.search.setAccessibleName(self.tr("Search op types"))
        self.search.setPlaceholderText(self.tr("Search op types"))
        self.search.setClearButtonEnabled(True)
        self.tree = RowTree(lambda: workspace.theme, MIME_TYPE)
        self.tree.setObjectName("palette.tree")
        self.tree.setAccessibleName(self.title)
        self.column.setContentsMargins(0, GRID, 0, 0)
        self.column.setSpacing(GRID)
        self.column.addLayout(search_row(self.search))
        self.column.addWidget(self.tree, 1)
        self.search.textChanged.connect(self.rebuild)
        self.search.returnPressed.connect(self._add_first)
        self.tree.activated_row.connect(lambda row: self._add(row.name))
        self.rebuild()

    def rebuild(self) -> None:
        """Show the op types that match the search."""
        rows = palette_rows(_known_ops(), self.search.text())
        if not rows:
            rows = [Row("none", self.tr("No op type is called so"), tone="muted")]
        self.tree.set_rows([replace(row, open=True) for row in rows])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Down and self.search.hasFocus():
            self.tree.setFocus(Qt.FocusReason.TabFocusReason)
            self.tree.setCurrentIndex(self.tree.rows.index(0, 0))
            return
        super().keyPressEvent(event)

    def _add_first(self) -> None:
        rows = palette_rows(_known_ops(), self.search.text())
        if self.search.text() and rows:
            self._add(rows[0].name)

    def _add(self, type: str) -> None:
        """Put a node where the canvas has room for it."""
        self.workspace.view_requested.emit("add", type)


def _known_ops() -> list[OpDef]:
    import core.ops.catalogue  # noqa: F401  declares every op type

    return list(all_ops())
