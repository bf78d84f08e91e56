"""What runs hang on besides their document: what was given by hand, or edited, on the way.

Two sessions of one document whose lineages are alike up to a run give the same numbers in all runs
before it, to the bit, whichever way they came there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradstep.core.debug.history.branch_record import BranchEdit
from gradstep.core.debug.history.manual_assignments import Assignment
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.part_digest import digest

Lineage = list[tuple[int, str]]  # a run, and a digest of all that led to it and those behind it


def lineage(plan: Plan, changes: Sequence[Assignment], edits: Sequence[BranchEdit]) -> Lineage:
    """Of runs of a plan, in ascending order; empty where nothing was given and nothing edited.
    Names play no part in it, as far as the plan has them: a rename gives the same numbers. edits:
    those that the program has."""
    parts = [(edit.run, f"{edit.kind} {edit.names}") for edit in edits]
    parts += [(change.run, _words(change, plan)) for change in changes]
    return _digests(sorted(parts, key=lambda part: part[0]))


def _digests(parts: Iterable[tuple[int, str]]) -> Lineage:
    before, found = "", Lineage()
    for run, words in parts:
        before = digest([before, str(run), words])
        found.append((run, before))
    return found


def _words(change: Assignment, plan: Plan) -> str:
    inside = [(number, step) for number, step, _ in change.inside]
    targets = [_target(name, plan) for name in change.values]
    return f"{change.step} {inside} {targets} {change.digest}"


def _target(name: str, plan: Plan) -> tuple[int | str, str]:
    """The step that gives it, and which of its outputs it is; the name of what no step gives. What
    a random operation counts with has a name that is no tensor's."""
    op, _, rest = name.partition(":")
    return plan.step_of.get(op, op), rest or "0"
