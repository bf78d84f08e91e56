"""What changed of a program is told by itself, and makes the program that a whole one would be."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.persistent.joined_sequence import Joined, joined
from gradstep.core.protocol.message_parts import (
    BlockedEdge,
    EdgeGradient,
    LoopInfo,
    LossInfo,
    ProblemInfo,
    ProgramInfo,
    StepInfo,
)
from gradstep.core.protocol.program_change import (
    OtherProgramError,
    ProgramChange,
    apply_change,
    compare_programs,
    held_program,
)
from tests.support.drawn_share import share
from tests.support.large_graphs import edit_as_large

NAMES = st.sampled_from(list("abcdefgh"))
WORDS = st.sampled_from(["", "x", "y"])


def listed(kind: type, *by: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Entries that differ in what they are known by."""
    entries = st.builds(kind, **fields)
    return st.lists(entries, unique_by=lambda e: tuple(getattr(e, n) for n in by), max_size=5)


STEPS = listed(
    StepInfo,
    "op",
    op=NAMES,
    type=WORDS,
    phase=st.sampled_from(["forward", "backward"]),
    origin=WORDS,
    outputs=st.lists(NAMES, max_size=2),
)
EDGES = listed(EdgeGradient, "op", "index", op=NAMES, index=st.integers(0, 1), gradient=WORDS)
BLOCKED = listed(BlockedEdge, "op", "index", op=NAMES, index=st.integers(0, 1), why=WORDS)
ENTRIES = st.dictionaries(NAMES, WORDS, max_size=5)
PROGRAMS = st.builds(
    ProgramInfo,
    number=st.integers(0, 3),
    steps=STEPS,
    gradients=ENTRIES,
    rows=st.lists(NAMES, unique=True, max_size=5),
    edges=EDGES,
    waiting=ENTRIES,
    waiting_edges=BLOCKED,
    blocked=BLOCKED,
    custom=ENTRIES,
    slots=st.dictionaries(NAMES, st.lists(NAMES, max_size=2), max_size=3),
    problems=st.lists(st.builds(ProblemInfo, type=WORDS, message=WORDS), max_size=2),
    device=WORDS,
    measured=st.booleans(),
    source=WORDS,
    loops=listed(LoopInfo, "loop", loop=NAMES, split=st.integers(0, 2), steps=STEPS),
    branches=st.lists(NAMES, unique=True, max_size=5),
    losses=listed(LossInfo, "of", of=NAMES, gradients=ENTRIES, edges=EDGES),
)


