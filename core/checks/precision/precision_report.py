"""A program in another number format: its error, what makes it, what keeps it small."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from gradstep.core.checks.precision.error_shares import Share, find_overflows, find_shares
from gradstep.core.checks.precision.float32_set import smallest_set, without
from gradstep.core.checks.precision.gradient_underflow import LossScale, find_loss_scale
from gradstep.core.checks.precision.mixed_runs import MixedRuns, Start, session_at
from gradstep.core.checks.precision.number_formats import FORMATS, NumberFormat
from gradstep.core.checks.precision.trained_losses import trained_losses
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.program_tensors import find_tensor
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.declare.placeable_ops import unfollowed
from gradstep.core.ops.state.print_output import nowhere, printing_to

TENTH = 0.1  # of the error: what may be left of it where nothing else is asked for
RUNS = 256  # for the shares
_OVERFLOWS = 16  # operations that are looked for
_GRADIENT = re.compile(r"grad\[\s*['\"]?(.+?)['\"]?\s*\]")


@dataclass(frozen=True)
class Question:
    """target: a tensor, or grad["w"] for the gradient of one; "" for what is differentiated, or
    else what is fetched first. scopes: what may be in the format; none for all. tolerance: of the
    result's L2 norm, how large the error may be; None for a tenth of what it is. steps: of training
    with and without; 0 for none. runs: how many may be made for the shares."""

    format: str
    target: str = ""
    scopes: tuple[str, ...] = ()
    tolerance: float | None = None
    steps: int = 0
    runs: int = RUNS


@dataclass(frozen=True)
class PrecisionReport:
    """operations: that were in the format. norm: of the result in float32; error: of the difference
    (L2). overflows: had to stay in float32 so that the result is finite; all that follows is of the
    others. limit, kept, kept_error: how large the error may be, what has to stay in float32 for
    that, and what is left of it then. losses: "float32", the format's name, and "kept" -> the loss
    in each run of a training. scale: None where there are no gradients, or the format has room for
    all that float32 has. remark: what was done otherwise than the document has it."""

    format: str
    target: str
    operations: int
    norm: float
    error: float = 0.0
    overflows: tuple[str, ...] = ()
    shares: tuple[Share, ...] = ()
    limit: float = 0.0
    kept: tuple[str, ...] = ()
    kept_error: float = 0.0
    scale: LossScale | None = None
    losses: dict[str, list[float]] = field(default_factory=dict)
    runs: int = 0
    remark: str = ""


def examine(program: Program, question: Question, start: Start = None) -> PrecisionReport:
    """Everything that is asked, of run 0, with the variables as they are in `start`; see MixedRuns.
    Raises GradstepError."""
    format_ = FORMATS[question.format]
    target = target_of(program, question.target)
    runs = MixedRuns(program, format_, target, question.scopes, start)
    order = runs.candidates
    if not order:
        raise GradstepError(
            f"nothing that {target.short} needs would be other in {format_.name}",
            kind="ValueError",
            hint="name another --target, or other scopes",
        )
    norm = float(np.linalg.norm(runs.plain))
    if not np.isfinite(norm):
        return PrecisionReport(format_.name, question.target or target.short, len(order), norm)
    overflows = find_overflows(runs, order, _OVERFLOWS)
    left = without(order, overflows)
    shares = find_shares(runs, left, question.runs)
    error = runs.error(left)
    relative = question.tolerance
    limit = TENTH * error if relative is None else relative * norm
    kept = smallest_set(runs, left, shares, limit)
    return PrecisionReport(
        format=format_.name,
        target=question.target or target.short,
        operations=len(order),
        norm=norm,
        error=error,
        overflows=tuple(overflows),
        shares=tuple(shares),
        limit=limit,
        kept=tuple(kept),
        kept_error=runs.error(without(left, kept)),
        scale=_loss_scale(program, format_, start),
        losses=_trained(program, format_, question, [*overflows, *kept], start),
        runs=runs.count,
        remark=unfollowed(program.graph, "formats are imitated on this processor"),
    )


def target_of(program: Program, said: str) -> TensorRef:
    """The tensor that a question is about. Raises GradstepError."""
    if not said:
        every = (*program.request.of, *program.fetches)
        if not every:
            raise GradstepError(
                "there is no loss and no fetch whose error could be looked at",
                kind="ValueError",
                hint="name a tensor with --target",
            )
        return every[0]
    match = _GRADIENT.fullmatch(said.strip())
    ref = find_tensor(program, match[1] if match else said)
    if match is None:
        return ref
    if ref not in program.gradients:
        raise GradstepError(
            f"there is no gradient of {ref.short}",
            kind="ValueError",
            node=ref.op,
            hint="gradstep why says why; --of and --wrt ask for others",
        )
    return program.gradients[ref]


def _trained(
    program: Program,
    format_: NumberFormat,
    question: Question,
    kept: Sequence[str],
    start: Start,
) -> dict[str, list[float]]:
    if not question.steps:
        return {}
    if not program.targets or not program.request.of:
        raise GradstepError(
            "there is nothing to train: no update and no loss",
            kind="ValueError",
            hint="give the document an optimizer, or leave --train out",
        )
    loss, scopes = program.request.of[0], question.scopes
    named: dict[str, Collection[str] | None] = {"float32": None, format_.name: [], "kept": kept}
    return {
        name: trained_losses(program, format_, loss, question.steps, names, scopes, start)
        for name, names in named.items()
    }


def _loss_scale(program: Program, format_: NumberFormat, start: Start) -> LossScale | None:
    """From the gradients in float32."""
    if format_.name != "float16" or not program.gradients:
        return None
    outside = {ref: g for ref, g in program.gradients.items() if g.op in program.graph}  # of loops
    session = session_at(program, NumpyBackend(), start)
    with printing_to(nowhere):
        found = session.run([*outside.values()], program.feeds)
    made = zip(outside, map(np.asarray, found), strict=True)
    return find_loss_scale({ref: g for ref, g in made if g.dtype == np.float32}, format_)
