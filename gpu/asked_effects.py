"""What a difference does to what was asked for: fetched tensors, gradients, and classes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.graph.model import Phase
from gradstep.core.protocol.messages import ComparedNode
from gradstep.gpu.worded_lists import share, size, some

_SAID = 3  # tensors, those that are off most
_FRACTIONS = ("float", "bfloat", "complex")
_MANY_ULPS = 10_000  # from which their number says nothing


def asked_for(program: Program) -> dict[str, str]:
    """Node -> what it holds of what the program was asked for. Of gradients, those of `wrt`: a
    program fetches more, for its own sake."""
    fetched = (ref for ref in program.fetches if ref.op in program.forward)
    found = {ref.op: ref.short for ref in (*fetched, *program.request.of)}
    for ref in program.request.wrt:
        holder = program.gradients.get(ref)
        if holder is not None:
            found.setdefault(holder.op, f"the gradient of {ref.short}")
    return {name: what for name, what in found.items() if name in program.graph}


def effects(rows: Sequence[ComparedNode], asked: Mapping[str, str]) -> Iterator[str]:
    """Sentences; none where nothing that was asked for is other than on the left."""
    there = [row for row in rows if row.name in asked]
    off = [row for row in there if row.verdict in ("close", "differs") or row.differs]
    missing = [asked[row.name] for row in there if row.verdict == "unavailable"]
    if off:
        off.sort(key=lambda row: -row.metrics.get("rel_l2", float("inf")))
        said = [f"{asked[row.name]} {_how(row)}" for row in off[:_SAID]]
        more = [f"{len(off) - _SAID} more differ less"] if len(off) > _SAID else []
        same = len(there) - len(off) - len(missing)
        rest = [f"{same} more {'is' if same == 1 else 'are'} the same"] if same else []
        yield f"Of what was asked for: {'; '.join([*said, *more, *rest])}."
    if missing:
        yield f"Of what was asked for, {some(missing)} cannot be compared."
    yield from _classes(rows)


def _how(row: ComparedNode) -> str:
    """How far a node's result is off, as far as there are numbers for it."""
    metrics = row.metrics
    if row.verdict == "raises":
        return "fails on one side"
    lost = int(metrics.get("nan_mismatches", 0))
    if lost:
        them = "1 element that is" if lost == 1 else f"{lost} elements that are"
        return f"has {them} NaN or infinite on one side"
    if "max_abs" not in metrics:
        return "is another"
    if not row.left.dtype.startswith(_FRACTIONS):
        size_ = math.prod(row.left.shape)
        return f"has {round((1 - metrics['equal']) * size_)} of {size_} elements that are others"
    ulp = metrics.get("ulp_p99", math.inf)
    parts = [f"ULP p99 {ulp:.0f}"] if ulp < _MANY_ULPS else []
    parts += [share(metrics["share"])] if "share" in metrics else []
    measures = f" ({', '.join(parts)})" if parts else ""
    return f"is off by {size(metrics['max_abs'])}{measures}"


def _classes(rows: Sequence[ComparedNode]) -> Iterator[str]:
    """Of the classes that a network chooses, how many are others; only where something differs."""
    if not any(row.differs for row in rows):
        return
    forward = [r for r in rows if r.phase == Phase.FORWARD.value and "classes" in r.metrics]
    if not forward:
        return
    row = max(forward, key=lambda row: row.metrics["classes_changed"])
    changed, count = (int(row.metrics[name]) for name in ("classes_changed", "classes"))
    classes = "class changes" if count == 1 else f"classes change{'s' if changed == 1 else ''}"
    yield f"{changed} of {count} {classes} ({row.name})."
