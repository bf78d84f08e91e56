"""Losses that are sums over the rows of a batch, with a learning rate as for means."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradstep.core.checks.doctor.examined_document import Examined, is_data
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.checks.doctor.recorded_tensors import (
    RecordedTensors,
    executed,
    named_input,
    recorded,
)
from gradstep.core.checks.doctor.update_types import DESCENTS, MOMENTUM
from gradstep.core.graph.model import Operation, TensorRef

_ADDS = ("Add", "AddV2", "AddN", "Sub")
_ROWS = 8
_RATE = 1.0  # of the mean: no network of these sizes learns with more


def find_summed_losses(x: Examined) -> Iterator[Finding]:
    """A sum over rows is their mean times their number, and so is its gradient. Who means that has
    a learning rate that is as many times smaller; said where plain descent steps by it as no mean
    would be, which Adam and its like never do. Sums of weights alone are penalties, and a sum that
    is multiplied or divided afterwards is a mean."""
    rates = (_rate(x, runs, op) for op, runs in executed(x, DESCENTS))
    rate, runs = max(rates, default=0.0), recorded(x)
    for loss in x.losses if rate else ():
        for op in _sums(x, loss):
            rows = _rows(x, runs, op)
            if rows >= _ROWS and rate * rows >= _RATE:
                yield _finding(op, loss, rows, rate)


def _rate(x: Examined, runs: RecordedTensors, op: Operation) -> float:
    ref = named_input(op, "lr" if op.type in MOMENTUM else "alpha")
    value = None if ref is None else runs.value(x, ref)
    return 0.0 if value is None or value.ndim else float(value)


def _sums(x: Examined, loss: TensorRef) -> Iterator[Operation]:
    """The sums that a loss is, or that it adds up."""
    waiting: list[TensorRef | None] = [loss]
    while waiting:
        op = x.maker(waiting.pop())
        if op is not None and op.type == "Sum":
            yield op
        elif op is not None and op.type in _ADDS:
            waiting += op.inputs


def _rows(x: Examined, runs: RecordedTensors, op: Operation) -> int:
    """How many rows of what is fed it adds up; 0 where it is about something else."""
    ref, axes = op.inputs[0], x.constant(op.inputs[1])
    if ref is None or axes is None:
        return 0
    value = runs.value(x, ref)
    if value is None or not value.ndim or 0 not in np.atleast_1d(axes) % value.ndim:
        return 0
    rows = len(value)
    for name in x.sources([ref.op]):
        if is_data(x.graph[name]):
            fed = runs.value(x, TensorRef(name))
            if fed is not None and fed.ndim and len(fed) == rows:
                return rows
    return 0


def _finding(op: Operation, loss: TensorRef, rows: int, rate: float) -> Finding:
    text = (
        f"{op.name} adds up {rows} rows: the gradient of {loss.short} grows with their number, and "
        f"a learning rate of {rate:g} is as {rate * rows:g} would be for their mean"
    )
    return Finding(op.name, text, "take the mean of the rows, or a learning rate that suits a sum")
