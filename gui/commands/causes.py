"""Going to where a NaN, an infinity or a zero came from: the place in the runs, and the node."""

from __future__ import annotations

from collections.abc import Sequence

from core.host.messages import Explanation, Stopped
from gui.commands.revealing import reveal
from gui.workspace import Workspace


def go_to_cause(workspace: Workspace, node: str, position: str = "") -> None:
    """Show `node`, and stand right after the step that is to blame, back or forward in whatever
    run, or loop. position: as `run_to` takes it; "" where no step is to blame."""
    if position and position != place_of(workspace.stop):
        workspace.control("run_to", position, lambda: reveal(workspace, node))
    else:
        reveal(workspace, node)


def go_to_first_broken(workspace: Workspace) -> None:
    """To what made the first NaN or infinity of the run that is looked at; where it was there when
    that began, to the run that made it."""
    first, whys = workspace.soundness.first, workspace.whys
    if first is None:
        return
    if first.step:
        go_to_cause(workspace, first.node, first.position)
    else:
        whys.ask(first.op, then=lambda found: _go_along(workspace, found))


def _go_along(workspace: Workspace, found: Explanation) -> None:
    if found.chain:
        go_to_cause(workspace, found.chain[0].node, found.chain[0].position)


def show_path(workspace: Workspace, explanation: Explanation) -> None:
    """Select the operations that a gradient goes, or should go, along, and show where it ends."""
    path: Sequence[str] = explanation.path
    if path:
        reveal(workspace, *path, at=explanation.node or "")


def place_of(stop: Stopped | None) -> str:
    """Where the debugger stands, as `run_to` takes it."""
    if stop is None:
        return ""
    inside = "".join(f"/{place.iteration}:{place.step}" for place in stop.inside)
    return f"{stop.run}:{stop.step}{inside}"
