"""What ran: each pass, how many steps it left, and what became of the operations it took up."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.passes.pass_pipeline import PASSES, Pass, rewritings
from gradstep.core.engine.plan.execution_plan import Blocked, Plan
from gradstep.core.engine.plan.steps import Step


@dataclass(frozen=True)
class PassReport:
    """before, after: steps of the plan; became: operation -> what became of it; same_bits: whether
    every value of this plan keeps its bits. Of a pass that was left out: `on` is false, and there
    is nothing to say."""

    made: Pass
    on: bool = False
    rounds: bool = False
    before: int = 0
    after: int = 0
    became: Mapping[str, str] = field(default_factory=dict)

    @property
    def same_bits(self) -> bool:
        return not self.made.differs or (self.on and not self.rounds)


def optimize_and_report(
    plan: Plan, backend: Backend, without: Collection[str] = ()
) -> tuple[Plan, list[PassReport]]:
    """`plan` after all passes but those named, and what every pass did. Raises GradstepError for
    a name of no pass."""
    ran: dict[str, PassReport] = {}
    for made, before, after in rewritings(plan, backend, without):
        counts = len(before.steps), len(after.steps)
        rounds = made.name in after.rounding
        ran[made.name] = PassReport(made, True, rounds, *counts, dict(_changes(before, after)))
        plan = after
    return plan, [ran.get(made.name) or PassReport(made) for made in PASSES]


def stand_ins(before: Plan, after: Plan) -> dict[str, int]:
    """Operations of `before` that `after` has no step for -> the value that is theirs there."""
    found: dict[str, int] = {}
    for step in before.steps:
        place = after.tensors.get(step.op.output())
        if not step.computes or step.op.name in after.step_of or not isinstance(place, int):
            continue
        if place not in step.writes or after.made_by[place] >= 0:
            found[step.op.name] = place
    return found


def _changes(before: Plan, after: Plan) -> Iterator[tuple[str, str]]:
    """Operations that `after` executes in another way, and in which."""
    now = {step.op.name: step.op.type for step in after.steps}
    whole = {name: step.op.name for step in after.steps for name in step.also}
    same = stand_ins(before, after)
    for step in before.steps:
        name, kind = step.op.name, step.op.type
        if name in whole and name not in now:
            yield name, f"is part of {whole[name]}"
        elif name not in now:
            yield name, _fate(after, step, same.get(name))
        elif now[name] != kind:
            yield name, "is a constant now" if now[name] == "Const" else f"is {now[name]} now"
    for run in after.blocked:
        if run not in before.blocked:
            yield from _each(after, run)


def _each(plan: Plan, run: Blocked) -> Iterator[tuple[str, str]]:
    return ((step.op.name, "runs block by block") for step in plan.steps[run.start : run.stop])


def _fate(plan: Plan, step: Step, same: int | None) -> str:
    """What became of `step`, which has no part in `plan`. same: the value that is its result."""
    if same is None:
        return "nobody looks at it"
    if same in step.writes:
        return f"is part of {plan.steps[plan.made_by[same]].op.name}"
    value = plan.values[same]
    return f"is the same as {value.variable if value.ref is None else value.ref.short}"
