"""Copies on the host of what kernels read there, shapes and axes, and no run changes: made once.

A kernel that fetches such an array from a device at every step makes the host wait each time for
all that the device was given to do.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import host_inputs
from gradstep.core.engine.plan.steps import Step

_LARGEST = 4096  # elements; what says how is short


class HostCopies:
    """Of the values of one plan on `backend`. constants: values that are the same in every run;
    others are so as well once they are given, as what a loop captures may be."""

    def __init__(self, backend: Backend, constants: Container[int]) -> None:
        self._backend = backend
        self._constants = constants
        self._copies: dict[int, np.ndarray] = {}

    def give(self, copies: Mapping[int, np.ndarray]) -> None:
        """Take what others know of values that are the same in every run."""
        self._copies.update(copies)

    def hand_on(self, other: HostCopies) -> None:
        """Let those of another recording of the plan, or of a plan that continues it, have them."""
        other.give(self._copies)

    def of_step(
        self, step: Step, cells: Sequence[Any], every: bool = False
    ) -> dict[int, np.ndarray]:
        """Number of an input that the step reads on the host -> its copy there, where it is the
        same in every run. cells: value -> its array. every: it reads all of them there."""
        if self._backend.xp is np or step.definition is None or step.times > 1:
            return {}
        count = len(step.op.inputs)
        numbers = range(count) if every else host_inputs(step.definition, count)
        return self._named({n: step.reads[n] for n in numbers if n < len(step.reads)}, cells)

    def of_values(
        self, names: Iterable[tuple[int, int]], cells: Sequence[Any]
    ) -> dict[int, np.ndarray]:
        """What is to be given of a loop's iteration: its value -> the copy of the value around."""
        return {} if self._backend.xp is np else self._named(dict(names), cells)

    def _named(self, values: Mapping[int, int], cells: Sequence[Any]) -> dict[int, np.ndarray]:
        found = ((name, self._copy(value, cells[value])) for name, value in values.items())
        return {name: copy for name, copy in found if copy is not None}

    def _copy(self, value: int, cell: Any) -> np.ndarray | None:
        known = self._copies.get(value)
        if known is None and value in self._constants and _is_short(cell):
            known = self._copies[value] = self._backend.get(cell)
            known.setflags(write=False)
        return known


def _is_short(cell: Any) -> bool:
    """Whether it is an array of few whole numbers or booleans."""
    return getattr(cell, "dtype", None) is not None and bool(
        cell.dtype.kind in "iub" and cell.size <= _LARGEST
    )
