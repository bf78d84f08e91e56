"""Asking why a value, or a gradient, is as it is; and being shown."""

from __future__ import annotations

from collections.abc import Callable

from gradstep.core.graph.model import TensorRef
from gradstep.core.protocol.messages import Explanation
from gradstep.gui.commands.go_to_cause import show_path
from gradstep.gui.model.explanations import find_differentiated
from gradstep.gui.model.workspace import Workspace

Then = Callable[[Explanation], None]


def _ignore(found: Explanation) -> None:
    pass


def ask_why(workspace: Workspace, ref: TensorRef, then: Then = _ignore) -> None:
    """Ask why the gradient at a tensor is as it is, and go to where it happens; the way there is
    selected. `then` gets the answer."""
    of = find_differentiated(workspace, ref)
    if of is not None:
        _ask(workspace, of, ref.short, then)


def ask_why_value(workspace: Workspace, ref: TensorRef, then: Then = _ignore) -> None:
    """The same of its value."""
    _ask(workspace, ref, "", then)


def why_selected(workspace: Workspace) -> None:
    """Say why the gradient at the selected node is as it is."""
    ask_why(workspace, _selected(workspace), _say(workspace))


def why_value_selected(workspace: Workspace) -> None:
    """Say why the value of the selected node is as it is."""
    ask_why_value(workspace, _selected(workspace), _say(workspace))


def _ask(workspace: Workspace, of: TensorRef, wrt: str, then: Then) -> None:
    def answered(found: Explanation) -> None:
        show_path(workspace, found)
        then(found)  # at last: opening a scope is an edit, and takes messages away

    workspace.whys.ask(of.short, wrt, answered)


def _selected(workspace: Workspace) -> TensorRef:
    return workspace.shown[workspace.selection[0]].output()


def _say(workspace: Workspace) -> Then:
    def say(found: Explanation) -> None:
        workspace.say(found.text, "note")
        workspace.explained.emit(found)

    return say
