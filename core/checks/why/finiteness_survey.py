"""Whether what a run computed is finite: looked for after the run, a little at a time.

Nothing is added to the steps of a run. A value is looked at where it lies, by the sum of its
squares, which is not finite where an element is not; only where that is so, by its elements.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress, repeat
from operator import is_not, or_
from typing import Any, Literal

import numpy as np

from gradstep.core.checks.why.recorded_values import Recorded, WholeRun
from gradstep.core.checks.why.step_on_other_inputs import Again
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.step_groups import owner
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.graph.splat_array import element_of, is_splat
from gradstep.core.protocol.vocabulary import NonFinite

_AT_ONCE = 64  # values between two looks at the clock
_STEPS_AT_ONCE = 256  # that are likewise looked through for values
_KEPT = 8  # runs of which it is remembered what was found
_FIRST_RUN = (0,)  # its rank
_UNKNOWN = object()
_NUMBERS = frozenset(dtype for dtype in DType if dtype.is_floating or dtype.is_complex)


@dataclass(frozen=True, slots=True)
class First:
    """An operation that made the first NaN ("nan") or infinity ("inf") of a run, out of values that
    held none; or that held it when the run began. tensor: the first of its results that is so;
    step: its number in the plan; -1 for the beginning."""

    op: Operation
    tensor: TensorRef
    kind: NonFinite
    step: int


@dataclass
class Survey:
    """What was found in one run so far.

    looked:  steps that have been looked at; done: those that the run has executed.
    first:   what made the first number that is not finite; first_nan: the first NaN.
    nodes:   the user's operations that hold some, those on the way back counted with the one that
             they belong to.
    reached: whether something has it that was asked for, or that lasts: a fetch, a variable.
    """

    looked: int = 0
    done: int = 0
    first: First | None = None
    first_nan: First | None = None
    nodes: set[str] = field(default_factory=set)
    reached: bool = False

    @property
    def complete(self) -> bool:
        return self.looked == self.done


class Surveyor:
    """Looks through the runs of one session. before: who looked through those of the program before
    an edit."""

    def __init__(self, session: DebugSession, before: Surveyor | None = None) -> None:
        self.session, self._again = session, Again(session)
        self._made = _NumbersMade(session.plan)
        self._starts: _SoundStarts = _SoundStarts(
            session, None if before is None else before._starts
        )
        self._looks: OrderedDict[int, _Look] = OrderedDict()

    def forget_runs(self) -> None:
        """The session shows another branch: what was found is of other runs."""
        self._looks.clear()
        if self._made.plan is not self.session.plan:
            self._made = _NumbersMade(self.session.plan)

    def look(self, number: int, seconds: float) -> Survey:
        """Go on with run `number`, for so long at most."""
        run = Recorded(self.session).run(number)
        look = self._looks.pop(number, None)
        if look is None or look.found.looked > run.done:
            look = _Look(self._again, self._made, self._starts, run)
        self._looks[number] = look
        if len(self._looks) > _KEPT:
            self._looks.popitem(last=False)
        look.go_on(run, time.monotonic() + seconds)
        return look.found


class _NumbersMade:
    """Step and value of each number that a plan computes anew in every run, in order; of the first
    `done` steps."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.found: list[tuple[int, int]] = []
        self.done = 0

    @cached_property
    def lasting(self) -> frozenset[int]:
        """The values that are fetched, and what variables hold in the end."""
        plan = self.plan
        fetched = (plan.tensors.get(ref) for ref in plan.fetches)
        values = (plan.newest(x) if isinstance(x, str) else x for x in fetched if x is not None)
        return frozenset(values).union(versions[-1] for versions in plan.versions.values())

    def go_on(self, step: int) -> None:
        """With some steps more, up to `step`: early in a long run, and late in one that was looked
        at before, these are few."""
        steps, values = self.plan.steps, self.plan.values
        stop = min(step, self.done + _STEPS_AT_ONCE)
        for number in range(self.done, stop):
            if (made := steps[number]).reads:
                numbers = (i for i in made.writes if values[i].type.dtype in _NUMBERS)
                self.found += [(number, index) for index in numbers]
        self.done = max(self.done, stop)


class _SoundStarts:
    """The arrays with which variables begin before run 0, by the variables' names, of which it is
    known that they are finite. Nobody writes to these, and an edit leaves most of them as they
    are."""

    def __init__(self, session: DebugSession, before: _SoundStarts | None) -> None:
        self._session = session
        self.known: Mapping[str, object] = {} if before is None else before.known
        # Of which versions of variables, in which store as it was, all are known to be sound.
        self._sound: tuple[object, ...] = () if before is None else before._sound
        self._learns = True  # whether something was to be found out when it was last asked

    def unknown(self, run: WholeRun) -> list[int]:
        """The first versions of variables of which something may have to be found out."""
        is_first = run.rank == _FIRST_RUN and not run.is_shared
        if is_first and not run.given and self._is_sound(run):
            self._learns = False
            return []
        names, firsts = self._variables(run)
        if not is_first:
            return firsts
        held = map(self._session.timeline.start.get, names)
        others = map(is_not, held, map(self.known.get, names, repeat(_UNKNOWN)))
        if given := run.given:
            others = map(or_, others, map(given.__contains__, firsts))
        found = [*compress(firsts, others)]
        self._learns = bool(found)
        return found

    def note(self, run: WholeRun, bad: Mapping[int, bool]) -> None:
        """All but `bad` of what that run began with were found to be finite."""
        if run.rank != _FIRST_RUN or not run.is_own:
            return
        start = self._session.timeline.start
        self._sound = () if bad else (run.plan.versions, start, start.version)
        if not self._learns:
            return
        names, firsts = self._variables(run)
        held = [*map(start.get, names)]
        known = dict(compress(zip(names, held, strict=True), map(is_not, held, repeat(None))))
        for name in compress(names, map(bad.__contains__, firsts)) if bad else ():
            known.pop(name, None)
        self.known = known

    def _is_sound(self, run: WholeRun) -> bool:
        start = self._session.timeline.start
        known = len(self._sound) == 3 and self._sound[0] is run.plan.versions
        return known and self._sound[1] is start and self._sound[2] == start.version

    def _variables(self, run: WholeRun) -> tuple[list[str], list[int]]:
        """Their names, and what they begin a run with."""
        versions = run.plan.versions
        return [*versions], [each[0] for each in versions.values()]


