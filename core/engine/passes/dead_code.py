"""Dead code: steps whose results nobody reads are left out."""

from __future__ import annotations

from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.plan_rewrites import live_out, may_be_left_out, rebuilt


def drop_dead_code(plan: Plan) -> Plan:
    """Without the pure steps that lead to no fetch, no variable and no step with an effect.

    A step that only a control dependency or a target asks for has no effect, so it goes, too.
    """
    needed = live_out(plan)
    kept = []
    for step in reversed(plan.steps):
        if needed.isdisjoint(step.writes) and may_be_left_out(plan, step):
            continue
        needed.update(step.needs)
        kept.append(step)
    return plan if len(kept) == len(plan.steps) else rebuilt(plan, kept[::-1])
