"""Steps of an optimizer that are too long for the curvature of the loss along them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.finding_words import listed, plural
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.checks.doctor.recorded_tensors import RecordedTensors, recorded
from gradstep.core.debug.history.frozen_program import name_of
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.variable import READS, VARIABLES
from gradstep.core.ops.declare.table import find

_MOST = 8  # steps, the last ones, that are looked at
_FEWEST = 2  # of one step nobody can say that the next will be so, too
_BLOCK = 1 << 16  # elements of two tensors that are multiplied at a time


@dataclass(frozen=True, slots=True)
class _Step:
    """before, after: the slope of the loss along the step, where it begins and where it ends, per
    length of the step."""

    before: float
    after: float
    losses: tuple[float, float]

    @property
    def overshoots(self) -> bool:
        """By the gradients, and by what came of it."""
        return self.before < 0 and self.after > -self.before and self.losses[1] > self.losses[0]

    @property
    def fitting(self) -> float:
        """What share of its length would end where it began on a parabola of these slopes."""
        return 2 * self.before / (self.before - self.after)


def find_overshooting_steps(x: Examined) -> Iterator[Finding]:
    """Along a step the loss has a slope where it begins and one where it ends, both of which are
    recorded: gradients times step. A slope that is steeper upwards at the end than it was downwards
    at the beginning is that of a parabola on which the step climbs. Said where the last steps
    have all been so, and the loss rose with each; of equal numbers only, since the gradient on
    another batch is of another loss."""
    runs = recorded(x)
    for one in x.program.derived if runs.last > 0 else ():
        moved = [ref for ref in one.request.wrt if x.moved.get(ref.op)]
        gradients = {ref: one.gradients.get(ref) for ref in moved}
        known = {ref: gradient for ref, gradient in gradients.items() if gradient is not None}
        if len(one.of) != 1 or not known:
            continue
        steps = _overshooting(_steps(x, runs, one.of[0], known))
        if len(steps) >= _FEWEST:
            yield _finding(x, name_of(one.of), [ref.short for ref in known], steps, runs.last)


def _overshooting(steps: Iterable[_Step | None]) -> list[_Step]:
    """The last ones, the last first, up to one that does not."""
    found: list[_Step] = []
    for step in steps:
        if step is None or not step.overshoots:
            break
        found.append(step)
    return found


def _steps(
    x: Examined, runs: RecordedTensors, loss: TensorRef, gradients: dict[TensorRef, TensorRef]
) -> Iterator[_Step | None]:
    """Between each of the last runs and the one before, the last first."""
    fed = [*_fed(x, loss)]
    after = runs.last
    for number, before in enumerate(runs.earlier()):
        is_same = number < _MOST and all(_is_same(x, runs, ref, before, after) for ref in fed)
        yield _step(x, runs, loss, gradients, before, after) if is_same else None
        after = before


def _step(
    x: Examined,
    runs: RecordedTensors,
    loss: TensorRef,
    gradients: dict[TensorRef, TensorRef],
    before: int,
    after: int,
) -> _Step | None:
    losses = [_number(runs.value(x, loss, run)) for run in (before, after)]
    slopes = [0.0, 0.0]
    for ref, gradient in gradients.items():
        ends = [runs.copy(x, ref, run, begin=True) for run in (before, after)]
        for at, run in enumerate((before, after)):
            slope = runs.value(x, gradient, run)
            if ends[0] is None or ends[1] is None or slope is None or slope.shape != ends[0].shape:
                return None
            slopes[at] += _product(slope, ends[1], ends[0])
    if not np.isfinite([*slopes, *losses]).all():
        return None
    return _Step(slopes[0], slopes[1], (losses[0], losses[1]))


def _fed(x: Examined, loss: TensorRef) -> Iterator[TensorRef]:
    """What the loss is computed from that may be another in each run, but for variables."""
    for name in x.sources([loss.op]):
        op = x.graph[name]
        known = find(op.type)
        if op.type in VARIABLES or op.type in READS or known is None:
            continue
        if known.state.stateful or op.type.startswith("Placeholder"):
            yield from (TensorRef(name, index) for index in range(len(known.outputs)))


def _is_same(x: Examined, runs: RecordedTensors, ref: TensorRef, before: int, after: int) -> bool:
    """Whether a tensor was the same in both runs; where it cannot be looked at it was not."""
    one = runs.copy(x, ref, before)
    other = runs.value(x, ref, after)
    return one is not None and other is not None and np.array_equal(one, other)


def _number(value: np.ndarray | None) -> float:
    return float(value) if value is not None and value.ndim == 0 else math.nan


def _product(slope: np.ndarray, after: np.ndarray, before: np.ndarray) -> float:
    """slope · (after - before), in float64 without copies of that size."""
    flat = [each.reshape(-1) for each in (slope, after, before)]
    total = 0.0
    for begin in range(0, flat[0].size, _BLOCK):
        g, a, b = (each[begin : begin + _BLOCK].astype(np.float64) for each in flat)
        total += float(g @ (a - b))
    return total


def _finding(x: Examined, loss: str, names: list[str], steps: list[_Step], run: int) -> Finding:
    last = steps[0]
    text = (
        f"the last {len(steps)} steps of {listed(names)} overshoot, on the same numbers: in run "
        f"{run} the slope of {loss} along the step was {last.before:.2g} where it began and "
        f"{last.after:+.2g} where it ended, and {loss} went from {last.losses[0]:.4g} to "
        f"{last.losses[1]:.4g}"
    )
    fix = (
        f"a lower learning rate: with the curvature along {plural(steps, 'it', 'them')}, steps of "
        f"{min(step.fitting for step in steps):.1g} of that length would no longer climb"
    )
    return Finding(names[0].partition(":")[0], text, fix)
