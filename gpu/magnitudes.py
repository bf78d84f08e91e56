"""The scale of the errors that a sum may have: the same sum of absolute values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.autodiff.widen import widen_array, widen_operation
from core.engine.evaluate import run_op
from core.engine.numpy_backend import NumpyBackend
from core.errors import GradstepError
from core.graph.model import Operation
from core.ops.rules import Rules
from core.ops.table import lookup


def magnitudes(
    op: Operation, inputs: Sequence[np.ndarray | None], rules: Rules
) -> np.ndarray | None:
    """|A|·|B| for a product, Σ|x| for a sum, in float64; None for other kinds of op, and where
    the op does not run on these inputs."""
    if lookup(op.type, op.name).arithmetic not in ("reducing", "product"):
        return None
    given = [_absolute(x) for x in inputs if x is not None]
    if len(given) < len(inputs):
        return None
    try:
        return np.asarray(run_op(NumpyBackend(rules), widen_operation(op), given)[0])
    except GradstepError:
        return None


def _absolute(array: np.ndarray) -> np.ndarray:
    """Integers may be indices or axes: they stay as they are."""
    return np.abs(widen_array(array)) if array.dtype.kind in "fc" else array
