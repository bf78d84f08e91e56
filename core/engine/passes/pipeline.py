"""The passes in their order, by name, each of which can be switched off; and what they did."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from core.engine.backend import Backend
from core.engine.passes.blocking import block_elementwise
from core.engine.passes.common import merge_common
from core.engine.passes.dead_code import drop_dead_code
from core.engine.passes.folding import fold_constants
from core.engine.passes.simplifying import simplify
from core.engine.plan import Plan


@dataclass(frozen=True, slots=True)
class Pass:
    """title: for people. exact: whether every value keeps its bits."""

    name: str
    title: str
    run: Callable[[Plan, Backend], Plan]
    exact: bool = True


PASSES = (
    Pass("fold_constants", "constant folding", fold_constants),
    Pass("simplify", "simpler forms", lambda plan, _: simplify(plan)),
    Pass("merge_common", "common subexpressions", lambda plan, _: merge_common(plan)),
    Pass("drop_dead_code", "dead code", lambda plan, _: drop_dead_code(plan)),
    Pass("block_elementwise", "blocked elementwise fusion", lambda p, _: block_elementwise(p)),
)


@dataclass(frozen=True, slots=True)
class Effect:
    """What a pass did to a plan: how many steps it had before and after."""

    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Optimized:
    """A plan that computes the same, and what became of the steps on the way."""

    plan: Plan
    effects: tuple[Effect, ...]


def optimized(plan: Plan, backend: Backend, off: Collection[str] = ()) -> Optimized:
    """`plan` after all passes but those named in `off`."""
    effects = []
    for one in PASSES:
        if one.name not in off:
            before, plan = len(plan.steps), one.run(plan, backend)
            effects.append(Effect(one.name, before, len(plan.steps)))
    return Optimized(plan, tuple(effects))
