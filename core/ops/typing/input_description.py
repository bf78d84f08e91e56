"""What an operation was given, in words: for errors that nobody foresaw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.table import find


def with_inputs(op: Operation, given: Sequence[Any]) -> str:
    """`Mean with input = float32[2, 3], reduction_indices = float32[]`. given: the types, or the
    arrays; of what is neither, nothing is said."""
    pairs = zip(_names(op, len(given)), map(_kind, given), strict=False)
    said = ", ".join(f"{name} = {kind}" for name, kind in pairs if kind)
    return f"{op.type} with {said}" if said else op.type


def _names(op: Operation, count: int) -> Sequence[str]:
    definition = find(op.type)
    try:
        return [] if definition is None else definition.arity(count)
    except GradstepError:
        return [str(i) for i in range(count)]


def _kind(given: Any) -> str:
    if isinstance(given, TensorType):
        return str(given)
    dtype, shape = getattr(given, "dtype", None), getattr(given, "shape", None)
    if dtype is None or shape is None:
        return ""
    return f"{'string' if dtype == np.object_ else dtype}{list(shape)}"
