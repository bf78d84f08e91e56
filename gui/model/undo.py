"""Undo: each edit keeps the document before and the document after; nothing is ever inverted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from PySide6.QtGui import QUndoCommand

from gradstep.core.document.document import Document
from gradstep.core.document.unsaved_changes import is_same
from gradstep.core.graph.model import Edge

NONE: Mapping[str, str] = MappingProxyType({})
Selection = tuple[tuple[str, ...], Edge | None]  # operations, or one wire


class Edit(QUndoCommand):
    """One change of the document.

    show:      puts a document in force; it is told which operations are called otherwise, old name
               -> new name, and what to select where nothing is.
    renamed:   those of this edit.
    dropped:   what was selected and is not there any more: selected again once it is taken back.
    merge_key: consecutive edits with the same key that is not empty become one.
    fleeting:  once taken back it is as if it had never been made.
    """

    def __init__(
        self,
        label: str,
        before: Document,
        after: Document,
        show: Callable[[Document, Mapping[str, str], Selection], None],
        merge_key: str = "",
        renamed: Mapping[str, str] = NONE,
    ) -> None:
        super().__init__(label)
        self.before = before
        self.after = after
        self.merge_key = merge_key
        self.renamed = renamed
        self.dropped: Selection = (), None
        self.fleeting = False
        self._show = show

    def id(self) -> int:
        """-1, by which Qt knows that an edit is never merged, or the same number for all others."""
        return 1 if self.merge_key else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        """Take over what `other` led to, if it goes on with what this edit did. Where both lead
        back to the beginning there is nothing to take back, and Qt drops them."""
        if not isinstance(other, Edit) or other.merge_key != self.merge_key:
            return False
        self.after = other.after
        self.setText(other.text())
        self.setObsolete(is_same(self.after, self.before))
        return True

    def redo(self) -> None:
        self._show(self.after, self.renamed, ((), None))

    def undo(self) -> None:
        names = {new: old for old, new in self.renamed.items()}
        self._show(self.before, names, self.dropped)
        self.setObsolete(self.fleeting)
