"""Asking why a value, or a gradient, is as it is; and being shown."""

from __future__ import annotations

from collections.abc import Callable

from core.graph.model import TensorRef
from core.host.messages import Explanation
from gui.commands.causes import show_path
from gui.whys import differentiated
from gui.workspace import Workspace

Say = Callable[[str], None]


def _ignore(text: str) -> None:
    pass


def ask_why(workspace: Workspace, ref: TensorRef, say: Say = _ignore) -> None:
    """Ask why the gradient at a tensor is as it is, say it, and go to where it happens; the way
    there is selected."""
    of = differentiated(workspace, ref)
    if of is not None:
        _ask(workspace, of, ref.short, say)


def ask_why_value(workspace: Workspace, ref: TensorRef, say: Say = _ignore) -> None:
    """The same of its value."""
    _ask(workspace, ref, "", say)


def why_selected(workspace: Workspace) -> None:
    """Say why the gradient at the selected node is as it is."""
    ask_why(workspace, _selected(workspace), _noted(workspace))


def why_value_selected(workspace: Workspace) -> None:
    """Say why the value of the selected node is as it is."""
    ask_why_value(workspace, _selected(workspace), _noted(workspace))


def _ask(workspace: Workspace, of: TensorRef, wrt: str, say: Say) -> None:
    def answered(found: Explanation) -> None:
        say(found.text)
        show_path(workspace, found)

    workspace.whys.ask(of.short, wrt, answered)


def _selected(workspace: Workspace) -> TensorRef:
    return workspace.shown[workspace.selection[0]].output()


def _noted(workspace: Workspace) -> Say:
    return lambda text: workspace.message.emit("note", text)