def carried(change: ProgramChange) -> ProgramChange:
    """Over the pipe."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(change), type=ProgramChange)


@given(PROGRAMS, PROGRAMS)
@pytest.mark.slow
def test_a_change_makes_the_other_program_in_the_same_order(
    before: ProgramInfo, after: ProgramInfo
) -> None:
    made = apply_change(before, carried(compare_programs(before, after)))
    assert made == after
    assert msgspec.msgpack.encode(made) == msgspec.msgpack.encode(after), "order and all"


@pytest.mark.slow
@settings(max_examples=share(20))
@given(PROGRAMS)
def test_the_same_entries_in_another_order_are_another_program(before: ProgramInfo) -> None:
    def turned(mapping: dict[str, Any]) -> dict[str, Any]:
        return dict(reversed(mapping.items()))

    after = msgspec.structs.replace(
        before,
        gradients=turned(before.gradients),
        slots=turned(before.slots),
        losses=[
            msgspec.structs.replace(one, gradients=turned(one.gradients)) for one in before.losses
        ],
    )
    made = apply_change(before, carried(compare_programs(before, after)))
    assert msgspec.msgpack.encode(made) == msgspec.msgpack.encode(after)


@settings(max_examples=200)
@given(ENTRIES, ENTRIES, st.booleans(), st.data())
def test_entries_come_in_their_order_whatever_stays(
    before: dict[str, str], others: dict[str, str], large: bool, data: st.DataObject
) -> None:
    """As of a large program, too, which is held in parts."""
    names = data.draw(st.permutations([*before]))[: data.draw(st.integers(0, 5))]
    after = {n: data.draw(st.sampled_from([before[n], "x", "y"])) for n in names} | others
    edges = [EdgeGradient(op=n, index=0, gradient=g) for n, g in before.items()]
    rows = [EdgeGradient(op=n, index=0, gradient=g) for n, g in after.items()]
    one, other = (
        ProgramInfo(
            steps=[],
            gradients=gradients,
            edges=held,
            blocked=[],
            custom={},
            slots={},
            problems=[],
            device="",
            measured=False,
            source="",
        )
        for gradients, held in ((before, edges), (after, rows))
    )
    with pytest.MonkeyPatch.context() as patch:
        if large:
            edit_as_large(patch)
        made = apply_change(held_program(one), carried(compare_programs(one, other)))
    assert [*made.gradients.items()] == [*after.items()]
    assert [*made.edges] == rows
    assert one.gradients == before


@pytest.mark.slow
@settings(max_examples=share(20))
@given(PROGRAMS, st.data())
def test_what_stays_is_not_told_again(before: ProgramInfo, data: st.DataObject) -> None:
    """Some entries are taken out of each list, and others come at the end."""
    kept = data.draw(st.lists(st.booleans(), min_size=5, max_size=5))

    def some(entries: list[Any]) -> list[Any]:
        return [entry for entry, stays in zip(entries, kept, strict=False) if stays]

    new = StepInfo(op="new", type="", phase="forward", origin="")
    after = msgspec.structs.replace(
        before,
        steps=[*some(before.steps), new],
        edges=some(before.edges),
        gradients=dict(some([*before.gradients.items()])),
    )
    change = carried(compare_programs(before, after))
    assert change.steps is not None
    assert change.steps.new == [new]
    assert all(part is None or part.new == [] for part in (change.edges, change.gradients))
    assert change.loops is change.losses is change.problems is None
    assert apply_change(before, change) == after


def test_a_program_that_is_the_same_is_told_in_a_word() -> None:
    steps = [StepInfo(op=f"n{i}", type="Neg", phase="forward", origin="") for i in range(5_000)]
    program = ProgramInfo(
        number=1, steps=steps, gradients={}, edges=[], blocked=[], custom={}, slots={},
        problems=[], device="cpu", measured=True, source="",
    )  # fmt: skip
    again = msgspec.structs.replace(program, number=2, steps=[*steps])
    change = compare_programs(program, again)
    assert len(msgspec.msgpack.encode(change)) < 60
    assert apply_change(program, change) == again
    with pytest.raises(OtherProgramError):
        apply_change(again, change)


def test_of_a_list_of_which_much_is_gone_entries_are_not_cut_out_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where a wire is unplugged, and of thousands of steps each second one is left."""
    steps = [StepInfo(op=f"n{i}", type="Neg", phase="forward", origin="") for i in range(6_000)]
    whole = ProgramInfo(
        number=1, steps=steps, gradients={}, edges=[], blocked=[], custom={}, slots={},
        problems=[], device="cpu", measured=True, source="",
    )  # fmt: skip
    left = [*steps[:4_000:2], *steps[4_000:]]
    before, after = held_program(whole), msgspec.structs.replace(whole, number=2, steps=left)
    asked, get = list[Any](), Joined.__getitem__

    def counted(self: Joined[Any], place: Any) -> Any:
        asked.append(place)
        return get(self, place)

    monkeypatch.setattr(Joined, "__getitem__", counted)
    change = compare_programs(before, held_program(after))
    made = apply_change(before, change)
    assert change.steps is not None
    assert len(change.steps.runs) > 1_000
    assert len(asked) < 50
    monkeypatch.undo()
    assert [*made.steps] == left
    shared = {*map(id, joined(before.steps).parts)} & {*map(id, joined(made.steps).parts)}
    assert shared, "a long run is the same in memory"
