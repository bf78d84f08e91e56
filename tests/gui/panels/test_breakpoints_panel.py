"""The breakpoints panel: switching, editing, adding and deleting, against a plain list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QLineEdit

from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.gui import commands
from gradstep.gui.panels.breakpoints_panel import BreakpointModel, BreakpointsPanel

BREAKPOINTS = st.builds(
    Breakpoint, st.sampled_from("abc"), st.sampled_from(BreakpointKind), st.sampled_from(["", "x"])
)


class Editing(RuleBasedStateMachine):
    """Whatever is done to the rows is done to the list."""

    @initialize(items=st.lists(BREAKPOINTS, max_size=4))
    def start(self, items: list[Breakpoint]) -> None:
        self.items = list(items)
        self.model = BreakpointModel(self._change)
        fatal = QAbstractItemModelTester.FailureReportingMode.Fatal
        self.tester = QAbstractItemModelTester(self.model, fatal)
        self.model.show(self.items)

    def _change(self, items: tuple[Breakpoint, ...]) -> None:
        self.model.show(items)

    @rule(item=BREAKPOINTS)
    def add(self, item: Breakpoint) -> None:
        self.model.add(item)
        self.items += [] if item in self.items else [item]

    @precondition(lambda self: self.items)
    @rule(data=st.data())
    def toggle(self, data: st.DataObject) -> None:
        row = data.draw(st.integers(0, len(self.items) - 1))
        state = Qt.ItemDataRole.CheckStateRole
        self.model.setData(self.model.index(row, 0), not self.items[row].enabled, state)
        self.items[row] = replace(self.items[row], enabled=not self.items[row].enabled)

    @precondition(lambda self: self.items)
    @rule(data=st.data(), text=st.sampled_from(["", "isnan(value)", " norm(value) > 1 "]))
    def condition(self, data: st.DataObject, text: str) -> None:
        row = data.draw(st.integers(0, len(self.items) - 1))
        self.model.setData(self.model.index(row, 2), text)
        self.items[row] = replace(self.items[row], condition=text.strip())

    @precondition(lambda self: self.items)
    @rule(data=st.data(), hits=st.integers(-2, 9))
    def hits(self, data: st.DataObject, hits: int) -> None:
        row = data.draw(st.integers(0, len(self.items) - 1))
        self.model.setData(self.model.index(row, 3), hits)
        self.items[row] = replace(self.items[row], hits=max(hits, 1))

    @precondition(lambda self: self.items)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        row = data.draw(st.integers(0, len(self.items) - 1))
        self.model.remove(row)
        del self.items[row]

    @invariant()
    def same(self) -> None:
        assert list(self.model.breakpoints) == self.items
        assert self.model.rowCount() == len(self.items)


TestEditing = pytest.mark.slow(Editing.TestCase)


def panel_with(bench: Any, show: Callable[..., Any], *items: Breakpoint) -> BreakpointsPanel:
    bench.open("tutorial")
    commands.set_breakpoints(bench.space, items)
    panel: BreakpointsPanel = show(BreakpointsPanel(bench.space), 900, 240)
    return panel


def click(qtbot: Any, panel: BreakpointsPanel, row: int, column: int, double: bool = False) -> None:
    place = panel.table.visualRect(panel.model.index(row, column)).center()
    press = qtbot.mouseDClick if double else qtbot.mouseClick
    press(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_a_click_switches_off_and_undo_switches_on(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = panel_with(bench, show, Breakpoint("e"), Breakpoint("d"))
    click(qtbot, panel, 1, 0)
    assert [b.enabled for b in bench.space.document.breakpoints] == [True, False]
    assert bench.space.selection == ("d",)
    bench.space.undo_stack.undo()
    assert [b.enabled for b in panel.model.breakpoints] == [True, True]


def test_a_condition_is_typed_in_place(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = panel_with(bench, show, Breakpoint("e"))
    click(qtbot, panel, 0, 2)
    click(qtbot, panel, 0, 2, double=True)
    editor = panel.table.findChild(QLineEdit)
    qtbot.keyClicks(editor, "isnan(value)")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    wanted = (Breakpoint("e", condition="isnan(value)"),)
    qtbot.waitUntil(lambda: bench.space.document.breakpoints == wanted)


def test_delete_removes_the_current_row(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = panel_with(bench, show, Breakpoint("e"), Breakpoint("d"))
    click(qtbot, panel, 0, 1)
    qtbot.keyClick(panel.table, Qt.Key.Key_Delete)
    assert bench.space.document.breakpoints == (Breakpoint("d"),)
    qtbot.mouseClick(panel.delete, Qt.MouseButton.LeftButton)
    assert bench.space.document.breakpoints == ()


def test_add_offers_what_fits_the_selection(bench: Any, show: Callable[..., Any]) -> None:
    panel = panel_with(bench, show)
    bench.space.select(["e"])
    offered = {action.text(): action for action in panel.add.menu().actions()}
    assert {"operation e", "gradient of e", "op type AddV2"} <= set(offered)
    offered["gradient of e"].trigger()
    assert bench.space.document.breakpoints == (Breakpoint("e", BreakpointKind.GRADIENT),)
    bench.run("continue_")
    assert (bench.space.stop.node, bench.space.stop.phase) == ("e", "backward")


def test_a_logpoint_is_edited_in_place_and_writes_to_the_output(
    bench: Any, show: Callable[..., Any]
) -> None:
    panel = panel_with(bench, show, Breakpoint("loss"))
    model = panel.model
    assert model.cell(0, 5).text == "stops"
    assert model.setData(model.index(0, 5), 'loss {x["loss"]}')
    assert bench.space.document.breakpoints == (Breakpoint("loss", log='loss {x["loss"]}'),)
    bench.space.debugger.flush()
    bench.space.control("continue_")
    assert bench.space.stop.reason == "end"
    assert [*bench.space.printed.pieces] == ["loss 0.663694\n"]
    assert panel.model.cell(0, 4).text == "1"  # hit once
    bench.space.control("continue_")
    assert panel.model.cell(0, 4).text == "2"


def test_where_it_does_not_stop_is_a_list_of_names(bench: Any, show: Callable[..., Any]) -> None:
    panel = panel_with(bench, show, Breakpoint("AddV2", BreakpointKind.TYPE))
    model = panel.model
    model.setData(model.index(0, 6), " d,  e ")
    assert bench.space.document.breakpoints[0].exempt == {"d", "e"}
    assert model.cell(0, 6).text == "d, e"
    bench.space.debugger.flush()
    bench.space.control("continue_")
    assert bench.space.stop.reason == "end"
    model.setData(model.index(0, 6), "")
    assert bench.space.document.breakpoints[0].exempt == frozenset()


def test_a_ready_condition_is_put_in_the_row(bench: Any, show: Callable[..., Any]) -> None:
    panel = panel_with(bench, show, Breakpoint("a"), Breakpoint("d"))
    panel.table.selectRow(1)
    texts = [row.text() for row in panel.ready.menu().actions()]
    assert texts[0] == "NaN"
    assert texts[-1] == "Always"
    panel.ready.menu().actions()[texts.index("All zero")].trigger()
    first, second = bench.space.document.breakpoints
    assert (first.condition, second.condition) == ("", "size(value) > 0 and count(value) == 0")
    panel.ready.menu().actions()[-1].trigger()
    assert bench.space.document.breakpoints[1].condition == ""


def test_a_variable_offers_each_time_it_is_written(bench: Any, show: Callable[..., Any]) -> None:
    panel = panel_with(bench, show)
    bench.space.select(["c"])
    rows = {row.text(): row for row in panel.add.menu().actions()}
    rows["each time c is written"].trigger()
    assert bench.space.document.breakpoints == (Breakpoint("c", BreakpointKind.WRITE),)
    bench.space.debugger.flush()
    bench.space.control("continue_")
    assert bench.space.stop.reason == "breakpoint"
    assert panel.model.cell(0, 4).text == "1"
