"""Which commands are legal in which state of the debugger: one table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from gradstep.core.errors import GradstepError

_RUN = re.compile(r"\d{1,18}")
_FARTHEST = 10_000  # runs that run_to makes: in scripts, nobody presses Ctrl+C


class Command(StrEnum):
    """The moves, by the names of the session's methods."""

    STEP = "step"
    STEP_INTO = "step_into"
    STEP_OUT = "step_out"
    STEP_BACK = "step_back"
    CONTINUE = "continue_"
    REVERSE_CONTINUE = "reverse_continue"
    RUN_TO = "run_to"
    RESTART = "restart"


class DebuggerState(StrEnum):
    """Where the cursor stands, as far as moves go."""

    EMPTY = "there is nothing to run"
    ENTRY = "this is the start of the first run"
    OLDEST = "this is the start of the first run that is kept"
    INSIDE = "this is the middle of a run"
    END = "this is the end of a run"


_ONWARD = tuple(c for c in Command if c not in (Command.STEP_BACK, Command.REVERSE_CONTINUE))

LEGAL: Mapping[DebuggerState, tuple[Command, ...]] = {
    DebuggerState.EMPTY: (Command.RESTART,),
    DebuggerState.ENTRY: _ONWARD,
    DebuggerState.OLDEST: _ONWARD,
    DebuggerState.INSIDE: tuple(Command),
    DebuggerState.END: tuple(c for c in Command if c is not Command.STEP_OUT),
}


def state_of(run: int, step: int, length: int, first: int) -> DebuggerState:
    """The state at `step` of `run`, in runs of `length` steps, of which those before number `first`
    are not kept any more."""
    if length == 0:
        return DebuggerState.EMPTY
    if (run, step) == (first, 0):
        return DebuggerState.OLDEST if first else DebuggerState.ENTRY
    return DebuggerState.END if step == length else DebuggerState.INSIDE


def require_legal(command: Command, state: DebuggerState) -> None:
    """Raises GradstepError (IllegalMoveError) when `command` may not be given in `state`."""
    if command not in LEGAL[state]:
        raise GradstepError(
            f"{command.value.rstrip('_')} is not possible here: {state.value}",
            kind="IllegalMoveError",
            hint="possible are " + ", ".join(c.value.rstrip("_") for c in LEGAL[state]),
        )


def require_near(target: str, runs: int) -> None:
    """Raise GradstepError when `target` of run_to is a run so far ahead of the `runs` begun that
    nobody would wait for it."""
    run, colon, _ = target.partition(":")
    ahead = int(run) - runs if _RUN.fullmatch(run) and colon else 0
    if ahead > _FARTHEST:
        raise GradstepError(
            f"run {run} is {ahead} runs ahead; the debugger makes at most {_FARTHEST} at once",
            kind="ValueError",
            hint="gradstep train makes many updates fast, and --out keeps what they give",
        )
