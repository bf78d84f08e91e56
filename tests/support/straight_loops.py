"""Runs of a program with loops, operation by operation: no memory, no trace, no branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.declare.table import lookup

Place = tuple[int, ...]  # run and step, then of each loop iteration and step
MOST = 40  # iterations of one loop


@dataclass
class Level:
    """What tensors hold in a run, or an iteration. same: tensors that are another one, or a
    variable, by another name."""

    values: dict[TensorRef, Any] = field(default_factory=dict)
    same: dict[TensorRef, TensorRef | str] = field(default_factory=dict)

    def source(self, ref: TensorRef) -> TensorRef | str:
        found = self.same.get(ref, ref)
        return found if isinstance(found, str) or found == ref else self.source(found)


class StraightLoops:
    """given: what values are given, at which places, by their names. `at` has what is known at
    each place, level by level. plan: only for the order of its steps."""

    def __init__(
        self, program: Program, plan: Plan, runs: int, given: Sequence[tuple[Place, str, Any]] = ()
    ) -> None:
        self.program, self.plan, self.given = program, plan, given
        self.variables = dict(program.initial)
        self.at: dict[Place, dict[TensorRef, Any]] = {}
        self.lengths: dict[Place, int] = {}
        for run in range(runs):
            level = Level(dict(program.feeds))
            for place, name, value in given:  # a feed is one for all runs behind
                if place[0] < run and TensorRef.parse(name) in program.feeds:
                    level.values[TensorRef.parse(name)] = value
            self._steps(plan, range(len(plan.steps)), level, (run,), [level])
            self._stand((run, len(plan.steps)), [level])

    def known(self, levels: Sequence[Level]) -> dict[TensorRef, Any]:
        """What is to be seen of these."""
        found: dict[TensorRef, Any] = {}
        for level in levels:
            found.update(level.values)
            for ref in level.same:
                source = level.source(ref)
                found[ref] = (
                    self.variables[source] if isinstance(source, str) else level.values[source]
                )
        return {ref: x for ref, x in found.items() if isinstance(x, np.ndarray | np.generic)}

    def _stand(self, place: Place, levels: Sequence[Level]) -> None:
        for there, name, value in self.given:
            if there == place:
                source = levels[-1].source(TensorRef.parse(name))
                if isinstance(source, str):
                    self.variables[source] = value
                else:
                    levels[-1].values[source] = value
        self.at[place] = self.known(levels)

    def _steps(
        self, plan: Plan, numbers: range, level: Level, around: Place, levels: list[Level]
    ) -> None:
        for number in numbers:
            place = *around, number
            self._stand(place, levels)
            step = plan.steps[number]
            if step.iteration is not None:
                self._loop(step.op, step.iteration, level, place, levels)
            else:
                self._execute(step.op, level)
                if step.op.type == "Const" and len(place) == 2:  # one for all runs behind, too
                    mine = [x for at, n, x in self.given if at[0] < place[0] and n == step.op.name]
                    level.values.update({step.op.output(): x for x in mine})

    def _loop(
        self, op: Operation, iteration: Any, level: Level, around: Place, levels: list[Level]
    ) -> None:
        loop, plan, split = iteration.loop, iteration.plan, iteration.split
        inputs = dict(zip(loop.arguments, op.inputs, strict=True))
        sources = {name: level.source(ref) for name, ref in inputs.items()}
        carried = {n: self._value(level, inputs[n]) for n in loop.variables}
        past: list[dict[TensorRef, Any]] = []
        for number in range(MOST):
            inner = Level({TensorRef(n): x for n, x in carried.items()})
            for name in loop.captures:
                if isinstance(source := sources[name], str):
                    inner.same[TensorRef(name)] = source
                else:
                    inner.values[TensorRef(name)] = level.values[source]
            below = [*levels, inner]
            self._steps(plan, range(split), inner, (*around, number), below)
            self._stand((*around, number, split), below)
            self.lengths[*around, number] = split
            if not self._value(inner, loop.cond):
                carried = {n: self._value(inner, TensorRef(n)) for n in loop.variables}
                break
            self.lengths[*around, number] = len(plan.steps)
            self._steps(plan, range(split, len(plan.steps)), inner, (*around, number), below)
            self._stand((*around, number, len(plan.steps)), below)
            past.append(self.known([inner]))
            results = zip(loop.variables, loop.results, strict=True)
            carried = {n: self._value(inner, ref) for n, ref in results}
        else:
            raise AssertionError("a loop without an end")
        for number, name in enumerate(loop.variables):
            level.values[op.output(number)] = carried[name]
        level.values[op.output(len(loop.variables))] = past

    def _value(self, level: Level, ref: TensorRef) -> Any:
        source = level.source(ref)
        return self.variables[source] if isinstance(source, str) else level.values[source]

    def _execute(self, op: Operation, level: Level) -> None:
        if op.name in self.variables:
            level.same[op.output()] = op.name
            return
        if op.type == "Switch":  # a loop's own: the iteration takes place
            level.same |= {op.output(i): op.inputs[0] for i in (0, 1)}
            return
        if op.type == "IterationValue":
            trace, number = (self._value(level, ref) for ref in op.inputs)
            level.values[op.output()] = trace[int(number)][TensorRef.parse(op.attrs["tensor"])]
            return
        definition = lookup(op.type)
        inputs = [self._value(level, ref) for ref in op.inputs]
        if any(isinstance(x, list) for x in inputs):  # what there is of a loop, by another name
            level.values[op.output()] = len(inputs[0]) if op.type != "Identity" else inputs[0]
            return
        results = run_op(NumpyBackend(), op, inputs, self.program.functions)
        if definition.state.writes:
            written = [level.source(op.inputs[index]) for index in definition.state.writes]
            self.variables.update(zip(written, map(np.array, results), strict=True))
            level.same[op.output()] = op.inputs[definition.state.writes[0]]
        else:
            level.values |= {op.output(i): np.array(x) for i, x in enumerate(results)}


def place_of(stop: Any) -> Place:
    """Where a session stands."""
    return stop.run, stop.step, *(n for p in stop.inside for n in (p.iteration, p.step))


def text_of(place: Place) -> str:
    """As `run_to` takes it."""
    pairs = zip(place[::2], place[1::2], strict=True)
    return "/".join(f"{number}:{step}" for number, step in pairs)


Known = Mapping[TensorRef, Any]
