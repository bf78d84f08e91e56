"""What every pass needs: a plan with other steps, and which steps may be moved or left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.engine.plan import Plan
from core.engine.resolve import Step, Value


def rebuilt(plan: Plan, steps: Sequence[Step], instead: Mapping[int, int] | None = None) -> Plan:
    """`plan` with these steps in this order, reading `instead[v]` in place of value `v`.

    Values that no step makes any more stay in the table, so that indexes go on meaning the same.
    """
    other = instead or {}
    values: list[Value] = list(plan.values)
    numbered = []
    for index, step in enumerate(steps):
        reads = tuple(other.get(v, v) for v in step.reads)
        numbered.append(replace(step, index=index, reads=reads))
        for v in step.writes:
            values[v] = replace(values[v], step=index)
    old = {step.op.name: step.index for step in plan.steps}
    failures = {
        step.index: plan.failures[old[step.op.name]]
        for step in numbered
        if old[step.op.name] in plan.failures
    }
    tensors = {
        ref: other.get(place, place) if isinstance(place, int) else place
        for ref, place in plan.tensors.items()
    }
    return replace(
        plan, steps=tuple(numbered), values=tuple(values), tensors=tensors, failures=failures
    )


def is_pure(plan: Plan, step: Step) -> bool:
    """Whether `step` may be left out, merged with its like, or done beforehand."""
    able = step.computes and step.index not in plan.failures
    return able and step.definition is not None and step.definition.is_pure


def wanted(plan: Plan) -> set[int]:
    """Values that somebody looks at after the run: what is fetched, what variables hold then."""
    found = {versions[-1] for versions in plan.versions.values()}
    for ref in plan.fetches:
        place = plan.tensors.get(ref)
        if isinstance(place, int):
            found.add(place)
    return found
