"""What is computed only to be assigned is written where the variable lies."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.plan_rewrites import is_pure, is_safe, live_out, rebuilt
from gradstep.core.engine.plan.steps import Step

_ASSIGNMENTS = frozenset({"Assign", "AssignVariableOp"})


def assign_directly(plan: Plan) -> Plan:
    """With one step in place of an elementwise one and the assignment of its result to a variable,
    where nobody else reads it."""
    assignments = [step for step in plan.steps if step.op.type in _ASSIGNMENTS]
    if not assignments:
        return plan
    uses = Counter(v for step in plan.steps for v in step.needs) + Counter(live_out(plan))
    makers = {step.writes[0]: step for step in plan.steps if _may_make(plan, step)}
    direct = {s: makers[s.reads[1]] for s in assignments if _is_direct(plan, s, makers, uses)}
    if not direct:
        return plan
    gone = set(direct.values())
    steps = [_joined(direct[s], s) if s in direct else s for s in plan.steps if s not in gone]
    return rebuilt(plan, steps)


def _may_make(plan: Plan, step: Step) -> bool:
    elementwise = step.definition is not None and step.definition.memory.elementwise
    able = elementwise and is_pure(plan, step) and is_safe(plan, step)
    return able and len(step.writes) == 1 and bool(step.reads)


def _is_direct(plan: Plan, step: Step, makers: dict[int, Step], uses: Counter[int]) -> bool:
    if not step.writes or step.op.name in plan.failures or step.guard is not None:
        return False
    value, version = step.reads[1], step.writes[0]
    same = plan.values[value].type == plan.values[version].type
    return same and plan.values[value].type.shape.is_static and value in makers and uses[value] == 1


def _joined(maker: Step, assignment: Step) -> Step:
    return replace(maker, writes=assignment.writes, also=(*maker.also, assignment.op.name))
