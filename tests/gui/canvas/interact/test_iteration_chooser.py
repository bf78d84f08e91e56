"""The chooser on the frame of a loop: another iteration's values, by mouse and keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest

from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.gui import commands
from gradstep.gui.canvas.interact.iteration_chooser import IterationChooser
from gradstep.gui.look.theme import theme_for
from tests.gui.canvas.test_loops import power
from tests.support import looping

LEFT = Qt.MouseButton.LeftButton
LOOP = "while/While"


@pytest.fixture
def looped(canvas: Any) -> Any:
    canvas.space.open_document(power())
    canvas.space.debugger.flush()
    look_at(canvas, 0)
    return canvas


@pytest.fixture
def done(looped: Any) -> Any:
    looped.space.control("continue_")
    return looped


def look_at(canvas: Any, number: int) -> None:
    frame = [frame for frame in canvas.view.arrays.frames if frame.loop][number]
    canvas.view.camera.frame(QRectF(*frame.rect))
    canvas.view.camera.zoom_to(0.8)


def chooser(canvas: Any, loop: str = LOOP) -> IterationChooser:
    found: IterationChooser = canvas.view.iterations.shown[loop]
    return found


def values(canvas: Any, qtbot: Any, name: str = "while/times") -> tuple[float, float]:
    """The node's value and gradient, once both are here."""
    space, ref = canvas.space, f"{name}:0"
    asked = space.value, space.gradient
    qtbot.waitUntil(lambda: all(getattr(ask(ref), "state", "") == "known" for ask in asked))
    return tuple(float(ask(ref).array) for ask in asked)  # type: ignore[return-value]


def test_before_a_loop_has_run_there_is_nothing_to_choose(looped: Any) -> None:
    assert not looped.view.iterations.shown
    (frame,) = [frame for frame in looped.view.arrays.frames if frame.loop]
    assert frame.title == "every iteration of While"
    assert looped.view.stage.facts.loop_titles[LOOP] == "while v₀ < 3"


def test_what_a_loop_goes_on_by_is_painted_once_the_engine_has_told(looped: Any) -> None:
    """All else of the two pictures is the same."""
    pictures = []
    for n in (3, 8):
        looped.space.open_document(power(n))
        (frame,) = [frame for frame in looped.view.arrays.frames if frame.loop]
        x, y, *_ = frame.rect
        looped.view.camera.frame(QRectF(x, y, 300, 200))
        corner = looped.pixel((x, y))
        looped.view.grab()  # before the engine has seen it
        looped.space.debugger.flush()
        looped.view.grab()  # what was waiting to be shown
        strip = looped.view.viewport().grab(QRect(corner, QSize(160, 22))).toImage()
        assert not strip.isNull()
        pictures.append(strip)
    assert pictures[0] != pictures[1]


def test_buttons_go_from_iteration_to_iteration(done: Any, qtbot: Any) -> None:
    found = chooser(done)
    assert found.isVisible()
    assert (found.field.text(), found.of.text()) == ("3", "of 3")
    assert values(done, qtbot) == (8, 1)
    assert not found.on.isEnabled()
    assert not found.drop.isVisible()
    for number, pair in (("2", (4, 2)), ("1", (2, 4))):
        QTest.mouseClick(found.back, LEFT)
        assert found.field.text() == number
        assert values(done, qtbot) == pair
    assert not found.back.isEnabled()
    QTest.mouseClick(found.on, LEFT)
    assert values(done, qtbot) == (4, 2)
    QTest.mouseClick(found.drop, LEFT)
    assert values(done, qtbot) == (8, 1)
    assert found.field.text() == "3"


def test_a_number_is_typed(done: Any, qtbot: Any) -> None:
    field = chooser(done).field
    for typed, wanted in (("1", "1"), ("99", "3"), ("0", "1"), ("x", "1")):
        field.setFocus()
        field.selectAll()
        QTest.keyClicks(field, typed)
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert field.text() == wanted
    assert values(done, qtbot) == (2, 4)
    QTest.keyClick(field, Qt.Key.Key_Up)
    assert values(done, qtbot) == (4, 2)
    QTest.keyClick(field, Qt.Key.Key_PageDown)
    assert values(done, qtbot) == (2, 4)


