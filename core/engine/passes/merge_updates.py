"""Variables that are updated alike are updated together, as one vector.

An optimizer makes an operation for every variable, and each costs the same dozens of small calls.
What is elementwise may as well be done for all at once: the layout lays the variables side by
side, and likewise their gradients, so that nothing is copied.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.plan_rewrites import is_safe, rebuilt
from gradstep.core.engine.plan.steps import Step
from gradstep.core.ops.declare.ufunc import BLOCK


@dataclass(eq=False)
class Group:
    """Numbers of steps that may all be done at the place of the last of them. open: whether the
    next like one may join them."""

    numbers: list[int] = field(default_factory=list)
    open: bool = True


def merge_updates(plan: Plan) -> Plan:
    """With one step in place of several of one type that update different variables elementwise,
    with the same numbers. Larger variables than a block are left alone: it is all the same for
    them."""
    if sum(_is_update(plan, step) for step in plan.steps) < 2:
        return plan
    merged: dict[int, Step] = {}
    gone: set[int] = set()
    for numbers in _groups(plan):
        gone.update(numbers)
        merged[numbers[-1]] = _merged([plan.steps[i] for i in numbers])
    if not merged:
        return plan
    steps = [
        merged.get(i, step) for i, step in enumerate(plan.steps) if i in merged or i not in gone
    ]
    return rebuilt(plan, steps)


def _groups(plan: Plan) -> Iterator[list[int]]:
    """Numbers of the steps to be merged, in their order. They wait for each other, but not where
    one of their results is read, and not for a step that may fail: after that it is seen what was
    done before it."""
    like: dict[Hashable, list[Group]] = {}
    made: dict[int, Group] = {}
    found: list[Group] = []
    for index, step in enumerate(plan.steps):
        for group in filter(None, map(made.get, step.needs)):
            group.open = False
        if not is_safe(plan, step):
            like.clear()
        elif _is_update(plan, step):
            groups = like.setdefault(_key(plan, step), [])
            group = next((g for g in groups if _may_join(plan, g, index)), Group())
            if not group.numbers:
                groups.append(group)
                found.append(group)
            group.numbers.append(index)
            made |= dict.fromkeys(step.writes, group)
    for group in found:
        if len(group.numbers) > 1 and _alike(plan, group.numbers):
            yield group.numbers


def _is_update(plan: Plan, step: Step) -> bool:
    """Whether all that the step does is to make new versions of small variables, elementwise."""
    if not (step.computes and step.writes and plan.values[step.writes[0]].variable):
        return False
    if step.guard is not None:
        return False
    if step.definition is None or not step.definition.memory.elementwise:
        return False
    shape = plan.values[step.writes[0]].type.shape
    small = shape.is_static and math.prod(shape.static()) <= BLOCK
    return small and all(plan.values[v].variable for v in step.writes)


def _key(plan: Plan, step: Step) -> Hashable:
    attrs = sorted((k, str(v)) for k, v in step.op.attrs.items() if k[0] != "_")
    return (step.op.type, *attrs, *(plan.values[v].type.dtype for v in step.reads))


def _may_join(plan: Plan, group: Group, index: int) -> bool:
    return group.open and _alike(plan, [group.numbers[0], index])


def _alike(plan: Plan, numbers: Sequence[int]) -> bool:
    """Whether each input of the steps is one number that all of them share, or else for every
    step of its variable's shape."""
    steps = [plan.steps[i] for i in numbers]
    shapes = [plan.values[step.writes[0]].type.shape for step in steps]
    for column in zip(*(step.reads for step in steps), strict=True):
        kinds = [plan.values[v].type.shape for v in column]
        shared = len(set(column)) == 1 and kinds[0].rank == 0
        if not shared and kinds != shapes:
            return False
    return True


def _merged(steps: Sequence[Step]) -> Step:
    first, *others = steps
    return replace(
        first,
        reads=tuple(v for step in steps for v in step.reads),
        writes=tuple(v for step in steps for v in step.writes),
        also=(*first.also, *(name for s in others for name in (s.op.name, *s.also))),
        times=len(steps),
    )
