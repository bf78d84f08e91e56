"""Predictions that are judged while dropout leaves out part of the network."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.graph.model import Operation, TensorRef

_JUDGES = ("ArgMax", "InTopK", "InTopKV2", "TopK", "TopKV2")
_NEAR = 16  # operations between a random number and the mask that it makes


def find_dropped_predictions(x: Examined) -> Iterator[Finding]:
    """What runs compute of a choice (the largest logit, the first k) that has a dropout behind it
    whose rate is not fed. A loss is meant to have one."""
    masked = {op.name: op for op in x.forward if _is_dropout(x, op)}
    if not masked or not x.losses:
        return
    for op in x.forward:
        if op.type in _JUDGES and op.name in x.executed and op.name not in x.behind_losses:
            behind = [name for name in x.sources([op.name]) if name in masked]
            if behind:
                yield _finding(op, min(behind))


def _is_dropout(x: Examined, op: Operation) -> bool:
    """A product with a mask that is made of random numbers and constants."""
    return op.type == "Mul" and any(ref is not None and _is_mask(x, ref) for ref in op.inputs)


def _is_mask(x: Examined, ref: TensorRef) -> bool:
    types = {x.graph[name].type for name in x.nearest_sources(ref, _NEAR)}
    if not types & {"RandomUniform", "StatelessRandomUniform", "StatelessRandomUniformV2"}:
        return False
    if not types & {"Floor", "GreaterEqual", "Less", "Greater", "LessEqual"}:
        return False
    return not any(type.startswith(("Placeholder", "Variable", "VarHandle")) for type in types)


def _finding(op: Operation, dropout: str) -> Finding:
    text = (
        f"{op.name} ({op.type}) judges predictions that went through the dropout {dropout}: part "
        "of the network is left out at random, and another part in each run, so that it looks "
        "worse than it is"
    )
    fix = "compute predictions without it, or feed its rate, and 0 where they are judged"
    return Finding(op.name, text, fix, "info")
