"""Which steps of an edited program do what the program before did: their values are there."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.model import TensorRef

Pairs = tuple[tuple[int, int], ...]  # a value of the plan, and the same of the one before


class SameSteps:
    """Of two plans that begin a run with the same variables. fed: the tensors that are fed the same
    to both; done: how many steps of the plan before were done."""

    def __init__(self, plan: Plan, before: Plan, fed: frozenset[TensorRef], done: int) -> None:
        self._plan, self._before, self._done = plan, before, done
        self._same: dict[int, int] = {}
        for name in plan.versions.keys() & before.versions.keys():
            self._same[plan.versions[name][0]] = before.versions[name][0]
        for ref in fed:
            here, there = plan.tensors.get(ref), before.tensors.get(ref)
            if isinstance(here, int) and isinstance(there, int):
                self._same[here] = there

    def find(self, stop: int) -> Iterator[tuple[int, Pairs]]:
        """Of the first `stop` steps those that need not be done, with what they make."""
        for number, step in enumerate(self._plan.steps[:stop]):
            was = self._counterpart(step)
            if was is None:
                continue
            pairs = (*zip(step.writes, was.writes, strict=True),)
            self._same |= pairs
            if self._can_be_kept(step) and self._can_be_kept(was):
                yield number, pairs

    def _counterpart(self, step: Step) -> Step | None:
        """What did the same before: the same operation, of the same values."""
        number = self._before.step_of.get(step.op.name, self._done)
        if number >= self._done:
            return None
        was = self._before.steps[number]
        alike = (was.op is step.op or was.op == step.op) and len(was.writes) == len(step.writes)
        needs = [self._same.get(need, -1) for need in step.needs]
        return was if alike and [*was.needs] == needs else None

    def _can_be_kept(self, step: Step) -> bool:
        """Whether it does nothing but compute tensors from others, always."""
        always = step.guard is None and step.iteration is None
        return step.plain and step.computes and always and step.op.type != "Const"
