"""The terms of a sum, counted, and the sum of their magnitudes: the scale of its rounding error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from gradstep.core.autodiff.check.promote_float64 import widen_array, widen_operation
from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.system_rules import Rules
from gradstep.core.ops.declare.table import lookup

Inputs = Sequence[np.ndarray | None]


def magnitudes(op: Operation, inputs: Inputs, rules: Rules) -> np.ndarray | None:
    """|A|·|B| for a product, Σ|x| for a sum, in float64; None for other kinds of op, and where
    the op does not run on these inputs."""
    return _summed(widen_operation(op), inputs, rules, lambda x: np.abs(widen_array(x)))


def terms(op: Operation, inputs: Inputs, outputs: Sequence[np.ndarray], rules: Rules) -> int:
    """How many terms the longest of an op's sums (or products) has; 0 for other kinds of op. What
    it makes of ones counts them, but where it divides or multiplies: then it is the elements that
    it takes for each that it gives."""
    counts = _summed(op, inputs, rules, _ones)
    if counts is None:
        return 0
    count = round(float(np.max(np.nan_to_num(counts.real), initial=0.0)))
    if lookup(op.type, op.name).arithmetic == "product":
        return count
    taken = sum(x.size for x in inputs if x is not None and kind_of(x.dtype) in "fc")
    return max(count, math.ceil(taken / max(1, sum(y.size for y in outputs))))


def _ones(like: np.ndarray) -> np.ndarray:
    """In a type that counts far enough."""
    return np.ones(like.shape, np.result_type(like, np.float32))


def _summed(
    op: Operation, inputs: Inputs, rules: Rules, instead: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray | None:
    """The op on other numbers. Integers may be indices or axes: they stay."""
    if lookup(op.type, op.name).arithmetic not in ("reducing", "product"):
        return None
    given = [instead(x) if kind_of(x.dtype) in "fc" else x for x in inputs if x is not None]
    if len(given) < len(inputs):
        return None
    try:
        return np.asarray(run_op(NumpyBackend(rules), op, given)[0])
    except GradstepError:
        return None
