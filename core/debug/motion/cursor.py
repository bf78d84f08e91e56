"""A position on a timeline, and moving it forward until something stops it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from gradstep.core.cancellation import check_cancelled
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.breaks.compiled_breakpoints import CompiledBreakpoints
from gradstep.core.debug.breaks.hit_counts import HitCounts, Path
from gradstep.core.debug.history.frame import Frame, Losses
from gradstep.core.debug.history.timeline import Timeline
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.engine.plan.compile_plan import Step
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.state.queue import WouldBlockError

_CHUNK = 64  # steps between two looks at whether to go on


class Cursor:
    """Stands after `step` steps of run number `run`.

    error: what failed on the last move; hit: the operation that met a breakpoint on it.
    resuming: the move before this one was paused, perhaps in the middle of a loop.
    """

    def __init__(
        self, timeline: Timeline, gradients: Mapping[TensorRef, TensorRef], losses: Losses
    ) -> None:
        self.timeline = timeline
        self._gradients, self._losses = gradients, losses
        self._hits = HitCounts()
        self._points = CompiledBreakpoints(timeline.plan, (), self._hits)
        self._pausing = threading.Event()
        timeline.heed(self._pausing.is_set)
        self.run = self.step = 0
        self.error: GradstepError | None = None
        self.hit = ""
        self.resuming = False

    @property
    def at_end(self) -> bool:
        return self.step == self.timeline.length

    @property
    def next(self) -> Step | None:
        """The step that comes next; None at the end of a run."""
        return None if self.at_end else self.timeline.plan.steps[self.step]

    def frame(self, run: int | None = None, step: int | None = None) -> Frame:
        """Values as of a step; by default, of this position."""
        return Frame(
            self.timeline,
            self._gradients,
            self.run if run is None else run,
            self.step if step is None else step,
            losses=self._losses,
        )

    def set_breakpoints(self, breakpoints: Sequence[Breakpoint], hits: HitCounts) -> None:
        """Replace all; `hits` counts theirs."""
        self._points, self._hits = CompiledBreakpoints(self.timeline.plan, breakpoints, hits), hits

    def ready(self) -> None:
        """Before a move: forget what the last one met."""
        self.resuming = self.pausing
        self._pausing.clear()
        self.error = None
        self.hit = ""

    @property
    def pausing(self) -> bool:
        """Whether the move that is under way is to end."""
        return self._pausing.is_set()

    def pause(self) -> None:
        """From any thread: end the move that is under way."""
        self._pausing.set()

    def reset(self) -> None:
        """Back to the start of a timeline without a past."""
        self.timeline.reset()
        self._hits.forget()
        self.run = self.step = 0

    def place(self, run: int, step: int) -> None:
        """Stand at a recorded position."""
        self.run, self.step = run, step

    def forward(self, limit: int, heed: bool = True) -> Reason | None:
        """Move to step `limit` of this run; what stopped it, or None. heed: stop at breakpoints,
        one at `limit` included."""
        for position in self._halts(limit, heed):
            check_cancelled()
            self.step, self.error = self.timeline.reach(self.run, position)
            if self.error is not None:
                return self.stopped_by(self.error)
            if self.step < position:  # a loop was left
                return Reason.PAUSE
            if heed and self.meets():
                return Reason.BREAKPOINT
            if self.pausing:
                return Reason.PAUSE
        return None

    def stopped_by(self, error: GradstepError) -> Reason:
        """Take down what kept a step from being done, and say what that is to the session."""
        self.error = error
        return Reason.BLOCKED if isinstance(error, WouldBlockError) else Reason.EXCEPTION

    def backward(self, limit: int) -> Reason | None:
        """Move back to the last breakpoint before this position and not before step `limit`, or
        else to `limit`; what stopped it, or None."""
        for position in reversed([*self._points.between(limit - 1, self.step - 1)]):
            self.step = position
            if self.meets():
                return Reason.BREAKPOINT
        self.step = limit
        return None

    def next_run(self, heed: bool = True) -> Reason | None:
        """From the end of a run to the start of the next; BREAKPOINT if one stops there."""
        if self.run + 1 == self.timeline.runs:
            self.timeline.begin_run()
        self.place(self.run + 1, 0)
        return self.stopped_here() if heed else None

    def stopped_here(self) -> Reason | None:
        """BREAKPOINT if one stops here."""
        return Reason.BREAKPOINT if self.meets() else None

    def meets(self) -> bool:
        """Whether a breakpoint stops here. A condition that cannot be evaluated stops, too."""
        return self.meets_of(self._points, (self.run,), self.step, self.frame)

    def meets_of(
        self,
        points: CompiledBreakpoints,
        way: Path,
        step: int,
        look: Callable[[], Frame],
        at_end: bool = False,
    ) -> bool:
        """Whether one of `points` stops at `step`; see `CompiledBreakpoints.met`."""
        self.hit = ""
        if step not in points.at:
            return False
        try:
            point = points.met(way, step, look, at_end)
        except GradstepError as error:
            self.error = error
            return True
        self.hit = "" if point is None else point.operation
        return point is not None

    def _halts(self, limit: int, heed: bool) -> list[int]:
        """Where to look around on the way to `limit`, ascending, `limit` included."""
        halts = {limit, *range(self.step + _CHUNK, limit, _CHUNK)}
        if heed:
            halts.update(self._points.between(self.step, limit))
        return sorted(halts)
