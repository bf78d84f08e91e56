"""Two documents of one network, aligned: what meets, and each stretch in which they are other."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from gradstep.core.checks.alignment.alignment_report import (
    TOLERANCE,
    AlignmentReport,
    Difference,
    SideFigures,
)
from gradstep.core.checks.alignment.equal_numbers import distance, sorted_numbers
from gradstep.core.checks.alignment.meeting_again import Meeting, find_meeting
from gradstep.core.checks.alignment.network_run import NetworkRun, Values
from gradstep.core.checks.alignment.paired_gradients import pair_gradients
from gradstep.core.checks.alignment.paired_inputs import paired_runs
from gradstep.core.checks.alignment.parted_values import have_parted, lost_values
from gradstep.core.checks.alignment.port_rules import find_rules
from gradstep.core.checks.alignment.stretches import Parting, stretch_of
from gradstep.core.checks.alignment.value_matching import Matching, match
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.program.questions.loaded_document import Loaded

_PARTINGS = 8  # stretches that are looked for


def align(file: Loaded, other: Loaded, tolerance: float = TOLERANCE) -> AlignmentReport:
    """Everything, of one run of each. Raises GradstepError."""
    runs = paired_runs(file, other)
    values = runs[0].computed, runs[1].computed
    for run, held in zip(runs, values, strict=True):
        _require_values(run, held)
    matching = _match(runs, values, tolerance)
    weights = match((runs[0].graph, runs[0].weights), (runs[1].graph, runs[1].weights), tolerance)
    _require_kinship(runs, matching, weights)
    differences = _differences(runs, values, matching, weights, tolerance)
    gradients = None if differences else pair_gradients(runs, matching, weights, tolerance)
    lost = _lost(runs, values, matching)
    return AlignmentReport(
        _figures(runs[0], values[0], matching.right.keys(), lost[0], weights.right.keys()),
        _figures(runs[1], values[1], matching.left.keys(), lost[1], weights.left.keys()),
        _inputs(runs, tolerance),
        tuple(differences),
        gradients,
        tolerance,
    )


def _differences(
    runs: tuple[NetworkRun, NetworkRun],
    values: tuple[Values, Values],
    matching: Matching,
    weights: Matching,
    tolerance: float,
) -> list[Difference]:
    found, forced = list[Difference](), dict[TensorRef, np.ndarray]()
    for _ in range(_PARTINGS):
        lost = _lost(runs, values, matching)
        if not have_parted(runs, values, lost):
            break
        meeting = find_meeting(runs, values, lost, matching, forced, tolerance)
        parting = stretch_of(runs, values, lost, matching, weights, meeting, tolerance)
        found.append(_told(parting, meeting))
        if meeting is None:
            break
        forced[meeting.right] = meeting.value.astype(values[1][meeting.right].dtype)
        values = values[0], runs[1].values_with(forced)
        matching = _match(runs, values, tolerance)
    return found


def _told(parting: Parting, meeting: Meeting | None) -> Difference:
    apart = np.inf
    if meeting is not None:
        mine, theirs = parting.ends
        apart = distance(sorted_numbers(mine), sorted_numbers(theirs))
    return Difference(
        tuple((op.name, op.type) for op in parting.left.operations),
        tuple((op.name, op.type) for op in parting.right.operations),
        parting.after,
        None if meeting is None else (meeting.left.short, meeting.right.short),
        float(apart),
        tuple(find_rules(parting)),
    )


def _match(
    runs: tuple[NetworkRun, NetworkRun], values: tuple[Values, Values], tolerance: float
) -> Matching:
    return match((runs[0].graph, values[0]), (runs[1].graph, values[1]), tolerance)


def _lost(
    runs: tuple[NetworkRun, NetworkRun], values: tuple[Values, Values], matching: Matching
) -> tuple[Sequence[TensorRef], Sequence[TensorRef]]:
    return (
        lost_values(runs[0], values[0], matching.right),
        lost_values(runs[1], values[1], matching.left),
    )


def _figures(
    run: NetworkRun,
    values: Values,
    met: Collection[TensorRef],
    lost: Sequence[TensorRef],
    weights: Collection[TensorRef],
) -> SideFigures:
    ops = dict.fromkeys(ref.op for ref in values)
    meeting = {ref.op for ref in met}
    behind = {ref.op for ref in lost} - meeting
    return SideFigures(
        len(ops),
        len(meeting),
        len(ops) - len(meeting) - len(behind),
        tuple(name for name in ops if name in behind),
        len(run.weights),
        tuple(ref.op for ref in run.weights if ref not in weights),
    )


def _inputs(runs: tuple[NetworkRun, NetworkRun], tolerance: float) -> tuple[tuple[str, str], ...]:
    left, right = runs
    fed = [{r: v for r, v in run.feeds.items() if v.dtype != object} for run in runs]
    found = match((left.graph, fed[0]), (right.graph, fed[1]), tolerance)
    return tuple((a.short, b.short) for a, theirs in found.right.items() for b in theirs[:1])


def _require_kinship(
    runs: tuple[NetworkRun, NetworkRun], matching: Matching, weights: Matching
) -> None:
    """Where not one weight is the same, any two networks part at once."""
    inputs = {*runs[0].feeds}
    if all(run.weights for run in runs) and not weights.right and not {*matching.right} - inputs:
        raise GradstepError(
            "not one weight and no value of FILE is in OTHER: they are not one network, or do not "
            "hold the same weights",
            kind="ValueError",
            hint="save both with the same weights; --restore takes FILE's from a checkpoint",
        )


def _require_values(run: NetworkRun, values: Values) -> None:
    if not values:
        raise GradstepError(
            "there is nothing that computes with an input or a variable",
            kind="ValueError",
            hint="align two documents of a network",
        )
