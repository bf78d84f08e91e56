"""The rows of the action table that move the debugger: made from the table of moves."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.debug.motion.legal_moves import find_move
from gradstep.core.debug.motion.move_definition import DebuggerState, MenuRow, Move
from gradstep.core.debug.motion.move_table import MOVES
from gradstep.gui.actions.action_record import (
    NOTHING,
    Action,
    Condition,
    any_selected,
    both,
)
from gradstep.gui.model.workspace import Workspace

ENGINE = {
    "starting": "the engine is starting",
    "busy": "a run is under way: pause it first (F6)",
    "dead": "the engine has stopped: restart it first (Run > Restart engine)",
}
# Why a move cannot be made that is not legal in this state.
ILLEGAL = {
    DebuggerState.END: "the run is at its end",
    DebuggerState.ENTRY: "this is the start of the first run",
}


def move_actions(section: int) -> Iterator[Action]:
    """Those of one section of the Run menu, in their order."""
    rows = [(c.menu, c) for c in MOVES.values() if c.menu is not None]
    here = [row for row in rows if row[0].section == section]
    return (_action(move, row) for row, move in sorted(here, key=lambda row: row[0].place))


def _action(move: Move, row: MenuRow) -> Action:
    """A move with a target goes to the selected node."""

    def run(workspace: Workspace) -> None:
        workspace.control(move.name, workspace.selection[0] if move.target else "")

    return Action(
        f"run.{move.word}",
        row.title,
        run,
        row.tip,
        row.keys,
        row.icon,
        both(any_selected, legal(move.name)) if move.target else legal(move.name),
        "Run",
        row.section,
        toolbar=row.toolbar,
    )


def legal(command: str) -> Condition:
    """Whether the debugger takes `command` now."""

    def test(workspace: Workspace) -> bool:
        stop = workspace.stop
        return stop is not None and workspace.engine_state == "ready" and command in stop.legal

    return Condition(test, lambda workspace: _why_illegal(workspace, command))


def _why_illegal(workspace: Workspace, command: str) -> str:
    if workspace.engine_state != "ready":
        return ENGINE.get(workspace.engine_state, "the engine does not answer")
    if workspace.program is None or not workspace.program.steps:
        return NOTHING
    legal_in = find_move(command).legal_in
    return next((why for state, why in ILLEGAL.items() if state not in legal_in), NOTHING)
