"""The passes in their order, each with its name and what it does; any of them can be left out.

docs/adding-a-pass.md shows how to add one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np

from gradstep.core.engine.backend import Backend
from gradstep.core.engine.passes.algebraic_simplification import simplify
from gradstep.core.engine.passes.assign_in_place import assign_directly
from gradstep.core.engine.passes.batch_matmuls import batch_products
from gradstep.core.engine.passes.constant_folding import fold_constants
from gradstep.core.engine.passes.cse import merge_common
from gradstep.core.engine.passes.dead_code import drop_dead_code
from gradstep.core.engine.passes.fuse_blocks import block_elementwise
from gradstep.core.engine.passes.merge_updates import merge_updates
from gradstep.core.engine.passes.splat_constants import take_numbers
from gradstep.core.engine.passes.sum_products import sum_in_products
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.graph.suggestions import did_you_mean, near

_LOG = logging.getLogger("gradstep.engine")


@dataclass(frozen=True)
class Pass:
    """A rewriting of plans. text: what it does, in one sentence. differs: how results may differ
    from those without it; "" where every value keeps its bits."""

    name: str
    text: str
    run: Callable[[Plan, Backend], Plan]
    differs: str = ""


PASSES = (
    Pass(
        "constant folding",
        "What constants alone decide is computed once, before the first run.",
        fold_constants,
    ),
    Pass(
        "simpler forms",
        "Identities and products with ones are left out; a sum of two is a plain addition, and "
        "shape(vector)[0] its size.",
        lambda plan, _: simplify(plan),
    ),
    Pass(
        "numbers for constants of equal elements",
        "A constant whose elements are all the same is one number, next to a tensor of its shape.",
        lambda plan, _: take_numbers(plan),
    ),
    Pass(
        "common subexpressions",
        "Equal operations on equal values are done once.",
        lambda plan, _: merge_common(plan),
    ),
    Pass(
        "batching of LSTM input projections",
        "Products of many small matrices with one weight, all there beforehand, are one product.",
        lambda plan, _: batch_products(plan),
        "a product of more rows may be summed up in another order; each element differs by no "
        "more than its number of terms times the type's epsilon, relative to their sizes' sum",
    ),
    Pass(
        "gradients of shared weights in one product",
        "Sums of three or more products are one product of what is laid side by side.",
        lambda plan, _: sum_in_products(plan),
        "terms are summed up in another order; each element differs by no more than their number "
        "times the type's epsilon, relative to their sizes' sum",
    ),
    Pass(
        "dead code",
        "Operations whose results nobody looks at are left out.",
        lambda plan, _: drop_dead_code(plan),
    ),
    Pass(
        "results straight into variables",
        "What is computed only to be assigned is written where the variable lies.",
        lambda plan, _: assign_directly(plan),
    ),
    Pass(
        "one update for many variables",
        "Small variables that an optimizer treats alike lie side by side, with their slots and "
        "gradients, and are updated as one.",
        lambda plan, backend: merge_updates(plan) if backend.xp is np else plan,
    ),
    Pass(
        "blocked elementwise fusion",
        "Elementwise operations on large tensors take turns on blocks that fit in the cache.",
        lambda plan, backend: block_elementwise(plan) if backend.xp is np else plan,
    ),
)


@collector_paused()
def optimize(plan: Plan, backend: Backend, without: Collection[str] = ()) -> Plan:
    """`plan` after all passes but those named. Raises GradstepError for a name of none."""
    for _, _, after in rewritings(plan, backend, without):
        plan = after
    return plan


def rewritings(
    plan: Plan, backend: Backend, without: Collection[str] = ()
) -> Iterator[tuple[Pass, Plan, Plan]]:
    """Each pass that is not left out, with the plan before it and after."""
    require_passes(without)
    for made in PASSES:
        if made.name not in without:
            start = time.perf_counter()
            before, plan = plan, made.run(plan, backend)
            _LOG.debug(
                "pass '%s': from %d steps to %d, in %.1f ms",
                made.name,
                len(before.steps),
                len(plan.steps),
                1000 * (time.perf_counter() - start),
            )
            if made.differs and plan is not before:
                plan = replace(plan, rounding=(*plan.rounding, made.name))
            yield made, before, plan


def require_passes(names: Collection[str]) -> None:
    """Raises GradstepError (KeyError) for a name that no pass has."""
    known = [made.name for made in PASSES]
    for name in names:
        if name not in known:
            meant = did_you_mean(f"'{word}'" for word in near(name, known))
            raise GradstepError(
                f"there is no pass '{name}'",
                kind="KeyError",
                hint=meant or f"the passes are {', '.join(known)}",
            )
