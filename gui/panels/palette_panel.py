"""The palette: every op type by subject and family, to search and to put on the canvas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit

from gradstep.core.layers.block_table import Block, all_blocks
from gradstep.core.ops.declare.op_subjects import catalogue, family_title, subject_title
from gradstep.core.ops.declare.op_successors import SUCCESSORS, names_of
from gradstep.core.ops.declare.table import OpDef, all_ops
from gradstep.gui.canvas.interact.fuzzy_match import FAR, Searched, score
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.panel_base import Panel, search_row
from gradstep.gui.panels.widgets.row_list import Row
from gradstep.gui.panels.widgets.row_view import RowTree

_COMMAND = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier

MIME_TYPE = "application/x-gradstep-op"  # the op type's name, UTF-8


def palette_rows(definitions: Iterable[OpDef], words: str = "") -> list[Row]:
    """Subjects with their families, closed at first; with `words`, the op types whose name,
    family, names in `tf` or description have each of them, the nearest name first."""
    if not words.split():
        return [_subject(name, families) for name, families in catalogue(definitions).items()]
    parts = words.lower().split()
    found = [d for d in definitions if all(part in _searched(d) for part in parts)]
    return [_row(d) for d in sorted(found, key=lambda d: _rank(d, parts[0]))]


def block_rows(blocks: Iterable[Block], words: str = "") -> list[Row]:
    """Composite blocks under one heading, by family; with `words`, those that have each of them."""
    parts = words.lower().split()
    found = [b for b in blocks if all(p in _of_block(b) for p in parts)]
    if parts:
        return [_block_row(b) for b in found]
    families: dict[str, list[Block]] = {}
    for b in found:
        families.setdefault(b.family, []).append(b)
    rows = tuple(_block_family(name, family) for name, family in families.items())
    count = str(len(found))
    return [Row("subject:blocks", "blocks", count, heading=True, open=False, children=rows)]


def _of_block(block: Block) -> str:
    return f"block {block.name} {family_title(block.family)} {block.doc}".lower()


def _block_family(name: str, blocks: Sequence[Block]) -> Row:
    rows = tuple(map(_block_row, blocks))
    tip = ", ".join(b.name for b in blocks)
    title = family_title(name)
    return Row(f"blocks:{name}", title, str(len(rows)), open=False, tip=tip, children=rows)


def _block_row(block: Block) -> Row:
    tip = f"{block.doc}\nReads what is selected, in this order; else placeholders."
    inputs = " ".join(f"{i.name}{'?' if i.optional else ''}" for i in block.inputs)
    return Row(f"block:{block.name}", block.name, inputs, "faint", block.name, tip=tip)


def _subject(name: str, families: Mapping[str, Sequence[OpDef]]) -> Row:
    rows = tuple(_family(name, family, ops) for family, ops in families.items())
    count = sum(len(ops) for ops in families.values())
    heading = subject_title(name)
    return Row(f"subject:{name}", heading, str(count), heading=True, open=False, children=rows)


def _family(subject: str, name: str, definitions: Sequence[OpDef]) -> Row:
    rows = tuple(map(_row, definitions))
    tip = ", ".join(d.type for d in definitions)
    return Row(
        f"family:{subject}/{name}",
        family_title(name),
        str(len(rows)),
        open=False,
        tip=tip,
        children=rows,
    )


def _row(definition: OpDef) -> Row:
    inputs = " ".join(f"{s.name}{'…' if s.variadic else ''}" for s in definition.inputs)
    newer = SUCCESSORS.get(definition.type, "")
    instead = newer and f"TensorFlow uses {newer} in its place."
    lines = definition.doc, definition.formula, definition.differs, instead
    tip = "\n".join(filter(None, lines))
    name = definition.type
    return Row(f"type:{name}", name, inputs, "faint", name, yields=True, tip=tip)


def _searched(d: OpDef) -> str:
    place = f"{subject_title(d.subject)} {family_title(d.family)}"
    return f"{d.type} {place} {' '.join(d.python)} {d.doc}".lower()


def _rank(d: OpDef, word: str) -> tuple[int, str]:
    place = score(word, Searched(d.type, _searched(d), names_of(d), d.type in SUCCESSORS))
    return FAR if place is None else place, d.type


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
        self.tree.installEventFilter(self)
        self.search.textChanged.connect(self.rebuild)
        self.search.returnPressed.connect(self._add_first)
        self.tree.activated_row.connect(lambda row: self._add(row.name))
        self.rebuild()

    def rebuild(self) -> None:
        """Show the op types that match the search."""
        rows = self._rows()
        if not rows:
            rows = [Row("none", self.tr("No op type is called so"), tone="muted")]
        self.tree.set_rows(rows)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Down and self.search.hasFocus():
            self.tree.setFocus(Qt.FocusReason.TabFocusReason)
            self.tree.setCurrentIndex(self.tree.rows.index(0, 0))
            return
        super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Up from the first row leads back into the search, and so does a letter."""
        if event.type() is not QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        first = self.tree.currentIndex() == self.tree.rows.index(0, 0)
        if event.key() == Qt.Key.Key_Up and first:
            self.search.setFocus(Qt.FocusReason.BacktabFocusReason)
            return True
        if event.text().isalnum() and not event.modifiers() & _COMMAND:
            self.search.setFocus(Qt.FocusReason.OtherFocusReason)
            self.search.insert(event.text())
            return True
        return super().eventFilter(watched, event)

    def _rows(self) -> list[Row]:
        words = self.search.text()
        return palette_rows(_known_ops(), words) + block_rows(all_blocks(), words)

    def _add_first(self) -> None:
        rows = self._rows()
        if self.search.text() and rows:
            self._add(rows[0].name)

    def _add(self, type: str) -> None:
        """Put a node where the canvas has room for it."""
        self.workspace.ask_window("add", type)


def _known_ops() -> list[OpDef]:
    import gradstep.core.ops.catalogue  # noqa: F401  declares every op type

    return list(all_ops())
