"""A position on a timeline, and moving it forward until something stops it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from core.debug.breakpoints import Breakpoint
from core.debug.frame import Frame
from core.debug.stop import Reason
from core.debug.stops import StopPoints
from core.debug.timeline import Timeline
from core.errors import GradstepError
from core.graph.model import TensorRef
from core.ops.queue import WouldBlockError

_CHUNK = 64  # steps between two looks at the pause flag


class Cursor:
    """Stands after `step` steps of run number `run`.

    error: what failed on the last move; hit: the operation that met a breakpoint on it.
    resuming: the move before this one was paused, perhaps in the middle of a loop.
    """

    def __init__(self, timeline: Timeline, gradients: Mapping[TensorRef, TensorRef]) -> None:
        self.timeline = timeline
        self._gradients = gradients
        self._points = StopPoints(timeline.plan, ())
        self._pausing = threading.Event()
        timeline.heed(self._pausing.is_set)
        self.run = self.step = 0
        self.error: GradstepError | None = None
        self.hit = ""
        self.resuming = False

    @property
    def at_end(self) -> bool:
        return self.step == self.timeline.length

    def frame(self, run: int | None = None, step: int | None = None) -> Frame:
        """Values as of a step; by default, of this position."""
        return Frame(
            self.timeline,
            self._gradients,
            self.run if run is None else run,
            self.step if step is None else step,
        )

    def set_breakpoints(self, breakpoints: Sequence[Breakpoint]) -> None:
        self._points = StopPoints(self.timeline.plan, tuple(breakpoints))

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
        self._points.forget()
        self.run = self.step = 0

    def place(self, run: int, step: int) -> None:
        """Stand at a recorded position."""
        self.run, self.step = run, step

    def forward(self, limit: int, heed: bool = True) -> Reason | None:
        """Move to step `limit` of this run; what stopped it, or None. heed: stop at breakpoints,
        one at `limit` included."""
        for position in self._halts(limit, heed):
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

    def backward(self, limit: int) -> bool:
        """Move back to the last breakpoint before this position and not before step `limit`, or
        else to `limit`; whether a breakpoint was met."""
        for position in reversed([*self._points.between(limit - 1, self.step - 1)]):
            self.step = position
            if self.meets():
                return True
        self.step = limit
        return False

    def next_run(self, heed: bool = True) -> Reason | None:
        """From the end of a run to the start of the next; BREAKPOINT if one stops there."""
        if self.run + 1 == self.timeline.runs:
            self.timeline.begin_run()
        self.place(self.run + 1, 0)
        return Reason.BREAKPOINT if heed and self.meets() else None

    def meets(self) -> bool:
        """Whether a breakpoint stops here. A condition that cannot be evaluated stops, too."""
        return self.meets_of(self._points, (self.run,), self.step, self.frame)

    def meets_of(
        self,
        points: StopPoints,
        when: tuple[int, ...],
        step: int,
        look: Callable[[], Frame],
    ) -> bool:
        """Whether one of `points` stops at `step` of this run, or run and iteration."""
        self.hit = ""
        if step not in points.at:
            return False
        try:
            point = points.met(when, step, look())
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
