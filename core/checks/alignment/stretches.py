"""The stretch of each of two networks in which they are other, and what goes into it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from gradstep.core.checks.alignment.compared_networks import ComparedNetworks
from gradstep.core.checks.alignment.gate_order import order_of_gates
from gradstep.core.checks.alignment.meeting_again import Meeting, shuffled
from gradstep.core.checks.alignment.network_run import NetworkRun, Values
from gradstep.core.checks.alignment.parted_values import lost_names, read_weights
from gradstep.core.graph.model import Operation, TensorRef

_FIRST = 6  # operations that are named where the two do not meet again


@dataclass(frozen=True)
class Stretch:
    """operations: in order. weights: that they read; unmet: those of them of which the other
    stretch has no counterpart; alone: those of which the whole other network has none. values: what
    the run computed."""

    run: NetworkRun
    operations: tuple[Operation, ...]
    weights: tuple[TensorRef, ...]
    unmet: tuple[TensorRef, ...]
    alone: tuple[TensorRef, ...]
    values: Values

    @property
    def with_surroundings(self) -> list[Operation]:
        """The same with what they read: of the weights all that is made of these, of the rest the
        last operation, which may do no more than rounding does to what it reads."""
        graph, found, waiting = self.run.graph, dict[str, None](), [*self.operations]
        own = {op.name for op in self.operations}
        while waiting:
            op = waiting.pop()
            found[op.name] = None
            read = [ref.op for ref in op.inputs if ref is not None and ref.op not in found]
            if op.name in own or op.name not in self.run.fed_by_inputs:
                waiting += [graph[name] for name in read]
        return [graph[name] for name in self.run.needed if name in found]


@dataclass(frozen=True)
class Parting:
    """after: pairs of tensors that both stretches start from. ends: what they give, which should be
    the same; one size. in_another_order: a tensor of either that has the numbers of its
    counterpart in a wrong order; "" for none. gates: weights of the right, that the
    stretch or what is before it reads, whose blocks are in another order, and in which."""

    left: Stretch
    right: Stretch
    after: tuple[tuple[str, str], ...]
    ends: tuple[np.ndarray, np.ndarray]
    in_another_order: str
    gates: tuple[tuple[str, tuple[int, ...]], ...]
    tolerance: float


def stretch_of(networks: ComparedNetworks, meeting: Meeting | None) -> Parting:
    """From what is met last to where they would meet again."""
    runs, values, lost = networks.runs, networks.values, networks.lost
    ends = (lost[0][0], lost[1][0]) if meeting is None else (meeting.left, meeting.right)
    names = [
        _names(run, end.op, lost_names(part), meeting is not None)
        for run, end, part in zip(runs, ends, lost, strict=True)
    ]
    read = [read_weights(run, part) for run, part in zip(runs, names, strict=True)]
    weights = networks.weights
    unmet = (
        tuple(a for a in read[0] if not {*weights.right.get(a, ())} & {*read[1]}),
        tuple(b for b in read[1] if not {*weights.left.get(b, ())} & {*read[0]}),
    )
    met_at_all = (weights.right, weights.left)
    left, right = (
        Stretch(
            run,
            tuple(run.graph[n] for n in part),
            tuple(reads),
            lacking,
            tuple(ref for ref in lacking if not others.get(ref)),
            held,
        )
        for run, part, reads, lacking, others, held in zip(
            runs, names, read, unmet, met_at_all, values, strict=True
        )
    )
    starts, met = _read_outside(right), networks.matching.left
    sides = ([*_read_outside(left), ends[0]], [*starts, ends[1]])
    wrong = [
        ref
        for side, read_there in reversed([*enumerate(sides)])
        for ref in read_there
        if shuffled(networks, side, ref)
    ]
    return Parting(
        left,
        right,
        after=tuple((met[b][-1].short, b.short) for b in starts if b in met),
        ends=(values[0][ends[0]], values[1][ends[1]]),
        in_another_order=wrong[0].short if wrong else "",
        gates=tuple(_other_gates(networks, ends[1])),
        tolerance=networks.tolerance,
    )


def _other_gates(
    networks: ComparedNetworks, end: TensorRef
) -> Iterator[tuple[str, tuple[int, ...]]]:
    left, right = networks.runs
    for b in read_weights(right, right.graph.ancestors([end.op]) & right.fed_by_inputs):
        for a in networks.weights.left.get(b, ()):
            order = order_of_gates(left.weights[a], right.weights[b], networks.tolerance)
            if order is not None:
                yield b.op, order


def _names(run: NetworkRun, end: str, lost: Collection[str], meets: bool) -> list[str]:
    """The operations of a stretch; where nobody knows its end, the first few."""
    if not meets:
        return [name for name in run.needed if name in lost][:_FIRST]
    behind = run.graph.ancestors([end])
    return [name for name in run.needed if name in behind and (name in lost or name == end)]


def _read_outside(stretch: Stretch) -> list[TensorRef]:
    """What the stretch reads of the rest of the network."""
    own = {op.name for op in stretch.operations}
    read = (ref for op in stretch.operations for ref in op.inputs if ref is not None)
    return [ref for ref in dict.fromkeys(read) if ref.op not in own and ref in stretch.values]
