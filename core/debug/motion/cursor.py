"""The debugger's position: a level in the program's runs, and one in each loop it has gone into."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from operator import attrgetter
from time import perf_counter
from typing import NamedTuple

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.breaks.compiled_breakpoints import CompiledBreakpoints
from gradstep.core.debug.breaks.hit_counts import HitCounts, Passed, Path
from gradstep.core.debug.breaks.looked_values import LookedValues
from gradstep.core.debug.breaks.loop_breakpoints import LoopBreakpoints
from gradstep.core.debug.history.chosen_iterations import ChosenIterations
from gradstep.core.debug.history.frame import Frame, Losses
from gradstep.core.debug.history.iteration_target import view_at
from gradstep.core.debug.history.loop_iterations import LoopIterations, LoopView
from gradstep.core.debug.history.timeline import Timeline
from gradstep.core.debug.motion.level import Level
from gradstep.core.debug.motion.loop_place import Place
from gradstep.core.debug.motion.run_pace import RunPace
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.engine.run.loop_places import Places
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import graph_around, way_to
from gradstep.core.graph.model import Operation, Phase, TensorRef
from gradstep.core.ops.state.queue import WouldBlockError

_PLACE = attrgetter("place")


class Stretch(NamedTuple):
    """A way through a level. passed: places of breakpoints that are no halts; began: when, where
    none of the run had been done before."""

    level: Level
    start: int
    halts: Sequence[int]
    passed: Sequence[Passed]
    began: float | None


class Cursor:
    """Where a session stands, what there is to see and to stop at, and whether it is to pause.

    levels: in the program's runs, and in the loops within each other that it stands in, the
    innermost last. Each of the levels around stands before the loop that the next one is in.
    error: what failed on the last move; hit: the operation that met a breakpoint on it.
    resuming: the move before this one was paused, perhaps in the middle of a loop.
    """

    def __init__(
        self, timeline: Timeline, gradients: Mapping[TensorRef, TensorRef], losses: Losses
    ) -> None:
        self.timeline = timeline
        self.levels = [Level(timeline)]
        self._gradients, self._losses = gradients, losses
        self._hits = HitCounts()
        self._breakpoints: tuple[Breakpoint, ...] = ()
        self._points = CompiledBreakpoints(timeline.plan, (), self._hits)
        self.loop_points = LoopBreakpoints()
        self.pace = RunPace()
        self._pausing = threading.Event()
        timeline.heed(self._pausing.is_set)
        self.error: GradstepError | None = None
        self.hit = ""
        self.resuming = False
        self.chosen = ChosenIterations()

    # -- where it stands -----------------------------------------------------------------------

    @property
    def level(self) -> Level:
        """The innermost."""
        return self.levels[-1]

    @property
    def run(self) -> Level:
        """The place in the program's runs."""
        return self.levels[0]

    @property
    def is_inside(self) -> bool:
        """Whether it stands in a loop."""
        return len(self.levels) > 1

    @property
    def places(self) -> tuple[Place, ...]:
        """The loops that it stands in."""
        return tuple(map(_PLACE, self.levels[1:]))

    @property
    def next_op(self) -> Operation | None:
        """What the next step executes; None at the end of a run, or of an iteration."""
        step = self.level.next
        return None if step is None else step.op

    @property
    def at_loop(self) -> bool:
        """Whether the next step is a loop that is run: not in a branch that is not taken."""
        step = self.level.next
        if step is None or step.iteration is None:
            return False
        return step.guard is None or not self.frame().skips(step.op.name)

    def frame(self, run: int | None = None, step: int | None = None, inside: Places = ()) -> Frame:
        """Values as of a step, and of a place in the loop that comes then; by default, of this
        position, in its loops too."""
        here, everywhere = self.run, run is step is None
        loops = _views(self.levels) if everywhere and self.is_inside else ()
        run = here.number if run is None else run
        step = here.step if step is None else step
        if inside:
            depths = range(len(inside), 0, -1)
            loops = tuple(view_at(self.timeline, run, step, inside[:depth]) for depth in depths)
        return Frame(self.timeline, self._gradients, run, step, loops, self._losses)

    def view(self) -> Frame:
        """What is looked at from here: of loops the iterations that were chosen; where it goes back
        through a loop, the one on the way there; else the last."""
        frame, chosen = self.frame(), replace(self.chosen, paired=bool(self.timeline.plan.loops))
        return frame.looking_at(self._with_way_there(frame, chosen)) if chosen else frame

    def looked_at(self) -> ChosenIterations:
        """The iterations that `view` looks into: that were chosen, or in which it stands."""
        view = self.view()
        stands = {there.loop.name: there.number for there in view.loops}
        return replace(view.chosen, numbers={**view.chosen.numbers, **stands})

    def _with_way_there(self, frame: Frame, chosen: ChosenIterations) -> ChosenIterations:
        """With the iterations that the loops on the way back in which it stands go back through."""
        way: list[Operation] = []
        for back in reversed(frame.loops):
            op = back.loop.op
            forward = self._forward(op.origin) if op.phase is Phase.BACKWARD else None
            if forward is None:
                continue
            way.append(forward)
            there = frame.looking_at(chosen).view_of(way)
            if there is None or there.loop.count is None:
                continue
            chosen = chosen.with_total(forward.name, there.loop.count)
            if forward.name not in chosen.numbers:
                chosen = chosen.with_(forward.name, max(there.loop.count - 1 - back.number, 0))
        return chosen

    def _forward(self, name: str) -> Operation | None:
        """The loop of that name."""
        around = way_to(self.timeline.plan.graph, name)
        return None if around is None else graph_around(self.timeline.plan.graph, name)[name]

    # -- going in and out ----------------------------------------------------------------------

    def enter(self, resumed: bool = True) -> None:
        """Go into the loop that is the next step: to its start or, if `resumed`, to where it was
        paused. Raises GradstepError when it has run, and nothing is kept of it."""
        level = self.level
        inside = level.track.enter(level.number, level.step)
        there = inside.reached if resumed and self.resuming else (0, 0)
        self.levels.append(Level(inside, *there))

    def enter_kept(self) -> bool:
        """`enter` the next step if it is a loop that is run, and not over and forgotten; whether it
        is."""
        try:
            if self.at_loop:
                self.enter()
                return True
        except GradstepError:
            pass  # nothing can be seen in it
        return False

    def leave(self, depth: int = -1) -> None:
        """Stand before the loop; before the outermost: depth 1."""
        del self.levels[depth:]

    def retreat(self) -> None:
        """From the start of a run or an iteration to the end of the one before; from that of a loop
        to before it."""
        level = self.level
        if level.number:
            level.number -= 1
            level.step = level.length
        else:
            self.leave()

    def stand(self, run: int, step: int) -> None:
        """Anywhere in the runs, outside of loops."""
        self.levels = [Level(self.timeline, run, step)]

    def stand_inside(self, run: int, step: int, inside: Sequence[tuple[int, int]]) -> None:
        """In a loop of the runs, at iteration and step, and in loops inside that. Raises
        GradstepError where it has run, and nothing is kept of it."""
        self.stand(run, step)
        for number, at in inside:
            self.enter(resumed=False)
            self.level.number, self.level.step = number, at

    @property
    def hits(self) -> HitCounts:
        """How often breakpoints were hit, in these runs."""
        return self._hits

    def reset(self) -> None:
        """Back to the start of a timeline without a past."""
        self.timeline.reset()
        self._hits.forget()
        self.levels = [Level(self.timeline)]

    # -- stopping ------------------------------------------------------------------------------

    def set_breakpoints(self, breakpoints: Sequence[Breakpoint]) -> None:
        """Replace all. Raises GradstepError for a condition that cannot be read."""
        hits = HitCounts()
        self._points = CompiledBreakpoints(self.timeline.plan, breakpoints, hits)
        self.loop_points, self._hits = LoopBreakpoints(breakpoints, hits), hits
        self._breakpoints = tuple(breakpoints)

    def follow(self, other: Cursor) -> None:
        """Be what moves in the place of `other`, whose program was another one: be paused as it
        was, and stop where it would, as far as breakpoints can be read here."""
        self._pausing, self.error, self.hit = other._pausing, None, ""
        self.timeline.heed(self._pausing.is_set)
        self.set_readable(other._breakpoints)

    def set_readable(self, breakpoints: Sequence[Breakpoint]) -> None:
        """Replace all; those that cannot be read here are kept, and stop nowhere."""
        self.set_breakpoints([one for one in breakpoints if self._can_read(one)])
        self._breakpoints = tuple(breakpoints)

    def _can_read(self, breakpoint: Breakpoint) -> bool:
        try:
            CompiledBreakpoints(self.timeline.plan, (breakpoint,), HitCounts())
        except GradstepError:
            return False
        return True

    @property
    def hit_counts(self) -> tuple[int, ...]:
        """How often each breakpoint was hit, in the order in which they were set."""
        return tuple(map(self._hits.of, self._breakpoints))

    @property
    def points(self) -> CompiledBreakpoints:
        """The breakpoints of the level it stands in."""
        if len(self.levels) == 1:
            return self._points
        track = self.level.track
        return self.loop_points.of(track.name, track.plan)

    @property
    def has_stops(self) -> bool:
        """Whether breakpoints may stop somewhere in a run, or in its loops."""
        plan = self.timeline.plan
        return bool(self._points.at) or bool(self.loop_points.loops(plan))

    def stretch(self, limit: int, loops: Sequence[int], heed: bool) -> Stretch:
        """The way to step `limit` of this level: where to look around, ascending, `limit` included,
        which is at breakpoints if it is to `heed` them, before `loops`, and now and then."""
        level, points = self.level, self.points
        start = level.step
        stops = points.halts(start, limit, passing=not loops) if heed else ()
        looks = self.pace.looks(level.plan, start, limit)
        halts = [limit]  # nearly always so
        if stops or loops or looks:
            halts = sorted({limit, *looks, *loops, *stops})
        passed = points.passed if heed and not loops else ()
        is_new = start == 0 and level.lacking(1) is not None
        return Stretch(level, start, halts, passed, perf_counter() if is_new else None)

    def gone(self, stretch: Stretch) -> None:
        """That it was gone, as far as that went: for the hits of breakpoints that were no halts."""
        level = stretch.level
        if stretch.passed:
            way, start = self._way(), stretch.start
            self.points.count(stretch.passed, way, start, level.step, level.at_end)
        if stretch.began is not None and level.at_end:
            self.pace.note(level.plan, perf_counter() - stretch.began)

    def _way(self) -> Path:
        """The run, or what leads to the iteration that it stands in."""
        way: Path = (self.level.number,)
        for around in reversed(self.levels[:-1]):
            way = around.number, around.step, *way
        return way

    def meets(self, logs: bool = True) -> bool:
        """Whether a breakpoint stops here. A condition that cannot be evaluated stops, too. logs:
        whether those write that only log; on the way back they do not."""
        self.hit = ""
        level, points = self.level, self.points
        if level.step not in points.at:
            return False
        try:
            point = points.met(self._way(), level.step, self._looked, level.at_end, logs)
        except GradstepError as error:
            self.error = error.bare()
            return True
        self.hit = "" if point is None else point.operation
        return point is not None

    def _looked(self) -> LookedValues:
        return LookedValues(self.frame())

    def stopped_by(self, error: GradstepError) -> Reason:
        """Take down what kept a step from being done, and say what that is to the session."""
        self.error = error.bare()
        return Reason.BLOCKED if isinstance(error, WouldBlockError) else Reason.EXCEPTION

    def ready(self) -> None:
        """Before a move: forget what the last one met."""
        self.resuming = self.is_pausing
        self._pausing.clear()
        self.error = None
        self.hit = ""

    @property
    def is_pausing(self) -> bool:
        """Whether the move that is under way is to end."""
        return self._pausing.is_set()

    @property
    def pausing(self) -> Callable[[], bool]:
        """What says whether the move that is under way is to end."""
        return self._pausing.is_set

    @contextmanager
    def unheeded(self) -> Iterator[None]:
        """Inside, a pause waits."""
        pausing, self._pausing = self._pausing, threading.Event()
        self.timeline.heed(self._pausing.is_set)
        try:
            yield
        finally:
            self._pausing = pausing
            self.timeline.heed(pausing.is_set)

    def pause(self) -> None:
        """From any thread: end the move that is under way."""
        self._pausing.set()


def _views(levels: Sequence[Level]) -> tuple[LoopView, ...]:
    """Of the loops among them, the innermost first."""
    return tuple(
        LoopView(level.track, level.number, level.step)
        for level in reversed(levels)
        if isinstance(level.track, LoopIterations)
    )