def test_the_debugger_stays_where_it_is(done: Any) -> None:
    space = done.space
    before, seen = (space.stop.run, space.stop.step, space.stop.reason), done.view.camera.visible
    QTest.mouseClick(chooser(done).back, LEFT)
    assert (space.stop.run, space.stop.step, space.stop.reason) == before
    assert done.view.camera.visible == seen
    assert space.undo_stack.count() == 0, "looking is no edit"


def test_it_stands_in_the_upper_edge_of_its_frame(done: Any) -> None:
    (frame,) = [frame for frame in done.view.arrays.frames if frame.loop]
    done.view.camera.pan(QPoint(-7, 11))
    found, corner = chooser(done), done.pixel((frame.rect[0], frame.rect[1]))
    assert 0 <= found.geometry().left() - corner.x() <= 20
    assert 0 <= found.geometry().top() - corner.y() <= 10
    assert found.word.text() == "while v₀ < 3 · iteration"
    done.view.camera.zoom_to(0.1)
    assert not found.isVisible(), "from afar it would be larger than what it is about"


def test_it_goes_with_its_frame(done: Any) -> None:
    found = chooser(done)
    found.show()
    commands.set_collapsed(done.space, frozenset({"while"}), "Close")
    assert done.view.iterations.shown == {}
    assert not found.isVisible()


def test_going_into_the_loop_lets_go_of_the_choice(done: Any) -> None:
    space = done.space
    QTest.mouseClick(chooser(done).back, LEFT)
    assert space.stop.loops[0].chosen
    space.control("restart")
    assert not done.view.iterations.shown
    space.control("run_to", LOOP)
    space.control("step_into")
    found = chooser(done)
    assert (found.field.text(), found.of.text()) == ("1", "of 1…")


def test_an_inner_loop_is_chosen_within_the_outer_ones_iteration(canvas: Any) -> None:
    builder = GraphBuilder()
    with builder.as_default():
        looping.nested(builder)
    feeds = {"x:0": Constant(np.float32(2)), "n:0": Constant(np.int32(4))}
    canvas.space.open_document(Document(graph=builder.build(), feeds=feeds))
    canvas.space.debugger.flush()
    canvas.space.control("continue_")
    canvas.view.fit()
    shown = canvas.view.iterations.shown
    outer, inner = sorted(shown, key=len)
    assert canvas.view.stage.facts.loop_titles == {
        outer: "while v₀ < n",
        inner: "while v₀⁽ˢ⁾ < v₀⁽ᵗ⁾",
    }
    assert shown[inner].of.text() == "of 3"
    QTest.mouseClick(shown[outer].back, LEFT)
    assert shown[inner].of.text() == "of 2"
    assert shown[inner].field.text() == "2"
    QTest.mouseClick(shown[outer].back, LEFT)
    QTest.mouseClick(shown[outer].back, LEFT)
    assert shown[inner].of.text() == "of 0"
    assert not shown[inner].field.isEnabled()


def test_what_goes_round_is_drawn_along_the_frame(looped: Any) -> None:
    (rounds,) = looped.view.arrays.visible.loops.values()
    ends = {tuple(looped.view.arrays.visible.boxes[box].id for box in pair) for pair in rounds}
    assert ends == {
        ("while/NextIteration", "while/Merge"),
        ("while/NextIteration_1", "while/Merge_1"),
    }
    (frame,) = [frame for frame in looped.view.arrays.frames if frame.loop]
    x, y, width, height = frame.rect
    image: QImage = looped.view.viewport().grab().toImage()
    lane = looped.pixel((x + width / 2, y + height - 8))
    column = [image.pixelColor(lane.x(), lane.y() + by).name() for by in range(-3, 4)]
    assert len({*column}) > 1, "a line runs there"


def test_its_colours_follow_the_theme(done: Any) -> None:
    found, before = chooser(done), chooser(done).of.styleSheet()
    other = "light" if done.space.theme.name == "dark" else "dark"
    done.space.set_theme(theme_for(other))
    assert found.of.styleSheet() != before