class _Look:
    """The state of looking through one run. bad: the values that are not finite -> whether they
    hold a NaN; has_lasting: whether one of them lasts."""

    def __init__(
        self, again: Again, made: _NumbersMade, starts: _SoundStarts, run: WholeRun
    ) -> None:
        self.found = Survey()
        self._again, self._made = again, made
        self._bad: dict[int, bool] = {}
        self._has_lasting = False
        self._next = 0
        self._look_at_beginning(run, starts)

    def go_on(self, run: WholeRun, until: float) -> None:
        """Look at what has been executed since, until it is that late."""
        found, made = self.found, self._made
        if found.complete and found.done == run.done and found.done:
            return
        value, found.done = run.values(), run.done
        with np.errstate(all="ignore"):
            while (end := self._end(run.done)) > self._next:
                stop = min(self._next + _AT_ONCE, end)
                for number, index in made.found[self._next : stop]:
                    if not self._is_finite(value(index)):
                        self._look_at(run, number, index, value(index))
                self._next = stop
                if time.monotonic() > until:
                    break
        is_over = self._next == end and made.done >= run.done
        found.looked = run.done if is_over else self._reached(made)
        found.reached = found.first is not None and self._has_lasting

    def _end(self, done: int) -> int:
        """How many of the values are made by the first `done` steps, as far as they are known; one
        more than were looked at, if there are."""
        made = self._made
        while self._next == len(made.found) and made.done < done:
            made.go_on(done)
        return len(made.found) if made.done <= done else bisect_left(made.found, (done,))

    def _reached(self, made: _NumbersMade) -> int:
        """The first step that was not looked at."""
        return made.found[self._next][0] if self._next < len(made.found) else made.done

    def _look_at_beginning(self, run: WholeRun, starts: _SoundStarts) -> None:
        """Feeds, and what variables begin with: infinities there are meant."""
        values, first = run.plan.values, run.beginning()
        for index in (*run.plan.fed, *starts.unknown(run)):
            held = first(index) if values[index].type.dtype in _NUMBERS else None
            kind = "" if held is None or self._is_finite(held) else self._kind(held)
            if not kind:
                continue
            self._keep(index, kind)
            op = run.plan.graph.operations.get(run.tensor(index).op)
            if kind == "nan" and op is not None:
                self._note(First(op, run.tensor(index), kind, -1))
        starts.note(run, self._bad)

    def _look_at(self, run: WholeRun, number: int, index: int, held: Any) -> None:
        """A value whose sum of squares is not finite."""
        kind = self._kind(held) if run.has_run(number) else ""
        if not kind:
            return
        step = run.plan.steps[number]
        self._keep(index, kind)
        self.found.nodes.add(owner(step.op))
        self._look_at_constants(run, step.reads)
        before = [self._bad[i] for i in step.reads if i in self._bad]
        if not before or (kind == "nan" and not any(before)):
            self._note(First(step.op, run.tensor(index), kind, number))

    def _look_at_constants(self, run: WholeRun, reads: Sequence[int]) -> None:
        """What is made from nothing, and so not looked at before: an infinity that is drawn is
        meant."""
        for index in reads:
            made = run.plan.maker(index)
            numbers = run.plan.values[index].type.dtype in _NUMBERS
            if made is None or made.reads or not numbers or index in self._bad:
                continue
            kind = self._kind(run.held(index))
            if kind:
                self._keep(index, kind)
            if kind == "nan":
                self._note(First(made.op, run.tensor(index), kind, run.plan.made_by[index]))

    def _keep(self, index: int, kind: str) -> None:
        """A value that is not finite: once for each, for a run may hold nothing else."""
        self._bad[index] = kind == "nan"
        self._has_lasting = self._has_lasting or index in self._made.lasting

    def _note(self, maker: First) -> None:
        found = self.found
        found.first = found.first or maker
        if maker.kind == "nan":
            found.first_nan = found.first_nan or maker

    def _is_finite(self, held: Any) -> bool:
        """False where an element is not finite, and where the squares are too large to be added
        up."""
        if type(held) is np.ndarray:
            held = element_of(held) if is_splat(held) else held
            return math.isfinite(abs(np.vdot(held, held)))
        return held is None or bool(self._again.array((held * 0 == 0).all()))

    def _kind(self, held: Any) -> NonFinite | Literal[""]:
        """ "nan" or "inf" where an element is, else ""."""
        x = self._again.array(held)
        x = element_of(x) if is_splat(x) else x
        return "nan" if np.isnan(x).any() else "inf" if np.isinf(x).any() else ""
