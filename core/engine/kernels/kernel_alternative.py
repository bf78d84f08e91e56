"""One alternative to the reference kernel of an op type, and how a plan's step becomes its call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gradstep.core.engine.calls.bound_calls import Several
from gradstep.core.engine.calls.call_loop import Call
from gradstep.core.engine.calls.op_evaluation import as_tuple
from gradstep.core.engine.kernels.kernel_libraries import Library
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import Operation

Kernel = Callable[..., Any]


@dataclass(frozen=True)
class Use:
    """A step, as far as it decides whether an alternative applies."""

    op: Operation
    reads: tuple[TensorType, ...]
    writes: tuple[TensorType, ...]


@dataclass(frozen=True)
class Alternative:
    """Another kernel for operations of `type`, on the host and under TensorFlow's rules for it.

    applies: to which of them, and where the gain was measured.
    differs: how results may differ from the reference's; "" for the same bits.
    gain:    time relative to the reference's, from the best to the worst case that
             `python -m tests.bench.alternatives` measures and that it applies to.
    kernel:  operation -> function of input arrays that returns new arrays, or with `out`, one
             result's place, writes there; for results whose size is known while running only.
    bind:    (operation, input arrays, place) -> call, where all are there beforehand.
    """

    type: str
    library: Library
    text: str
    applies: Callable[[Use], bool]
    gain: str
    differs: str = ""
    kernel: Callable[[Operation], Kernel] | None = None
    bind: Callable[[Operation, Sequence[Any], Any], Call] | None = None

    def call(self, step: Step, cells: list[Any], fixed: Sequence[int]) -> Call:
        """The call that runs `step`; cells and fixed as in
        gradstep.core.engine.calls.bound_calls.bind_call."""
        if all(fixed[v] for v in (*step.reads, *step.writes)) and len(step.writes) == 1:
            return self._bound(step.op, [cells[v] for v in step.reads], cells[step.writes[0]])
        assert self.kernel is not None  # `bind` alone applies to sizes that are known
        return partial(_by_reference, self.kernel(step.op), cells, step, fixed)

    def _bound(self, op: Operation, inputs: list[Any], place: Any) -> Call:
        """The call on these arrays; where they have gaps, on copies that have none."""
        *dense, target = (_without_gaps(x) for x in (*inputs, place))
        if self.bind is not None:
            call = self.bind(op, dense, target)
        else:
            assert self.kernel is not None
            call = partial(self.kernel(op), *dense, out=target)
        pairs = zip(dense, inputs, strict=True)
        before = [partial(np.copyto, to, of) for to, of in pairs if to is not of]
        after = [] if target is place else [partial(np.copyto, place, target)]
        return Several([*before, call, *after]) if before or after else call


def _without_gaps(array: Any) -> Any:
    return array if array.flags.c_contiguous else np.empty(array.shape, array.dtype)


def _by_reference(kernel: Kernel, cells: list[Any], step: Step, fixed: Sequence[int]) -> None:
    results = as_tuple(kernel(*[cells[v] for v in step.reads]))
    for value, result in zip(step.writes, results, strict=True):
        if fixed[value]:
            cells[value][...] = result
        else:
            cells[value] = result
