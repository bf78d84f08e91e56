"""Undo: each edit keeps the document before and the document after; nothing is ever inverted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from PySide6.QtGui import QUndoCommand

from gradstep.core.document.document import Document

NONE: Mapping[str, str] = MappingProxyType({})


class Edit(QUndoCommand):
    """One change of the document.

    show:      puts a document in force; it is told which operations are called otherwise, old name
               -> new name.
    renamed:   those of this edit.
    merge_key: consecutive edits with the same key that is not empty become one.
    fleeting:  once taken back it is as if it had never been made.
    """

    def __init__(
        self,
        label: str,
        before: Document,
        after: Document,
        show: Callable[[Document, Mapping[str, str]], None],
        merge_key: str = "",
        renamed: Mapping[str, str] = NONE,
    ) -> None:
        super().__init__(label)
        self.before = before
        self.after = after
        self.merge_key = merge_key
        self.renamed = renamed
        self.fleeting = False
        self._show = show

    def id(self) -> int:
        """-1, by which Qt knows that an edit is never merged, or the same number for all others."""
        return 1 if self.merge_key else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Take over what `other` led to, if it goes on with what this edit did."""
        if not isinstance(other, Edit) or other.merge_key != self.merge_key:
            return False
        self.after = other.after
        self.setText(other.text())
        return True

    def redo(self) -> None:
        self._show(self.after, self.renamed)

    def undo(self) -> None:
        self._show(self.before, {new: old for old, new in self.renamed.items()})
        self.setObsolete(self.fleeting)
