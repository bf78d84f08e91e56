"""The document as the branch that is shown runs it: with the edits that are tried there."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

Edits = Sequence[tuple[str, Sequence[str]]]


class EditedDocument:
    """Makes them, and remembers the last: the canvas asks at every stop."""

    def __init__(self) -> None:
        self._last: tuple[Document, Edits, Document] | None = None

    def after(self, document: Document, edits: Edits) -> Document:
        """`document` with the edits that it allows."""
        last = self._last
        if last is None or last[0] is not document or last[1] != edits:
            last = self._last = document, edits, _edited(document, edits)
        return last[2]


def tried(workspace: Workspace, name: str = "") -> Document:
    """On the branch of that name, "" for the one that is shown. An edit that the document does not
    allow any more is left out, as the engine does."""
    stop, document = workspace.stop, workspace.document
    for branch in [] if stop is None else stop.branches:
        if (branch.name == name if name else branch.current) and branch.edits:
            return workspace.edited_document.after(document, branch.edits)
    return document


def _edited(document: Document, edits: Edits) -> Document:
    from gradstep.core.document.named_edits import edit_by_name  # not at the first paint

    for kind, names in edits:
        with suppress(GradstepError):
            document = edit_by_name(document, kind, names)
    return document
