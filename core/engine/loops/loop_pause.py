"""Leaving a loop that goes on and on, between two iterations, to go on with it later."""

from __future__ import annotations

from collections.abc import Callable

Pausing = Callable[[], bool]  # whether what is under way is to end as soon as it can


def never() -> bool:
    return False


class LoopPaused(Exception):  # noqa: N818 - it is no error
    """Raised by the call of a loop that was left: made again, it goes on from there."""
