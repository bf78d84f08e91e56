"""What the log says of a move: the command, from where to where, how many steps were executed."""

from __future__ import annotations

import logging
import time

from gradstep.core.debug.history.timeline import Timeline
from gradstep.core.debug.motion.stopped_state import Stop
from gradstep.core.position_text import position_text

_LOG = logging.getLogger("gradstep.debug")


class MoveLog:
    """Of one session. Costs a look at the logger's level a move where nobody wants to read it."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._begun: tuple[str, Stop, int, float] | None = None

    def begin(self, command: str, before: Stop) -> None:
        """A command is about to be executed where the session stands at `before`."""
        wanted = _LOG.isEnabledFor(logging.DEBUG)
        self._begun = (command, before, self._executed(), time.perf_counter()) if wanted else None

    def end(self, now: Stop) -> None:
        """The session stands at `now`."""
        if self._begun is None:
            return
        command, before, executed, start = self._begun
        self._begun = None
        _LOG.debug(
            "%s: from %s to %s, %s%s; %d steps executed in %.1f ms",
            command,
            position_text(before.place),
            position_text(now.place),
            now.reason,
            "" if now.error is None else f" ({now.error.message})",
            max(self._executed() - executed, 0),  # a restart forgets them
            1000 * (time.perf_counter() - start),
        )

    def _executed(self) -> int:
        """Steps of all runs so far; those inside loops are not counted."""
        last = self._timeline.runs - 1
        return last * self._timeline.length + self._timeline.done(last)
