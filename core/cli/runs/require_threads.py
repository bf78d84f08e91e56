"""What `--threads` needs."""

from __future__ import annotations

from gradstep.core.cli.output.command_output import usage
from gradstep.core.program.questions.loaded_document import Loaded


def require_threads(loaded: Loaded) -> None:
    """Raises GradstepError (UsageError) for a document without any."""
    if not loaded.document.threads:
        raise usage("this document has no threads", "leave --threads out")
