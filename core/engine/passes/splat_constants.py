"""Splat constants: one whose elements are all equal becomes a number beside a tensor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradstep.core.engine.passes.plan_additions import Additions
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.plan_rewrites import is_pure
from gradstep.core.engine.plan.steps import Step

_LARGEST = 1 << 16  # elements that are looked through


def take_numbers(plan: Plan) -> Plan:
    """With elementwise sums and products of a tensor and a number in place of those of a tensor and
    a constant of equal elements, which takes NumPy longer."""
    additions = Additions(plan)
    made: dict[int, int] = {}
    changed: dict[Step, Step] = {}
    for step in plan.steps:
        for position in _equal_elements(plan, step):
            value = step.reads[position]
            if value not in made:
                array = plan.constant(value)
                assert array is not None
                made[value] = additions.constant(plan.made_by[value], array.reshape(-1)[0])
            now = changed.get(step, step)
            reads = (*now.reads[:position], made[value], *now.reads[position + 1 :])
            changed[step] = replace(now, reads=reads)
    if not changed:
        return plan
    longer = additions.made(())
    return replace(longer, steps=tuple([changed.get(s, s) for s in longer.steps]))


def _equal_elements(plan: Plan, step: Step) -> list[int]:
    """The inputs of an operation of two that may be numbers: the shape of the result is that of
    the other."""
    definition = step.definition
    if len(step.reads) != 2 or definition is None or not definition.broadcasts:
        return []
    if definition.arithmetic != "rounded":
        return []  # NumPy compares two vectors faster than a vector and a number
    arrays = [plan.constant(value) for value in step.reads]
    numbers = [array is not None and _is_one_number(array) for array in arrays]
    if not any(numbers) or not is_pure(plan, step):
        return []
    result = plan.values[step.writes[0]].type
    same = [plan.values[other].type == result for other in step.reads[::-1]]
    return [i for i in (0, 1) if result.shape.is_static and same[i] and numbers[i]]


def _is_one_number(array: np.ndarray) -> bool:
    if array.ndim == 0 or array.dtype.hasobject or not 0 < array.size <= _LARGEST:
        return False
    rows = np.ascontiguousarray(array).reshape(-1, 1).view(np.uint8)
    return bool((rows == rows[0]).all())
