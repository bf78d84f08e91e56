"""Exact positions read from text, "run:step/iteration:step", and whether a program has them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradstep.core.errors import GradstepError

if TYPE_CHECKING:
    from gradstep.core.engine.plan.execution_plan import Plan

# Run and step, then of each loop, from the outermost, iteration and step.
ExactPlace = Sequence[tuple[int, int]]
_PLACE = re.compile(r"\d{1,18}:\d{1,18}(/\d{1,18}:\d{1,18})*")


def parse_place(text: str) -> ExactPlace | None:
    """What "0:4/1:8" says; None for what is no exact position."""
    if _PLACE.fullmatch(text) is None:
        return None
    pairs = (place.split(":") for place in text.split("/"))
    return [(int(number), int(step)) for number, step in pairs]


def require_place(plan: Plan, place: ExactPlace) -> None:
    """Raise GradstepError when `plan` has no such step, or one that is to be a loop is none."""
    (run, step), *inside = place
    length = len(plan.steps)
    if step > length:
        raise GradstepError(
            f"a run of this program has {length} steps, not {step}",
            kind="ValueError",
            hint=f"{run}:{length} is its end",
        )
    for _, following in inside:
        loop = plan.steps[step].iteration if step < len(plan.steps) else None
        if loop is None:
            loops = ", ".join(map(str, plan.loops)) or "none"
            raise GradstepError(
                f"step {step} is no loop, so there are no iterations to go to",
                kind="ValueError",
                hint=f"the steps that are loops: {loops}",
            )
        plan, step = loop.plan, following
