"""Going to where a NaN, an infinity or a zero came from: the place in the runs, and the node."""

from __future__ import annotations

from collections.abc import Callable

from gradstep.core.protocol.messages import Explanation
from gradstep.core.protocol.stopped_position import position_of
from gradstep.gui.commands.reveal import reveal
from gradstep.gui.model.workspace import Workspace


def is_elsewhere(workspace: Workspace, found: Explanation) -> bool:
    """Whether what led to it first was done at another step than the one before this stop."""
    position = found.chain[0].position if found.chain else ""
    return position not in ("", position_of(workspace.stop))


def go_to_first(workspace: Workspace, found: Explanation) -> None:
    """To what led to it first, if something did."""
    if found.chain:
        go_to_place(workspace, found.chain[0].node, found.chain[0].position)


def go_to_first_broken(workspace: Workspace) -> None:
    """To what made the first NaN or infinity of the run that is looked at, in a loop to the
    iteration; where it was there when the run began, to the run that made it."""
    first = workspace.soundness.first
    if first is None:
        return

    def go_on() -> None:
        workspace.whys.ask(first.tensor, then=lambda found: go_to_first(workspace, found))

    go_to_place(workspace, first.node, first.position if first.step else "", go_on)


def show_path(workspace: Workspace, explanation: Explanation) -> None:
    """Select the operations that a gradient goes, or should go, along, and show where it ends."""
    if explanation.path:
        reveal(workspace, *explanation.path, at=explanation.node or "")


def go_to_place(
    workspace: Workspace, node: str, position: str, then: Callable[[], None] = lambda: None
) -> None:
    """Show `node`, and stand right after the step that is to blame, back or forward in whatever
    run, or loop. position: as `run_to` takes it; "" where no step is to blame. `then` is called
    there."""

    def arrived() -> None:
        reveal(workspace, node)
        then()

    if position and position != position_of(workspace.stop):
        workspace.control("run_to", position, arrived)
    else:
        arrived()
