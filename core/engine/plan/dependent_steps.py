"""Which steps of a plan hang on some of its values, and so run again when these are others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import Step


def dependent_steps(plan: Plan, values: Iterable[int], start: int, stop: int) -> Sequence[range]:
    """Those of steps `start` to `stop` that read one of the values, or what such a step makes; in
    order, those that follow each other as one."""
    changed, found = {*values}, list[range]()
    for number in range(start, stop):
        step = plan.steps[number]
        if changed.isdisjoint(step.needs):
            continue
        changed.update(step.writes)
        if found and found[-1].stop == number:
            found[-1] = range(found[-1].start, number + 1)
        else:
            found.append(range(number, number + 1))
    return found


def says_sizes(plan: Plan, value: int) -> bool:
    """Whether the plan has the shape of something from what a value always is: an axis, a shape."""
    maker = plan.maker(value)
    if maker is None or not plan.types.is_constant(maker.op.name):
        return False
    constant = {value}
    for step in plan.steps[plan.made_by[value] + 1 :]:
        read = {n for n, each in enumerate(step.reads) if each in constant}
        if read & _read_for_sizes(step):
            return True
        if read and plan.types.is_constant(step.op.name):
            constant.update(step.writes)
    return False


def _read_for_sizes(step: Step) -> set[int]:
    """The numbers of the inputs that say how far, how often, or where."""
    definition = step.definition
    if definition is None:
        return set()
    host = {spec.name for spec in definition.inputs if spec.host}
    names = definition.arity(len(step.op.inputs)) if host else ()
    return {number for number, name in enumerate(names) if name in host}
