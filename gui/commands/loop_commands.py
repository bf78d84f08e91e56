"""Loops: which of their iterations is looked at."""

from __future__ import annotations

from collections.abc import Mapping

from gradstep.core.protocol.messages import LoopShown
from gradstep.gui.model.workspace import Workspace


def choose_iteration(workspace: Workspace, loop: str, number: int | None) -> None:
    """Show the values of iteration `number` of a loop, counted from 0; None: of where the debugger
    stands, or else the last."""
    workspace.control("iteration", f"{loop} {'last' if number is None else number + 1}")


def shown_iterations(workspace: Workspace) -> Mapping[str, LoopShown]:
    """Which iteration of each loop values are shown of, by the loop's While."""
    stop = workspace.stop
    return {} if stop is None else {shown.loop: shown for shown in stop.loops}
