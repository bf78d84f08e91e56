"""Blocked fusion: elementwise steps on large tensors go through them block by block.

What one step makes the next finds in the cache. Values that only the block's own steps read are
never made in full.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from gradstep.core.engine.plan.execution_plan import Blocked, Plan
from gradstep.core.engine.plan.plan_rewrites import is_pure, rebuilt
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.dtypes import Shape

SMALLEST = 1 << 16  # elements; smaller tensors are in the cache anyway


def block_elementwise(plan: Plan) -> Plan:
    """With `blocked` set: runs of at least two elementwise steps on one large shape. Constants
    come first, so that they are not in the way. Has to be the last pass: it names steps by
    number."""
    plan = rebuilt(plan, sorted(plan.steps, key=lambda s: bool(s.reads) or not is_pure(plan, s)))
    return replace(plan, blocked=tuple(_runs(plan)))


def _runs(plan: Plan) -> Iterator[Blocked]:
    start, shape = 0, None
    for index, step in enumerate(plan.steps):
        found = _blockable(plan, step)
        if found is None or found != shape:
            if shape is not None and index - start > 1:
                yield Blocked(start, index)
            start, shape = index, found
    if shape is not None and len(plan.steps) - start > 1:
        yield Blocked(start, len(plan.steps))


def _blockable(plan: Plan, step: Step) -> Shape | None:
    """The one shape that the step works on, element by element; None if it does not."""
    definition = step.definition
    if not is_pure(plan, step) or definition is None or not definition.memory.elementwise:
        return None
    shape = plan.values[step.writes[0]].type.shape
    if not shape.is_static or math.prod(shape.static()) < SMALLEST:
        return None
    kinds = [plan.values[v].type for v in (*step.reads, *step.writes)]
    fitting = all(k.shape == shape or k.shape.rank == 0 for k in kinds)
    return shape if fitting and not any(k.dtype.numpy.hasobject for k in kinds) else None
