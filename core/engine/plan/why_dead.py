"""Why a tensor is dead: the predicate that has not the value that its branch asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.liveness_conditions import holds, unmet
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef


@dataclass(frozen=True, slots=True)
class Untaken:
    """A branch that was not taken. predicate: the tensor that decided, with the value `found`; ""
    where it is alive in no run."""

    predicate: str
    found: bool

    @property
    def reason(self) -> str:
        if not self.predicate:
            return "it needs what only two different branches compute"
        return f"branch not taken because {self.predicate} is {self.found}"

    @property
    def text(self) -> str:
        return f"dead: {self.reason}"


def why_dead(plan: Plan, ref: TensorRef, value: Callable[[int], Any]) -> Untaken | None:
    """Why `ref` is dead in a run, or None where it is not. value: of the plan, by its number, in
    that run, whose step for `ref` is done."""
    condition = plan.alive.get(ref)
    if condition is None or holds(condition, value):
        return None
    missing = unmet(condition, value, plan.made_by.__getitem__)
    if missing is None:
        return Untaken("", False)
    predicate = plan.values[missing[0]]
    name = predicate.variable if predicate.ref is None else predicate.ref.short
    return Untaken(name, not missing[1])


def without_value(number: int, ref: TensorRef, why: Untaken) -> GradstepError:
    """TensorFlow's error for fetch number `number`, which is dead."""
    return GradstepError(
        f"Retval[{number}] does not have value",
        kind="InvalidArgumentError",
        node=ref.op,
        hint=f"{ref.short} is {why.text}; fetch what a Merge makes of it",
    )
