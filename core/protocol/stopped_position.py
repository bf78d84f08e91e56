"""Where a debugger stands, as `run_to` takes it."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.position_text import position_text
from gradstep.core.protocol.messages import Stopped, ThreadInfo


def position_of(stop: Stopped | None, step: int | None = None) -> str:
    """`0:4/1:8`. step: of the innermost loop that it stands in, or of the run, instead of the one
    that comes next there. Of no debugger: ""."""
    if stop is None:
        return ""
    place = [(stop.run, stop.step), *((each.iteration, each.step) for each in stop.inside)]
    if step is not None:
        place[-1] = place[-1][0], step
    return position_text(place)


def current_thread(threads: Sequence[ThreadInfo]) -> str:
    """The name of the one whose place it is; "" where there are none."""
    return next((thread.name for thread in threads if thread.current), "")
