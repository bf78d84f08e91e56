"""Going along a position's levels: forward, through loops and out of them, and back."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.cancellation import check_cancelled
from gradstep.core.debug.history.fast_runs import Fetch, Fetched, Go
from gradstep.core.debug.history.timeline import After, Looks, go_on, look_never
from gradstep.core.debug.motion.cursor import Cursor
from gradstep.core.debug.motion.level import Level
from gradstep.core.debug.motion.stopped_state import Reason


class Travel:
    """Moves `cursor`, in a program's runs and in the iterations of a loop alike. What it returns is
    what stopped it; None where nothing did."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self._plan = cursor.timeline.plan
        self._length = cursor.timeline.length

    def forward(self, limit: int, heed: bool = True, through: bool = True) -> Reason | None:
        """To step `limit` of the level it stands in; what stopped it. heed: stop at breakpoints,
        one at `limit` included; through: also at those in loops on the way."""
        cursor, level = self.cursor, self.cursor.level
        loops = self._loops(level.step, limit) if heed and through else ()
        stretch = cursor.stretch(limit, loops, heed)
        try:
            for halt in stretch.halts:
                if halt > level.step:
                    check_cancelled()
                    run = level.lacking(halt)
                    error = None if run is None else run.reach(halt)
                    level.stand(halt)
                    if error is not None:
                        return cursor.stopped_by(error)
                    if level.step < halt and not level.at_end:  # a loop was left
                        return Reason.PAUSE
                    if heed and cursor.meets():
                        return Reason.BREAKPOINT
                    if cursor.is_pausing:
                        return Reason.PAUSE
                if halt in loops and halt == level.step:
                    stopped = self._through_loop()
                    if stopped is not None:
                        return stopped
            return None
        finally:
            cursor.gone(stretch)

    def to_run(self) -> Reason | None:
        """Out of all loops; or from the end of a run to the start of the next."""
        if self.cursor.is_inside:
            return self._out_to(1)
        return self.past_end() if self.cursor.run.at_end else None

    def past_end(self, heed: bool = True) -> Reason | None:
        """From the end of a run or an iteration to the start of the next, or out of the loop."""
        cursor, level = self.cursor, self.cursor.level
        if level.is_over:
            return self.past_loop()
        error = level.track.advance(level.number)
        if error is not None:
            return cursor.stopped_by(error)
        level.number, level.step = level.number + 1, 0
        return Reason.BREAKPOINT if heed and cursor.meets() else None

    def skip(
        self,
        count: int,
        fetches: Sequence[Fetch] = (),
        after: After = go_on,
        more: Sequence[Fetch] = (),
        looks: Looks = look_never,
    ) -> None:
        """From the end of the newest run to the start of one behind it: see `Timeline.skip`. A
        pause ends that."""
        cursor = self.cursor

        def heed(run: int, values: Fetched) -> Go:
            go = after(run, values)
            return Go.NO_FARTHER if go is Go.ON and cursor.is_pausing else go

        cursor.timeline.skip(count, fetches, heed, more, looks)
        cursor.levels = [Level(cursor.timeline, cursor.timeline.runs - 1)]

    def past_loop(self) -> Reason | None:
        """Out of the innermost loop, however often it goes round."""
        self.cursor.leave()
        return self.forward(self.cursor.level.step + 1, through=False)

    def back_along(self) -> None:
        """Back to the last place in this level where a breakpoint may stop, or to the end of a loop
        that breakpoints are in; or to the start of the run, or to before that of the iteration."""
        cursor, level = self.cursor, self.cursor.level
        place = cursor.points.last_before(level.step)
        loop = max(self._loops(0, level.step), default=-1)
        if loop >= max(place, 0):
            level.step = loop
            if cursor.enter_kept():
                cursor.level.to_end()
        elif place >= 0:
            level.step = place
        else:
            level.step = 0
            if cursor.is_inside:
                cursor.retreat()

    def _through_loop(self) -> Reason | None:
        """Through the loop that is the next step, unless it is not run, or cannot be seen any
        more."""
        depth = len(self.cursor.levels)
        if not self.cursor.enter_kept():
            return None
        return Reason.BREAKPOINT if self.cursor.meets() else self._out_to(depth)

    def _out_to(self, depth: int) -> Reason | None:
        """On, out of loops until no more than so many levels are left."""
        cursor, stopped = self.cursor, None
        while len(cursor.levels) > depth and stopped is None:
            level = cursor.level
            stopped = self.past_end() if level.at_end else self.forward(level.length)
        return stopped

    def _loops(self, start: int, stop: int) -> Sequence[int]:
        """The steps of this level from `start` to `stop` that are loops with breakpoints inside."""
        loops = self.cursor.loop_points.loops(self.cursor.level.plan)
        return [loop for loop in loops if start <= loop < stop]
