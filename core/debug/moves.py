"""Which commands are legal in which state of the debugger: one table."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from core.errors import GradstepError


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


class State(StrEnum):
    """Where the cursor stands, as far as moves go."""

    EMPTY = "there is nothing to run"
    ENTRY = "this is the start of the first run"
    INSIDE = "this is the middle of a run"
    END = "this is the end of a run"


LEGAL: Mapping[State, tuple[Command, ...]] = {
    State.EMPTY: (Command.RESTART,),
    State.ENTRY: (
        Command.STEP,
        Command.STEP_INTO,
        Command.STEP_OUT,
        Command.CONTINUE,
        Command.RUN_TO,
        Command.RESTART,
    ),
    State.INSIDE: tuple(Command),
    State.END: tuple(c for c in Command if c is not Command.STEP_OUT),
}


def state_of(run: int, step: int, length: int) -> State:
    """The state at `step` of `run`, in runs of `length` steps."""
    if length == 0:
        return State.EMPTY
    if (run, step) == (0, 0):
        return State.ENTRY
    return State.END if step == length else State.INSIDE


def require_legal(command: Command, state: State) -> None:
    """Raises GradstepError (IllegalMoveError) when `command` may not be given in `state`."""
    if command not in LEGAL[state]:
        raise GradstepError(
            f"{command.value.rstrip('_')} is not possible here: {state.value}",
            kind="IllegalMoveError",
            hint="possible are " + ", ".join(c.value.rstrip("_") for c in LEGAL[state]),
        )
