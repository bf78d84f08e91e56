"""What made a step of training different, as the window asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from gradstep.core.checks.why.repeated_step import RepeatedStep
from gradstep.core.checks.why.row_gradients import RowSlope, RowSlopes, row_slopes
from gradstep.core.checks.why.step_comparison import Change, compare_step
from gradstep.core.data.opened_data import OpenedData
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.errors import USAGE, GradstepError
from gradstep.core.host.batch_answers import row_text
from gradstep.core.protocol.messages import (
    CompareStep,
    LayerChange,
    LeaveOut,
    LeftOut,
    NumberChange,
    RowsWeighed,
    RowWeight,
    StepCompared,
    StepOutcome,
    WeighRows,
)

_LAYERS = 4  # that are told of


def compare_with_before(session: DebugSession, request: CompareStep) -> StepCompared:
    """Raises GradstepError."""
    _require_made(session, request.run)
    found = compare_step(session, request.run, max(request.before, 0))
    layers = [
        LayerChange(
            variable=str(layer.variable),
            gradient=_change(layer.gradient),
            update=_change(layer.update),
        )
        for layer in found.layers[:_LAYERS]
    ]
    return StepCompared(
        run=request.run,
        first=found.first,
        loss=_change(found.loss),
        gradient=_change(found.gradient),
        layers=layers,
    )


def weigh_rows(session: DebugSession, request: WeighRows) -> RowsWeighed:
    """Raises GradstepError."""
    _require_made(session, request.run)
    data = session.program.batches
    if not isinstance(data, OpenedData):
        return RowsWeighed(run=request.run)
    step = RepeatedStep(session, request.run)
    found = row_slopes(step, request.seconds)
    numbers, ranked = data.batch_at(request.run).rows, _ranked(found)
    return RowsWeighed(
        run=request.run,
        size=found.size,
        looked=len(found.rows),
        rows=[_weight(found, row, numbers, step) for row in ranked[: request.limit]],
        others=_mean_loss(ranked[1:]),
        adds_up=found.factor is not None,
        gap=_finite(found.gap),
        columns=[str(ref) for ref in step.rows],
    )


def leave_out(session: DebugSession, request: LeaveOut) -> LeftOut:
    """Raises GradstepError."""
    _require_made(session, request.run)
    step = RepeatedStep(session, request.run)
    left = np.delete(np.arange(step.size), [p for p in request.places if 0 <= p < step.size])
    if len(left) in (0, step.size):
        raise GradstepError(
            f"without these rows, {len(left)} of {step.size} are left",
            kind=USAGE,
            hint="leave out some rows of the batch, and not all",
        )
    real, without = _outcome(step, None), _outcome(step, left)
    return LeftOut(run=request.run, places=request.places, real=real, without=without)


def _outcome(step: RepeatedStep, places: np.ndarray | None) -> StepOutcome:
    found = step.make(step.feeds if places is None else step.some(places))
    return StepOutcome(
        loss=_finite(found.loss), norm=_finite(found.norm), next_loss=_finite(step.loss_next())
    )


def _require_made(session: DebugSession, run: int) -> None:
    timeline = session.timeline
    if not 0 <= run < timeline.runs or timeline.done(run) < timeline.length:
        raise GradstepError(
            f"run {run + 1} has not been made to its end",
            kind=USAGE,
            hint="make it, and ask again",
        )
    timeline.require(run)


def _ranked(found: RowSlopes) -> Sequence[RowSlope]:
    def key(row: RowSlope) -> tuple[bool, float]:
        share = found.share(row)
        return row.is_finite, -(row.norm if share is None else share)

    return sorted(found.rows, key=key)


def _mean_loss(rows: Sequence[RowSlope]) -> float | None:
    return _finite(sum(row.loss for row in rows) / len(rows)) if rows else None


def _weight(found: RowSlopes, row: RowSlope, rows: np.ndarray, step: RepeatedStep) -> RowWeight:
    return RowWeight(
        row=int(rows[row.place]),
        place=row.place,
        loss=_finite(row.loss),
        norm=_finite(row.norm),
        share=found.share(row),
        cells=[row_text(step.feeds[ref][row.place]) for ref in step.rows],
    )


def _change(of: Change) -> NumberChange:
    return NumberChange(before=_finite(of.before), here=_finite(of.here))


def _finite(number: float) -> float | None:
    return float(number) if isfinite(number) else None
