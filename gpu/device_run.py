"""One device going through a plan: its values so far, and what each step gave on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradstep.core.autodiff.check.promote_float64 import widen_array, widen_operation
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.liveness_guards import new_versions
from gradstep.core.engine.calls.op_evaluation import Functions, locate_error, run_op
from gradstep.core.engine.device_transfer import get, kept, put, shown
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.liveness_conditions import holds
from gradstep.core.engine.plan.steps import Guard, Step
from gradstep.core.engine.run.standalone_loop import promote_iteration, run_alone
from gradstep.core.engine.run.variable_store import uninitialised_error, wants_values
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation
from gradstep.core.ops.state.opaque_state import OpaqueState


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one operation gave on one track: host arrays, or the error, or neither (an input was
    not available, or it is dead: in a branch that is not taken). An update gives the new values of
    the variables that it writes."""

    outputs: tuple[np.ndarray, ...] = ()
    error: GradstepError | None = None
    available: bool = True
    dead: bool = False

    @property
    def ok(self) -> bool:
        return self.available and self.error is None


UNAVAILABLE = Outcome(available=False)
DEAD = Outcome(dead=True)


@dataclass
class Track:
    """One device's values so far, on it and on the host. What could not be computed is absent.

    wide: everything is float64, as a reference.
    """

    backend: Backend
    plan: Plan
    functions: Functions
    wide: bool = False
    device: dict[int, Any] = field(default_factory=dict)
    host: dict[int, Any] = field(default_factory=dict)
    empty: frozenset[int] = frozenset()  # the first versions of variables without a value

    def __post_init__(self) -> None:
        steps = self.plan.steps
        self._last = {value: step for step in steps for value in step.needs}

    def begin(self, start: Mapping[int, Any]) -> None:
        """Take the values that are there when the run starts. Raises GradstepError when the
        device cannot hold them."""
        first = {versions[0] for versions in self.plan.versions.values()}
        self.empty = frozenset(first - start.keys())
        for index, array in start.items():
            self.host[index] = kept(array, widen_array) if self.wide else array
            try:
                self.device[index] = put(self.backend, self.host[index])
            except Exception as error:
                raise locate_error(error, self._owner(index), self.backend) from error

    def inputs(self, step: Step) -> tuple[np.ndarray | None, ...]:
        return tuple(self.host.get(index) for index in step.reads)

    def advance(self, step: Step) -> Outcome:
        """Run `step` on this track's own values, and keep what it gives."""
        refusal = self._refusal(step)
        if self._is_dead(step):
            self._leave(step)
            return DEAD
        if refusal is not None:
            return Outcome(error=refusal)
        if not step.computes:
            return self._standing(step)
        if step.guard is not None and step.guard.inputs:
            return self._merge(step, step.guard)
        if not self._has(self.device, step):
            return UNAVAILABLE
        results, outcome = self._compute(step, [self.device.get(i) for i in step.reads])
        pairs = zip(results, outcome.outputs, strict=True) if outcome.ok else ()
        for index, (result, array) in zip(step.writes, pairs, strict=False):
            self.device[index] = result
            self.host[index] = result if isinstance(result, OpaqueState) else array
        return outcome

    def try_on(self, step: Step, inputs: Sequence[np.ndarray | None]) -> Outcome:
        """What `step` gives here on another track's inputs; nothing is kept."""
        refusal = self._refusal(step)
        if refusal is not None:
            return Outcome(error=refusal)
        given = dict(zip(step.reads, inputs, strict=True))
        if not self._has({i: x for i, x in given.items() if x is not None}, step):
            return UNAVAILABLE
        try:
            arrays = [None if x is None else put(self.backend, x) for x in inputs]
        except Exception as error:
            return Outcome(error=locate_error(error, step.op, self.backend, inputs))
        return self._compute(step, arrays)[1]

    def adopt(self, step: Step, other: Track) -> None:
        """Take another track's results of `step` for this one's, which failed; not state, which
        stays on its device."""
        values = {index: other.host[index] for index in step.writes if index in other.host}
        if any(isinstance(value, OpaqueState) for value in values.values()):
            return
        for index, array in values.items():
            self.host[index] = kept(array, widen_array) if self.wide else array
            self.device[index] = put(self.backend, self.host[index])

    def forget(self, step: Step) -> None:
        """Drop what no later step reads; variables stay, as any alias may show them."""
        for index in (*step.needs, *step.writes):
            if self._last.get(index, step) is step and not self.plan.values[index].variable:
                self.device.pop(index, None)
                self.host.pop(index, None)

    def _is_dead(self, step: Step) -> bool:
        """Whether the step's branch is not taken on this device."""
        return step.guard is not None and not holds(step.guard.when, self.host.get)

    def _leave(self, step: Step) -> None:
        """Do what a dead step does: leave the variables that it would have written."""
        for new, old in new_versions(self.plan, step):
            if old in self.host:
                self.device[new], self.host[new] = self.device[old], self.host[old]

    def _merge(self, step: Step, guard: Guard) -> Outcome:
        """Take the input that is alive."""
        alive = (i for i, when in enumerate(guard.inputs) if holds(when, self.host.get))
        number = next(alive)
        source, index = step.reads[number], np.array(number, np.int32)
        if source not in self.device:
            return UNAVAILABLE
        values = (self.device[source], put(self.backend, index))
        arrays = (shown(self.host[source]), index)
        for written, value, array in zip(step.writes, values, arrays, strict=True):
            self.device[written], self.host[written] = value, array
        return Outcome(arrays)

    def _has(self, values: Mapping[int, Any], step: Step) -> bool:
        return all(i in values or i in self.empty for i in step.reads)

    def _refusal(self, step: Step) -> GradstepError | None:
        """Why the step cannot run at all, on any device."""
        if step.op.name in self.plan.failures:
            return self.plan.failures[step.op.name]
        wanted = wants_values(step)
        names = (self.plan.values[i].variable for i in wanted if i in self.empty)
        name = next(names, None)
        return None if name is None else uninitialised_error(step, name, self.plan.variables[name])

    def _compute(self, step: Step, inputs: Sequence[Any]) -> tuple[tuple[Any, ...], Outcome]:
        """The step's results on given device arrays, and the same as an outcome; nothing kept."""
        op = widen_operation(step.op) if self.wide else step.op
        try:
            if step.iteration is None:
                results = run_op(self.backend, op, inputs, self.functions)
            else:
                of = promote_iteration(self.plan, step, inputs) if self.wide else step.iteration
                results = run_alone(self.backend, of, inputs, self.functions)
            return results, Outcome(tuple(get(self.backend, x) for x in results))
        except Exception as error:  # a device's error may surface as late as in `get`
            return (), Outcome(error=locate_error(error, op, self.backend, inputs))

    def _standing(self, step: Step) -> Outcome:
        """A variable's declaration, or an alias of one: the value at this place in the order."""
        variable = self.plan.tensors.get(step.op.output())
        if not isinstance(variable, str):
            return Outcome()
        index = self.plan.newest(variable, self.plan.step_of[step.op.name])
        if index in self.empty:
            return Outcome()
        return Outcome((shown(self.host[index]),)) if index in self.host else UNAVAILABLE

    def _owner(self, index: int) -> Operation:
        """The operation that feeds or declares a value of the run's start."""
        value = self.plan.values[index]
        name = self.plan.variables[value.variable].op if value.ref is None else value.ref.op
        return self.plan.graph[name]
