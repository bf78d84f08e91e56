"""How a process ended, in words."""

from __future__ import annotations

import signal
from contextlib import suppress


def how_it_ended(status: int) -> str:
    """status: as subprocess gives it; negative for a signal."""
    if status >= 0:
        return f"exit status {status}"
    with suppress(ValueError):
        return f"killed by {signal.Signals(-status).name}"
    return f"killed by signal {-status}"
