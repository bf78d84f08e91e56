"""Asking why a value, or a gradient, is as it is; and being shown."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from gradstep.core.graph.model import TensorRef
from gradstep.core.protocol.messages import (
    Explanation,
    FindSmallest,
)
from gradstep.gui.commands.go_to_cause import show_path
from gradstep.gui.model.explanations import Answer, find_differentiated
from gradstep.gui.model.live_output import live_output
from gradstep.gui.model.smallest_file import write_smallest
from gradstep.gui.model.workspace import Workspace

Then = Callable[[Explanation], None]
Opened = Callable[[Path], object]


SMALLEST = "Smallest graph…"


def _ignore(found: Explanation) -> None:
    pass


def ask_why(workspace: Workspace, ref: TensorRef) -> None:
    """Ask why the gradient at a tensor is as it is, and go to where it happens; the way there is
    selected."""
    of = find_differentiated(workspace, ref)
    if of is not None:
        _ask(workspace, of, ref.short, _ignore)


def why_selected(workspace: Workspace) -> None:
    """Say why the gradient at the selected node is as it is."""
    ref = _selected(workspace)
    of = find_differentiated(workspace, ref)
    if of is not None:
        _ask(workspace, of, ref.short, _say(workspace, of.short, ref.short))


def why_value_selected(workspace: Workspace) -> None:
    """Say why the value of the selected node is as it is."""
    say_why_value(workspace, _selected(workspace))


def say_why_value(workspace: Workspace, ref: TensorRef) -> None:
    """Say why a tensor's value is as it is, in the strip above the canvas."""
    _ask(workspace, ref, "", _say(workspace, ref.short))


def ask_smallest(workspace: Workspace, question: FindSmallest) -> None:
    """Have the user name a file for the few operations that show what is wrong."""
    workspace.ask_window("smallest", msgspec.json.encode(question).decode())


def smallest_of_last(workspace: Workspace) -> None:
    """The same of what the last answer to a why was about."""
    said = workspace.whys.said
    if said is not None:
        ask_smallest(workspace, FindSmallest(of=said.of, wrt=said.wrt))


def find_smallest(workspace: Workspace, question: str, path: Path, then: Opened) -> None:
    """Write the few operations that show what is wrong, into a file of any format. question: as
    `ask_smallest` writes it; then: gets the path once it is there."""

    def written(words: str) -> None:
        workspace.say(words)
        then(path)

    asked = msgspec.json.decode(question, type=FindSmallest)
    write_smallest(workspace, asked, path, written, workspace.complain)


def _ask(workspace: Workspace, of: TensorRef, wrt: str, then: Then) -> None:
    def answered(found: Explanation) -> None:
        show_path(workspace, found)
        then(found)  # at last: opening a scope is an edit, and takes messages away

    workspace.whys.ask(of.short, wrt, answered)


def _selected(workspace: Workspace) -> TensorRef:
    return live_output(workspace, workspace.shown[workspace.selection[0]])


def _say(workspace: Workspace, *question: str) -> Then:
    """question: of, and for a gradient with respect to what."""

    def say(found: Explanation) -> None:
        workspace.say(found.text, "note")
        of, wrt = (*question, "")[:2]
        workspace.whys.said = said = Answer(of, wrt, found)
        workspace.explained.emit(found)
        if said.shows:
            workspace.offer_fix(SMALLEST, partial(smallest_of_last, workspace))

    return say
