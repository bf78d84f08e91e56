"""The one table of moves: sessions, console, menus, keys and docs/moves.md are made from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, TypeVar

from gradstep.core.debug.motion.move_definition import DebuggerState, MenuRow, Move, Moved

S = TypeVar("S")
ENTRY, OLDEST = DebuggerState.ENTRY, DebuggerState.OLDEST
INSIDE, END = DebuggerState.INSIDE, DebuggerState.END

_ROWS = (
    Move(
        "step",
        "over one forward operation, or over all gradient operations of one",
        (ENTRY, OLDEST, INSIDE, END),
        aliases=("n", "next", "s"),
        repeats=True,
        menu=MenuRow(
            "Step",
            "Over one operation, or over its whole gradient",
            ("F10",),
            place=30,
            icon="step",
            toolbar=True,
        ),
    ),
    Move(
        "step_into",
        "over one single operation, or into the loop that it is",
        (ENTRY, OLDEST, INSIDE, END),
        aliases=("i", "into", "step_in", "stepIn"),
        repeats=True,
        menu=MenuRow(
            "Step into",
            "Over a single operation of a gradient or an update, or into the loop that is next",
            ("F11",),
            place=40,
            icon="step_into",
            toolbar=True,
        ),
    ),
    Move(
        "step_out",
        "to the end of the group or scope, or past the loop",
        (ENTRY, OLDEST, INSIDE),
        aliases=("o", "out", "stepOut"),
        repeats=True,
        menu=MenuRow(
            "Step out",
            "To the end of this gradient or loop",
            ("Shift+F11",),
            place=50,
            icon="step_out",
        ),
    ),
    Move(
        "step_back",
        "back to where the step before began",
        (INSIDE, END),
        aliases=("sb", "back", "stepBack"),
        repeats=True,
        menu=MenuRow(
            "Step back",
            "Undo the last step",
            ("Shift+F10",),
            place=20,
            icon="step_back",
            toolbar=True,
        ),
    ),
    Move(
        "continue_",
        "to the next breakpoint, or the end of the run; all threads, in turn",
        (ENTRY, OLDEST, INSIDE, END),
        aliases=("c",),
        repeats=True,
        moved=Moved.IN_TURN,
        menu=MenuRow(
            "Continue",
            "To the next breakpoint, or to the end",
            ("F5",),
            place=60,
            icon="continue",
            toolbar=True,
        ),
    ),
    Move(
        "reverse_continue",
        "back to the breakpoint before, or the start of the run",
        (INSIDE, END),
        aliases=("rc", "reverseContinue"),
        repeats=True,
        menu=MenuRow(
            "Continue backwards",
            "Back to the last breakpoint, or to the start",
            ("Ctrl+Shift+F10",),
            place=10,
            icon="reverse_continue",
            toolbar=True,
        ),
    ),
    Move(
        "run_to",
        "NODE: to just before it; RUN:STEP[/ITERATION:STEP]: exactly there, forward or back",
        (ENTRY, OLDEST, INSIDE, END),
        aliases=("u", "goto"),
        target="a node, or run:step",
        menu=MenuRow(
            "Run to selected node",
            "Continue until the selected node is next",
            ("Ctrl+F10",),
            section=1,
        ),
    ),
    Move(
        "restart",
        "forget all runs",
        (*DebuggerState,),
        moved=Moved.ANEW,
        menu=MenuRow(
            "Restart",
            "Forget all runs, and stand before the first",
            ("Ctrl+Shift+F5",),
            place=70,
            icon="restart",
            toolbar=True,
        ),
    ),
)
MOVES: Mapping[str, Move] = {move.name: move for move in _ROWS}


class Moves(ABC, Generic[S]):
    """The moves as methods, for Python: `command` makes any of the table, these are typed. Each
    returns what `command` returns."""

    @abstractmethod
    def command(self, name: str, target: str = "") -> S:
        """The move of that name; `target` is for those that need one."""

    def step(self) -> S:
        """Over a forward operation, or over all backward (or update) operations of one forward
        operation (or variable), to the end of their group. From the end of a run, or an iteration:
        to the start of the next."""
        return self.command("step")

    def step_into(self) -> S:
        """Over a single operation, or into the loop that it is. From the end of a run, or an
        iteration: to the start of the next."""
        return self.command("step_into")

    def step_out(self) -> S:
        """Out of a loop, of the operations of one gradient, of a scope; at the top, of the
        phase."""
        return self.command("step_out")

    def step_back(self) -> S:
        """Back over what `step` goes over. From the start of a run, or an iteration: to the end of
        the one before."""
        return self.command("step_back")

    def continue_(self) -> S:
        """On to the next breakpoint, or the end of the run; from there, of the next run."""
        return self.command("continue_")

    def reverse_continue(self) -> S:
        """Back to the breakpoint before, or the start of the run; from there, of the run before."""
        return self.command("reverse_continue")

    def run_to(self, target: str) -> S:
        """To just before operation `target` runs next, unless a breakpoint comes first; or, with
        "run:step", exactly there, on or back, past all breakpoints; in a loop that is
        "run:step/iteration:step". Raises GradstepError, and moves nowhere, for a place that the
        program does not have, or that is not kept any more."""
        return self.command("run_to", target)

    def restart(self) -> S:
        """Forget all runs and changes, and stand before the first."""
        return self.command("restart")
