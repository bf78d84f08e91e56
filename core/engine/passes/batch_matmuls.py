"""Products of many matrices with one are one product: an LSTM's inputs with their weights."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

import numpy as np

from gradstep.core.engine.passes.matrix_stacks import LARGEST, Stacks
from gradstep.core.engine.passes.plan_additions import Additions
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.plan_rewrites import is_pure
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.dtypes import Shape, TensorType

_MOST_ROWS = 128  # of a matrix; a product with more of them is as fast alone


@dataclass
class _Batch:
    """Numbers of steps that may be done at the place of the first."""

    numbers: list[int] = field(default_factory=list)


def batch_products(plan: Plan) -> Plan:
    """With one MatMul in place of several that multiply small matrices by the same one, where all
    are there before the first product: what an unrolled loop does with its inputs, but not what
    it does with its state."""
    additions = Additions(plan)
    stacks = Stacks(plan, additions)
    gone: set[Step] = set()
    for batch in _batches(plan):
        steps = [plan.steps[i] for i in batch.numbers]
        _batch(plan, additions, stacks, batch.numbers[0], steps)
        gone.update(steps)
    return additions.made(gone) if gone else plan


def _batch(plan: Plan, additions: Additions, stacks: Stacks, at: int, steps: list[Step]) -> None:
    first, made = steps[0], plan.values[steps[0].writes[0]].type
    rows, width = made.shape.static()
    whole = stacks.of([step.reads[0] for step in steps])
    kind = TensorType(made.dtype, Shape((rows * len(steps), width)))
    product = additions.add(
        at,
        "MatMul",
        (whole, first.reads[1]),
        kind=kind,
        attrs=first.op.attrs,
        also=[name for step in steps for name in (step.op.name, *step.also)],
    )
    additions.add(
        at,
        "Split",
        (additions.constant(at, np.array(0, np.int32)), product),
        writes=[step.writes[0] for step in steps],
        attrs={"num_split": len(steps)},
    )


def _batches(plan: Plan) -> Iterator[_Batch]:
    found: dict[Hashable, list[_Batch]] = {}
    for index, step in enumerate(plan.steps):
        if not _is_small(plan, step):
            continue
        left = plan.values[step.reads[0]].type
        key = step.reads[1], left, bool(step.op.attrs.get("transpose_b"))
        batches = found.setdefault(key, [])
        made = plan.made_by[step.reads[0]]
        early = bisect_right(batches, made, key=lambda batch: batch.numbers[0])
        if early == len(batches):
            batches.append(_Batch())
        batches[early].numbers.append(index)
    for batches in found.values():
        yield from (b for b in batches if len(b.numbers) > 1 and _fits(plan, b))


def _is_small(plan: Plan, step: Step) -> bool:
    """Whether the step is a product of a matrix of few rows, as it lies, with another."""
    if step.op.type != "MatMul" or not is_pure(plan, step) or step.op.attrs.get("transpose_a"):
        return False
    kinds = [plan.values[v].type.shape for v in (*step.reads, *step.writes)]
    return all(k.is_static for k in kinds) and 0 < kinds[0].static()[0] < _MOST_ROWS


def _fits(plan: Plan, batch: _Batch) -> bool:
    step = plan.steps[batch.numbers[0]]
    shapes = [plan.values[v].type.shape.static() for v in (step.reads[0], step.writes[0])]
    return len(batch.numbers) * max(a * b for a, b in shapes) <= LARGEST
