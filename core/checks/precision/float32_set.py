"""The fewest operations that have to stay in float32 so that an error is small enough."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gradstep.core.checks.precision.error_shares import Share
from gradstep.core.checks.precision.mixed_runs import MixedRuns
from gradstep.core.progress import tell_progress

_TRIED = 64  # of those that were found, so many are tried without


def smallest_set(
    runs: MixedRuns, order: Sequence[str], shares: Sequence[Share], limit: float
) -> list[str]:
    """Of `order`, in its order: with all others in the format the result is at most `limit` (L2
    norm) from that in float32, and none of them can be left out alone. Taken from those that move
    the result most."""

    def is_enough(kept: Sequence[str]) -> bool:
        return runs.error(without(order, kept)) <= limit  # not where it is NaN

    ranked = [name for one in sorted(shares, key=lambda s: -s.size) for name in one.names]
    few, enough = 0, 0
    while enough < len(ranked) and not is_enough(ranked[:enough]):  # doubled, and then halved
        few, enough = enough + 1, min(len(ranked), max(1, 2 * enough))
    while few < enough:
        middle = (few + enough) // 2
        few, enough = (few, middle) if is_enough(ranked[:middle]) else (middle + 1, enough)
    kept = ranked[:enough]
    for number, name in enumerate(kept[::-1][:_TRIED], 1):  # those that move it least first
        tell_progress("Looking for what can be spared", number, min(_TRIED, enough))
        fewer = [other for other in kept if other != name]
        kept = fewer if is_enough(fewer) else kept
    there = frozenset(kept)
    return [name for name in order if name in there]


def without(order: Sequence[str], names: Collection[str]) -> list[str]:
    """`order` but for these."""
    away = frozenset(names)
    return [name for name in order if name not in away]
