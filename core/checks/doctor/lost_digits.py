"""Sums in which rounding loses what is added: variables that stand still, and long reductions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.checks.doctor.finding_words import share
from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.checks.doctor.recorded_tensors import RecordedTensors, executed, named_input
from gradstep.core.checks.doctor.update_types import GRADIENT_DESCENT
from gradstep.core.graph.model import Operation, TensorRef

_COUNTING = ("AssignAdd", "AssignSub", "AssignAddVariableOp", "AssignSubVariableOp")
_SUMS = ("Sum", "Mean")
_NARROW = frozenset({"float16", "bfloat16"})
_MOST = 0.5  # share of the elements that were to be moved
_LONG = 1 << 16  # elements of a reduction that is computed again
_LOST = 1e-4  # of the largest sum: a thousand float32 roundings


def find_lost_digits(x: Examined) -> Iterator[Finding]:
    """In the last run. An optimizer's steps are looked at in 16 bits alone: those of 32 round away
    what is a ten-millionth of a weight, which happens to any network that has learned."""
    for op, runs in executed(x, (*_COUNTING, *GRADIENT_DESCENT)):
        yield from _standing(x, runs, op)
    for op, runs in executed(x, _SUMS):
        yield from _long(x, runs, op)


def _standing(x: Examined, runs: RecordedTensors, op: Operation) -> Iterator[Finding]:
    """A variable that is what it was where something was to be added to it."""
    variable = op.inputs[0]
    if variable is None or len(x.moved.get(variable.op, ())) != 1:
        return
    before = runs.copy(x, variable, begin=True)
    if (
        before is None
        or not _is_rounded(before)
        or (op.type in GRADIENT_DESCENT and _is_wide(before))
    ):
        return
    added = _added(x, runs, op)
    after = runs.value(x, variable)
    if added is None or after is None or after.shape != before.shape:
        return
    wanted = np.broadcast_to(added != 0, before.shape) & np.isfinite(before)
    lost = wanted & (after == before)
    if not wanted.any() or lost.sum() < _MOST * wanted.sum():
        return
    at = np.unravel_index(int(np.argmax(lost)), lost.shape)
    amount, number = float(np.broadcast_to(added, before.shape)[at]), before[at]
    few = share(int(lost.sum()), int(wanted.sum()))
    left = "it as it was" if before.ndim == 0 else f"{few} of the elements as they were"
    text = (
        f"in run {runs.last + 1} {op.name} adds to {variable.op} and leaves {left}: "
        f"{float(number):.8g} and {amount:.3g} give {float(number):.8g} in {before.dtype}"
    )
    fix = (
        "keep the variable in float32, and cast it where it is used"
        if not _is_wide(before)
        else "count in int64 or float64, or add up less often"
    )
    yield Finding(variable.op, text, fix)


def _added(x: Examined, runs: RecordedTensors, op: Operation) -> np.ndarray | None:
    """What an update adds to its variable, in float64."""
    if op.type not in GRADIENT_DESCENT:
        ref = op.inputs[1]
        found = None if ref is None else runs.copy(x, ref)
        sign = -1.0 if "Sub" in op.type else 1.0
        return None if found is None else sign * found.astype(np.float64)
    parts = [named_input(op, name) for name in ("alpha", "delta")]
    values = [None if ref is None else runs.copy(x, ref) for ref in parts]
    if values[0] is None or values[1] is None:
        return None
    return -values[0].astype(np.float64) * values[1].astype(np.float64)


def _long(x: Examined, runs: RecordedTensors, op: Operation) -> Iterator[Finding]:
    """A reduction of very many numbers whose result is not that of float64."""
    summed, axes = op.inputs[0], x.constant(op.inputs[1])
    if summed is None or axes is None or not _is_float(x, summed):
        return
    numbers = runs.value(x, summed)
    if numbers is None or numbers.size < _LONG or not numbers.ndim:
        return
    axis = tuple(int(each) % numbers.ndim for each in np.atleast_1d(axes))
    count = int(np.prod([numbers.shape[each] for each in axis]))
    if count < _LONG:
        return
    whole = np.asarray(np.sum(numbers, axis=axis, dtype=np.float64))
    exact = np.asarray(whole / (count if op.type == "Mean" else 1))
    found = runs.value(x, op.output())
    if found is None or found.size != exact.size:
        return
    given = found.reshape(exact.shape).astype(np.float64)
    largest = float(np.abs(exact).max(initial=0))
    if not largest or not np.isfinite(exact).all() or not np.isfinite(given).all():
        return
    wrong = np.asarray(np.abs(given - exact))
    if wrong.max() <= _LOST * largest:
        return
    at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    text = (
        f"{op.name} ({op.type}) of {count:,} numbers in {found.dtype} gives {given[at]:.8g} in "
        f"run {runs.last + 1}, and in float64 they give {exact[at]:.8g}: it is "
        f"{wrong[at] / largest:.1g} off"
    )
    fix = "cast to float64 before it, subtract what they have in common, or sum in parts"
    yield Finding(op.name, text, fix)


def _is_float(x: Examined, ref: TensorRef) -> bool:
    kind = x.inference.types.get(ref)
    return kind is not None and kind.dtype.is_floating


def _is_rounded(value: np.ndarray) -> bool:
    return value.dtype.kind == "f" or value.dtype.name == "bfloat16"


def _is_wide(value: np.ndarray) -> bool:
    return value.dtype.name not in _NARROW
