"""Which points are of the runs that are shown, and which of a past that is no longer theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gradstep.core.document.document import Document
from gradstep.gui.model.earlier_trainings import EarlierTraining, EarlierTrainings
from gradstep.gui.model.histogram_points import Histogram
from gradstep.gui.model.run_history import EVERY, RunHistory
from gradstep.gui.model.training_curve import Curve


class CurveHistories:
    """now: the runs that are shown; earlier: the trainings of others. Once other runs are shown, of
    another branch or session, after an edit or its undo, curves get the points that are known of
    these; those that they had are an earlier training's, until their runs are shown again."""

    def __init__(self, now: RunHistory) -> None:
        self.now = now
        self.earlier = EarlierTrainings()
        self._was: EarlierTraining | None = None  # what the points that are shown were before

    def clear(self, now: RunHistory) -> None:
        """Another document."""
        self.now, self._was = now, None
        self.earlier.clear()

    def turn_to(
        self, now: RunHistory, curves: Sequence[Curve], histograms: Sequence[Histogram]
    ) -> bool:
        """These runs are shown from here on; whether they are others."""
        if self.now.shared(now) == EVERY:
            self.now = now
            return False
        left = self._left(_words(self.now, now), curves, histograms)
        self.now, self._was = now, None
        every = [*([] if left is None else [left]), *self.earlier.of_runs]
        found = max(every, key=self._is_near, default=None)
        known = 0 if found is None else self._shared(found)
        if found is not None and found.last < known:  # all of it is theirs
            self.earlier.drop(found)
            self._was, left = found if found.number else None, None if found is left else left
        _show(found if known else None, known, curves, histograms)
        if left is not None and not any(_holds(other, left) for other in every):
            self.earlier.keep(left)
        return True

    def begin_anew(self, curves: Sequence[Curve], histograms: Sequence[Histogram]) -> None:
        """The same runs are made once more, from the first on."""
        left = self._left(_words(self.now, None), curves, histograms)
        self._was = None
        _show(None, 0, curves, histograms)
        if left is not None:
            self.earlier.keep(left)

    def rename(self, name_of: Callable[[str], str]) -> None:
        """Operations are called otherwise now."""
        self.earlier.rename(name_of)
        if self._was is not None:
            self._was.rename(name_of)

    def carry(self, before: Document, after: Document) -> None:
        """An edit has changed nothing that runs give: those of `before` are runs of `after`."""
        for each in self.earlier.of_runs:
            if each.runs is not None and each.runs.is_of(before):
                each.runs = replace(each.runs, document=after)
        if self.now.is_of(before):
            self.now = replace(self.now, document=after)

    # -- inside --------------------------------------------------------------------------------

    def _left(
        self, words: str, curves: Sequence[Curve], histograms: Sequence[Histogram]
    ) -> EarlierTraining | None:
        """What is shown, as a training; None where nothing is known of any curve."""
        left = self._was or EarlierTraining(0, words, {})
        points = {curve.text: curve.points for curve in curves if len(curve.points)}
        made = {each.text: each.points for each in histograms if len(each.points)}
        left.points, left.histograms = {**left.points, **points}, {**left.histograms, **made}
        left.runs = self.now
        return left if left.points else None

    def _shared(self, training: EarlierTraining) -> int:
        return 0 if training.runs is None else training.runs.shared(self.now)

    def _is_near(self, training: EarlierTraining) -> tuple[bool, int, bool]:
        """What tells the one of which most is known of the runs that are shown."""
        shared = self._shared(training)
        return shared == EVERY, min(shared, training.last + 1), training.last < shared


def _show(
    training: EarlierTraining | None,
    until: int,
    curves: Sequence[Curve],
    histograms: Sequence[Histogram],
) -> None:
    """Let curves and histograms be those of a training, or of its runs before `until`."""
    is_whole = training is not None and training.last < until
    for curve in curves:
        points = None if training is None else training.points.get(curve.text)
        if points is None:
            curve.forget()
        else:
            curve.points = points if is_whole else points.until(until)
    for each in histograms:
        made = None if training is None else training.histograms.get(each.text)
        if made is None:
            each.forget()
        else:
            each.points = made if is_whole else made.until(until)


def _holds(training: EarlierTraining, left: EarlierTraining) -> bool:
    """Whether all that is known of `left`, which began as its copy, is known of `training`."""
    if training is left or training.runs is None or left.runs is None:
        return False
    shared = training.runs.shared(left.runs)
    return left.last < shared < EVERY and left.last <= training.last


def _words(left: RunHistory, now: RunHistory | None) -> str:
    """What tells runs that are left from those that are shown then: the session, the branch, or how
    they were trained."""
    if now is not None and now.is_of(left.document):
        if now.session != left.session:
            return f"session {left.session.removeprefix('session ')}"
        if now.lineage != left.lineage and (now.branch or left.branch):
            return f"branch {left.branch or 'main'}"
    return words_of(left.document)


def words_of(document: Document) -> str:
    """How it is trained, in a few words: to tell it from another training."""
    for optimizer in document.optimizers:
        if optimizer.enabled:
            rate = optimizer.hyper.get("learning_rate")
            return optimizer.type if rate is None else f"{optimizer.type}, rate {rate:g}"
    return ""
