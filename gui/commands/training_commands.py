"""Training: making steps, following numbers, going to a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gradstep.core.debug.breaks.layer_curves import Family
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.gui.commands.run_commands import pause
from gradstep.gui.look.theme import Tone
from gradstep.gui.model.earlier_trainings import MOST
from gradstep.gui.model.followed_training import shown_training
from gradstep.gui.model.training_curve import Curve
from gradstep.gui.model.workspace import Workspace

if TYPE_CHECKING:
    from gradstep.gui.model.event_trainings import EventTraining
    from gradstep.gui.model.training_search import FoundTraining

NONE_TO_FOLLOW = (
    "No training of yours can be followed now: one inside `with gradstep.watch(model, loss=…)` can."
)


def train(workspace: Workspace) -> None:
    """Make as many steps as the training panel says, and show it."""
    workspace.ask_window("show", "training")
    workspace.training.train()


def follow_selected(workspace: Workspace) -> None:
    """Draw what the selected nodes give while training."""
    graph, training = workspace.document.graph, workspace.training
    for name in workspace.selection:
        if name in graph:
            training.follow_value(TensorRef(name))
    workspace.ask_window("show", "training")


def follow_layers(workspace: Workspace, family: Family) -> None:
    """Draw one kind of what can be followed of layers: of each of them."""
    workspace.training.follow_layers(family)
    workspace.ask_window("show", "training")


def follow_gradients(workspace: Workspace) -> None:
    """Draw the norm of the gradient of each variable while training."""
    follow_layers(workspace, "gradient")


def follow_expression(workspace: Workspace, text: str) -> None:
    """Draw what an expression of the breakpoints' language is while training; Training.check tells
    before whether it can be."""
    tone: Tone = "update" if "update[" in text else "backward" if "grad[" in text else "forward"
    workspace.training.follow(Curve(text, text, "", tone))


def go_to_trained_step(workspace: Workspace, step: int) -> None:
    """To the end of a step of training: of a run, in the debugger's word. One that is under way is
    paused for that. What made it different is asked for then."""
    program = workspace.program
    if workspace.training.busy:
        pause(workspace)
    if program is not None:
        target = f"{step}:{len(program.steps)}"
        workspace.control("run_to", target, lambda: workspace.clicked.look(step))


def show_batch_row(workspace: Workspace, place: int) -> None:
    """Show a row of the batch that the run was fed, among the others."""
    workspace.data.mark(place)
    workspace.ask_window("show", "data")


def follow_training(workspace: Workspace, found: FoundTraining) -> None:
    """Draw a PyTorch training that runs elsewhere on this machine, and show the panel."""
    workspace.followed.follow(found)
    workspace.ask_window("show", "training")


def open_events(workspace: Workspace, path: Path) -> None:
    """Draw what event files tell of beside what the Training panel shows, soon."""

    def opened(found: list[EventTraining]) -> None:
        there = [each for each in found if each.points]
        source = shown_training(workspace)
        for each in there[-MOST:]:
            source.earlier.add_events(each.name, each.points)
        source.changed.emit()
        workspace.ask_window("show", "training")
        _tell_of_events(workspace, path, found, len(there))

    workspace.events.read(path, opened, workspace.complain)


def _tell_of_events(
    workspace: Workspace, path: Path, found: list[EventTraining], count: int
) -> None:
    notes = [note for each in found for note in each.notes]
    if not count:
        notes.insert(0, f"{path.name} has event files without curves")
    elif count > MOST:
        notes.insert(0, f"{path.name} has {count} trainings: the last {MOST} are drawn")
    if notes:
        more = f"; and {len(notes) - 2} more" if len(notes) > 2 else ""
        workspace.say("; ".join(notes[:2]) + more, "note")


def find_training(workspace: Workspace, choose: Callable[[], None]) -> None:
    """Follow the one training that there is; of several `choose` has the user choose."""
    from gradstep.gui.model.training_search import TrainingSearch

    def tell(found: Sequence[FoundTraining]) -> None:
        if not found:
            workspace.say(NONE_TO_FOLLOW, "note")
        elif len(found) == 1:
            follow_training(workspace, found[0])
        else:
            choose()

    try:
        TrainingSearch(workspace).begin(tell)
    except GradstepError as error:
        workspace.complain(error)
