"""Nodes that lie over each other: nothing of a lower one shines through a higher one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.ops.typing.inference import infer
from gradstep.gui import commands
from gradstep.gui.canvas.paint import paint_order, picture_export
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph
from tests.gui.canvas.interact.test_viewport import chain
from tests.gui.canvas.test_scene import scenes

LEFT = Qt.MouseButton.LeftButton
FAR = 4000.0  # where what is not looked at stands


def pixels(image: QImage) -> np.ndarray:
    """uint8[height, width, 3]."""
    plain = image.convertToFormat(QImage.Format.Format_RGB32)
    flat = np.array(plain.constBits()).reshape(plain.height(), plain.width(), 4)
    return flat[..., :3].copy()


def put(canvas: Any, places: dict[str, tuple[float, float]]) -> None:
    """Move nodes there; everything else out of sight. The view stays."""
    corner = canvas.view.camera.visible.center()
    away = {n: (FAR + 300.0 * i, FAR) for i, n in enumerate(canvas.view.arrays.visible.number)}
    commands.move_nodes(canvas.space, {**away, **places})
    canvas.view.camera.look_at(corner)


def drag_to(canvas: Any, at: QPoint) -> None:
    """Move the mouse with its left button held."""
    port = canvas.view.viewport()
    places = QPointF(at), QPointF(port.mapToGlobal(at))
    none = Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(port, QMouseEvent(QEvent.Type.MouseMove, *places, LEFT, LEFT, none))


def inside(canvas: Any, name: str) -> QRect:
    """The node's card without its edge, in pixels."""
    rect = canvas.view.box_rect(canvas.number(name))
    return canvas.view.mapFromScene(rect).boundingRect().adjusted(14, 14, -14, -3)


def seen(canvas: Any, name: str) -> np.ndarray:
    area = inside(canvas, name)
    picture = pixels(canvas.view.grab().toImage())
    return picture[area.top() : area.bottom(), area.left() : area.right()]


@pytest.fixture
def run(canvas: Any) -> Any:
    """The tutorial at a step back, with every kind of mark on its nodes, at scale 1."""
    canvas.open("tutorial")
    for name in ("a", "d"):
        canvas.space.select([name])
        commands.toggle_breakpoint(canvas.space)
    canvas.space.select([])
    canvas.step_back_to("e")
    canvas.view.camera.zoom_to(1.0)
    canvas.view.camera.look_at(canvas.view.box_rect(0).center())
    return canvas


@pytest.mark.slow
def test_a_node_looks_as_if_nothing_were_under_it(run: Any) -> None:
    here = run.view.camera.visible.center()
    names = list(run.view.arrays.visible.number)
    for count in range(1, len(names)):
        *lower, upper = names[: count + 1]
        put(run, {upper: here.toTuple()})
        alone = seen(run, upper)
        pile = {n: (here.x() - 9 * i, here.y() + 7 * i) for i, n in enumerate(lower)}
        put(run, {**pile, upper: here.toTuple()})
        assert np.array_equal(seen(run, upper), alone), upper


def test_what_is_dragged_lies_on_top_and_stays_there(run: Any) -> None:
    here = run.view.camera.visible.center()
    low, high = (run.view.arrays.visible.boxes[i].id for i in (0, -1))
    put(run, {low: here.toTuple(), high: (here.x(), here.y() - 240)})
    alone = seen(run, low)
    put(run, {low: (here.x(), here.y() - 240), high: (here.x() + 8, here.y())})
    port, start = run.view.viewport(), run.middle(low)
    QTest.mousePress(port, LEFT, pos=start)
    drag_to(run, start + QPoint(0, 120))
    drag_to(run, start + QPoint(0, 240))
    run.space.select([])  # what is selected wears a ring
    assert np.array_equal(seen(run, low), alone), "on the way"
    QTest.mouseRelease(port, LEFT, pos=start + QPoint(0, 240))
    run.space.select([])
    assert np.array_equal(seen(run, low), alone), "where it was put"
    assert run.view.pointer.hit(run.view.mapFromScene(here)).box == run.number(low)
    run.space.select([high])
    assert run.view.pointer.hit(run.view.mapFromScene(here)).box == run.number(high), (
        "what is selected by itself is seen whole"
    )


@pytest.mark.slow
def test_a_picture_has_nothing_shining_through(run: Any) -> None:
    def picture(names: dict[str, tuple[float, float]]) -> np.ndarray:
        put(run, names)
        view = run.view
        image = picture_export.image(view.arrays, view.stage.facts, run.space.theme, 1.0)
        left, top, *_ = view.arrays.extent
        x, y, w, h = view.arrays.rects[run.number("loss")].tolist()
        corner = round(x - left + picture_export.MARGIN), round(y - top + picture_export.MARGIN)
        return pixels(image.copy(corner[0] + 12, corner[1] + 12, int(w) - 24, int(h) - 16))

    alone = picture({"data": (0.0, 0.0), "loss": (800.0, 0.0)})
    assert np.array_equal(
        picture({"data": (800.0, 8.0), "loss": (800.0, 0.0), "c": (0.0, 0.0)}), alone
    )


def overlap(arrays: SceneArrays, a: int, b: int) -> bool:
    (x, y, w, h), (u, v, p, q) = arrays.rects[[a, b]].tolist()
    return x < u + p and u < x + w and y < v + q and v < y + h


def check_layers(arrays: SceneArrays) -> int:
    """Hold the layers to what they are for; how many there are."""
    every = np.ones(len(arrays), dtype=bool)
    groups = [np.flatnonzero(layer).tolist() for layer in paint_order.layers(arrays, every, 1.0)]
    at = {box: number for number, group in enumerate(groups) for box in group}
    order = arrays.from_below(every).tolist()
    assert sorted(at) == sorted(order)
    for place, upper in enumerate(order):
        for lower in order[:place]:
            assert at[lower] < at[upper] or not overlap(arrays, lower, upper)
    return len(groups)


@given(scenes(), st.lists(st.integers(0, 2), unique=True))
def test_a_node_is_painted_after_those_under_it(scene: Any, raised: list[int]) -> None:
    check_layers(SceneArrays.of(*scene, tuple(raised)))


def test_a_heap_is_painted_one_by_one_and_a_table_at_once() -> None:
    visible = VisibleGraph.of(chain(200).graph, infer(chain(200).graph), GradientRequest())
    heap = {f"n{i}": (i * 0.5, 0.0) for i in range(200)}
    assert check_layers(SceneArrays.of(visible, heap)) == 200
    table = {f"n{i}": (i % 20 * 236.0, i // 20 * 96.0) for i in range(200)}
    assert check_layers(SceneArrays.of(visible, table)) == 1
    pairs = {f"n{i}": (i % 100 * 236.0, i // 100 * 30.0) for i in range(200)}
    assert check_layers(SceneArrays.of(visible, pairs)) == 2
