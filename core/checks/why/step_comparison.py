"""What a step's loss, gradients and updates are, against those of the steps before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.checks.why.repeated_step import minimized, require_alone, trained
from gradstep.core.debug.breaks.curves import FetchedValues
from gradstep.core.debug.history.fast_runs import FastRuns
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.state.print_output import nowhere, printing_to
from gradstep.core.progress import tell_progress


@dataclass(frozen=True)
class Change:
    """A number in this step, and its median in those before it; NaN where there are none."""

    before: float
    here: float

    @property
    def factor(self) -> float:
        """How many times what it was; 1 for what cannot be told."""
        with np.errstate(all="ignore"):
            found = np.float64(self.here) / np.float64(self.before)
        return 1.0 if np.isnan(found) else float(found)


@dataclass(frozen=True)
class LayerMove:
    """gradient: its norm; update: what the step changed, by what is there."""

    variable: TensorRef
    gradient: Change
    update: Change


@dataclass(frozen=True)
class StepComparison:
    """first: the first of the runs before. layers: the one first whose update grew most; where
    there are no updates, its gradient."""

    first: int
    loss: Change
    gradient: Change
    layers: Sequence[LayerMove]


def compare_step(session: DebugSession, run: int, before: int) -> StepComparison:
    """With at most so many runs before it. They are made again, in memory of their own. Raises
    GradstepError where that cannot be done."""
    require_alone(session)
    variables, losses = trained(session), minimized(session.program)
    texts = [f'sum(x["{ref}"])' for ref in losses]
    texts += [f'norm(grad["{ref}"])' for ref in variables]
    texts += [f'ratio(update["{ref}"], x["{ref}"])' for ref in variables]
    first = _first(session, run, before)
    rows = _numbers(session, range(first, run + 1), texts)
    count, layers = len(losses), len(variables)
    norms = rows[:, count : count + layers]
    moves = [
        LayerMove(ref, _change(norms[:, n]), _change(rows[:, count + layers + n]))
        for n, ref in enumerate(variables)
    ]
    with np.errstate(all="ignore"):
        whole = np.sqrt(np.sum(norms**2, axis=1))
    loss = _change(rows[:, :count].sum(axis=1))
    return StepComparison(first, loss, _change(whole), sorted(moves, key=_grown, reverse=True))


def _first(session: DebugSession, run: int, before: int) -> int:
    """The first run to look at: behind the last in which something was changed from outside."""
    first = max(run - before, session.timeline.first)
    for number in range(run - 1, first - 1, -1):
        try:
            session.timeline.require_own(number)
        except GradstepError:
            return number + 1
    return first


def _numbers(session: DebugSession, runs: range, texts: Sequence[str]) -> np.ndarray:
    """float64 [runs, texts]."""
    timeline, curves = session.timeline, session.curves(texts)
    quick = FastRuns(session.plan, session.backend, session.program.functions, curves.fetches)
    quick.begin(timeline.started_from(runs.start))
    found = []
    for run in runs:
        check_cancelled()
        tell_progress("Repeating steps", run - runs.start, len(runs))
        timeline.require_own(run)
        with printing_to(nowhere):
            fetched = quick.run(timeline.feeds_at(run))
        found.append(curves.read(FetchedValues(fetched, curves.holders)))
    return np.array(found, np.float64).reshape(len(runs), len(texts))


def _change(numbers: np.ndarray) -> Change:
    """The last one against the others."""
    before = float(np.median(numbers[:-1])) if len(numbers) > 1 else np.nan
    return Change(before, float(numbers[-1]))


def _grown(layer: LayerMove) -> tuple[float, float, float]:
    return layer.update.factor, layer.gradient.factor, layer.update.here
