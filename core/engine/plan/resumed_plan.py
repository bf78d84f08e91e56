"""The plan before an edit, gone on with once the edit is undone.

A plan after an edit has all values of the one before it, under the same numbers, and those that
the edit brought. So the earlier one's steps are right again as they are: they only have to know of
the values that they do not use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gradstep.core.engine.plan.touched_steps import Exchanged
from gradstep.core.engine.plan.value_makers import MadeBy
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.persistent.edited_sequence import followed
from gradstep.core.persistent.joined_sequence import Joined
from gradstep.core.persistent.overlaid_mapping import overlaid

if TYPE_CHECKING:
    from gradstep.core.engine.plan.execution_plan import Plan
    from gradstep.core.engine.plan.steps import Step

_T = TypeVar("_T")
_BEFORE = "before the edit"  # of a plan; no more than one edit back
_NOTHING: frozenset[Any] = frozenset()
# What follows from a plan's steps, and is worked out once.
_OF_STEPS = (
    *("_foreign", "step_of", "whereabouts", "users", "is_plain"),
    *("loops", "overtaken", "per_run", "firsts"),
)


class _Before(NamedTuple):
    """A plan before an edit, and how the one after it differs from it."""

    plan: Plan
    exchanged: Exchanged


def remember_before(plan: Plan, before: Plan) -> None:
    """Let `plan` be gone back from to `before`, of which it was made, where it is known how they
    differ; from that nobody goes back any more."""
    before.__dict__.pop(_BEFORE, None)
    known = plan.exchanged
    if known is not None and known.before is before.steps:
        plan.__dict__[_BEFORE] = _Before(before, known)


def resume_plan(
    last: Plan,
    graph: Graph,
    fetches: Sequence[TensorRef],
    targets: Sequence[str],
    fed: Mapping[TensorRef, TensorType],
) -> Plan | None:
    """The plan of what is asked for where that is what `last` was made of, or the one before it,
    for who goes on from `last`; else None."""
    fetched = fetches if isinstance(fetches, Joined) else tuple(fetches)
    asked = graph, fetched, tuple(targets), fed
    for plan, exchanged in _candidates(last):
        is_plain = not plan.kernels and not plan.blocked
        if is_plain and (plan.graph, plan.fetches, plan.targets, plan.types.fed) == asked:
            return _resumed(plan, last, exchanged)
    return None


def _candidates(last: Plan) -> Iterator[tuple[Plan, Exchanged]]:
    """Plans, and how each differs from `last`."""
    yield last, _same(last)
    before: _Before | None = last.__dict__.get(_BEFORE)
    if before is not None:
        yield before.plan, _turned(before.exchanged, last)


def _resumed(plan: Plan, last: Plan, exchanged: Exchanged) -> Plan | None:
    """`plan` as what comes after `last`; None where that has too many values that it does not
    use."""
    found = replace(
        plan, values=last.values, exchanged=exchanged, retired=_retired(plan, last, exchanged)
    )
    known = plan.__dict__
    found.__dict__.update({name: known[name] for name in _OF_STEPS if name in known})
    if "makers" in known:
        makers = followed(plan.makers, [*_unmade(plan, last, None)])
        found.__dict__.update(makers=makers, made_by=MadeBy(makers, plan.step_of))
    elif "made_by" in known:
        found.__dict__["made_by"] = [*plan.made_by, *_unmade(plan, last, -1)]
    if not found.is_dense:
        return None
    if plan is not last:
        remember_before(found, last)
    elif _BEFORE in known:  # the same steps again: what is before them stays that
        found.__dict__[_BEFORE] = known.pop(_BEFORE)
    return found


def _unmade(plan: Plan, last: Plan, by: _T) -> Iterable[_T]:
    return repeat(by, len(last.values) - len(plan.values))


def _same(plan: Plan) -> Exchanged:
    none: frozenset[Step] = frozenset()
    ends = len(plan.steps), 0
    there = plan.versions, plan.steps, plan.step_of
    return Exchanged(none, none, _NOTHING, *there, *ends, _NOTHING, _NOTHING)


def _turned(known: Exchanged, last: Plan) -> Exchanged:
    """How the plan before differs from `last`, which differs from it so."""
    other = known.new, known.gone, known.opened, last.versions, last.steps, last.step_of
    return Exchanged(*other, known.first, known.last, known.moved, known.flipped)


def _retired(plan: Plan, last: Plan, exchanged: Exchanged) -> Mapping[str, Step]:
    """The steps of all plans before that have no part in `plan`."""
    found = overlaid(last.retired)
    for step in exchanged.new:
        found.pop(step.op.name, None)
    found.update((s.op.name, s) for s in exchanged.gone if s.op.name not in plan.step_of)
    return found
