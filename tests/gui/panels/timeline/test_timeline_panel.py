"""The timeline: grouping, the cursor, going somewhere by bar, row and key."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QAbstractItemModelTester

from gradstep.core.autodiff.notation.step_notation import Notation, Sentence
from gradstep.core.graph.foreign_origin import FOREIGN_SCOPE
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.persistent.joined_sequence import Joined, joined
from gradstep.core.protocol.message_parts import LoopPlace
from gradstep.core.protocol.messages import Notate, ProgramInfo, StepInfo
from gradstep.gui.model.program_index import ProgramIndex
from gradstep.gui.panels.timeline.foreign_rows import ForeignRows
from gradstep.gui.panels.timeline.timeline_model import (
    NUMBER,
    OPERATION,
    TEXT,
    VALUE,
    TimelineModel,
)
from gradstep.gui.panels.timeline.timeline_panel import TimelinePanel
from gradstep.gui.panels.timeline.timeline_rows import GroupRows, StepRow, StepRows
from tests.support.work import lines_run

STEPS = st.lists(
    st.builds(
        StepInfo,
        op=st.sampled_from("abc"),
        type=st.just("Neg"),
        phase=st.sampled_from(["forward", "backward", "update"]),
        origin=st.sampled_from("abc"),
        outputs=st.just(["a:0"]),
    ),
    min_size=1,
    max_size=12,
)


def program_of(steps: list[StepInfo]) -> ProgramInfo:
    return ProgramInfo(
        steps=steps, gradients={}, edges=[], blocked=[], custom={}, slots={}, problems=[],
        device="cpu", measured=True, source="",
    )  # fmt: skip


@given(STEPS, st.data())
def test_groups_partition_the_plan(steps: list[StepInfo], data: st.DataObject) -> None:
    rows = GroupRows(program_of(steps))
    assert [r.start for r in rows] == [0, *(r.stop for r in rows[:-1])]
    assert rows[-1].stop == len(steps)
    for row, following in itertools.pairwise(rows):
        assert (row.phase, row.node) != (following.phase, following.node)
    step = data.draw(st.integers(0, len(steps)))
    number = rows.at(step)
    assert number == len(rows) if step == len(steps) else rows[number].holds(step)


@given(STEPS, STEPS, STEPS, STEPS)
def test_groups_after_an_edit_are_those_made_anew(
    head: list[StepInfo], gone: list[StepInfo], came: list[StepInfo], tail: list[StepInfo]
) -> None:
    """From those before it, where the steps at both ends are the same."""
    before = GroupRows(program_of([*head, *gone, *tail]))
    steps = [*head, *came, *tail]
    again, anew = GroupRows(program_of(steps), before=before), GroupRows(program_of(steps))
    assert [*again] == [*anew]
    assert again.longest_name == anew.longest_name
    further = GroupRows(program_of([*tail, *came]), before=again)
    assert [*further] == [*GroupRows(program_of([*tail, *came]))]


@given(STEPS, STEPS, st.data())
def test_groups_with_other_steps_in_some_places_are_those_made_anew(
    steps: list[StepInfo], others: list[StepInfo], data: st.DataObject
) -> None:
    rows = GroupRows(program_of(steps))
    for _ in range(2):
        steps = [data.draw(st.sampled_from([step, *others])) for step in steps]
        rows, anew = GroupRows(program_of(steps), before=rows), GroupRows(program_of(steps))
        assert [*rows] == [*anew]
        assert rows.longest_name == anew.longest_name


def test_a_few_steps_in_other_places_are_all_that_is_looked_at() -> None:
    """Forward and backward of one operation lie far apart."""
    names = [f"op{number}" for number in range(400)]
    steps = [StepInfo(op=n, type="Neg", phase="forward", origin=n) for n in names]
    before = GroupRows(program_of(steps))
    again = [*steps]
    for place in (3, 390):
        again[place] = msgspec.structs.replace(steps[place], type="Exp")
    program = program_of(again)
    index = ProgramIndex(program)
    assert index.steps
    done = lines_run(lambda: GroupRows(program, index, before))
    assert sum(done.values()) < 200


@given(STEPS, STEPS, STEPS)
def test_groups_after_an_undo_are_those_of_before(
    steps: list[StepInfo], edited: list[StepInfo], further: list[StepInfo]
) -> None:
    rows = GroupRows(program_of(steps))
    for now in (edited, steps, further, edited, further):
        rows, anew = GroupRows(program_of([*now]), before=rows), GroupRows(program_of(now))
        assert [*rows] == [*anew]
        assert rows.longest_name == anew.longest_name


def test_an_undo_that_brings_back_most_steps_looks_at_none_of_them() -> None:
    names = [f"op{number}" for number in range(400)]
    steps = [StepInfo(op=n, type="Neg", phase="forward", origin=n) for n in names]
    before = GroupRows(program_of(steps))
    edited = GroupRows(program_of(steps[:20]), before=before)
    assert GroupRows(program_of(steps), before=edited).starts is before.starts


def test_an_undo_groups_the_same_steps_by_what_is_foreign_now() -> None:
    steps = [StepInfo(op=n, type="Neg", phase="forward", origin=n) for n in ("a", "b", "c")]
    traced = Graph.of([Operation(n, "Neg", attrs={FOREIGN_SCOPE: "layer"}) for n in ("a", "b")])
    rows = GroupRows(program_of(steps), foreign=ForeignRows(traced))
    edited = GroupRows(program_of(steps[:1]), before=rows, foreign=ForeignRows(Graph()))
    undone = GroupRows(program_of(steps), before=edited, foreign=ForeignRows(Graph()))
    assert (len(rows), len(undone)) == (2, 3)


@given(STEPS, st.lists(st.integers(0, 12), max_size=4))
def test_the_model_follows_the_cursor(
    qapp: object, steps: list[StepInfo], stops: list[int]
) -> None:
    model = TimelineModel(lambda ref: None, lambda op: op)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    for rows in (GroupRows(program_of(steps)), StepRows(steps)):
        model.show(rows)
        for step in stops:
            model.move_to(step)
            filled = [r for r in range(model.count()) if model.cell(r, NUMBER).fill]
            assert filled == [r for r, row in enumerate(rows) if row.holds(step)]
            muted = [r for r in range(model.count()) if model.cell(r, OPERATION).tone == "muted"]
            assert muted == [r for r, row in enumerate(rows) if row.start > step]
    del tester


def test_rows_are_made_when_they_are_looked_at(qapp: object, monkeypatch: Any) -> None:
    step = StepInfo(op="x", type="Neg", phase="forward", origin="x", outputs=[])
    made: list[int] = []
    make = StepRows.make
    monkeypatch.setattr(StepRows, "make", lambda rows, n: made.append(n) or make(rows, n))
    model = TimelineModel(lambda ref: None, lambda op: op)
    model.show(StepRows([step] * 1000))
    model.move_to(500)
    assert model.cell(500, NUMBER).fill
    assert made == [500]


def test_rows_tell_what_happened_and_what_is_next(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("tutorial")
    panel = show(TimelinePanel(bench.space), 1000, 240)
    bench.run(f"run_to@0:{bench.step_of('a') + 1}")
    model: TimelineModel = panel.model
    qtbot.waitUntil(lambda: model.cell(model.current, TEXT).text != "next: ")
    names = {row.node: i for i, row in enumerate(model.rows) if row.phase == "forward"}
    assert model.cell(names["e"], VALUE).text == "[0.110 0.090]"
    assert model.cell(names["a"], TEXT).text == "a = d ⊙ e"
    assert model.current == names["loss"]
    assert model.cell(names["loss"], TEXT).text.startswith("next: loss = ")
    assert model.cell(names["loss"], VALUE).text == "–"


def test_words_are_asked_for_where_they_show(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("gan")
    panel = show(TimelinePanel(bench.space), 1000, 200)
    table, model = panel.table, panel.model
    panel.every.setChecked(True)
    qtbot.waitUntil(lambda: model.cell(0, TEXT).text != "next: ")
    asked = {
        op for message in bench.bridge.asked if isinstance(message, Notate) for op in message.ops
    }
    last = table.rowAt(table.viewport().height() - 1)
    assert 0 < last < model.count() - 1
    assert model.rows[last].node in asked
    assert model.rows[-1].node not in asked


def test_typing_finds_words_that_nobody_looked_at_yet(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("tutorial")
    panel = show(TimelinePanel(bench.space), 1000, 120)
    panel.every.setChecked(True)
    table, model = panel.table, panel.model
    table.setCurrentIndex(model.index(0, TEXT))
    wanted = next(i for i, row in enumerate(model.rows) if row.node == "loss")
    assert table.visualRect(model.index(wanted, TEXT)).top() > table.viewport().height()
    qtbot.keyClicks(table, "loss =")
    qtbot.waitUntil(lambda: table.currentIndex().row() == wanted)


def test_what_only_the_words_show_to_be_wrong_is_among_the_problems(
    bench: Any, show: Callable[..., Any], qtbot: Any, monkeypatch: Any
) -> None:
    def broken(self: Notation, op: Operation) -> Sentence:
        raise KeyError(op.name)

    bench.open("tutorial")
    monkeypatch.setattr(Notation, "sentence", broken)
    panel = show(TimelinePanel(bench.space), 1000, 240)
    qtbot.waitUntil(lambda: any(p.node == "a" for p in bench.space.program.problems))
    assert panel.model.cell(1, TEXT).text
    told = [p.message for p in bench.space.program.problems if p.node == "a"]
    assert len(told) == 1
    assert "what Mul does could not be told" in told[0]


def test_names_are_whole_where_there_is_room(bench: Any, show: Callable[..., Any]) -> None:
    bench.open("name_scopes")
    panel = show(TimelinePanel(bench.space), 1000, 240)
    row = next(i for i, r in enumerate(panel.model.rows) if r.node == "test/dense/kernel")
    cell = panel.table.visualRect(panel.model.index(row, OPERATION))
    wanted = panel.table.itemDelegate().sizeHint(None, panel.model.index(row, OPERATION))
    assert cell.width() >= wanted.width()


def test_an_override_about_to_run_shows_its_gradient(bench: Any, show: Callable[..., Any]) -> None:
    bench.open("override_add")
    bench.space.trust()
    panel = show(TimelinePanel(bench.space), 1000, 240)
    while (bench.space.stop.node, bench.space.stop.phase) != ("e", "backward"):
        bench.run("step")
    model: TimelineModel = panel.model
    assert model.cell(model.current, TEXT).text == "about to run CustomAdd(op, grad)"
    assert model.cell(model.current, VALUE).text == "grad = [0.514 -0.951]"


def test_a_click_on_the_bar_goes_there(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    bench.open("tutorial")
    bench.run("run_to@2:3")
    panel = show(TimelinePanel(bench.space), 1000, 240)
    row: StepRow = panel.model.rows[4]
    second = QPoint(round(panel.bars.x_of(row.start)), 8 + 24 + 7)
    qtbot.mouseClick(panel.bars, Qt.MouseButton.LeftButton, pos=second)
    assert (bench.space.stop.run, bench.space.stop.step) == (1, row.start)


def test_dragging_asks_once_for_each_place(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("tutorial")
    panel = show(TimelinePanel(bench.space), 1000, 240)
    asked: list[tuple[int, int]] = []
    panel.bars.asked.connect(lambda run, step: asked.append((run, step)))
    places = [QPoint(round(panel.bars.x_of(panel.model.rows[i].start)), 12) for i in (1, 1, 2, 3)]
    qtbot.mousePress(panel.bars, Qt.MouseButton.LeftButton, pos=places[0])
    for place in places[1:]:
        qtbot.mouseMove(panel.bars, place)
    qtbot.mouseRelease(panel.bars, Qt.MouseButton.LeftButton, pos=places[-1])
    assert asked == [(0, panel.model.rows[i].start) for i in (1, 2, 3)]


@given(st.integers(200, 2000), st.integers(0, 30))
def test_places_on_the_bar_are_found_again(qapp: object, width: int, step: int) -> None:
    from gradstep.gui.look.theme import DARK
    from gradstep.gui.panels.timeline.run_bars import RunBars

    steps = [StepInfo(op="x", type="Neg", phase="forward", origin="x", outputs=[])] * 30
    bars = RunBars(lambda: DARK)
    bars.resize(width, 60)
    bars.show_rows(StepRows(steps), {})
    bars.show_position(0, 0, [30])
    assert bars.place_at(QPoint(round(bars.x_of(step)), 12)) == (0, step)


def test_bars_of_many_steps_are_painted_without_their_rows(qapp: object) -> None:
    """Which say what each step does; the bars only where the phases are."""
    from gradstep.gui.look.theme import DARK
    from gradstep.gui.panels.timeline.run_bars import RunBars

    steps = [StepInfo(op="x", type="Neg", phase="forward", origin="x", outputs=[])] * 900
    bars, rows = RunBars(lambda: DARK), StepRows(steps)
    bars.resize(600, 60)
    bars.show_rows(rows, {})
    bars.show_position(0, 450, [900])
    assert not bars.grab().isNull()
    assert not rows._made


def test_rows_and_keys_go_there_too(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    bench.open("tutorial")
    panel = show(TimelinePanel(bench.space), 1000, 600)
    place = panel.table.visualRect(panel.model.index(3, TEXT)).center()
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert bench.space.selection == (panel.model.rows[3].node,)
    assert bench.space.stop.step == 0
    qtbot.mouseDClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert bench.space.stop.step == panel.model.rows[3].start
    qtbot.keyClick(panel.bars, Qt.Key.Key_Right)
    assert bench.space.stop.step == panel.model.rows[4].start
    qtbot.keyClick(panel.bars, Qt.Key.Key_Left)
    qtbot.keyClick(panel.bars, Qt.Key.Key_Home)
    assert bench.space.stop.step == 0


def test_every_operation_can_be_shown(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    bench.open("tutorial")
    panel = show(TimelinePanel(bench.space), 1000, 240)
    groups = panel.model.count()
    qtbot.mouseClick(panel.every, Qt.MouseButton.LeftButton)
    assert panel.model.count() == len(bench.space.program.steps) > groups


def test_the_current_row_stays_in_view(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    bench.open("tutorial")
    panel = show(TimelinePanel(bench.space), 1000, 180)
    for _ in range(panel.model.count() - 1):
        bench.run("step")
        rect = panel.table.visualRect(panel.model.index(panel.model.current, 0))
        assert panel.table.viewport().rect().contains(rect.center())


def test_a_loop_that_an_edit_took_away_leaves_the_steps_of_the_run(
    bench: Any, show: Callable[..., Any]
) -> None:
    """The program is there before it is said where the debugger stands in it."""
    panel = show(TimelinePanel(bench.space))
    bench.open("while_loop")
    rows = panel.model.count()
    inside = [LoopPlace(loop="gone", iteration=0, step=0, length=1)]
    panel._show_steps(msgspec.structs.replace(bench.space.stop, inside=inside))
    assert panel.model.count() == rows > 0


def test_a_wide_panel_shows_both_gradients_of_a_step_whole(bench: Any, show: Any) -> None:
    """What happened has room left over by then."""
    bench.open("tutorial")
    bench.run("continue_")
    panel = show(TimelinePanel(bench.space), 1280, 300)
    rows = [row for row in range(panel.model.rowCount()) if panel.model.rows[row].node == "e"]
    texts = [panel.model.cell(row, VALUE).text for row in rows]
    assert any(text.count("[") == 2 for text in texts)
    assert all(
        panel.table.sizeHintForIndex(panel.model.index(row, VALUE)).width()
        <= panel.table.columnWidth(VALUE)
        for row in rows
    )


def test_of_many_rows_the_steps_are_not_looked_up_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = [f"n{i}" for i in range(5_000)]
    steps = [StepInfo(op=name, type="Neg", phase="forward", origin=name) for name in names]
    asked, get = list[Any](), Joined.__getitem__

    def counted(self: Joined[Any], place: Any) -> Any:
        asked.append(place)
        return get(self, place)

    monkeypatch.setattr(Joined, "__getitem__", counted)
    program = msgspec.structs.replace(program_of([]), steps=joined(steps))
    rows = GroupRows(program)
    assert len(rows) == len(steps)
    assert rows.longest_name == len("n4999 (Neg)")
    assert len(asked) < 100
