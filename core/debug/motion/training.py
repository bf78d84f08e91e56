"""Training: many runs one after the other, on the fast plan where nothing can stop within them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from gradstep.core.debug.breaks.curves import Curves, FetchedValues
from gradstep.core.debug.breaks.expression import Values
from gradstep.core.debug.breaks.histograms import Histograms
from gradstep.core.debug.breaks.patience import Patience
from gradstep.core.debug.history.fast_runs import Fetch, Fetched, Go
from gradstep.core.debug.motion.level import Level
from gradstep.core.debug.motion.look_budget import LookBudget
from gradstep.core.debug.motion.stopped_state import Reason, Stop
from gradstep.core.debug.motion.travel import Travel
from gradstep.core.debug.motion.validation import Validation
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.numerics.finite_numbers import has_nonfinite

Tell = Callable[[int, Sequence[float]], None]
Variables = Callable[[], Mapping[str, Any]]
Spread = Callable[[int, np.ndarray], None]


def _ignore(run: int, told: object) -> None:
    pass


@dataclass(frozen=True)
class Wish:
    """How to train.

    steps: at most so many runs. curves: what is followed, and until when. losses: tensors that have
    to stay finite; patience: it ends once the first of them has not become less for so many runs,
    0 for never. tell: gets the number of each run, and what `curves` are in it; behind these what
    `validation` found last. closer: what is followed besides, in as many runs as take `share` of
    the time; look: gets the number of each of these, and what `closer` are. histograms: made in
    some of these; spread: gets the number of each, and what they are.
    aside: gets the number of each run, and a way to the variables (device arrays) that it left.
    known: of which run it is known what is followed, and of none behind it: the next one is told as
    well, if it is made already; -1 for none, less where nobody asks.
    """

    steps: int
    curves: Curves
    losses: Sequence[TensorRef] = ()
    tell: Tell = lambda run, numbers: None
    validation: Validation | None = None
    closer: Curves | None = None
    share: float = 1.0
    look: Tell = lambda run, numbers: None
    histograms: Histograms | None = None
    spread: Spread = _ignore
    patience: int = 0
    aside: Callable[[int, Variables], None] = _ignore
    known: int = -2

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise GradstepError(f"{self.steps} steps cannot be made", kind="ValueError")

    @property
    def fetches(self) -> tuple[Fetch, ...]:
        return tuple(dict.fromkeys((*self.curves.fetches, *self.losses)))

    @property
    def more(self) -> tuple[Fetch, ...]:
        """What `closer` and `histograms` read besides."""
        readers = (each for each in (self.closer, self.histograms) if each is not None)
        return tuple(dict.fromkeys(fetch for each in readers for fetch in each.fetches))


@dataclass(frozen=True)
class Training:
    """How it went: where it stands, how many runs came to their end, and why it was over before
    all were made, in words; "" where it was not, or where `stop` says it. wrong: what was to be
    followed, and could not be."""

    stop: Stop
    made: int
    ended: str
    wrong: Mapping[str, GradstepError] = field(default_factory=dict)


class Trainer(Travel):
    """made: runs that came to their end; ended: why it was over before, in words; "" where it was
    not. wrong: as of Training."""

    made = 0
    ended = ""
    wrong: Mapping[str, GradstepError] = MappingProxyType({})

    def train(self, wish: Wish) -> Reason | None:
        """From the newest run on, whose end is the first step if it is not done yet; stands at the
        end of a run, or where that was stopped. What stopped it."""
        cursor, timeline = self.cursor, self.cursor.timeline
        last = timeline.runs - 1
        cursor.levels = [Level(timeline, last, timeline.done(last))]
        self.made, self.ended, self._wish, self._paused = 0, "", wish, False
        self.wrong = self._wrong = dict[str, GradstepError]()
        self._patience = Patience(wish.patience)
        self._looks = LookBudget(wish.share if wish.closer or wish.histograms else 0.0)
        if cursor.run.at_end and last == wish.known + 1:
            self._tell_of_made(last, cursor.frame())
        while self.made < wish.steps and not self.ended:
            stopped = self._next_run() or self._finish()
            if stopped is not None and not (stopped is Reason.PAUSE and cursor.run.at_end):
                return stopped
            self._note(cursor.run.number, cursor.frame())
            if stopped is not None or cursor.is_pausing:
                return Reason.PAUSE
        return None

    def _next_run(self) -> Reason | None:
        """To the start of the next run that is to be recorded: of the last one, or of that in which
        something happens."""
        cursor, ahead = self.cursor, self._wish.steps - self.made - 1
        if not cursor.run.at_end:
            return None
        if ahead < 1 or not cursor.timeline.can_skip or cursor.has_stops:
            return self.past_end()
        wish = self._wish
        self.skip(ahead, wish.fetches, self._after, wish.more, self._begin)
        return None

    def _begin(self, run: int) -> bool:
        """Before a run: whether it is looked at closely."""
        wish = self._wish
        due = wish.histograms is not None and wish.histograms.is_due(run)
        return self._looks.begin(run, due or wish.closer is not None)

    def _finish(self) -> Reason | None:
        """To the end of the run. A pause that came after a whole run is one at the end of this."""
        if self.cursor.has_stops or not self._paused:
            return self.forward(self._length)
        with self.cursor.unheeded():
            return self.forward(self._length)

    def _after(self, run: int, fetched: Fetched) -> Go:
        values = FetchedValues(fetched, self._wish.curves.holders)
        numbers, why = self._look(run, values)
        self._looks.read()
        if why:
            return Go.AGAIN
        self._tell(run, numbers)
        if self._looks.is_close:
            self._tell_closely(run, values)
        self._looks.end()
        self._paused = self.cursor.is_pausing
        return Go.NO_FARTHER if self._paused or self.ended else Go.ON

    def _tell_of_made(self, run: int, values: Values) -> None:
        """The run that is there already."""
        wish = self._wish
        numbers, _ = self._look(run, values)
        wish.tell(run, [*numbers, *([] if wish.validation is None else wish.validation.last)])
        self._tell_closely(run, values)

    def _note(self, run: int, values: Values) -> None:
        """A recorded run has come to its end."""
        numbers, ended = self._look(run, values)
        self.ended = self.ended or ended
        self._tell(run, numbers)
        self._tell_closely(run, values)

    def _tell(self, run: int, numbers: Sequence[float]) -> None:
        validation = self._wish.validation
        if validation is not None:
            self._validate(validation, run)
            numbers = [*numbers, *validation.last]
        self.made += 1
        self._wish.tell(run, numbers)
        self._wish.aside(run, lambda: self.cursor.timeline.variables)

    def _validate(self, validation: Validation, run: int) -> None:
        if not validation.is_due(run):
            return
        try:
            validation.measure(self.cursor.timeline.variables)
        except GradstepError as error:
            self.ended = f"the rows that are held back: {_said(error)}"

    def _look(self, run: int, values: Values) -> tuple[Sequence[float], str]:
        """What is followed, and why it is over; "" where it is not."""
        curves = self._wish.curves
        numbers = curves.read(values, self._wrong)
        try:
            if curves.ends(values):
                return numbers, f"{curves.until} holds"
        except GradstepError as error:
            return numbers, _said(error)
        return numbers, self._not_finite(values) or self._is_patience_over(run, values)

    def _tell_closely(self, run: int, values: Values) -> None:
        """What is followed in some of the runs alone."""
        closer = self._wish.closer
        numbers = [] if closer is None else closer.read(values, self._wrong)
        if numbers:
            self._wish.look(run, numbers)
        self._spread(run, values)

    def _spread(self, run: int, values: Values) -> None:
        wanted = self._wish.histograms
        if wanted is None or not wanted.is_due(run):
            return
        try:
            self._wish.spread(run, wanted.read(values))
        except GradstepError as error:
            self.ended = self.ended or _said(error)

    def _is_patience_over(self, run: int, values: Values) -> str:
        if not self._wish.patience or not self._wish.losses:
            return ""
        loss = values.value(self._wish.losses[0])
        return "" if loss is None else self._patience.ends(run, float(np.sum(loss)))

    def _not_finite(self, values: Values) -> str:
        for ref in self._wish.losses:
            value = values.value(ref)
            if value is not None and has_nonfinite(value):
                return f"{ref.short} is {'NaN' if np.isnan(value).any() else 'infinite'}"
        return ""


def _said(error: GradstepError) -> str:
    return "; ".join(filter(None, (error.message, error.hint)))
