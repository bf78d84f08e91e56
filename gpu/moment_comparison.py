"""The values of two moments held against each other, with the measures of a device comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import structs

from gradstep.core.graph.model import Operation
from gradstep.core.host.moment_values import Taken
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.protocol.messages import ComparedNode, Comparison, SideResult
from gradstep.gpu.compare import side
from gradstep.gpu.device_run import Outcome
from gradstep.gpu.difference_detail import detail_of
from gradstep.gpu.tensor_distance import distance, identical, measure

Outputs = Mapping[int, np.ndarray]
_NOTHING: Outputs = {}
_FEW = 8  # elements of what is the same


def compare_values(left: Taken, right: Taken) -> Comparison:
    """Every operation that has values at either: what is not the same to the bit differs. One whose
    inputs are the same makes the difference by itself: it was given, or is another operation."""
    operations = {op.name: op for op in (*left.operations, *right.operations)}
    nodes: list[ComparedNode] = []
    apart: dict[str, int] = {}  # which are, and behind which step
    for name, op in operations.items():
        one, other = left.values.get(name, _NOTHING), right.values.get(name, _NOTHING)
        since = max(left.since.get(name, -1), right.since.get(name, -1))
        node = _node(op, one, other, _inherits(op, since, apart))
        if node.differs:
            apart[name] = since
        nodes.append(node)
    differing = [node for node in nodes if node.differs]
    first = min(differing, key=lambda node: _since(node, left, right), default=None)
    sentences = _sentences(left, right, nodes, first)
    return Comparison(
        left=left.title,
        right=right.title,
        measured=True,
        source="",
        nodes=nodes,
        first_divergence=None if first is None else first.name,
        brief=_brief(nodes),
        text=" ".join(sentences),
        sentences=sentences,
    )


def _since(node: ComparedNode, left: Taken, right: Taken) -> int:
    """Behind which step it is other at the one or at the other."""
    return min(each.since[node.name] for each in (left, right) if node.name in each.since)


def _inherits(op: Operation, since: int, apart: Mapping[str, int]) -> bool:
    """Whether something that was other before makes it other: what it reads, or what a step has
    written to a variable."""
    if op.type in VARIABLES:
        return since >= 0
    return any(apart[ref.op] < since for ref in op.inputs if ref is not None and ref.op in apart)


def _node(op: Operation, left: Outputs, right: Outputs, inherits: bool) -> ComparedNode:
    worst = max({*left} & {*right}, key=lambda i: _apart(left[i], right[i]), default=None)
    there = bool(left) and bool(right)
    differs = there and (worst is None or _apart(left[worst], right[worst]) > 0)
    shown = worst or 0
    if there and not differs:
        return _equal(op, left[shown])
    metrics = {} if worst is None else measure(left[worst], right[worst])
    return ComparedNode(
        name=op.name,
        type=op.type,
        phase=op.phase.value,
        verdict="differs" if differs else "unavailable",
        left=_side(left, shown),
        right=_side(right, shown),
        created=None if worst is None else distance(left[worst], right[worst]),
        differs=differs,
        creates=differs and not inherits,
        metrics={key: value for key, value in metrics.items() if np.isfinite(value)},
        detail=detail_of(shown, left[shown], right[shown], None) if differs and metrics else None,
    )


def _equal(op: Operation, output: np.ndarray) -> ComparedNode:
    """Nearly all are, of large graphs: they cost a look at their bits, and a few elements."""
    first = side(Outcome((output.reshape(-1)[:_FEW],)))
    both = structs.replace(first, shape=[*output.shape])
    return ComparedNode(
        name=op.name,
        type=op.type,
        phase=op.phase.value,
        verdict="equal",
        left=both,
        right=both,
        metrics={"equal": 1.0},
    )


def _apart(left: np.ndarray, right: np.ndarray) -> float:
    """0 for the same bits; else how far, by the share of elements."""
    if (left.shape, left.dtype) != (right.shape, right.dtype):
        return 2.0
    same = left == right if left.dtype.hasobject else identical(left, right)
    return 1.0 - float(np.mean(same)) if left.size else 0.0


def _side(outputs: Outputs, shown: int) -> SideResult:
    if shown in outputs:
        return side(Outcome((outputs[shown],)))
    return SideResult(status="unavailable", text="not computed there")


def _brief(nodes: Sequence[ComparedNode]) -> str:
    count = sum(node.differs for node in nodes)
    return f"{count:,} of {len(nodes):,} differ" if count else "all values are the same"


def _sentences(
    left: Taken, right: Taken, nodes: Sequence[ComparedNode], first: ComparedNode | None
) -> list[str]:
    """How many differ, which was the first to, and by how much."""
    missing = sum(node.verdict == "unavailable" for node in nodes)
    alone = [f"{missing:,} have a value at one of the two alone."] if missing else []
    if first is None:
        return [f"All values of {left.title} and {right.title} are the same to the bit.", *alone]
    count = sum(node.differs for node in nodes)
    text = f"Of {len(nodes):,} operations {count:,} have other values"
    return [f"{text}, the first of them {first.name} ({first.type}){_how_far(first)}.", *alone]


def _how_far(node: ComparedNode) -> str:
    """ ", by 3.94 at [0]": its element that differs most."""
    if node.detail is None or "max_abs" not in node.metrics:
        return ""
    worst = node.detail.worst[:1]
    where = "".join(f" at {pair.index}" for pair in worst if pair.index)
    return f", by {node.metrics['max_abs']:.4g}{where}"
