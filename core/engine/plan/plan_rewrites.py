"""Rewriting a plan: one with other steps, and which steps may be moved or left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.liveness_conditions import on_values, predicates
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.tensor_dict import ByTensor

_ALWAYS_SAFE = frozenset({"Const", "NoOp"})


def rebuilt(plan: Plan, steps: Sequence[Step], instead: Mapping[int, int] | None = None) -> Plan:
    """`plan` with these steps in this order, reading `instead[v]` in place of value `v`.

    Values that no step makes any more stay in the table, so that indexes go on meaning the same.
    """
    if not instead:
        return replace(plan, steps=tuple(steps))
    gone = instead.keys()
    tensors = {
        name: places if gone.isdisjoint(places) else _moved(places, instead)
        for name, places in plan.tensors.of.items()
    }
    read = tuple(
        [step if gone.isdisjoint(step.needs) else _reading(step, instead) for step in steps]
    )
    alive = {ref: on_values(condition, instead) for ref, condition in plan.alive.items()}
    return replace(plan, steps=read, tensors=ByTensor(tensors), alive=alive)


def _moved(
    places: Sequence[int | str | None], instead: Mapping[int, int]
) -> tuple[int | str | None, ...]:
    return tuple([instead.get(p, p) if isinstance(p, int) else p for p in places])


def _reading(step: Step, instead: Mapping[int, int]) -> Step:
    """`step` on other values."""
    other = step.reading(tuple([instead.get(v, v) for v in step.reads]))
    return other if step.guard is None else replace(other, guard=step.guard.on(instead))


def is_pure(plan: Plan, step: Step) -> bool:
    """Whether `step` may be left out, merged with its like, or done beforehand: it always runs,
    here, on all its inputs, and does nothing but give results."""
    return step.op.name not in plan.elsewhere and may_be_left_out(plan, step)


def may_be_left_out(plan: Plan, step: Step) -> bool:
    """Whether `step`, on whatever device, always runs, on all its inputs, and does nothing but give
    results."""
    able = step.computes and step.times == 1 and step.op.name not in plan.failures
    able = able and step.guard is None
    return able and step.definition is not None and step.definition.is_pure


def live_out(plan: Plan) -> set[int]:
    """Values that somebody looks at after the run: what is fetched, what says that it is dead, and
    what variables hold then."""
    found = {versions[-1] for versions in plan.versions.values()}
    for ref in plan.fetches:
        place = plan.tensors.get(ref)
        if isinstance(place, int):
            found.add(place)
        if ref in plan.alive:
            found.update(predicates(plan.alive[ref]))
    return found


def is_safe(plan: Plan, step: Step) -> bool:
    """Whether the step is sure to succeed, so that nobody can tell which of two such comes first:
    it computes nothing, or does so element by element on floating-point numbers."""
    definition = step.definition
    if definition is None or step.op.name in plan.failures or step.op.name in plan.elsewhere:
        return False
    if not step.computes or step.op.type in _ALWAYS_SAFE or step.keeps_bytes:
        return True
    kinds = [plan.values[v].type for v in (*step.reads, *step.writes)]
    floats = all(k.dtype.is_floating and k.shape.is_static for k in kinds)
    known = bool(definition.kernel.ufunc or definition.state.writes)
    return floats and known and definition.memory.elementwise
