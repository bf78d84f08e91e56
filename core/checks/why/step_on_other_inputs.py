"""Running one step again on other inputs: what a result would be if an operand were another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradstep.core.checks.why.recorded_values import Ran
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import Functions, bind, run_kernel
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan.steps import Step
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.state.opaque_state import OpaqueState

Inputs = Sequence[Any]
Runner = Callable[[Inputs], "tuple[np.ndarray, ...] | None"]
Masks = dict[int, np.ndarray]  # number of a result -> bool, which of its elements


class Again:
    """Works on the host, under the rules of the session's device."""

    def __init__(self, session: DebugSession) -> None:
        self._own = session.backend
        rules = NumpyBackend(self._own.rules)
        self._backend: Backend = self._own if self._own.xp is np else rules
        self._functions: Functions = session.program.functions

    def inputs(self, ran: Ran, step: Step) -> list[Any]:
        """What a step read: arrays on the host, or state; None for what is not kept."""
        return [self.array(ran.held(index)) for index in step.reads]

    def array(self, held: Any) -> Any:
        """What is held, on the host; of a NumPy array no copy."""
        plain = held is None or isinstance(held, OpaqueState | np.ndarray)
        return held if plain else self._own.get(held)

    def given(self, ran: Ran, index: int) -> np.ndarray | None:
        """Which elements of value `index` somebody else gave, and its step did not make; None for
        none."""
        before = self.array(ran.before(index))
        now = None if before is None else self.array(ran.held(index))
        if not isinstance(before, np.ndarray) or not isinstance(now, np.ndarray):
            return None
        return differing(now, before)

    def can_run(self, step: Step) -> bool:
        """Whether running it again does nothing besides giving results."""
        definition = step.definition
        if definition is None or definition.kernel.plain is None or not step.computes:
            return False
        acts = definition.state.stateful and not definition.state.writes
        return not (acts or definition.state.per_run or step.calls_python or definition.branch)

    def run(self, step: Step, inputs: Inputs) -> tuple[np.ndarray, ...] | None:
        """The results of the step on `inputs`; None where it fails on them."""
        return self.runner(step)(inputs)

    def runner(self, step: Step) -> Runner:
        """What gives the results of the step on inputs, to be called again and again."""
        backend = self._backend
        kernel = bind(backend, step.op, self._functions)

        def run(inputs: Inputs) -> tuple[np.ndarray, ...] | None:
            try:
                return run_kernel(backend, step.op, kernel, inputs)
            except GradstepError:
                return None

        return run


def differing(now: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Which elements of `now` are others than those of `before`; NaN is as any other."""
    if now.shape != before.shape:
        return np.ones(now.shape, bool)
    return np.asarray((now != before) & ((now == now) | (before == before)))


def by_place(step: Step) -> bool:
    """Whether each element of its results comes from the elements at its place, and from
    scalars."""
    definition = step.definition
    return definition is not None and (definition.memory.elementwise or definition.broadcasts)


def on_host(op: Operation) -> list[bool]:
    """Which of its operands are shapes, axes and the like, and no part of what it computes with."""
    definition = find(op.type)
    if definition is None:
        return [False] * len(op.inputs)
    names = {spec.name for spec in definition.inputs if spec.host}
    return [n.partition("[")[0] in names for n in definition.arity(len(op.inputs))]


def pick_operands(inputs: Inputs, mask: np.ndarray) -> list[Any]:
    """The operands of the elements in `mask`, of a step that works place by place, as vectors."""
    return [
        x if not isinstance(x, np.ndarray) or x.ndim == 0 else np.broadcast_to(x, mask.shape)[mask]
        for x in inputs
    ]


def at_place(x: np.ndarray, shape: tuple[int, ...], mask: np.ndarray) -> np.ndarray:
    """Which elements of operand `x` those of a result in `mask` (bool of `shape`) come from."""
    if x.shape == shape:
        return mask
    found = np.zeros(x.shape, bool)
    where = np.argwhere(mask)[:, len(shape) - x.ndim :]
    where = np.where(np.array(x.shape) == 1, 0, where)
    found[tuple(where.T)] = True
    return found
