"""The threads of a program as text and as JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from gradstep.core.cli.output.command_output import table
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.thread_state import ThreadState


def thread_table(threads: Scheduler) -> str:
    """One line for each, and who waits for whom where all do."""
    rows = table([_row(state) for state in threads.states])
    return "\n".join(filter(None, [rows, threads.deadlock]))


def thread_objects(threads: Scheduler) -> list[Any]:
    return [msgspec.to_builtins(state) for state in threads.states]


def _row(state: ThreadState) -> list[str]:
    mark = "→" if state.current else ""
    place = f"run {state.run + 1}, step {state.step} of {state.steps}"
    return [mark, state.name, str(state.condition), place, state.op, state.text]
