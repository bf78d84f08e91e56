"""Training as the window asks for it: what it follows, reported ten times a second."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from gradstep.core.debug.breaks.histograms import COLUMNS, Histograms
from gradstep.core.debug.breaks.missing_number import NOT_THERE
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.motion.training import Spread, Tell, Training, Wish
from gradstep.core.debug.motion.validation import Validation
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.class_answers import surface_of
from gradstep.core.host.curve_answers import computed_losses, wrong_curves, wrong_histograms
from gradstep.core.host.decision_surface import SurfaceArtist
from gradstep.core.protocol.messages import Event, Train, TrainingProgress

INTERVAL = 0.1  # seconds between two reports


def train(threads: Scheduler, request: Train, emit: Callable[[Event], None]) -> Training:
    """Do what is asked, but for what cannot be followed, which is told of. Raises GradstepError
    where it cannot begin."""
    session = threads.session
    there = computed_losses(session, request.losses)
    loss = next(iter(there), None)
    if not session.plan.steps:
        raise GradstepError(
            "there is nothing to run",
            kind="FailedPreconditionError",
            hint="fetch something, or give the document a loss and an optimizer",
        )
    wrong = wrong_curves(session, [*request.curves, *request.closer], loss)
    wrong = {**wrong, **wrong_histograms(session, request.spread)}
    curves = session.curves(_right(request.curves, wrong), request.until, loss)
    validated = [TensorRef.parse(name) for name in request.validate]
    validation = Validation(session.program, session.backend, validated) if validated else None
    closely, spread = _right(request.closer, wrong), _right(request.spread, wrong)
    surface = surface_of(session) if request.surface else None
    report = Report(emit, len(request.curves) + len(validated))
    wish = Wish(
        request.steps,
        curves,
        there,
        _with_gaps(report.add, request.curves, wrong),
        validation,
        closer=session.curves(closely, subject=loss) if closely else None,
        share=request.share,
        look=_with_gaps(report.add_look, request.closer, wrong),
        patience=request.patience,
        histograms=Histograms(session.curves(spread), request.steps) if spread else None,
        spread=_with_empty_rows(report.add_spread, request.spread, wrong),
        known=request.known,
    )
    if surface is not None:
        wish = replace(wish, aside=SurfaceArtist(surface, emit).note)
    try:
        went = threads.train(wish)
    finally:
        report.send()
    return replace(went, wrong={**wrong, **went.wrong})


def _right(texts: Sequence[str], wrong: Collection[str]) -> list[str]:
    return [text for text in texts if text not in wrong]


def _with_gaps(tell: Tell, texts: Sequence[str], wrong: Collection[str]) -> Tell:
    """Takes what is told of those that are not wrong, and of what follows on them; of the others it
    is told that nothing is known."""
    places = [place for place, text in enumerate(texts) if text not in wrong]

    def told(run: int, numbers: Sequence[float]) -> None:
        row = [NOT_THERE] * len(texts)
        for place, number in zip(places, numbers, strict=False):
            row[place] = number
        tell(run, [*row, *numbers[len(places) :]])

    return told if len(places) < len(texts) else tell


def _with_empty_rows(spread: Spread, texts: Sequence[str], wrong: Collection[str]) -> Spread:
    """The same of histograms."""
    places = [place for place, text in enumerate(texts) if text not in wrong]

    def told(run: int, rows: np.ndarray) -> None:
        whole = np.full((len(texts), COLUMNS), np.nan, np.float32)
        whole[places] = rows
        spread(run, whole)

    return told if len(places) < len(texts) else spread


class Report:
    """What was followed and not reported yet."""

    def __init__(self, emit: Callable[[Event], None], curves: int) -> None:
        self._emit = emit
        self._columns = [array("d") for _ in range(curves)]
        self._looks, self._closer = array("q"), array("d")
        self._spreads, self._histograms = array("q"), bytearray()
        self._first = self._count = 0
        self._due = time.monotonic() + INTERVAL

    def add(self, run: int, numbers: Sequence[float]) -> None:
        """The curves are these in a run: the one behind the last."""
        if time.monotonic() >= self._due:  # here, so that a run and its look are sent together
            self.send()
        if not self._count:
            self._first = run
        self._count += 1
        for column, number in zip(self._columns, numbers, strict=True):
            column.append(number)

    def add_look(self, run: int, numbers: Sequence[float]) -> None:
        """What is followed closely is these in a run, which has been added."""
        self._looks.append(run)
        self._closer.extend(numbers)

    def add_spread(self, run: int, rows: np.ndarray) -> None:
        """The histograms are these in a run, which has been added."""
        self._spreads.append(run)
        self._histograms += rows.tobytes()

    def send(self) -> None:
        """Report what there is."""
        self._due = time.monotonic() + INTERVAL
        if not self._count:
            return
        numbers = b"".join(column.tobytes() for column in self._columns)
        looks, closer = self._looks.tobytes(), self._closer.tobytes()
        self._emit(
            TrainingProgress(
                first=self._first,
                count=self._count,
                numbers=numbers,
                looks=looks,
                closer=closer,
                spreads=self._spreads.tobytes(),
                histograms=bytes(self._histograms),
            )
        )
        self._count = 0
        del self._looks[:], self._closer[:], self._spreads[:], self._histograms[:]
        for column in self._columns:
            del column[:]
