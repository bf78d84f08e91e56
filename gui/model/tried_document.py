"""The document as the branch that is shown runs it: with the edits that are tried there."""

from __future__ import annotations

from contextlib import suppress

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.gui.model.workspace import Workspace


def tried(workspace: Workspace, name: str = "") -> Document:
    """On the branch of that name, "" for the one that is shown. An edit that the document does not
    allow any more is left out, as the engine does."""
    stop, document = workspace.stop, workspace.document
    for branch in [] if stop is None else stop.branches:
        if (branch.name == name if name else branch.current) and branch.edits:
            from gradstep.core.document.named_edits import edit_by_name  # not at the first paint

            for kind, names in branch.edits:
                with suppress(GradstepError):
                    document = edit_by_name(document, kind, names)
    return document
