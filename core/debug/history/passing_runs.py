"""Going over many runs of a timeline, so that each is there while it is looked at.

What is recorded is looked at where it lies. What is not is made again, once each, and not kept: a
look at a thousand runs drops none of those that are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from gradstep.core.cancellation import check_cancelled
from gradstep.core.engine.memory.run_snapshot import RunSnapshot

if TYPE_CHECKING:
    from gradstep.core.debug.history.timeline import Timeline


def pass_over(timeline: Timeline, runs: range, behind: int = 0) -> Iterator[tuple[int, bool]]:
    """Each of `runs`, in their order, and whether it was made again for that. Until the next one it
    is there, and so are the `behind` runs before it: as if they were recorded. The debugger must
    not move meanwhile. Raises GradstepError for a run that cannot be made again."""
    passing, started = timeline.passing, None
    try:
        for run in range(max(timeline.first, runs.start - behind), runs.stop):
            check_cancelled()
            is_live, kept = run == timeline.runs - 1, timeline.kept(run)
            if kept is not None:
                passing[run], started = kept, None
            elif not is_live:
                passing[run], started = _made_again(timeline, run, started)
            if run >= runs.start:
                yield run, kept is None and not is_live
            passing.pop(run - behind, None)
    finally:
        passing.clear()


def _made_again(
    timeline: Timeline, run: int, started: Mapping[str, Any] | None
) -> tuple[RunSnapshot, Mapping[str, Any]]:
    """The run, and what it left in the variables. started: what the one before it left."""
    recording = timeline.repeated(run, started)
    return recording.record(), recording.variables()


def stretches(timeline: Timeline, runs: range) -> list[range]:
    """`runs` in parts, to be gone over from the last part to the first: each begins with a run that
    is recorded, or that can be made again from what is kept of its start."""
    there = {*timeline.recorded_runs, *timeline.starts.runs, runs.start}
    begins = sorted(run for run in there if run in runs)
    ends = [*begins[1:], runs.stop]
    return [range(begin, end) for begin, end in zip(begins, ends, strict=True)]
