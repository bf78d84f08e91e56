"""What a user steps over at once, found from any of its steps."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.engine.plan.step_groups import Group, group_steps, owner, whole_at
from gradstep.core.graph.model import Operation, Phase

NAMES = ("a", "b", "c", "d")
SCOPES = {"b": "net/conv", "c": "net/conv", "d": "net/relu"}
drawn = st.lists(st.tuples(st.sampled_from(Phase), st.sampled_from(NAMES)), min_size=1, max_size=12)


def wholes(operations: list[Operation], scopes: dict[str, str]) -> list[Group]:
    """All of them, by putting groups together."""
    found: list[Group] = []
    groups = group_steps(operations)
    for (scope, phase), members in groupby(groups, lambda g: (scopes.get(g.origin, ""), g.phase)):
        own = [*members]
        found += [Group(phase, scope, own[0].start, own[-1].stop)] if scope else own
    return found


@given(drawn, st.booleans())
def test_it_is_the_one_among_all_that_has_the_step(
    made: list[tuple[Phase, str]], traced: bool
) -> None:
    operations = [
        Operation(name if phase is Phase.FORWARD else f"{name}_{number}", "NoOp", origin=name)
        for number, (phase, name) in enumerate(made)
    ]
    operations = [replace(op, phase=phase) for op, (phase, _) in zip(operations, made, strict=True)]
    assert [owner(op) for op in operations] == [name for _, name in made]
    scopes = SCOPES if traced else {}
    steps: Any = [SimpleNamespace(op=op) for op in operations]
    for group in wholes(operations, scopes):
        for place in range(group.start, group.stop):
            assert whole_at(steps, scopes, place) == group


def test_of_some_of_the_steps_those_that_follow_each_other_are_put_together() -> None:
    op = Operation("a", "NoOp")
    found = group_steps([op, op, op], [1, 2, 5])
    assert [(group.start, group.stop) for group in found] == [(1, 3), (5, 6)]


@pytest.mark.parametrize("places", [None, []])
def test_of_no_steps_there_are_none(places: list[int] | None) -> None:
    assert group_steps([], places) == ()
