"""What `--threads` needs of a document, and the hint where a queue waits for want of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gradstep.core.cli.arguments.document_session import Loaded
from gradstep.core.cli.output.command_output import usage
from gradstep.core.errors import GradstepError


def require_threads(loaded: Loaded) -> None:
    """Raises GradstepError (UsageError) for a document without any."""
    if not loaded.document.threads:
        raise usage("this document has no threads", "leave --threads out")


@contextmanager
def naming_threads(loaded: Loaded, running: bool) -> Iterator[None]:
    """What waits for a queue is told of the document's threads, where it has any that might be
    running."""
    try:
        yield
    except GradstepError as error:
        waits = error.kind == "DeadlineExceededError"
        if waits and loaded.document.threads and not running:
            error.hint = f"let the document's threads run: --threads; or {error.hint}"
        raise
