"""What --restore gives: variables as a checkpoint has them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gradstep.core.cli.arguments.shared_arguments import budget
from gradstep.core.document.document import Document


def with_restored(document: Document, args: argparse.Namespace) -> Document:
    """The document with the initial values of --restore; what did not fit is said. Raises
    GradstepError."""
    if not getattr(args, "restore", None):
        return document
    from gradstep.core.data.restored_variables import restore_variables

    found = restore_variables(document.graph, Path(args.restore), budget(args))
    for note in found.notes():
        print(f"gradstep: {note}", file=sys.stderr)
    return document.with_(initial={**document.initial, **found.values})
