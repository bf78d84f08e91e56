"""Which steps of a plan may be dead, and when: what only a branch needs that is not taken.

A Switch passes its data on at one of two outputs. What needs the other, as data or for a control
dependency, does not run: it is dead. A Merge takes what is alive. Found when the plan is compiled;
steps that always run are left as they are, and cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gradstep.core.engine.plan.liveness_conditions import (
    ALWAYS,
    Condition,
    all_of,
    any_of,
    requirement,
)
from gradstep.core.engine.plan.steps import Guard, PlanValue, Step
from gradstep.core.graph.model import Constant, TensorRef

Sides = tuple[Condition, Condition]  # when a predicate is false, and when it is true


def mark_dead_branches(
    steps: Iterable[Step],
    values: Sequence[PlanValue],
    outputs: Mapping[str, Sequence[object]],
    fed: Mapping[TensorRef, object],
) -> tuple[tuple[Step, ...], Mapping[TensorRef, Condition]]:
    """The steps with their guards (the very same where these are right already), and when those
    tensors are alive that may be dead. outputs: those of each operation; fed: tensors that are
    alive whatever makes them. Raises GradstepError for conditions that are too intricate."""
    branches = _Branches(values, outputs, fed)
    return tuple([branches.guarded(step) for step in steps]), branches.alive


class _Branches:
    """Takes the steps in order."""

    def __init__(
        self,
        values: Sequence[PlanValue],
        outputs: Mapping[str, Sequence[object]],
        fed: Mapping[TensorRef, object],
    ) -> None:
        self.alive: dict[TensorRef, Condition] = {}
        self._values, self._outputs, self._fed = values, outputs, fed
        self._runs: dict[str, Condition] = {}  # operations that may be dead
        self._same: dict[int, int] = {}  # values that are the bytes of others -> of which
        self._sides: dict[int, Sides] = {}  # predicates that are more than a value
        self._inputs: dict[int, tuple[Condition, ...]] = {}  # what Merges say they took
        self._numbers: dict[int, int] = {}  # constants

    def guarded(self, step: Step) -> Step:
        """`step` with its guard."""
        op, branch = step.op, "" if step.definition is None else step.definition.branch
        inputs = tuple([self.alive.get(ref, ALWAYS) for ref in op.inputs if ref is not None])
        merges = branch == "merge"
        if merges:
            when = any_of(inputs)
        elif branch == "trigger":
            when = ALWAYS
        else:
            when = all_of((*inputs, *(self._runs.get(name, ALWAYS) for name in op.control_inputs)))
        self._note(step, when, inputs if merges else ())
        guard = Guard(when, inputs if merges else ()) if merges or when != ALWAYS else None
        return step if step.guard == guard else replace(step, guard=guard)

    def _note(self, step: Step, when: Condition, inputs: tuple[Condition, ...]) -> None:
        """Remember what others have to know of the step."""
        branch = "" if step.definition is None else step.definition.branch
        if when != ALWAYS:
            self._runs[step.op.name] = when
        sides = self._sides_of(step.reads[1]) if branch == "switch" and step.reads else ()
        for index in range(len(self._outputs.get(step.op.name, ()))):
            self._set(step.op.output(index), all_of((when, sides[index])) if sides else when)
        if branch == "switch" and step.writes and not self._values[step.reads[0]].variable:
            self._same |= dict.fromkeys(step.writes, self._root(step.reads[0]))
        elif inputs and len(step.writes) > 1:
            self._inputs[step.writes[1]] = inputs
        elif branch == "loop" and step.writes:
            self._sides[step.writes[0]] = ALWAYS, ALWAYS
        elif step.keeps_bytes and not self._values[step.reads[0]].variable:
            self._same[step.writes[0]] = self._root(step.reads[0])
        else:
            self._note_comparison(step)

    def _set(self, ref: TensorRef, when: Condition) -> None:
        if when != ALWAYS and ref not in self._fed:
            self.alive[ref] = when

    def _root(self, value: int) -> int:
        """The first value that has the same bytes as this one."""
        return self._same.get(value, value)

    def _sides_of(self, predicate: int) -> Sides:
        predicate = self._root(predicate)
        known = self._sides.get(predicate)
        return known or (requirement(predicate, False), requirement(predicate, True))

    def _note_comparison(self, step: Step) -> None:
        """A predicate that asks which input a Merge took says when that input is alive: so its
        gradients are alive with what they are the gradients of."""
        if not step.writes:  # what it gives has no type: it fails where it stands
            return
        value = step.op.attrs.get("value") if step.op.type == "Const" else None
        if isinstance(value, Constant) and value.array.ndim == 0 and value.array.dtype.kind == "i":
            self._numbers[step.writes[0]] = int(value.array)
        elif step.op.type == "Equal" and len(step.reads) == 2:
            inputs, number = self._inputs.get(step.reads[0]), self._numbers.get(step.reads[1])
            if inputs is not None and number is not None and 0 <= number < len(inputs):
                others = [x for i, x in enumerate(inputs) if i != number]
                self._sides[step.writes[0]] = any_of(others), inputs[number]
