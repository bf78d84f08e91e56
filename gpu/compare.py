"""Comparing one program on two devices, node by node: the rows that people and programs read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.backend import Backend
from gradstep.core.ops.typing.missing_inputs import Waiting, find_waiting
from gradstep.core.protocol.messages import ComparedNode, Comparison, NodeDifference, SideResult
from gradstep.gpu.asked_effects import asked_for
from gradstep.gpu.chosen_classes import changed_classes
from gradstep.gpu.comparison_conclusion import Compared, brief, conclusion
from gradstep.gpu.device_run import Outcome
from gradstep.gpu.difference_detail import detail_of, plain
from gradstep.gpu.emulation_gaps import unemulated
from gradstep.gpu.hazards import hazards
from gradstep.gpu.lockstep import Turn, lockstep
from gradstep.gpu.recorder import Recorder
from gradstep.gpu.result_agreement import Verdict, verdict_on
from gradstep.gpu.rule_attribution import kind_of_difference, reason
from gradstep.gpu.tensor_distance import distance, worst_index

_SHOWN = 64  # elements of each side that a comparison carries


def compare(
    program: Program,
    left: Backend,
    right: Backend,
    go_on: bool = False,
    recorder: Recorder | None = None,
) -> Comparison:
    """Run `program` on both, node by node; see messages.Comparison, and lockstep for `go_on`.
    recorder: gets what `right` gives.

    The first divergence is the first node that parts the devices by itself, on equal inputs.
    Raises GradstepError when the program cannot start on `left`.
    """
    nodes: list[ComparedNode] = []
    warnings: list[str] = []
    with np.errstate(all="ignore"):
        turns = lockstep(program, left, right, go_on)
        for turn in turns if recorder is None else recorder.noted(turns):
            verdict = verdict_on(turn, (left.rules, right.rules))
            nodes.append(row(turn, verdict, left, right))
            warnings.extend(hazards(turn.op, turn.inputs))
    asked = asked_for(program)
    waits = _left_out(program, nodes)
    found = Compared(nodes, left.name, right.name, program.graph, waits, asked, go_on)
    sentences = conclusion(found)
    return Comparison(
        left=left.name,
        right=right.name,
        measured=left.measured and right.measured,
        source=right.source,
        nodes=nodes,
        first_divergence=next((node.name for node in nodes if node.creates), None),
        brief=brief(found),
        text=" ".join(sentences),
        sentences=sentences,
        asked=asked,
        hazards=warnings,
    )


def _left_out(program: Program, nodes: Iterable[ComparedNode]) -> dict[str, Waiting]:
    """What of the graph cannot run yet, and was not tried."""
    tried = {node.name for node in nodes}
    waits = find_waiting(program.graph, program.feeds)
    return {name: what for name, what in waits.items() if name not in tried}


def row(turn: Turn, verdict: Verdict, left: Backend, right: Backend) -> ComparedNode:
    """One node's row of the comparison."""
    created = _apart(turn.left.outputs, turn.isolated.outputs)
    inherited = _apart(turn.isolated.outputs, turn.right.outputs)
    metrics = dict(verdict.metrics)
    brought = _apart(turn.inputs, turn.inputs_right)
    if inherited is not None and brought:
        metrics["amplification"] = inherited / brought
    metrics |= changed_classes(turn)
    gap = unemulated(turn, left, right)
    why = reason(turn, verdict.creates, right)
    return ComparedNode(
        name=turn.op.name,
        type=turn.op.type,
        phase=turn.op.phase.value,
        verdict=verdict.verdict,
        left=side(turn.left, verdict.output),
        right=side(turn.right, verdict.output, _where(turn, verdict)),
        created=created,
        inherited=inherited,
        differs=verdict.differs,
        creates=verdict.creates,
        rule="" if why is None else why.said,
        kind=kind_of_difference(turn, verdict.creates, created, why) or "",
        because="" if why is None else why.text,
        unknown=gap.text,
        unmeasured=gap.unmeasured,
        terms=gap.terms,
        metrics={name: value for name, value in metrics.items() if math.isfinite(value)},
        detail=_detail(turn, verdict),
    )


def side(outcome: Outcome, output: int = 0, remark: str = "") -> SideResult:
    """One device's result, its first elements as JSON can carry them."""
    if outcome.error is not None:
        return SideResult(status="raised", text=outcome.error.message)
    if not outcome.available:
        return SideResult(status="unavailable", text="an input is not available")
    if outcome.dead:
        return SideResult(status="dead", text="dead: its branch is not taken")
    if output >= len(outcome.outputs):
        return SideResult(status="ok", text=remark)
    array = outcome.outputs[output]
    return SideResult(
        status="ok",
        dtype=array.dtype.name,
        shape=list(array.shape),
        values=[plain(x) for x in array.reshape(-1)[:_SHOWN].tolist()],
        text=remark,
    )


def _apart(left: Sequence[np.ndarray | None], right: Iterable[np.ndarray | None]) -> float | None:
    """The largest relative L2 distance of a pair; None where there is none to measure."""
    pairs = ((a, b) for a, b in zip(left, right, strict=False) if a is not None and b is not None)
    found = (distance(a, b) for a, b in pairs)
    return max((d for d in found if d is not None), default=None)


def _detail(turn: Turn, verdict: Verdict) -> NodeDifference | None:
    """Of the output that the row shows."""
    index, sides = verdict.output, (turn.left.outputs, turn.right.outputs)
    if verdict.verdict not in ("close", "differs") or index >= min(map(len, sides)):
        return None
    reference = turn.reference.outputs
    wide = reference[index] if index < len(reference) else None
    return detail_of(index, sides[0][index], sides[1][index], wide)


def _where(turn: Turn, verdict: Verdict) -> str:
    """Which output the row shows, where that is a question, and where it differs most."""
    if verdict.verdict not in ("close", "differs") or not (turn.left.ok and turn.right.ok):
        return ""
    index = verdict.output
    parts = [f"output {index}"] if len(turn.left.outputs) > 1 else []
    if max(index, 0) < min(len(turn.left.outputs), len(turn.right.outputs)):
        place = worst_index(turn.left.outputs[index], turn.right.outputs[index])
        parts += [] if place is None else [f"most at index {list(place)}"]
    return ", ".join(parts)
