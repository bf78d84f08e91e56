"""Hits, tooltips, speech, the minimap, and graphs that come without places."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.protocol.result_rows import RemedyInfo
from gradstep.gui import commands
from gradstep.gui.canvas.interact import screen_reader, tooltips


def under(canvas, at: QPoint):
    return canvas.view.pointer.hit(at)


def test_what_lies_under_a_point(canvas) -> None:
    canvas.open("tutorial")
    assert under(canvas, canvas.middle("a")).box == canvas.number("a")
    port = under(canvas, canvas.input("a", 1)).port
    assert (port.box, port.index, port.is_output) == (canvas.number("a"), 1, False)
    link = under(canvas, canvas.link("k", "e")).link
    assert canvas.view.arrays.visible.links[link].wires == (Edge("e", 1),)
    assert not under(canvas, QPoint(3, 3))


def test_ports_tell_name_type_value_and_gradient(canvas) -> None:
    canvas.open("tutorial")
    canvas.step_back_to("e")
    text = tooltips.text(canvas.view.stage, under(canvas, canvas.output("d")))
    assert text.splitlines() == [
        "output d:0",
        "float32[2]",
        "v [ 1.060 1.960 ]",
        "∂ [  0.053 -0.044 ]",
    ]
    assert "input 'y' of a, from e" in tooltips.text(
        canvas.view.stage, under(canvas, canvas.input("a", 1))
    )


def test_a_dead_wire_says_why(canvas) -> None:
    canvas.open("tutorial")
    commands.toggle_stop(canvas.space, Edge("a", 1))
    canvas.space.control("step")
    stopped = tooltips.text(canvas.view.stage, under(canvas, canvas.link("e", "a")))
    assert "gradient stopped here" in stopped
    upstream = tooltips.text(canvas.view.stage, under(canvas, canvas.link("k", "e")))
    assert "no gradient: it ends at a" in upstream


def test_a_node_with_a_problem_tells_it(canvas) -> None:
    canvas.space.open_document(Document())
    commands.add_node(canvas.space, "Tanh", (0.0, 0.0))
    canvas.view.fit()
    text = tooltips.text(canvas.view.stage, under(canvas, canvas.middle("Tanh")))
    assert "waits for input 'x' of Tanh" in text
    assert "problem" not in text
    axis = {"dtype": DType.INT32}
    commands.add_node(canvas.space, "Const", (0.0, 200.0), name="axis", attrs=axis)
    commands.connect(canvas.space, TensorRef("axis"), Edge("Tanh", 0))
    assert "does not fit input 'x' of 'Tanh'" in canvas.said[-1][1]


def test_the_selection_and_the_step_are_put_into_words(canvas) -> None:
    canvas.open("override_add")
    canvas.step_back_to("e")
    said = screen_reader.current(canvas.view.stage)
    assert said.startswith("backward step at e, PyFunc, value [ 0.110 0.090 ]")
    assert "gradient overridden by CustomAdd" in said
    canvas.space.select(["a"])
    QApplication.processEvents()
    assert canvas.view.accessibleDescription().startswith("a, Mul, value")
    canvas.space.select([], Edge("e", 1))
    QApplication.processEvents()
    assert canvas.view.accessibleDescription() == "wire into input 1 of e"


def test_a_click_on_the_minimap_goes_there(canvas) -> None:
    canvas.view.minimap.wanted = None
    canvas.open("tutorial")
    assert canvas.view.minimap.isHidden(), "all of the graph is in view"
    canvas.view.camera.zoom_to(2.0)
    canvas.view.camera.look_at(QPointF(5000, 5000))
    box = canvas.view.minimap.rect()
    QTest.mouseClick(canvas.view.minimap, Qt.MouseButton.LeftButton, pos=box.center())
    left, top, right, bottom = canvas.view.arrays.extent
    middle = canvas.view.camera.visible.center() - QPointF((left + right) / 2, (top + bottom) / 2)
    assert middle.manhattanLength() < 40
    canvas.view.fit()
    for shown in (True, False):
        QTest.keyClick(canvas.view, Qt.Key.Key_O)
        assert canvas.view.minimap.isVisible() == shown


def test_the_minimap_goes_by_what_is_seen_once_the_canvas_has_another_size(canvas, qtbot) -> None:
    """As when a strip above it comes and goes."""
    view = canvas.view
    view.minimap.wanted = None
    canvas.open("tutorial")
    view.camera.untouched = False  # else it is framed anew
    assert view.minimap.isHidden()
    view.resize(1000, 240)
    qtbot.waitUntil(view.minimap.isVisible, timeout=5000)
    view.resize(1000, 640)
    qtbot.waitUntil(view.minimap.isHidden, timeout=5000)


def test_the_minimap_lies_over_no_box_while_a_corner_is_free(canvas, qtbot) -> None:
    view = canvas.view
    view.minimap.wanted = True
    canvas.open("tutorial")
    view.camera.zoom_to(1.0)
    port, boxes = view.viewport().rect(), view.arrays.visible.box_of
    right = port.width() / 2 - 90
    for name, down in (("loss", port.height() / 2 - 60), ("d", -port.height() / 2 + 60)):
        middle = view.box_rect(boxes[name]).center()
        view.camera.look_at(middle - QPointF(right, down))
        box = view.mapFromScene(view.box_rect(boxes[name])).boundingRect()
        assert port.contains(box)
        lies_over = lambda box=box: view.minimap.geometry().intersects(box)  # noqa: E731
        qtbot.waitUntil(lambda: not lies_over(), timeout=5000)  # noqa: B023
        assert port.contains(view.minimap.geometry())


def chain(count: int) -> Document:
    ops = [Operation("n0", "Placeholder", attrs={"dtype": DType.FLOAT32, "shape": Shape.of(2)})]
    ops += [Operation(f"n{i}", "Tanh", (TensorRef(f"n{i - 1}"),)) for i in range(1, count)]
    return Document(graph=Graph.of(ops))


def test_a_graph_without_places_is_laid_out(canvas) -> None:
    canvas.space.open_document(chain(6))
    centres = [canvas.view.arrays.centre(canvas.number(f"n{i}")) for i in range(6)]
    assert sorted(centres) == centres
    assert canvas.view.camera.visible.contains(QPointF(*centres[0]))
    assert canvas.view.camera.visible.contains(QPointF(*centres[-1]))


@pytest.mark.slow
def test_a_large_one_is_laid_out_in_another_process(canvas, qtbot) -> None:
    canvas.space.open_document(chain(200))
    assert canvas.view.stage.laying_out
    canvas.view.grab()
    qtbot.waitUntil(lambda: len(canvas.view.arrays) == 200, timeout=20000)
    assert not canvas.view.stage.laying_out


def test_a_node_added_without_a_place_stands_free_beside_its_input(canvas) -> None:
    canvas.open("tutorial")
    graph = canvas.space.document.graph
    before = {n: canvas.view.arrays.centre(i) for n, i in canvas.view.arrays.visible.number.items()}
    more = Graph.of([*graph, Operation("t", "Tanh", (TensorRef("d"),))])
    canvas.space.edit("Add", canvas.space.document.with_(graph=more))
    x, _ = canvas.view.arrays.centre(canvas.number("t"))
    assert x > before["d"][0]
    rects = canvas.view.arrays.rects
    own = rects[canvas.number("t")]
    inside = canvas.view.arrays.boxes_in(own[0], own[1], own[0] + own[2], own[1] + own[3])
    assert inside.sum() == 1
    assert all(canvas.view.arrays.centre(canvas.number(n)) == p for n, p in before.items())


def test_links_keep_clear_of_other_boxes(canvas) -> None:
    canvas.open("tutorial")
    arrays = canvas.view.arrays
    lines = arrays.routes.lines(np.arange(len(arrays.routes)), 0.1)
    for line, (source, target) in zip(lines, arrays.visible.ends, strict=True):
        for number, (x, y, w, h) in enumerate(arrays.rects):
            if number not in (source, target):
                inside = (line > (x, y)) & (line < (x + w, y + h))
                assert not inside.all(axis=1).any()


def test_an_edit_does_not_take_the_view_back_to_the_current_step(canvas) -> None:
    canvas.open("tutorial")
    canvas.space.control("step")
    canvas.view.camera.look_at(QPointF(5000, 5000))
    commands.toggle_stop(canvas.space, Edge("loss", 1))
    canvas.space.debugger.flush()
    assert canvas.view.camera.visible.contains(QPointF(5000, 5000))
    canvas.space.control("step")
    assert not canvas.view.camera.visible.contains(QPointF(5000, 5000))


def arranged(canvas, qtbot) -> None:
    """Press L, and wait until it is done."""
    before = canvas.space.undo_stack.index()
    QTest.keyClick(canvas.view, Qt.Key.Key_L)
    qtbot.waitUntil(lambda: canvas.space.undo_stack.index() > before, timeout=15000)


def far_away(canvas) -> None:
    """Move the whole graph, and mix it up."""
    names = canvas.space.document.graph.operations
    places = {n: (9000 - 700.0 * (i * 5 % 8), 4000 + 150.0 * i) for i, n in enumerate(names)}
    commands.move_nodes(canvas.space, places)


@pytest.mark.slow
def test_a_graph_seen_whole_is_seen_whole_when_it_was_arranged(canvas, qtbot) -> None:
    canvas.open("tutorial")
    far_away(canvas)
    canvas.view.fit()
    arranged(canvas, qtbot)
    left, top, right, bottom = canvas.view.arrays.extent
    seen = canvas.view.camera.visible
    assert seen.contains(QRectF(left, top, right - left, bottom - top))
    assert abs(seen.center().x() - (left + right) / 2) < 40
    canvas.space.undo_stack.undo()
    left, top, right, bottom = canvas.view.arrays.extent
    assert canvas.view.camera.visible.contains(QRectF(left, top, right - left, bottom - top))


@pytest.mark.slow
def test_what_was_looked_at_is_looked_at_when_all_was_arranged(canvas, qtbot) -> None:
    canvas.open("tutorial")
    far_away(canvas)
    canvas.view.camera.zoom_to(1.0)
    centre = canvas.view.arrays.centre(canvas.number("a"))
    canvas.view.camera.look_at(QPointF(centre[0] + 100, centre[1] - 50))
    arranged(canvas, qtbot)
    now = canvas.view.arrays.centre(canvas.number("a"))
    assert canvas.view.camera.visible.contains(QPointF(*now)), "it is still in view"
    assert abs(canvas.view.camera.scale - 1.0) < 1e-9
    canvas.space.undo_stack.undo()
    assert canvas.view.camera.visible.contains(QPointF(*centre))


def test_a_move_by_hand_moves_no_view(canvas) -> None:
    canvas.open("tutorial")
    commands.select_all(canvas.space)
    before = canvas.view.camera.visible
    port, start = canvas.view.viewport(), canvas.middle("a")
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=start)
    for share in (0.3, 1.0):
        QTest.mouseMove(port, start + QPoint(120, 80) * share)
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=start + QPoint(120, 80))
    assert canvas.view.camera.visible == before


def test_what_a_repair_adds_is_selected_and_comes_into_view(canvas) -> None:
    canvas.open("where_nan_trap")
    stood = {box.id: canvas.view.arrays.centre(i)
             for i, box in enumerate(canvas.view.arrays.visible.boxes)}  # fmt: skip
    canvas.view.fit()
    canvas.view.camera.pan(QPoint(0, -400))
    names = ["log/f<0", "1e-7"]
    repair = RemedyInfo(kind="keep_above", names=names, label="Keep it above")
    commands.take_repair(canvas.space, repair)
    added = ["log/f_bound", "log/f_bounded"]
    assert sorted(canvas.space.selection) == added
    seen = canvas.view.camera.visible
    assert all(seen.contains(canvas.view.stage.box_rect(canvas.number(name))) for name in added)
    assert {name: canvas.view.arrays.centre(canvas.number(name)) for name in stood} == stood
