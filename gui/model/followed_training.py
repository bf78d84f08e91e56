"""A PyTorch training elsewhere on this machine, followed while it runs: its curves, how far it is.

It is no run of the document: nothing is known of it but what it says, and it says nothing to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gradstep.core.capture.training_lines import (
    EndOfTraining,
    Greeting,
    SavedStep,
    TrainedStep,
    TrainingLine,
)
from gradstep.core.debug.breaks.layer_curves import Family
from gradstep.core.errors import GradstepError
from gradstep.gui.model.earlier_trainings import EarlierTrainings
from gradstep.gui.model.followed_curves import FollowedCurves
from gradstep.gui.model.followed_histograms import FollowedHistograms
from gradstep.gui.model.training import Training
from gradstep.gui.model.training_curve import Curve

if TYPE_CHECKING:
    from gradstep.gui.model.training_call import TrainingCall
    from gradstep.gui.model.training_search import FoundTraining
    from gradstep.gui.model.workspace import Workspace

MOST_GAP = 1 << 20  # steps from one that is told of to the next
MOST_SAVED = 100  # files that are remembered


class FollowedTraining(QObject):
    """greeting: who it is, None for nobody; curves, earlier, histograms: as of Training, earlier
    ones being those that were followed before; step: how far it is, 0 before its first; saved: the
    files that it said it saved; live: it goes on; ended: why it does not; shown: whether the panel
    shows it, and not the training of the document."""

    changed = Signal()  # anything but the points
    grew = Signal()  # the points

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self.earlier = EarlierTrainings()
        self.histograms = FollowedHistograms()  # it tells of none
        self._call: TrainingCall | None = None
        self._curves = FollowedCurves()
        self.greeting: Greeting | None = None
        self.saved: list[SavedStep] = []
        self.step, self.ended, self.live, self.shown = 0, "", False, False
        workspace.training.changed.connect(self._make_room)

    @property
    def curves(self) -> list[Curve]:
        """Those that are drawn."""
        return self._curves.drawn

    @property
    def last(self) -> int:
        """The last step that a point is known of, counted from 0; -1 for none."""
        return max((curve.points.stop - 1 for curve in self.curves), default=-1)

    @property
    def name(self) -> str:
        """What to call it: "train.py"; "" for none."""
        return "" if self.greeting is None else self.greeting.name

    def follows(self, family: Family) -> list[Curve]:
        """What is told of layers, of one kind."""
        return [curve for curve in self.curves if curve.family == family]

    def drop(self, curve: Curve) -> None:
        """Draw it no longer."""
        self._curves.drop(curve)
        self.changed.emit()

    # -- following ------------------------------------------------------------------------------

    def follow(self, found: FoundTraining) -> None:
        """Draw it from now on, and what it still knows of before."""
        from gradstep.gui.model.training_call import TrainingCall

        if self._call is not None and self._call.path == found.path:
            self.show(True)
            return
        self._hang_up()
        self._begin_anew()
        self.greeting, self.live, self.shown = found.greeting, True, True
        self._call = TrainingCall(found.path, self)
        self._call.heard.connect(self._take)
        self._call.ended.connect(self._note_end)
        self._call.begin()
        self.changed.emit()

    def stop(self) -> None:
        """Follow it no longer; what is drawn stays."""
        if self.live:
            self._finish(f"No longer following {self.name}, at step {self.step:,}")

    def close(self) -> None:
        """Forget it, and those that were followed before."""
        self._hang_up()
        self._begin_anew()
        self.earlier.clear()
        self.greeting, self.live, self.shown = None, False, False
        self.changed.emit()

    def show(self, shown: bool) -> None:
        """Whether the panel shows it."""
        if shown != self.shown and self.greeting is not None:
            self.shown = shown
            self.changed.emit()

    def open_saved(self, saved: SavedStep) -> None:
        """Open the trace that it saved."""
        self._workspace.ask_window("open", saved.path)

    # -- what it says ---------------------------------------------------------------------------

    def _take(self, lines: Sequence[TrainingLine]) -> None:
        steps = [line for line in lines if isinstance(line, TrainedStep)]
        try:
            self._require_order(steps)
        except GradstepError as error:
            self._note_end(error)
            return
        known = len(self._curves)
        if steps:
            self.step = steps[-1].step
            self._curves.take(steps)
        for line in lines:
            if isinstance(line, SavedStep):
                self._offer(line)
            elif isinstance(line, EndOfTraining):
                self._finish(_words_of_end(self.name, line))
        if len(self._curves) > known:
            self.changed.emit()
        self.grew.emit()

    def _require_order(self, steps: Sequence[TrainedStep]) -> None:
        before = self.step
        for line in steps:
            if not before < line.step <= before + MOST_GAP and before:
                raise GradstepError(
                    f"what came is no training that can be followed: step {line.step:,} after "
                    f"step {before:,}",
                    kind="ValueError",
                )
            before = line.step

    def _offer(self, saved: SavedStep) -> None:
        """What it saved can be opened, from the panel and from the strip above the canvas."""
        self.saved = [*self.saved, saved][-MOST_SAVED:]
        name = Path(saved.path).name
        why = f", where {saved.why}" if saved.why else ""
        self._workspace.say(f"{self.name} saved step {saved.step:,}{why}: {saved.path}", "note")
        self._workspace.offer_fix(f"Open {name}", partial(self.open_saved, saved))
        self.changed.emit()

    # -- its end --------------------------------------------------------------------------------

    def _note_end(self, error: GradstepError | None) -> None:
        """The line is dead."""
        at = f"at step {self.step:,}"
        if error is not None:
            self._finish(f"Following {self.name} ended {at}: {error.message}")
            self._workspace.complain(error, "warning")
        else:
            self._finish(
                f"{self.name} is gone without a word, {at}: it was killed, or this window was too "
                "slow for it"
            )

    def _finish(self, words: str) -> None:
        self._hang_up()
        self.ended = words
        self.changed.emit()

    def _hang_up(self) -> None:
        self.live = False
        if self._call is not None:
            self._call.hang_up()
            self._call = None

    def _begin_anew(self) -> None:
        """What comes does not go on from what there is, which stays as pale lines."""
        self.earlier.add(self.name, self.curves)
        self._curves, self.saved = FollowedCurves(), []
        self.step, self.ended = 0, ""

    def _make_room(self) -> None:
        """The document is trained: that is what one wants to see now."""
        if self._workspace.training.busy:
            self.show(False)


def shown_training(workspace: Workspace) -> Training | FollowedTraining:
    """What the panel shows: the training of the document, or one elsewhere that is followed."""
    followed = workspace.followed
    if followed.greeting is None or not (followed.shown or not workspace.is_open):
        return workspace.training
    return followed


def _words_of_end(name: str, end: EndOfTraining) -> str:
    by = f", by {end.error}" if end.error else ""
    return f"{name} has ended{by}, at step {end.step:,}"
