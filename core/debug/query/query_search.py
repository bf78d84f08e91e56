"""Looking for what a query asks: over recorded runs, and those that are made again for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from gradstep.core.debug.breaks.expression import Expression, Scope, parse
from gradstep.core.debug.breaks.expression_names import find_mentions
from gradstep.core.debug.breaks.hit_counts import Path
from gradstep.core.debug.breaks.looked_values import LookedValues
from gradstep.core.debug.history.passing_runs import pass_over, stretches
from gradstep.core.debug.history.program_tensors import find_tensor
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.query.condition_parts import locate
from gradstep.core.debug.query.moment_walk import Moment, RunWalk
from gradstep.core.debug.query.moments import MomentFinder
from gradstep.core.debug.query.recorded_query import Answer, Answers, Query, Which
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.state.print_output import nowhere, printing_to
from gradstep.core.progress import tell_progress

_BACKWARD = (Which.PREVIOUS, Which.LAST)
_ONE = (Which.FIRST, Which.NEXT)


def find(session: DebugSession, query: Query) -> Answers:
    """What the runs of the session's timeline say, those that are not recorded any more included.
    The session stands where it stood. Raises GradstepError for an expression that cannot be read,
    names what there is not, or fits no value."""
    expression = parse(query.text)
    for _, ref in find_mentions(query.text):
        find_tensor(session.program, ref.short)
    return _Search(session, query, expression).answers()


@dataclass
class _Search:
    """One query on its way."""

    session: DebugSession
    query: Query
    expression: Expression
    found: list[Answer] = field(default_factory=list)
    count: int = 0
    runs: int = 0
    repeated: int = 0
    lost: int = 0
    fits: bool = False  # whether it could be evaluated somewhere
    error: GradstepError | None = None  # why not, the first time
    _read: Callable[[int], Any] | None = None  # the values of the run that is looked at
    _known: dict[TensorRef | None, bool] = field(default_factory=dict)  # of constants

    def answers(self) -> Answers:
        self._walk = self._begun()
        with np.errstate(all="ignore"), printing_to(nowhere):  # what is made again was printed
            self._backward() if self.query.which in _BACKWARD else self._forward()
        if self.error is not None and not self.fits:
            raise self.error
        lost = self.lost + self._walk.lost
        return Answers(self.found, self.count, self.runs, self.repeated, lost)

    def _begun(self) -> RunWalk:
        timeline = self.session.timeline
        varying = {} if timeline.batches is None else timeline.batches.types
        finder = MomentFinder(self.expression, self.session.frame(), varying)
        return RunWalk(finder.of_runs(timeline.plan))

    @cached_property
    def _here(self) -> Path:
        return tuple(chain.from_iterable(self.session.stop.place))

    @property
    def _covered(self) -> range:
        """The runs in question."""
        timeline, here = self.session.timeline, self._here[0]
        first = here if self.query.which is Which.NEXT else timeline.first
        last = here if self.query.which in _BACKWARD else timeline.runs - 1
        return range(first, last + 1)

    def _forward(self) -> None:
        for run in self._passed(self._covered):
            for moment, subject in self._in(run):
                self.count += 1
                if len(self.found) < self.query.most:
                    self.found.append(_answer(self.expression.text, moment, subject))
                if self.query.which in _ONE:
                    return

    def _backward(self) -> None:
        """The last one of a stretch, which is gone over forward; of the last stretch that has
        any."""
        for runs in reversed(stretches(self.session.timeline, self._covered)):
            last = None
            for run in self._passed(runs):
                for moment, subject in deque(self._in(run), maxlen=1):
                    last = _answer(self.expression.text, moment, subject)
            if last is not None:
                self.found, self.count = [last], 1
                return

    def _passed(self, runs: range) -> Iterator[int]:
        covered = len(self._covered)
        for run, again in pass_over(self.session.timeline, runs, self.expression.runs_back):
            tell_progress("Looking through runs", self.runs, covered)
            self.runs += 1
            self.repeated += again
            yield run

    def _in(self, run: int) -> Iterator[tuple[Moment, TensorRef | None]]:
        """Where it holds in a run that is passed over, and of what."""
        frame, is_first = self.session.frame(run, 0), run == self.session.timeline.first
        timeline = self.session.timeline
        is_over = run < timeline.runs - 1 and not timeline.link.names
        self._read = timeline.values(run) if is_over else None
        for moment in self._walk.through(frame, is_first):
            if self._is_asked_for(moment.path):
                for subject in moment.subjects:
                    if self._holds_of(moment, subject):
                        yield moment, subject

    def _holds_of(self, moment: Moment, subject: TensorRef | None) -> bool:
        """What is asked of a constant alone is asked once."""
        if subject not in self._constants:
            return self._holds(moment, subject)
        if subject not in self._known:
            self._known[subject] = self._holds(moment, subject)
        return self._known[subject]

    @cached_property
    def _constants(self) -> Collection[TensorRef | None]:
        if self.expression.bare != {"value"} or self.expression.recorded or self._mentions:
            return ()
        plan = self.session.timeline.plan
        makers = (step.op for step in plan.steps if step.op.type == "Const")
        return {op.output() for op in makers}

    def _is_asked_for(self, path: Path) -> bool:
        which, here = self.query.which, self._here
        if which in (Which.FIRST, Which.EVERY):
            return True
        if which is Which.NEXT:
            return path > here
        return path < here or (which is Which.LAST and path == here)

    def _holds(self, moment: Moment, subject: TensorRef | None) -> bool:
        """Of an expression about whatever there is, what it does not fit is passed over."""
        looked = LookedValues(moment.frame, self._read)
        try:
            value = self.expression.evaluate(Scope(looked, subject), True)
        except GradstepError as error:
            if not self.expression.bare:
                raise
            self.error = self.error or error
            return False
        self.fits = self.fits or value is not None
        if value is None and moment.inside:
            asked = [ref for _, ref in self._mentions] if subject is None else [subject]
            self.lost += any(map(moment.frame.is_dropped, asked))
        return _is_true(value)

    @cached_property
    def _mentions(self) -> list[tuple[str, TensorRef]]:
        return find_mentions(self.expression.text)


def _is_true(value: Any) -> bool:
    """As of a condition: where any element is."""
    if value is None:
        return False
    return bool(value.any() if type(value) is np.ndarray else np.any(value))


def _answer(text: str, moment: Moment, subject: TensorRef | None) -> Answer:
    index, value = locate(text, Scope(LookedValues(moment.frame), subject))
    named = subject or next((ref for _, ref in find_mentions(text)), None)
    node = moment.node or (named.op if named else "")
    whole = value.copy() if isinstance(value, np.ndarray) else value  # it lies in what passes
    return Answer(moment.path, moment.inside, node, named, index, whole)
