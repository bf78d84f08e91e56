"""The menu of a right click: on nodes, scopes, wires, ports, and on nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from gradstep.core.document.document import Document, View
from gradstep.core.graph.model import Constant, Edge, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.gui import commands
from gradstep.gui.actions.action_table import BY_ID
from gradstep.gui.canvas.interact import context_menu
from gradstep.gui.canvas.interact.search_menu import SearchMenu
from tests.gui.canvas.interact.test_flash_marker import nested

LEFT = Qt.MouseButton.LeftButton
Reason = QContextMenuEvent.Reason


@pytest.fixture
def opened(canvas: Any) -> Any:
    canvas.open("tutorial")
    return canvas


def menu_at(canvas: Any, at: QPoint, reason: Reason = Reason.Mouse) -> QMenu:
    """What a right click, or the menu key, opens."""
    port = canvas.view.viewport()
    QApplication.sendEvent(port, QContextMenuEvent(reason, at, port.mapToGlobal(at)))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    return menu


def entries(menu: QMenu) -> Iterator[QAction]:
    """Those of the menus in it, too."""
    for action in menu.actions():
        inner = action.menu()
        yield from [action] if inner is None else entries(inner)


def entry(menu: QMenu, title: str) -> QAction:
    return next(a for a in entries(menu) if a.text() == title)


def choose(menu: QMenu, title: str) -> None:
    action = entry(menu, title)
    assert action.isEnabled(), f"{title}: {action.toolTip()}"
    menu.close()
    action.trigger()


def test_a_right_click_selects_what_it_is_on(opened: Any) -> None:
    menu_at(opened, opened.middle("e")).close()
    assert opened.space.selection == ("e",)
    opened.space.select(["d", "e"])
    menu_at(opened, opened.middle("e")).close()
    assert opened.space.selection == ("d", "e"), "what is selected already stays so"
    menu_at(opened, opened.middle("a")).close()
    assert opened.space.selection == ("a",)
    menu_at(opened, opened.link("c", "e")).close()
    assert opened.space.selected_edge == Edge("e", 0)


def test_entries_are_those_of_the_table(opened: Any) -> None:
    menu = menu_at(opened, opened.middle("e"))
    for action in entries(menu):
        if not action.isSeparator():
            row = BY_ID[action.objectName()]
            assert action.text() == row.title
            need = row.enabled.obstacle(opened.space)
            assert action.isEnabled() == (not need)
            assert need in action.toolTip()
            assert row.tip in action.toolTip()
            assert action.shortcut().toString() in (row.keys[0] if row.keys else "")
    menu.close()


@pytest.mark.parametrize(
    "ids", [context_menu.NODE, context_menu.SCOPE, context_menu.WIRE, context_menu.NOTHING]
)
def test_every_id_is_an_action(ids: Any) -> None:
    grouped = (id.ids if isinstance(id, context_menu.Group) else (id,) for id in ids)
    found = [id for group in grouped for id in group if id]
    assert {*found} <= BY_ID.keys()
    assert len({*found}) == len(found)


def test_it_fits_on_a_small_screen(opened: Any) -> None:
    menu = menu_at(opened, opened.middle("e"))
    assert len([action for action in menu.actions() if not action.isSeparator()]) <= 16
    assert menu.sizeHint().height() < 560
    menu.close()


def test_a_node_can_be_broken_at_and_deleted(opened: Any) -> None:
    choose(menu_at(opened, opened.middle("e")), "Toggle breakpoint")
    assert {b.target for b in opened.space.document.breakpoints} == {"e"}
    choose(menu_at(opened, opened.middle("e")), "Run to selected node")
    assert opened.space.stop.node == "e"
    choose(menu_at(opened, opened.middle("e")), "Delete and reconnect")
    assert opened.space.document.graph["a"].inputs == (TensorRef("d"), TensorRef("c"))
    opened.space.undo_stack.undo()
    choose(menu_at(opened, opened.middle("e")), "Delete")
    assert "e" not in opened.space.document.graph


def test_a_duplicate_hangs_on_the_pointer(opened: Any) -> None:
    choose(menu_at(opened, opened.middle("e")), "Duplicate")
    assert opened.view.gestures.current is not None
    menu_of_right_click = QContextMenuEvent(Reason.Mouse, QPoint(5, 5), QPoint(5, 5))
    QApplication.sendEvent(opened.view.viewport(), menu_of_right_click)
    assert opened.view.gestures.current is None, "a right click takes it away"
    assert "e_1" not in opened.space.document.graph
    assert QApplication.activePopupWidget() is None


def test_why_says_and_shows_what_makes_a_gradient_none(opened: Any) -> None:
    commands.toggle_stop(opened.space, Edge("e", 1))
    opened.space.debugger.flush()
    choose(menu_at(opened, opened.middle("k")), "Why this gradient?")
    level, text = opened.said[-1]
    assert level == "note"
    assert "stop_gradient" in text
    assert set(opened.space.selection) == {"loss", "a", "e"}


def test_why_says_what_makes_a_gradient_nan(canvas: Any) -> None:
    canvas.open("nan_gradient")
    canvas.space.control("continue_")
    choose(menu_at(canvas, canvas.middle("p")), "Why this gradient?")
    level, text = canvas.said[-1]
    assert level == "note"
    assert text.startswith("d loss / d p is NaN: logp (Log) makes the first infinity at index [0]")
    assert canvas.space.selection == ("loss", "term", "safe", "logp")


def test_why_says_what_makes_a_value_infinite_and_opens_the_scope_of_it(canvas: Any) -> None:
    build = GraphBuilder()
    x = build.placeholder("x", shape=[2])
    with build.scope("net"):
        logs = build.one("Log", x, name="logs")
    build.one("Neg", logs, name="y")
    feeds = {"x:0": Constant(np.float32([1, 0]))}
    view = View(collapsed=frozenset({"net"}))
    canvas.space.open_document(Document(build.build(), feeds=feeds, view=view))
    canvas.space.debugger.flush()
    canvas.space.control("continue_")
    choose(menu_at(canvas, canvas.middle("y")), "Why this value?")
    level, text = canvas.said[-1]
    assert (level, text[:14]) == ("note", "y is infinite:")
    assert "net/logs (Log) makes the first infinity at index [1], from x = 0" in text
    assert not canvas.space.document.view.collapsed
    assert canvas.space.selection == ("y", "net/logs")


def test_why_asks_by_a_key_too_and_says_of_what_was_not_computed(canvas: Any) -> None:
    canvas.open("nan_gradient")
    canvas.space.select(["logp"])
    canvas.view.setFocus()
    QTest.keyClick(canvas.view, Qt.Key.Key_Y, Qt.KeyboardModifier.ShiftModifier)
    assert canvas.said[-1] == ("note", "logp has no value: it has not been computed in this run.")
    canvas.space.control("continue_")
    canvas.space.select(["logp"])
    QTest.keyClicks(canvas.view, "y")
    assert canvas.said[-1][1].startswith("d loss / d logp")


def test_to_the_first_nan_there_is_a_way_from_any_node(canvas: Any) -> None:
    canvas.open("nan_gradient")
    menu = menu_at(canvas, canvas.middle("loss"))
    assert not entry(menu, "Go to the first NaN or infinity").isEnabled()
    menu.close()
    canvas.space.control("continue_")
    while canvas.space.soundness.first is None:
        QApplication.processEvents()
    choose(menu_at(canvas, canvas.middle("loss")), "Go to the first NaN or infinity")
    assert canvas.space.selection == ("logp",)
    assert canvas.space.stop.reason == "goto"


def test_a_wire_is_stopped_followed_and_unplugged(opened: Any) -> None:
    at = opened.link("k", "e")
    choose(menu_at(opened, at), "Stop gradient")
    assert opened.space.document.request.stopped_edges == {Edge("e", 1)}
    choose(menu_at(opened, at), "Go to where the wire comes from")
    assert opened.space.selection == ("k",)
    choose(menu_at(opened, opened.link("k", "e")), "Go to where the wire leads")
    assert opened.space.selection == ("e",)
    choose(menu_at(opened, opened.link("k", "e")), "Unplug")
    assert opened.space.document.graph["e"].inputs == (TensorRef("c"), None)


def test_an_operation_is_put_into_a_wire_as_one_edit(opened: Any) -> None:
    edits = opened.space.undo_stack.count()
    choose(menu_at(opened, opened.link("k", "e")), "Insert an operation…")
    search = QApplication.activePopupWidget()
    assert isinstance(search, SearchMenu)
    QTest.keyClicks(search.field, "tanh")
    QTest.keyClick(search.field, Qt.Key.Key_Return)
    graph = opened.space.document.graph
    assert graph["Tanh"].inputs == (TensorRef("k"),)
    assert graph["e"].inputs == (TensorRef("c"), TensorRef("Tanh"))
    assert opened.space.undo_stack.count() == edits + 1


def test_ports_say_what_they_are(opened: Any) -> None:
    menu = menu_at(opened, opened.output("e"))
    heading = menu.actions()[0]
    assert heading.text() == "output e:0 · float32[2]"
    assert not heading.isEnabled()
    choose(menu, "Unplug")
    assert opened.space.document.graph["a"].inputs == (TensorRef("d"), None)
    menu = menu_at(opened, opened.input("a", 1))
    assert menu.actions()[0].text().startswith("input 'y' of a · not connected")
    choose(menu, "Add what it reads…")
    search = QApplication.activePopupWidget()
    QTest.keyClicks(search.field, "const")
    QTest.keyClick(search.field, Qt.Key.Key_Return)
    assert opened.space.document.graph["a"].inputs[1] == TensorRef("Const")
    menu = menu_at(opened, opened.input("a", 0))
    assert menu.actions()[0].text() == "input 'x' of a, from d · float32[2]"
    choose(menu, "Unplug")
    assert opened.space.document.graph["a"].inputs[0] is None


@pytest.mark.slow
def test_an_output_is_wired_by_name_or_to_something_new(opened: Any) -> None:
    choose(menu_at(opened, opened.output("loss", 1)), "Add what reads it…")
    search = QApplication.activePopupWidget()
    QTest.keyClicks(search.field, "tanh")
    QTest.keyClick(search.field, Qt.Key.Key_Return)
    assert opened.space.document.graph["Tanh"].inputs == (TensorRef("loss", 1),)
    choose(menu_at(opened, opened.output("d")), "Connect to…")
    assert isinstance(QApplication.activePopupWidget(), SearchMenu)


def test_scopes_open_close_and_have_a_breakpoint(canvas: Any) -> None:
    canvas.space.open_document(nested())
    canvas.space.debugger.flush()
    commands.set_collapsed(canvas.space, frozenset({"tower"}), "Close")
    choose(menu_at(canvas, canvas.middle("tower/")), "Toggle breakpoint")
    (point,) = canvas.space.document.breakpoints
    assert (point.target, point.kind.value) == ("tower", "scope")
    assert canvas.view.stage.facts.breakpoints == {canvas.number("tower/"): True}
    choose(menu_at(canvas, canvas.middle("tower/")), "Toggle breakpoint")
    assert not canvas.space.document.breakpoints
    choose(menu_at(canvas, canvas.middle("tower/")), "Open scope")
    assert not canvas.space.document.view.collapsed
    frame = next(f for f in canvas.view.arrays.frames if f.scope == "tower")
    title = canvas.pixel((frame.rect[0] + 30, frame.rect[1] + 8))
    choose(menu_at(canvas, title), "Collapse scope")
    assert canvas.space.document.view.collapsed == {"tower"}


def test_an_empty_place_offers_what_is_for_all(opened: Any) -> None:
    at = QPoint(12, 12)
    menu = menu_at(opened, at)
    assert "no operation is in a scope" in entry(menu, "Open every scope").toolTip()
    choose(menu, "Select all")
    assert len(opened.space.selection) == len(opened.space.document.graph)
    choose(menu_at(opened, at), "Add node…")
    search = QApplication.activePopupWidget()
    QTest.keyClicks(search.field, "sqrt")
    QTest.keyClick(search.field, Qt.Key.Key_Return)
    scene = opened.view.mapToScene(at)
    x, y = opened.view.arrays.centre(opened.number("Sqrt"))
    assert abs(x - scene.x()) <= 8
    assert abs(y - scene.y()) <= 8


def test_a_control_input_is_taken_away(opened: Any) -> None:
    commands.add_control(opened.space, "labels", "data")
    link = next(i for i, k in enumerate(opened.view.arrays.visible.links) if k.is_control)
    at = opened.pixel(tuple(opened.view.arrays.routes.middle(link)))
    choose(menu_at(opened, at), "Do not run labels after data")
    assert not opened.space.document.graph["labels"].control_inputs


def test_the_menu_key_opens_it_at_the_selection(opened: Any) -> None:
    opened.space.select(["data"])
    menu = menu_at(opened, QPoint(0, 0), Reason.Keyboard)
    assert entry(menu, "Rename").isEnabled()
    place = opened.view.viewport().mapFromGlobal(menu.pos())
    assert (place - opened.middle("data")).manhattanLength() < 20
    choose(menu, "Duplicate")
    opened.space.select([], Edge("e", 1))
    menu = menu_at(opened, QPoint(0, 0), Reason.Keyboard)
    choose(menu, "Unplug")
    opened.space.select([])
    assert entry(menu_at(opened, QPoint(0, 0), Reason.Keyboard), "Select all")


def test_without_a_document_there_is_no_menu(canvas: Any) -> None:
    event = QContextMenuEvent(Reason.Mouse, QPoint(5, 5), QPoint(5, 5))
    QApplication.sendEvent(canvas.view.viewport(), event)
    assert QApplication.activePopupWidget() is None
    canvas.space.open_document(Document())
    assert not entry(menu_at(canvas, QPoint(5, 5)), "Arrange nodes").isSeparator()
