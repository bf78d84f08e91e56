"""Going through the moments of a run in the order of time, those in its loops included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from gradstep.core.cancellation import check_cancelled
from gradstep.core.debug.breaks.hit_counts import Path
from gradstep.core.debug.history.frame import Frame
from gradstep.core.debug.history.loop_iterations import LoopIterations, LoopView
from gradstep.core.debug.motion.level import Level
from gradstep.core.debug.motion.loop_place import Place
from gradstep.core.debug.query.moments import PlanMoments, Subjects
from gradstep.core.errors import GradstepError


@dataclass(frozen=True, slots=True)
class Moment:
    """frame: the values there; path, inside: where that is, as of an Answer; node: the operation
    that was done, "" at the begin of a run or an iteration. subjects: what to ask about."""

    frame: Frame
    path: Path
    inside: tuple[Place, ...]
    node: str
    subjects: Subjects


class RunWalk:
    """Of one program. lost: how many loops were passed of which nothing is kept."""

    def __init__(self, moments: PlanMoments) -> None:
        self._moments = moments
        self.lost = 0

    def through(self, frame: Frame, is_first: bool) -> Iterator[Moment]:
        """The moments of the run that `frame` is of, as far as it is done. is_first: whether
        nothing was there before."""
        timeline, run = frame.timeline, frame.run
        here = replace(frame, step=0, loops=())
        begin = [*self._moments.begin, *(self._moments.first if is_first else ())]
        yield from self._along(here, (run,), (), begin, self._moments, timeline.done(run))

    def _along(
        self,
        frame: Frame,
        path: Path,
        inside: tuple[Place, ...],
        begin: Subjects,
        moments: PlanMoments,
        done: int,
    ) -> Iterator[Moment]:
        """Steps of one run or iteration, up to `done`; a loop that comes next is under way."""
        plan, _ = frame.innermost
        if begin:
            yield Moment(frame, (*path, 0), inside, "", list(dict.fromkeys(begin)))
        for position in moments.positions:
            step = position - 1
            if step > done:
                return
            if step in moments.loops:
                before = _at(frame, step)
                yield from self._into(before, (*path, step), inside, moments.loops[step])
            subjects = moments.at.get(position, ())
            if subjects and position <= done:
                there, done_step = _at(frame, position), plan.steps[step]
                name = done_step.op.name
                if done_step.guard is None or not there.skips(name):
                    yield Moment(there, (*path, position), _moved(inside, position), name, subjects)

    def _into(
        self, frame: Frame, path: Path, inside: tuple[Place, ...], moments: PlanMoments
    ) -> Iterator[Moment]:
        """The iterations of the loop that stands before `frame`, as far as they are done."""
        loop = self._entered(frame)
        if loop is None:
            return
        for number in count():
            check_cancelled()
            level = Level(loop, number)
            reached, step = loop.reached
            is_live = number == reached and loop.count is None
            done = step if is_live else level.length
            begin = [*moments.begin, *(() if number else moments.first)]
            here = replace(frame, loops=(LoopView(loop, number, 0), *frame.loops))
            around = (*_moved(inside, path[-1]), level.place)
            yield from self._along(here, (*path, number), around, begin, moments, done)
            if is_live or loop.is_last(number):
                return

    def _entered(self, frame: Frame) -> LoopIterations | None:
        """None where the loop is not run, has not begun, or nothing is kept of it."""
        plan, step = frame.innermost
        if frame.skips(plan.steps[step].op.name):
            return None
        try:
            if not frame.loops:
                return frame.timeline.enter(frame.run, step)
            return frame.loops[0].loop.enter(frame.loops[0].number, step)
        except GradstepError:
            self.lost += 1
            return None


def _at(frame: Frame, step: int) -> Frame:
    """The same of another step of its innermost level."""
    loops = frame.loops
    if loops:
        loops = LoopView(loops[0].loop, loops[0].number, step), *loops[1:]
    outer = frame.step if loops else step
    return Frame(frame.timeline, frame.gradients, frame.run, outer, loops, frame.losses)


def _moved(inside: Sequence[Place], step: int) -> tuple[Place, ...]:
    """The places, the innermost at another step."""
    return (*inside[:-1], replace(inside[-1], step=step)) if inside else ()
