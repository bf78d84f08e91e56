"""An error in one line: what is wrong, and what to do."""

from __future__ import annotations

from gradstep.core.errors import GradstepError
from gradstep.core.protocol.messages import ErrorInfo


def words(error: GradstepError | ErrorInfo) -> str:
    """What is wrong, and what to do, in one line."""
    return f"{error.message}: {error.hint}" if error.hint else error.message
