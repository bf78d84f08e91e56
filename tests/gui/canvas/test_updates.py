"""On the canvas: the row that the last step filled, and the drawer of an updated variable."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage

from gradstep.core.document.document import Document, View
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.gui.canvas.interact import tooltips
from gradstep.gui.canvas.paint.variable_drawers import _place
from gradstep.gui.canvas.scene.hit_test import Hit
from gradstep.gui.canvas.scene.scene_arrays import FRAME_TITLE

LINES = [[("was", "[1 2]"), ("Δ", "[+1 +2]")], [("Δ", "[+1 +2]")]]
NODE = QRectF(0, 0, 172, 68)


def update_of(canvas, name: str) -> None:
    """Step until a variable is updated."""
    for _ in range(60):
        canvas.step(1)
        if canvas.view.stage.facts.update(canvas.number(name)) is not None:
            return
    raise AssertionError(f"nothing updates {name}")


def has_drawer(canvas, name: str) -> bool:
    """Whether the space under a node has the colour of updates."""
    x, y, width, height = canvas.view.arrays.rects[canvas.number(name)]
    seen = canvas.colors(canvas.pixel((x + width / 2, y + height + 16)), 12)
    return any(_greenish(color) for color in seen)


def _greenish(name: str) -> bool:
    red, green, blue = (int(name[i : i + 2], 16) for i in (1, 3, 5))
    return green > red + 12 and green > blue + 8


def _blueness(name: str) -> int:
    return int(name[5:7], 16) - int(name[1:3], 16)


def test_each_step_marks_what_it_gave(canvas) -> None:
    canvas.open("tutorial")
    assert canvas.view.stage.facts.fresh is None
    seen = []
    for _ in range(12):
        canvas.step(1)
        found = canvas.view.stage.facts.fresh
        if found is not None:
            number, of_gradient = found
            seen.append((canvas.view.arrays.visible.boxes[number].id, of_gradient))
    forward = [name for name, of_gradient in seen if not of_gradient][:8]
    assert {"d", "e", "a", "loss"} <= set(forward)
    assert ("a", True) in seen
    assert ("c", True) in seen


def test_the_mark_is_seen_and_goes_with_the_next_step(canvas) -> None:
    canvas.open("tutorial")
    canvas.step(3)
    fresh = canvas.view.stage.facts.fresh
    assert fresh is not None
    x, y, *_ = canvas.view.arrays.rects[fresh[0]]
    edge = canvas.pixel((x + 5, y + 40))
    marked = canvas.colors(edge, 6)
    canvas.step(1)
    plain = canvas.colors(edge, 6)
    assert max(map(_blueness, marked)) > max(map(_blueness, plain)) + 40


def test_an_updated_variable_has_a_drawer_until_one_steps_back(canvas) -> None:
    canvas.open("tutorial")
    assert not has_drawer(canvas, "c")
    update_of(canvas, "c")
    assert has_drawer(canvas, "c")
    assert not has_drawer(canvas, "k")
    assert canvas.view.stage.facts.fresh == (canvas.number("c"), False)
    canvas.step(1)
    assert has_drawer(canvas, "c")  # it was updated in this run
    assert has_drawer(canvas, "k")
    assert canvas.view.stage.facts.fresh == (canvas.number("k"), False)
    canvas.space.control("step_back")
    canvas.space.control("step_back")
    assert not has_drawer(canvas, "c")


def test_the_pointer_is_told_what_changed(canvas) -> None:
    canvas.open("tutorial")
    update_of(canvas, "c")
    text = tooltips.text(canvas.view.stage, Hit(box=canvas.number("c")))
    assert "was [0.06000 -0.04000], Δ [-0.00015 +0.00024]" in text


def test_a_drawer_takes_the_first_free_place() -> None:
    nothing = np.empty((0, 4))
    lines, above, area = _place(NODE, LINES, nothing, 16)
    assert (lines, above, area.top()) == (LINES[0], False, NODE.bottom())
    close = np.array([[0.0, NODE.bottom() + 24, 172, 68]])
    lines, above, area = _place(NODE, LINES, close, 16)
    assert (lines, above, area.bottom()) == (LINES[0], True, NODE.top())
    between = np.vstack([close, [[0.0, NODE.top() - 24 - 68, 172, 68]]])
    lines, above, _ = _place(NODE, LINES, between, 16)
    assert (lines, above) == (LINES[1], False)


def test_a_drawer_shrinks_rather_than_cover_a_node() -> None:
    for gap, lines in ((21, LINES[-1]), (17, LINES[-1]), (12, [])):
        rects = [[0.0, NODE.bottom() + gap, 172, 68], [0.0, NODE.top() - gap - 68, 172, 68]]
        found, _, area = _place(NODE, LINES, np.array(rects), 16)
        assert found == lines
        assert area.height() <= gap
        assert area.height() > gap - 1 or not lines


def test_a_drawer_stands_clear_of_the_titles_of_frames(canvas) -> None:
    """Of the one around its node, and of the one below that."""
    canvas.space.open_document(_framed())
    arrays = canvas.view.arrays
    titles = {frame.title: QRectF(*frame.rect[:3], FRAME_TITLE) for frame in arrays.frames}
    assert {*titles} == {"upper", "lower"}
    for name in ("upper/w", "lower/w"):
        node = QRectF(*arrays.rects[canvas.number(name)].tolist())
        _, _, area = _place(node, LINES, arrays.occupied, 16)
        assert not any(title.intersects(area) for title in titles.values()), name
        free = _place(node, LINES, arrays.rects, 16)
        assert any(title.intersects(free[2]) for title in titles.values()), "where it would stand"


def _framed() -> Document:
    """A variable whose drawer would reach into the frame below, and one with a node below it."""
    build = GraphBuilder()
    for scope in ("upper", "lower"):
        with build.scope(f"{scope}/"):
            w = build.variable("w", "float32", (2,))
            tf.identity(w, name="read")
    places = {"upper/w": (0, 0), "upper/read": (240, 0)}
    places |= {"lower/w": (0, 108), "lower/read": (0, 108 + 72)}
    return Document(graph=build.build(), view=View(positions=places))


@given(st.lists(st.tuples(st.integers(-200, 200), st.integers(-150, 150)), max_size=6))
def test_it_covers_a_node_only_where_nothing_is_free(others: list[tuple[int, int]]) -> None:
    rects = np.array([(x, y, 172, 68) for x, y in others], float).reshape(-1, 4)
    lines, above, area = _place(NODE, LINES, rects, 16)
    met = [QRectF(*rect.tolist()).intersects(area) for rect in rects]
    assert not any(met) or (not lines and not above)


@pytest.mark.slow
def test_the_drawer_is_in_exported_pictures(canvas) -> None:
    canvas.open("tutorial")
    pictures = []
    for _ in range(2):
        pictures.append(QImage.fromData(canvas.view.as_picture(".png")))
        update_of(canvas, "k")
    counts = [
        sum(_greenish(p.pixelColor(x, y).name()) for x in range(0, 400, 3) for y in range(600, 820))
        for p in pictures
    ]
    assert counts[1] > counts[0] + 500
