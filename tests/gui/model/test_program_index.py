"""What is taken over from the program before an edit is what would have been made anew."""

from __future__ import annotations

from itertools import chain, groupby
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.protocol.messages import EdgeGradient, ProgramInfo, StepInfo
from gradstep.gui.model import program_index
from gradstep.gui.model.program_index import ProgramIndex, find_phases

PHASES = ("forward", "backward", "update")
# Every edit shares the objects of what it leaves alone, as programs do.
STEPS = [
    StepInfo(op=f"op{i}", type="Mul", phase=phase, origin="") for i in range(9) for phase in PHASES
]
EDGES = [EdgeGradient(op=f"op{i}", index=0, gradient=g) for i in range(9) for g in ("a:0", "b:0")]


def program(
    steps: list[StepInfo], edges: list[EdgeGradient], gradients: dict[str, str] | None = None
) -> ProgramInfo:
    return ProgramInfo(
        steps=steps, edges=edges, gradients=gradients or {}, blocked=[], custom={}, slots={},
        problems=[], device="cpu", measured=True, source="",
    )  # fmt: skip


programs = st.builds(
    program,
    st.lists(st.sampled_from(STEPS), unique_by=lambda step: step.op),
    st.lists(st.sampled_from(EDGES), unique_by=lambda edge: edge.op),
    st.dictionaries(st.sampled_from("xyz"), st.sampled_from(("a:0", "c:0", "d:0"))),
)


@given(st.lists(programs, min_size=2, max_size=5))
def test_an_index_made_of_an_earlier_one_is_that_of_its_program(made: list[ProgramInfo]) -> None:
    index = ProgramIndex(None)
    for one in made:
        index, fresh = ProgramIndex(one, index), ProgramIndex(one)
        for name in ("steps", "numbers", "by_phase", "first_steps", "carried", "phases"):
            assert getattr(index, name) == getattr(fresh, name), name
        named = one.gradients.values(), (edge.gradient for edge in one.edges)
        every = {f"{letter}:0" for letter in "abcd"}
        assert {g for g in every if g in index.gradients} == {*chain(*named)}


@given(st.lists(st.sampled_from(STEPS)))
def test_stretches_are_of_steps_of_one_phase_that_follow_each_other(steps: list[StepInfo]) -> None:
    found = [(phase, list(some)) for phase, some in groupby(steps, key=lambda step: step.phase)]
    stretches = find_phases(steps)
    assert [(phase, steps[start:stop]) for phase, start, stop in stretches] == found


def test_what_did_not_change_is_not_made_again() -> None:
    before = ProgramIndex(program(STEPS[::3], EDGES[::2]))
    assert before.steps
    carried = before.carried
    after = ProgramIndex(program(STEPS[::3][:-1], before.program.edges), before)
    assert after.carried is carried
    assert after.steps == {step.op: step for step in STEPS[::3][:-1]}


def test_what_an_undone_edit_leads_back_to_is_what_there_was() -> None:
    first, edges = STEPS[::3], EDGES[::2]
    held = {"x": "a:0"}
    before = ProgramIndex(program(first, edges, held))
    names = ("steps", "_ops", "by_phase", "phases", "carried")
    kept = [getattr(before, name) for name in names]
    assert "a:0" in before.gradients
    edited = ProgramIndex(program(STEPS[:4], EDGES[:2]), before)
    assert [getattr(edited, name) for name in names] != kept
    undone = ProgramIndex(program([*first], [*edges], held), edited)
    for name, was in zip(names, kept, strict=True):
        assert getattr(undone, name) is was, name
    assert "a:0" in undone.gradients
    again = ProgramIndex(program(STEPS[:4], EDGES[:2]), undone)
    assert again.steps is edited.steps


class _Looked(SimpleNamespace):
    """A step that counts how often somebody asks what it is of."""

    asked = 0

    def __getattribute__(self, name: str) -> object:
        if name in ("phase", "op"):
            _Looked.asked += 1
        return super().__getattribute__(name)


@pytest.mark.parametrize("more", [0, 1])
def test_phases_of_an_edit_are_found_by_looking_at_what_it_changed(more: int) -> None:
    steps: list[Any] = [_Looked(op=f"op{i}", phase=PHASES[i // 1000]) for i in range(3000)]
    before = ProgramIndex(program(steps, []))
    forward = before.by_phase["forward"]
    edited = [*steps]
    edited[1500:1501] = [_Looked(op=f"new{i}", phase="backward") for i in range(1 + more)]
    after, _Looked.asked = ProgramIndex(program(edited, []), before), 0
    assert after.by_phase["backward"][500] == "new0"
    assert _Looked.asked < 20
    assert after.by_phase["forward"] is forward


def test_what_is_of_the_same_steps_is_there_after_an_edit_that_was_undone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a program that nobody asked for its steps, too: they are those of the one before."""
    whole, rest = program(STEPS[:9], EDGES), program(STEPS[9:12], EDGES[:2])
    first = ProgramIndex(whole)
    assert first.by_phase
    cut = ProgramIndex(rest, first)
    assert cut.by_phase
    back = ProgramIndex(whole, cut)  # and nobody asks
    looked: list[Any] = []
    monkeypatch.setattr(program_index, "_ops", lambda steps: looked.append(steps) or [])
    other = [*STEPS[:8], STEPS[15]]
    now = ProgramIndex(program(other, EDGES), back)
    assert now.by_phase == {p: [s.op for s in other if s.phase == p] for p in PHASES}
    assert not looked
