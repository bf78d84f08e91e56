"""Which operations make the error that a number format brings to a result.

Operations are put into the format one after the other, in the order in which they run. What the
result moves when one is put in is that one's share, so that the shares add up to the whole error,
whatever is between. Where runs are to be saved, several are put in at once, and the group that
moves the result most is taken apart next.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.checks.precision.mixed_runs import MixedRuns
from gradstep.core.progress import tell_progress


@dataclass(frozen=True)
class Share:
    """What operations that follow each other contribute. size: by how much they move the result
    (L2 norm); share: of the whole error, along it, with its sign: all add up to 1."""

    names: tuple[str, ...]
    size: float
    share: float


@dataclass(frozen=True, eq=False)
class _Group:
    """start, stop: of the candidates; the results before they are put in and after."""

    start: int
    stop: int
    before: np.ndarray
    after: np.ndarray

    @property
    def moved(self) -> float:
        return float(np.linalg.norm(self.after - self.before))


def find_shares(runs: MixedRuns, order: Sequence[str], most: int) -> list[Share]:
    """Of all of `order`, the largest first, by at most so many runs beside the two that say how
    large the error is. Their results are finite; see `find_overflows`."""
    whole = _Group(0, len(order), runs.plain, runs.result(order))
    error = whole.after - whole.before
    queue, done, made = [(-whole.moved, 0, whole)], [], 0
    while queue:
        _, _, group = heapq.heappop(queue)
        if group.stop - group.start <= 1 or made == most or not group.moved:
            done.append(group)
            continue
        made += 1
        tell_progress("Looking for what makes the error", made, min(most, len(order)))
        middle = (group.start + group.stop) // 2
        between = runs.result(order[:middle])
        for half in (
            _Group(group.start, middle, group.before, between),
            _Group(middle, group.stop, between, group.after),
        ):
            heapq.heappush(queue, (-half.moved, half.start, half))
    scale = float(error @ error) or 1.0
    found = [
        Share(
            tuple(order[one.start : one.stop]),
            one.moved,
            float((one.after - one.before) @ error) / scale,
        )
        for one in done
    ]
    return sorted(found, key=lambda one: (-abs(one.share), -one.size))


def find_overflows(runs: MixedRuns, order: Sequence[str], most: int) -> list[str]:
    """Operations that have to stay in float32 so that the result is finite where all others are in
    the format: each the first, of those that are left, from which on it is not. Where it still is
    not after so many, all that were found. In float32 it is finite."""
    found: list[str] = []
    for _ in range(most):
        left = [name for name in order if name not in found]
        if np.isfinite(runs.result(left)).all():
            break
        low, high = 0, len(left)  # finite with the first `low`, and not with the first `high`
        while high - low > 1:
            middle = (low + high) // 2
            if np.isfinite(runs.result(left[:middle])).all():
                low = middle
            else:
                high = middle
        found.append(left[high - 1])
    return found
