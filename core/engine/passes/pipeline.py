"""The passes in their order, by name. Every one keeps the bits of every value."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.engine.backend import Backend
from core.engine.passes.blocking import block_elementwise
from core.engine.passes.common import merge_common
from core.engine.passes.dead_code import drop_dead_code
from core.engine.passes.folding import fold_constants
from core.engine.passes.simplifying import simplify
from core.engine.plan import Plan

PASSES: Mapping[str, Callable[[Plan, Backend], Plan]] = {
    "constant folding": fold_constants,
    "simpler forms": lambda plan, _: simplify(plan),
    "common subexpressions": lambda plan, _: merge_common(plan),
    "dead code": lambda plan, _: drop_dead_code(plan),
    "blocked elementwise fusion": lambda plan, _: block_elementwise(plan),
}


def optimized(plan: Plan, backend: Backend) -> Plan:
    """`plan` after all passes."""
    for run in PASSES.values():
        plan = run(plan, backend)
    return plan
