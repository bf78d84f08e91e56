"""Two documents of one network, aligned: what meets, and each stretch in which they are other."""

from __future__ import annotations

import numpy as np

from gradstep.core.checks.alignment.alignment_report import (
    TOLERANCE,
    AlignmentReport,
    Difference,
    SideFigures,
)
from gradstep.core.checks.alignment.compared_networks import ComparedNetworks
from gradstep.core.checks.alignment.equal_numbers import distance, sorted_numbers
from gradstep.core.checks.alignment.meeting_again import Meeting, find_meeting
from gradstep.core.checks.alignment.paired_gradients import pair_gradients
from gradstep.core.checks.alignment.paired_inputs import paired_runs
from gradstep.core.checks.alignment.parted_values import lost_names, read_weights
from gradstep.core.checks.alignment.port_rules import find_rules
from gradstep.core.checks.alignment.stretches import Parting, stretch_of
from gradstep.core.checks.alignment.value_matching import match
from gradstep.core.errors import GradstepError
from gradstep.core.ops.declare.placeable_ops import unfollowed
from gradstep.core.program.questions.loaded_document import Loaded

_PARTINGS = 8  # stretches that are looked for
_HERE = "networks are aligned on this processor"


def align(file: Loaded, other: Loaded, tolerance: float = TOLERANCE) -> AlignmentReport:
    """Everything, of one run of each. Raises GradstepError."""
    networks = ComparedNetworks.of(paired_runs(file, other), tolerance)
    _require_values(networks)
    _require_kinship(networks)
    differences = _differences(networks)
    left, right = (_figures(networks, side) for side in (0, 1))
    return AlignmentReport(
        left,
        right,
        _inputs(networks),
        tuple(differences),
        None if differences else pair_gradients(networks),
        tolerance,
        " ".join(filter(None, (unfollowed(x.document.graph, _HERE) for x in (file, other)))),
    )


def _differences(networks: ComparedNetworks) -> list[Difference]:
    """One after the other: the first is made up for before the next is looked for."""
    found = list[Difference]()
    while len(found) < _PARTINGS and _have_parted(networks):
        meeting = find_meeting(networks)
        found.append(_told(stretch_of(networks, meeting), meeting))
        if meeting is None:
            break
        networks = networks.with_forced(meeting.right, meeting.value)
    return found


def _have_parted(networks: ComparedNetworks) -> bool:
    """Whether what is lost on both sides should have been the same: there are results of one size,
    or weights in it on both sides. Else one goes on where the other has come to its end."""
    runs, values, lost = networks.runs, networks.values, networks.lost
    if not all(lost):
        return False
    sizes = [{values[i][ref].size for ref in runs[i].ends if ref in lost[i]} for i in (0, 1)]
    if sizes[0] & sizes[1]:
        return True
    return all(read_weights(run, lost_names(part)) for run, part in zip(runs, lost, strict=True))


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


def _figures(networks: ComparedNetworks, side: int) -> SideFigures:
    run, values, met = networks.runs[side], networks.values[side], networks.partners[side]
    weights = (networks.weights.right, networks.weights.left)[side]
    ops = dict.fromkeys(ref.op for ref in values)
    meeting = {ref.op for ref in met}
    behind = {ref.op for ref in networks.lost[side]} - meeting
    return SideFigures(
        len(ops),
        len(meeting),
        len(ops) - len(meeting) - len(behind),
        tuple(name for name in ops if name in behind),
        len(run.weights),
        tuple(ref.op for ref in run.weights if ref not in weights),
    )


def _inputs(networks: ComparedNetworks) -> tuple[tuple[str, str], ...]:
    left, right = networks.runs
    fed = [{r: v for r, v in run.feeds.items() if v.dtype != object} for run in networks.runs]
    found = match((left.graph, fed[0]), (right.graph, fed[1]), networks.tolerance)
    return tuple((a.short, b.short) for a, theirs in found.right.items() for b in theirs[:1])


def _require_kinship(networks: ComparedNetworks) -> None:
    """Where not one weight is the same, any two networks part at once."""
    runs = networks.runs
    behind_inputs = {*networks.matching.right} - {*runs[0].feeds}
    if all(run.weights for run in runs) and not networks.weights.right and not behind_inputs:
        raise GradstepError(
            "not one weight and no value of FILE is in OTHER: they are not one network, or do not "
            "hold the same weights",
            kind="ValueError",
            hint="save both with the same weights; --restore takes FILE's from a checkpoint",
        )


def _require_values(networks: ComparedNetworks) -> None:
    if not all(networks.values):
        raise GradstepError(
            "there is nothing that computes with an input or a variable",
            kind="ValueError",
            hint="align two documents of a network",
        )
