"""Steps that make the same values in every run: done once, before the first."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import Functions, run_op
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.splat_array import is_splat

# Bytes. Products of matrices are slow on what is not laid out, and add in another order; constants
# of one value that are larger than this are hardly anything but declared sizes.
SPLAT_FROM = 256 << 20


def constants_of(backend: Backend, step: Step, functions: Functions) -> list[Any]:
    """The results of a step without inputs. Raises GradstepError located at its operation."""
    return [_aligned(backend, array) for array in run_op(backend, step.op, (), functions)]


def _aligned(backend: Backend, array: Any) -> Any:
    """`array` at a place as good as those in the arena, that nobody can write to; text as it is,
    and what is large and of one value."""
    if array.dtype.hasobject or (array.nbytes > SPLAT_FROM and is_splat(array)):
        return array
    place = backend.empty(array.shape, array.dtype)
    place[...] = array
    if backend.xp is np:
        place.setflags(write=False)
    return place
