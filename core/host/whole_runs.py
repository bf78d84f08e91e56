"""Whole runs of a program made one after the other, for questions about all of them."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.engine.backend import Backend
from gradstep.core.host.session_restore import begin
from gradstep.core.progress import tell_progress


def make_runs(program: Program, backend: Backend, runs: int) -> DebugSession:
    """So many runs, or as many as there are before one fails; it stands at their end."""
    threads = begin(program, backend)
    for _ in counted_runs(runs):
        stop = threads.command("continue_")
        if stop.reason in (Reason.EXCEPTION, Reason.BLOCKED):
            break
    return threads.session


def counted_runs(runs: int) -> Iterator[int]:
    """The numbers of so many runs, for who makes them; where they are several, each tells how far
    that is."""
    for number in range(runs):
        if runs > 1:
            tell_progress("Making runs", number, runs)
        yield number
