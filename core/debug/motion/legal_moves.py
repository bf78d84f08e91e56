"""Which moves are possible where the debugger stands."""

from __future__ import annotations

import re
from functools import cache

from gradstep.core.debug.motion.move_definition import DebuggerState, Move
from gradstep.core.debug.motion.move_table import MOVES
from gradstep.core.errors import GradstepError

_RUN = re.compile(r"\d{1,18}")
_FARTHEST = 10_000  # runs that run_to makes: in scripts, nobody presses Ctrl+C


def find_move(name: str) -> Move:
    """The move of that name. Raises GradstepError (IllegalMoveError) where there is none."""
    move = MOVES.get(name)
    if move is None:
        raise GradstepError(f"there is no command '{name}'", kind="IllegalMoveError")
    return move


@cache
def legal_names(state: DebuggerState) -> tuple[str, ...]:
    """The names of the moves that may be made in `state`, in the table's order."""
    return tuple(name for name, move in MOVES.items() if state in move.legal_in)


def state_of(run: int, step: int, length: int, first: int) -> DebuggerState:
    """The state at `step` of `run`, in runs of `length` steps, of which those before number `first`
    are not kept any more."""
    if length == 0:
        return DebuggerState.EMPTY
    if (run, step) == (first, 0):
        return DebuggerState.OLDEST if first else DebuggerState.ENTRY
    return DebuggerState.END if step == length else DebuggerState.INSIDE


def require_legal(move: Move, state: DebuggerState) -> None:
    """Raises GradstepError (IllegalMoveError) when `move` may not be given in `state`."""
    if state not in move.legal_in:
        raise GradstepError(
            f"{move.word} is not possible here: {state.value}",
            kind="IllegalMoveError",
            hint="possible are " + ", ".join(name.rstrip("_") for name in legal_names(state)),
        )


def require_near(target: str, runs: int) -> None:
    """Raise GradstepError when `target` of run_to is a run so far ahead of the `runs` begun that
    nobody would wait for it."""
    run, colon, _ = target.partition(":")
    ahead = int(run) - runs if _RUN.fullmatch(run) and colon else 0
    if ahead > _FARTHEST:
        raise GradstepError(
            f"run {int(run) + 1} is {ahead} runs ahead; the debugger makes at most {_FARTHEST} at "
            "once",
            kind="ValueError",
            hint="gradstep train makes many updates fast, and --out keeps what they give",
        )
