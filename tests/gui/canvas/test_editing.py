"""Building and changing a graph on the canvas, with a real mouse and real keys."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.document.document import Document, View
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.layers.block_table import all_blocks
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.table import all_ops
from gradstep.gui import commands
from gradstep.gui.canvas.interact import search_entries
from gradstep.gui.canvas.interact.search_menu import Search, SearchMenu
from gradstep.gui.canvas.interact.wire_gesture import DrawWire
from gradstep.gui.canvas.scene import hit_test
from gradstep.gui.canvas.scene.scene_arrays import WIDTH
from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel

LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier


def drag(canvas, start: QPoint, end: QPoint, button=LEFT, modifiers=NONE) -> None:
    port = canvas.view.viewport()
    QTest.mousePress(port, button, modifiers, start)
    for share in (0.3, 0.7, 1.0):
        QTest.mouseMove(port, start + (end - start) * share)
    QTest.mouseRelease(port, button, modifiers, end)


def click(canvas, at: QPoint, modifiers=NONE) -> None:
    QTest.mouseClick(canvas.view.viewport(), LEFT, modifiers, at)


def menu(canvas) -> SearchMenu:
    found = [m for m in canvas.view.findChildren(SearchMenu) if m.isVisible()]
    assert len(found) == 1
    return found[0]


def choose(canvas, text: str) -> None:
    QTest.keyClicks(menu(canvas).field, text)
    QTest.keyClick(menu(canvas).field, Qt.Key.Key_Return)


@pytest.fixture
def pair(canvas):
    """A float placeholder, an integer one, and an open product."""
    space = canvas.space
    space.open_document(space.document)
    commands.add_node(space, "Placeholder", (0.0, 0.0), name="x")
    integers = {"dtype": DType.INT32, "shape": Shape.of(3)}
    commands.add_node(space, "Placeholder", (0.0, 160.0), name="n", attrs=integers)
    commands.add_node(space, "Mul", (320.0, 40.0), name="y")
    canvas.view.fit()
    return canvas


def test_a_click_selects_and_a_click_on_nothing_clears(canvas) -> None:
    canvas.open("tutorial")
    click(canvas, canvas.middle("a"))
    assert canvas.space.selection == ("a",)
    click(canvas, canvas.middle("d"), Qt.KeyboardModifier.ShiftModifier)
    assert set(canvas.space.selection) == {"a", "d"}
    click(canvas, canvas.middle("a"), Qt.KeyboardModifier.ControlModifier)
    assert canvas.space.selection == ("d",)
    click(canvas, QPoint(5, 5))
    assert canvas.space.selection == ()


def test_a_rubber_band_selects_what_it_touches(canvas) -> None:
    canvas.open("tutorial")
    drag(canvas, canvas.middle("d") - QPoint(80, 60), canvas.middle("e") + QPoint(20, 20))
    assert set(canvas.space.selection) == {"d", "e"}


def test_a_wire_drawn_from_output_to_input_connects(pair) -> None:
    drag(pair, pair.output("x"), pair.input("y", 0))
    assert pair.space.document.graph["y"].inputs == (TensorRef("x"), None)
    drag(pair, pair.input("y", 1), pair.output("x"))
    assert pair.space.document.graph["y"].inputs == (TensorRef("x"), TensorRef("x"))


def test_a_wire_that_does_not_fit_is_refused_with_the_reason(pair) -> None:
    drag(pair, pair.output("x"), pair.input("y", 0))
    drag(pair, pair.output("n"), pair.input("y", 1))
    assert pair.space.document.graph["y"].inputs == (TensorRef("x"), None)
    assert pair.said
    assert pair.said[-1][0] == "warning"


def test_a_cycle_is_refused(canvas) -> None:
    canvas.open("tutorial")
    drag(canvas, canvas.output("a"), canvas.input("d", 0))
    assert canvas.space.document.graph["d"].inputs[0] == TensorRef("data")
    assert "cycle" in canvas.said[-1][1]


def test_a_wire_pulled_off_its_input_is_gone_and_comes_back_by_undo(canvas) -> None:
    canvas.open("tutorial")
    drag(canvas, canvas.input("e", 1), QPoint(500, 600))
    assert canvas.space.document.graph["e"].inputs == (TensorRef("c"), None)
    canvas.space.undo_stack.undo()
    assert canvas.space.document.graph["e"].inputs == (TensorRef("c"), TensorRef("k"))


def test_a_wire_moved_to_another_input_is_one_edit(pair) -> None:
    drag(pair, pair.output("x"), pair.input("y", 0))
    edits = pair.space.undo_stack.count()
    drag(pair, pair.input("y", 0), pair.input("y", 1))
    assert pair.space.document.graph["y"].inputs == (None, TensorRef("x"))
    assert pair.space.undo_stack.count() == edits + 1


def test_a_click_on_a_wired_input_changes_nothing(canvas) -> None:
    canvas.open("tutorial")
    before = canvas.space.document
    click(canvas, canvas.input("e", 1))
    assert canvas.space.document is before


def test_a_wire_dropped_on_nothing_offers_what_can_read_it(pair) -> None:
    there = QPoint(700, 600)
    dropped = pair.view.camera.to_scene(there)
    drag(pair, pair.output("x"), there)
    choose(pair, "tanh")
    assert pair.space.document.graph["Tanh"].inputs == (TensorRef("x"),)
    assert pair.space.selection == ("Tanh",)
    box = pair.view.box_rect(pair.number("Tanh"))
    input_at = QPointF(box.left(), box.center().y())
    assert (input_at - dropped).manhattanLength() < 1, "the wire ends where it was dropped"


def test_what_cannot_read_a_tensor_is_not_offered(pair) -> None:
    drag(pair, pair.output("n"), QPoint(700, 600))
    QTest.keyClicks(menu(pair).field, "sigmoid")
    titles = [
        menu(pair).list.topLevelItem(i).text(0) for i in range(menu(pair).list.topLevelItemCount())
    ]
    assert "Sigmoid" not in titles  # it takes no integers


def test_an_open_input_dropped_on_nothing_offers_sources(pair) -> None:
    there = QPoint(300, 600)
    dropped = pair.view.camera.to_scene(there)
    drag(pair, pair.input("y", 0), there)
    choose(pair, "const")
    assert pair.space.document.graph["y"].inputs[0] == TensorRef("Const")
    box = pair.view.box_rect(pair.number("Const"))
    output_at = QPointF(box.right(), box.center().y())
    assert (output_at - dropped).manhattanLength() < 1


def test_a_key_offers_what_an_open_input_can_read(pair) -> None:
    pair.space.select(["y"])
    QTest.keyClick(pair.view, Qt.Key.Key_W)
    choose(pair, "x x")
    assert pair.space.document.graph["y"].inputs == (TensorRef("x"), None)


def test_where_there_is_nothing_to_be_offered_that_is_said(pair) -> None:
    shown = SearchMenu([], "Connect to…", pair.view)
    assert shown.help.text() == "There is nothing here that fits."
    shown.deleteLater()


@pytest.mark.parametrize(
    ("key", "modifier"), [(Qt.Key.Key_Tab, NONE), (Qt.Key.Key_A, Qt.KeyboardModifier.ShiftModifier)]
)
def test_keys_open_the_search_menu(pair, key, modifier) -> None:
    QTest.keyClick(pair.view, key, modifier)
    choose(pair, "sqrt")
    assert pair.space.document.graph["Sqrt"].type == "Sqrt"


def test_without_text_the_menu_shows_families_that_keys_open(pair) -> None:
    QTest.keyClick(pair.view, Qt.Key.Key_Tab)
    rows, field = menu(pair).list, menu(pair).field
    assert rows.topLevelItem(0).text(0) == "math"
    QTest.keyClick(field, Qt.Key.Key_Right)
    QTest.keyClick(field, Qt.Key.Key_Down)
    assert rows.currentItem().text(0) == "arithmetic"
    assert "AddV2" in menu(pair).help.text()
    assert not rows.currentItem().isExpanded()
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert rows.currentItem().isExpanded()
    QTest.keyClick(field, Qt.Key.Key_Left)
    assert not rows.currentItem().isExpanded()
    QTest.keyClick(field, Qt.Key.Key_Right)
    QTest.keyClick(field, Qt.Key.Key_Down)
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert pair.space.document.graph["Add"].type == "Add"


def test_every_op_type_is_in_the_menu(pair) -> None:
    QTest.keyClick(pair.view, Qt.Key.Key_Tab)
    rows = menu(pair).list
    subjects = [rows.topLevelItem(i) for i in range(rows.topLevelItemCount())]
    count = len(list(all_ops())) + len(list(all_blocks()))
    assert sum(int(subject.text(1)) for subject in subjects) == count


def test_what_the_palette_adds_covers_nothing(canvas) -> None:
    canvas.open("tutorial")
    for _ in range(3):
        canvas.view.add("Neg")
    boxes = canvas.view.arrays.rects
    for number, (x, y, w, h) in enumerate(boxes.tolist()):
        apart = (boxes[:, 0] >= x + w) | (boxes[:, 0] + boxes[:, 2] <= x)
        apart |= (boxes[:, 1] >= y + h) | (boxes[:, 1] + boxes[:, 3] <= y)
        assert apart.sum() == len(boxes) - 1, f"box {number} is covered"


def test_a_node_is_put_where_the_user_points_unless_something_stands_there(canvas) -> None:
    canvas.open("tutorial")
    view, centre = canvas.view, canvas.view.arrays.centre(canvas.number("d"))
    free = (centre[0], centre[1] + 1000)
    assert view.framing.place_for_new(free, pointed=True) == free
    canvas.space.select(["d"])
    x, _ = view.framing.place_for_new(centre, pointed=True)
    assert x - WIDTH / 2 > view.box_rect(canvas.number("d")).right()


def test_what_is_added_by_a_key_goes_to_the_pointer(canvas) -> None:
    canvas.open("tutorial")
    canvas.space.select(["d"])
    port, place = canvas.view.viewport(), canvas.middle("loss") + QPoint(0, 150)
    port.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)  # which no test platform sets by itself
    canvas.point_at(place)
    wanted = canvas.view.pointer.on_grid(place)
    QTest.keyClick(canvas.view, Qt.Key.Key_Tab)
    choose(canvas, "tanh")
    assert canvas.view.arrays.centre(canvas.number("Tanh")) == wanted


def test_a_block_reads_what_is_selected_and_is_one_box_right_of_it(canvas) -> None:
    canvas.open("tutorial")
    canvas.space.select(["a", "labels"])
    right = canvas.view.box_rect(canvas.number("a")).right()
    canvas.view.add("sigmoid_cross_entropy")
    added = canvas.view.box_rect(canvas.number("sigmoid_cross_entropy/"))
    assert added.left() > right
    assert canvas.view.camera.visible.contains(added)
    graph = canvas.space.document.graph
    inside = [op for op in graph if op.name.startswith("sigmoid_cross_entropy/")]
    read = {ref.op for op in inside for ref in op.inputs if not ref.op.startswith("sigmoid_")}
    assert read == {"a", "labels"}
    assert not canvas.space.inference.problems
    assert canvas.number("sigmoid_cross_entropy/") >= 0
    canvas.space.undo_stack.undo()
    assert not any(op.name.startswith("sigmoid_") for op in canvas.space.document.graph)


def test_a_double_click_on_nothing_opens_the_search_menu_and_escape_leaves(pair) -> None:
    before = pair.space.document
    QTest.mouseDClick(pair.view.viewport(), LEFT, NONE, QPoint(20, 600))
    QTest.keyClick(menu(pair).field, Qt.Key.Key_Escape)
    assert not [m for m in pair.view.findChildren(SearchMenu) if m.isVisible()]
    assert pair.space.document is before


def test_nodes_move_on_the_grid_as_one_edit(canvas) -> None:
    canvas.open("tutorial")
    before = dict(canvas.space.document.view.positions)
    scale = canvas.view.camera.scale
    drag(canvas, canvas.middle("d"), canvas.middle("d") + QPoint(round(61 * scale), 0))
    after = canvas.space.document.view.positions
    x, y, *_ = canvas.view.arrays.rects[canvas.number("d")]
    assert (x % 8, y % 8) == (0, 0)
    assert abs(after["d"][0] - before["d"][0] - 61) <= 4
    assert abs(after["d"][1] - before["d"][1]) <= 4
    assert {n: p for n, p in after.items() if n != "d"} == {
        n: p for n, p in before.items() if n != "d"
    }
    assert canvas.space.undo_stack.count() == 1
    canvas.space.undo_stack.undo()
    assert canvas.view.arrays.centre(canvas.number("d")) == before["d"]


def test_the_first_move_in_a_graph_that_was_laid_out_is_undone(canvas) -> None:
    canvas.open("tutorial")
    document = canvas.space.document
    canvas.space.open_document(document.with_(view=View()))  # nobody arranged it
    before = canvas.view.arrays.rects.copy()
    drag(canvas, canvas.middle("d"), canvas.middle("d") + QPoint(90, 140))
    assert (canvas.view.arrays.rects != before).any()
    canvas.space.undo_stack.undo()
    assert (canvas.view.arrays.rects == before).all()


def test_escape_gives_up_a_move(canvas) -> None:
    canvas.open("tutorial")
    port, start = canvas.view.viewport(), canvas.middle("d")
    rects = canvas.view.arrays.rects.copy()
    QTest.mousePress(port, LEFT, NONE, start)
    QTest.mouseMove(port, start + QPoint(90, 40))
    assert not np.array_equal(canvas.view.arrays.rects, rects)
    QTest.keyClick(canvas.view, Qt.Key.Key_Escape)
    QTest.mouseRelease(port, LEFT, NONE, start + QPoint(90, 40))
    assert np.array_equal(canvas.view.arrays.rects, rects)
    assert canvas.space.undo_stack.count() == 0


def test_a_click_on_a_wire_selects_it_and_s_stops_its_gradient(canvas) -> None:
    canvas.open("tutorial")
    click(canvas, canvas.link("k", "e", 0.4))
    assert canvas.space.selected_edge == Edge("e", 1)
    QTest.keyClick(canvas.view, Qt.Key.Key_S)
    assert canvas.space.document.request.stopped_edges == {Edge("e", 1)}
    QTest.keyClick(canvas.view, Qt.Key.Key_S)
    assert not canvas.space.document.request.stopped_edges


def test_s_stops_the_wire_under_the_pointer(canvas) -> None:
    canvas.open("tutorial")
    canvas.point_at(canvas.link("c", "e", 0.4))
    QTest.keyClick(canvas.view, Qt.Key.Key_S)
    assert canvas.space.document.request.stopped_edges == {Edge("e", 0)}


def test_a_box_is_one_that_writes_only_where_nothing_stops_at_it(canvas) -> None:
    canvas.open("tutorial")
    space, writes = canvas.space, Breakpoint("c", enabled=False, log="{value}")
    points = (Breakpoint("e", log="e"), Breakpoint("e"), writes, Breakpoint("d"))
    space.edit("Breakpoints", space.document.with_(breakpoints=points))
    facts = canvas.view.stage.facts
    assert facts.logpoints == {canvas.number("c")}
    assert {canvas.number(name): name != "c" for name in "ecd"} == facts.breakpoints


def test_keys_delete_duplicate_and_break(canvas) -> None:
    canvas.open("tutorial")
    click(canvas, canvas.middle("e"))
    QTest.keyClick(canvas.view, Qt.Key.Key_F9)
    assert {(b.target, b.kind.value) for b in canvas.space.document.breakpoints} == {
        ("e", "op"),
        ("e", "gradient"),
    }
    QTest.keyClick(canvas.view, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert canvas.space.selection == ("e_1",)
    QTest.keyClick(canvas.view, Qt.Key.Key_X)
    assert "e_1" not in canvas.space.document.graph
    click(canvas, canvas.middle("e"))
    QTest.keyClick(canvas.view, Qt.Key.Key_Delete)
    assert canvas.space.document.graph["a"].inputs == (TensorRef("d"), None)


def test_a_key_deletes_out_of_a_chain_and_joins_its_ends(canvas) -> None:
    canvas.open("tutorial")
    space, before = canvas.space, canvas.space.document
    said: list[str] = []
    space.message.connect(lambda level, text: said.append(text))
    ctrl = Qt.KeyboardModifier.ControlModifier
    click(canvas, canvas.middle("e"))
    QTest.keyClick(canvas.view, Qt.Key.Key_Delete, ctrl)
    assert space.document.graph["a"].inputs == (TensorRef("d"), TensorRef("c"))
    assert space.undo_stack.undoText() == "Delete e and reconnect"
    assert said == []
    space.undo_stack.undo()
    assert (space.document, space.selection) == (before, ("e",))

    click(canvas, canvas.middle("c"))
    QTest.keyClick(canvas.view, Qt.Key.Key_Backspace, ctrl)
    assert space.document.graph["d"].inputs == (TensorRef("data"), None)
    assert said == ["An input of d and 1 more is open now: nothing behind c fits there"]
    space.select([], Edge("a", 0))
    QTest.keyClick(canvas.view, Qt.Key.Key_Delete, ctrl)
    assert said[1:] == ["Delete and reconnect: select a node first"]


def test_arrows_walk_along_wires(canvas) -> None:
    canvas.open("tutorial")
    walked = []
    for key in (
        Qt.Key.Key_Right,
        Qt.Key.Key_Right,
        Qt.Key.Key_Right,
        Qt.Key.Key_Down,
        Qt.Key.Key_Left,
    ):
        QTest.keyClick(canvas.view, key)
        walked.append(canvas.space.selection[0])
    assert walked[:3] == ["data", "d", "a"]
    assert canvas.space.document.graph["a"].inputs[1].op == "e"
    assert walked[3] == "e"
    assert walked[4] in ("c", "k")


def test_control_and_an_arrow_move_the_selection(canvas) -> None:
    canvas.open("tutorial")
    canvas.space.select(["a"])
    x, y = canvas.space.document.view.positions["a"]
    QTest.keyClick(canvas.view, Qt.Key.Key_Down, Qt.KeyboardModifier.ControlModifier)
    assert canvas.space.document.view.positions["a"] == (x, y + 8)


def test_wiring_by_name(pair) -> None:
    pair.space.select(["x"])
    QTest.keyClick(pair.view, Qt.Key.Key_W)
    choose(pair, "y")
    assert pair.space.document.graph["y"].inputs[0] == TensorRef("x")


def test_a_control_dependency_by_name_and_away_again(pair) -> None:
    pair.space.select(["n"])
    QTest.keyClick(pair.view, Qt.Key.Key_W, Qt.KeyboardModifier.ShiftModifier)
    offered = search_entries.forerunners(pair.space, pair.space.shown["n"])
    assert [entry.title for entry in offered] == ["x", "y"], "nothing waits for itself"
    choose(pair, "x")
    assert pair.space.document.graph["n"].control_inputs == ("x",)
    assert any(link.is_control for link in pair.view.arrays.visible.links)
    panel = InspectorPanel(pair.space)
    panel.refresh()
    panel.findChild(object, "inspector.after.x.remove").click()
    assert pair.space.document.graph["n"].control_inputs == ()
    panel.close()


def test_e_goes_through_the_wires_into_a_node(canvas) -> None:
    canvas.open("tutorial")
    canvas.space.select(["e"])
    seen = []
    for _ in range(3):
        QTest.keyClick(canvas.view, Qt.Key.Key_E)
        seen.append(canvas.space.selected_edge)
    assert seen == [Edge("e", 0), Edge("e", 1), Edge("e", 0)]


def test_enter_asks_for_the_inspector(canvas, qtbot) -> None:
    canvas.open("tutorial")
    with qtbot.waitSignal(canvas.space.view_requested) as asked:
        QTest.keyClick(canvas.view, Qt.Key.Key_Return)
    assert asked.args == ["show", "inspector"]


@pytest.mark.slow
def test_l_lays_out_the_graph_as_an_edit(canvas, qtbot) -> None:
    canvas.open("tutorial")
    canvas.space.edit("Heap", canvas.space.document.with_())
    commands.move_nodes(
        canvas.space, dict.fromkeys(canvas.space.document.graph.operations, (0.0, 0.0))
    )
    QTest.keyClick(canvas.view, Qt.Key.Key_L)
    qtbot.waitUntil(
        lambda: len({*canvas.space.document.view.positions.values()}) == 8, timeout=15000
    )
    corners = canvas.view.arrays.rects[:, :2]
    assert len(np.unique(corners, axis=0)) == 8


def test_middle_button_and_space_pan(canvas) -> None:
    canvas.open("tutorial")
    before = canvas.middle("a")
    drag(canvas, QPoint(300, 300), QPoint(340, 320), Qt.MouseButton.MiddleButton)
    assert canvas.middle("a") == before + QPoint(40, 20)
    QTest.keyPress(canvas.view, Qt.Key.Key_Space)
    drag(canvas, QPoint(300, 300), QPoint(260, 280))
    QTest.keyRelease(canvas.view, Qt.Key.Key_Space)
    assert canvas.middle("a") == before
    assert canvas.space.selection == ()


def test_zoom_keeps_the_point_under_the_pointer(canvas) -> None:
    canvas.open("tutorial")
    at = canvas.middle("k")
    for factor in (1.3, 1.3, 0.5):
        canvas.view.camera.zoom(factor, at)
        assert (canvas.middle("k") - at).manhattanLength() <= 2


def test_a_scope_collapses_to_one_box_and_opens_again(canvas) -> None:
    canvas.open("tutorial")
    commands.rename(canvas.space, "d", "net/d")
    commands.rename(canvas.space, "e", "net/e")
    canvas.space.select(["net/d"])
    QTest.keyClick(canvas.view, Qt.Key.Key_H)
    visible = canvas.view.arrays.visible
    box = visible.boxes[visible.number["net/"]]
    assert set(box.members) == {"net/d", "net/e"}
    bundle = [k for k in visible.links if k.source == visible.number["net/"]]
    assert [len(k.wires) for k in bundle] == [2]
    QTest.mouseDClick(canvas.view.viewport(), LEFT, NONE, canvas.middle("net/"))
    assert "net/d" in canvas.view.arrays.visible.number


def test_a_scope_that_is_opened_is_seen_whole(canvas) -> None:
    canvas.open("tutorial")
    for name in canvas.space.document.graph.operations:
        commands.rename(canvas.space, name, f"net/{name}")
    canvas.space.select(["net/d"])
    QTest.keyClick(canvas.view, Qt.Key.Key_H)
    canvas.view.camera.zoom_to(4.0)
    canvas.view.camera.look_at(QPointF(*canvas.view.arrays.centre(canvas.number("net/"))))
    QTest.mouseDClick(canvas.view.viewport(), LEFT, NONE, canvas.middle("net/"))
    assert canvas.view.camera.visible.contains(canvas.view.stage.area)


def test_beginning_a_wire_judges_only_ports_that_are_seen(canvas) -> None:
    """From afar none: there are thousands, and nobody can point at them; then the one near by."""
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", (2,))
    for number in range(400):
        builder.one("Neg", x, name=f"n{number}")
    places = {f"n{i}": (300.0 + 200 * (i % 20), 90.0 * (i // 20)) for i in range(400)}
    document = Document(graph=builder.build(), view=View({"x": (0.0, 0.0), **places}))
    canvas.space.open_document(document)
    canvas.view.camera.zoom_to(0.1)
    start = hit_test.Port(canvas.view.arrays.visible.number["x"], 0, is_output=True)
    view = canvas.view
    parts = canvas.space, view.stage, view.camera, view.overlay, Search(view.overlay)
    far = DrawWire(*parts, start)
    assert far.judged == 0
    far.cancel()
    canvas.view.camera.zoom_100()
    near = DrawWire(*parts, start)
    assert 0 < near.judged < 200
    near.cancel()


def test_a_wire_that_a_cast_would_mend_is_mended_with_shift(pair) -> None:
    drag(pair, pair.output("x"), pair.input("y", 0))
    edits = pair.space.undo_stack.count()
    shift = Qt.KeyboardModifier.ShiftModifier
    drag(pair, pair.output("n"), pair.input("y", 1), modifiers=shift)
    graph = pair.space.document.graph
    assert graph["y"].inputs == (TensorRef("x"), TensorRef("Cast"))
    assert graph["Cast"].inputs == (TensorRef("n"),)
    assert graph["Cast"].attrs["DstT"] == DType.FLOAT32
    assert pair.space.undo_stack.count() == edits + 1


def test_a_source_dropped_in_the_air_is_of_the_right_kind(pair) -> None:
    commands.add_node(pair.space, "Mean", (600.0, 40.0), name="m")
    pair.view.fit()
    asked: list[tuple[str, str]] = []
    pair.space.view_requested.connect(lambda *what: asked.append(what))
    drag(pair, pair.input("m", 1), QPoint(300, 600))
    assert menu(pair).list.topLevelItem(0).text(0) == "Const"
    menu(pair).take()
    op = pair.space.document.graph["Const"]
    assert op.attrs["dtype"] == DType.INT32
    assert op.attrs["value"].array.tolist() == 0
    assert asked == [("edit_value", "Const")]
