"""The node that the debugger stands at, as a user sees it."""

from __future__ import annotations

from gradstep.gui.model.foreign_rows import foreign_rows
from gradstep.gui.model.workspace import Workspace


def standing_node(workspace: Workspace) -> str:
    """Before a foreign operation, that: its weights are read first, but nobody stepped to them.
    "" where it is not known yet where that is."""
    stop, program = workspace.stop, workspace.program
    if stop is None:
        return ""
    if stop.error is not None:
        return stop.node  # where it is
    rows = foreign_rows(workspace.document.graph)
    reader = rows.reader(stop.node)
    if not reader or program is None:
        return stop.node
    before = program.steps[stop.step - 1 : stop.step]
    goes_on = any(rows.key(step.origin) == rows.key(stop.node) for step in before)
    return stop.node if goes_on else reader
