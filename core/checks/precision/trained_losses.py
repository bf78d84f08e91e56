"""Trainings beside each other: with other operations in another number format."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.checks.precision.mixed_backend import MixedBackend
from gradstep.core.checks.precision.mixed_runs import Start, candidates, session_at, with_insides
from gradstep.core.checks.precision.number_formats import NumberFormat
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.run.feed_values import feed_arrays, infer_fed_types
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.state.print_output import nowhere, printing_to
from gradstep.core.progress import tell_progress


def trained_losses(
    program: Program,
    format_: NumberFormat,
    loss: TensorRef,
    steps: int,
    kept: Collection[str] | None,
    scopes: Collection[str] = (),
    start: Start = None,
) -> list[float]:
    """The loss in each of so many runs with their updates. kept: what stays in float32, with its
    gradients; None for everything. Each run has its own batch. Ends
    early with a loss that is not finite. Raises GradstepError."""
    chosen: list[str] = []
    if kept is not None:
        ops = (program.graph[name] for name in _that_may_be(program, format_, loss, scopes))
        chosen = [op.name for op in ops if not {op.name, op.origin} & {*kept}]
    backend = MixedBackend(format_, with_insides(program.graph, chosen))
    session = session_at(program, backend, start)
    losses: list[float] = []
    for run in range(steps):
        check_cancelled()
        tell_progress("Training", run, steps)
        of_run = {} if program.batches is None else program.batches.feeds_at(run)
        with printing_to(nowhere), np.errstate(all="ignore"):
            found = session.run([loss], {**program.feeds, **of_run}, program.targets)
        losses.append(float(np.sum(found[0])))
        if not np.isfinite(losses[-1]):
            break
    return losses


def _that_may_be(
    program: Program, format_: NumberFormat, loss: TensorRef, scopes: Collection[str]
) -> tuple[str, ...]:
    types = infer_fed_types(feed_arrays(program.graph, program.feeds))
    return candidates(compile_plan(program.graph, [loss], program.targets, types), format_, scopes)
