"""Data that reaches the first weights in sizes far from 1, or in columns that are far apart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradstep.core.checks.doctor.examined_document import Examined, is_data
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.checks.doctor.recorded_tensors import RecordedTensors, recorded
from gradstep.core.graph.model import Operation, TensorRef

_PRODUCTS = ("MatMul", "BatchMatMul", "BatchMatMulV2", "Conv1D", "Conv2D")
_ROWS = 8  # fewer say nothing of a column
_LARGE = 30.0  # root mean square of pixels from 0 to 255 is some 80 to 150
_APART = 1e3


def find_unscaled_inputs(x: Examined) -> Iterator[Finding]:
    """What is multiplied by weights that are trained, and computed from no variable itself: a
    normalisation that learns, or an embedding, would be one."""
    runs, seen = recorded(x), set[str]()
    if runs.last < 0 or x.session is None:
        return
    for op in x.forward:
        if op.type not in _PRODUCTS or op.name not in x.behind_losses:
            continue
        data, weights = op.inputs[0], x.variable_read(op, 1)
        if data is None or data.op in seen or not x.moved.get(weights):
            continue
        if _is_data(x, data):
            seen.add(data.op)
            yield from _finding(x, runs, op, data, weights)


def _is_data(x: Examined, ref: TensorRef) -> bool:
    """Whether it is fed or read, and no variable has a part in it."""
    if ref.op in x.learned:
        return False
    return any(is_data(x.graph[name]) for name in x.sources([ref.op]))


def _finding(
    x: Examined, runs: RecordedTensors, op: Operation, ref: TensorRef, weights: str
) -> Iterator[Finding]:
    value = runs.value(x, ref)
    if value is None or value.ndim < 2 or len(value) < _ROWS or value.dtype.kind != "f":
        return
    if not np.isfinite(value).all():
        return
    size = float(np.sqrt(np.mean(np.square(value, dtype=np.float64))))
    if size > _LARGE:
        text = (
            f"{ref.short}, which {op.name} multiplies by {weights}, has numbers from "
            f"{value.min():.3g} to {value.max():.3g}, with a root mean square of {size:.3g}: the "
            f"gradient of {weights} is that many times larger than with inputs of size 1, and the "
            f"largest learning rate that does not overshoot some {size * size:.1g} times smaller"
        )
        yield Finding(op.name, text, "subtract the mean, and divide by the standard deviation")
    elif value.ndim == 2:
        yield from _columns(op, ref, weights, value)


def _columns(op: Operation, ref: TensorRef, weights: str, value: np.ndarray) -> Iterator[Finding]:
    spread = np.std(value, axis=0, dtype=np.float64)
    least, most = _ends(spread)
    if least >= 0 and spread[most] > _APART * spread[least]:
        text = (
            f"column {most} of {ref.short} varies by {spread[most]:.2g} (standard deviation over "
            f"{len(value)} rows) and column {least} by {spread[least]:.2g}: no learning rate of "
            f"{weights}, by which {op.name} multiplies them, suits both rows of it"
        )
        yield Finding(op.name, text, "divide each column by its standard deviation")


def _ends(spread: np.ndarray) -> tuple[int, int]:
    """The columns that vary the least and the most, of those that do; -1 for none."""
    some = np.flatnonzero(spread > 0)
    if not some.size:
        return -1, -1
    return int(some[np.argmin(spread[some])]), int(some[np.argmax(spread[some])])
