"""Units of hidden layers that are dead, or saturated: they let no gradient through."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.finding_words import share
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.checks.doctor.recorded_tensors import RecordedTensors, recorded
from gradstep.core.document.lint_remedies import Remedy
from gradstep.core.document.repairs import scaled
from gradstep.core.graph.model import Operation

_ROWS = 8  # fewer say nothing of a unit
_MANY = 32  # rows; by fewer half of the units of a sound layer may be 0 by chance
_DEAD = 0.5  # share of the units of a layer, by many rows
_DEAD_BY_FEW = 0.75
_SATURATED = 0.9  # share of its numbers
_WEIGHTS = ("MatMul", "BatchMatMul", "Conv", "Einsum")  # what a layer begins with
_SLOPES = {"Sigmoid": 0.25, "Tanh": 1.0}  # the slope at 0
_FLAT = 0.02  # slope, as a share of that at 0


def find_dead_units(x: Examined) -> Iterator[Finding]:
    """Of a ReLU in training, those that give 0 for every row of the batch."""
    for op, runs in _hidden(x, ("Relu", "Relu6")):
        value = runs.value(x, op.output())
        idle = _dead_units(value)
        if value is None or idle is None:
            continue
        rows, units = len(value), value.shape[-1]
        if idle.mean() < (_DEAD if value.size >= _MANY * units else _DEAD_BY_FEW):
            continue
        since = _since(x, runs, op, idle)
        text = (
            f"{share(int(idle.sum()), units)} of the units of {op.name} give 0 for each of the "
            f"{rows} rows of the batch{since}: no gradient comes by them, and the weights before "
            "them stay as they are"
        )
        fix = "a lower learning rate, weights drawn as He does, a bias above 0, or a leaky ReLU"
        remedy = Remedy("leak", (op.name,)) if op.type == "Relu" else None
        yield Finding(op.name, text, fix, remedy=remedy)


def find_saturated_units(x: Examined) -> Iterator[Finding]:
    """Of a sigmoid or tanh inside of a network; at its end it is only sure of itself."""
    for op, runs in _hidden(x, tuple(_SLOPES)):
        value = runs.value(x, op.output())
        if value is None or value.ndim != 2 or len(value) < _ROWS:
            continue
        slope = value * (1 - value) if op.type == "Sigmoid" else 1 - value * value
        flat = slope < _FLAT * _SLOPES[op.type]
        if flat.mean() > _SATURATED:
            text = (
                f"{share(int(flat.sum()), flat.size)} of the numbers of {op.name} ({op.type}) lie "
                f"where it is flat, with a slope below {_FLAT * _SLOPES[op.type]:g}: a gradient "
                f"that comes by is multiplied by {slope.mean():.2g} on average"
            )
            fix = "scale what goes in, draw smaller weights, or use a ReLU"
            weights = _weights_before(x, op)
            remedy = None
            if weights is not None:
                remedy = Remedy("scale", scaled(x.document, weights, "0.1"))
            yield Finding(op.name, text, fix, remedy=remedy)


def _weights_before(x: Examined, op: Operation) -> str | None:
    """What makes its input large: of the variables of its layer that begin with numbers of the
    document's, the one with the largest."""
    initial, waiting, found = x.document.initial, [*op.inputs], set[str]()
    while waiting:
        ref = waiting.pop()
        if ref is None or ref.op in found or x.graph[ref.op].type in (*_SLOPES, "Relu"):
            continue
        found.add(ref.op)
        waiting += x.graph[ref.op].inputs
    sizes = {n: float(np.abs(initial[n].array).max(initial=0)) for n in found if n in initial}
    return max(sizes, key=lambda name: (sizes[name], name)) if any(sizes.values()) else None


def _hidden(x: Examined, types: tuple[str, ...]) -> Iterator[tuple[Operation, RecordedTensors]]:
    """Activations of what is trained, before another layer."""
    runs = recorded(x)
    if runs.last < 0:
        return
    is_trained = not x.wanted_names.isdisjoint(x.moved)
    for op in x.forward if is_trained else ():
        if op.type in types and op.name in x.behind_losses and _is_before_weights(x, op):
            yield op, runs


def _is_before_weights(x: Examined, op: Operation) -> bool:
    """Whether what it gives is multiplied by weights, pooled or reshaped on the way perhaps."""
    seen, stack = set[str](), [op.name]
    while stack and len(seen) < 64:
        for edge in x.graph.consumers[stack.pop()]:
            reader = x.graph[edge.op]
            if reader.name not in seen and reader.name in x.behind_losses:
                if reader.type.startswith(_WEIGHTS):
                    return True
                seen.add(reader.name)
                stack.append(reader.name)
    return False


def _dead_units(value: np.ndarray | None) -> np.ndarray | None:
    """Whether each unit, along the last axis, is 0 in all rows; None where these are too few."""
    if value is None or value.ndim not in (2, 4) or len(value) < _ROWS:
        return None
    return np.asarray(~value.reshape(-1, value.shape[-1]).any(axis=0))


def _since(x: Examined, runs: RecordedTensors, op: Operation, idle: np.ndarray) -> str:
    """Since which run all of these units are so, as far as runs are recorded."""
    first = runs.last
    for run in runs.earlier():
        before = _dead_units(runs.value(x, op.output(), run))
        if before is None or not before[idle].all():
            break
        first = run
    return f", since run {first + 1}" if first < runs.last else ""
