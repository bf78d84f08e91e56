"""Loops: which of their iterations is looked at."""

from __future__ import annotations

from collections.abc import Mapping

from gradstep.core.graph.loop import loops_around
from gradstep.core.protocol.messages import LoopShown
from gradstep.gui.model.workspace import Workspace


def choose_iteration(workspace: Workspace, loop: str, number: int | None) -> None:
    """Show the values of iteration `number` of a loop, counted from 0; None: of where the debugger
    stands, or else the last."""
    workspace.control("iteration", f"{loop} {'last' if number is None else number + 1}")


def iteration_words(workspace: Workspace, operation: str) -> str:
    """`iteration 2 of 3`: of the loops around an operation, of the inmost last; "" outside."""
    shown, words = shown_iterations(workspace), list[str]()
    for loop in loops_around(workspace.document.graph, operation) if shown else ():
        found = shown.get(loop)
        if found is not None and found.text:
            words.append(found.text)
    return ", ".join(words)


def shown_iterations(workspace: Workspace) -> Mapping[str, LoopShown]:
    """Which iteration of each loop values are shown of, by the loop's While."""
    stop = workspace.stop
    return {} if stop is None else {shown.loop: shown for shown in stop.loops}
