"""Frames: around open scopes and iterations of loops, where nothing else is; their titles."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradstep.core.document.block_insertion import add_block
from gradstep.core.document.document import Document
from gradstep.core.graph.loop import LOOP, loop_of
from gradstep.core.layout.nested_scopes import SIDE, TITLE
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.gui import commands
from gradstep.gui.canvas.scene import scope_folding
from gradstep.gui.canvas.scene.scope_frames import Frame, Framing, surroundings
from tests.core.layout.test_nested_scopes import HOMES

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def looped(canvas: Any) -> Any:
    document, _ = add_block(Document(), "while_loop", (0, 0))
    view = replace(document.view, collapsed=frozenset({"while_loop/none"}), positions={})
    canvas.space.open_document(replace(document, view=view))
    canvas.space.debugger.flush()
    canvas.view.fit()
    return canvas


def titled(canvas: Any, title: str) -> Frame:
    found: Frame = next(f for f in canvas.view.arrays.frames if f.title == title)
    return found


def title_of(canvas: Any, frame: Frame) -> QPoint:
    left, top, width, _ = frame.rect
    place: QPoint = canvas.pixel((left + width / 2, top + 6))
    return place


def inside(canvas: Any, frame: Frame) -> set[str]:
    return set(canvas.view.stage.members(frame.boxes))


def test_a_loop_is_framed_and_its_iteration_in_it(looped: Any) -> None:
    block, loop, iteration = looped.view.arrays.frames
    assert [f.title for f in (block, loop, iteration)] == [
        "while_loop", "loop", "every iteration of While",
    ]  # fmt: skip
    assert inside(looped, block) == set(looped.space.shown.operations)
    around = {"while_loop/loop/Enter", "while_loop/loop/While", "while_loop/loop/Exit"}
    assert around < inside(looped, loop)
    assert around.isdisjoint(inside(looped, iteration))
    assert "while_loop/loop/body" in inside(looped, iteration)
    left, top, right, bottom = looped.view.arrays.extent
    x, y, width, height = block.rect
    assert (left, top, right, bottom) == (x, y, x + width, y + height), "it is all brought in view"


def test_a_title_selects_moves_and_collapses_what_it_frames(looped: Any) -> None:
    iteration = titled(looped, "every iteration of While")
    before = {n: looped.view.arrays.centre(looped.number(n)) for n in looped.space.shown.operations}
    start = title_of(looped, iteration)
    port = looped.view.viewport()
    QTest.mousePress(port, LEFT, Qt.KeyboardModifier.NoModifier, start)
    assert set(looped.space.selection) == inside(looped, iteration)
    QTest.mouseMove(port, start + QPoint(0, 60))
    QTest.mouseRelease(port, LEFT, Qt.KeyboardModifier.NoModifier, start + QPoint(0, 60))
    QTest.mouseClick(
        port, LEFT, Qt.KeyboardModifier.NoModifier, looped.middle("while_loop/initial")
    )
    again = title_of(looped, titled(looped, "every iteration of While"))
    QTest.mouseClick(port, LEFT, Qt.KeyboardModifier.ShiftModifier, again)
    assert set(looped.space.selection) == {"while_loop/initial", *inside(looped, iteration)}
    QTest.mouseClick(port, LEFT, Qt.KeyboardModifier.NoModifier, again)
    assert set(looped.space.selection) == inside(looped, iteration)
    moved = {n for n, at in before.items() if looped.view.arrays.centre(looped.number(n)) != at}
    assert moved == inside(looped, iteration)
    assert titled(looped, "every iteration of While").rect[1] > iteration.rect[1]
    QTest.mouseDClick(port, LEFT, Qt.KeyboardModifier.NoModifier,
                      title_of(looped, titled(looped, "loop")))  # fmt: skip
    assert "while_loop/loop" in looped.space.document.view.collapsed
    assert "while_loop/loop/" in looped.view.arrays.visible.number


def test_a_double_click_on_a_wire_or_an_iterations_title_opens_and_closes_nothing(
    looped: Any,
) -> None:
    before = looped.space.document
    iteration = titled(looped, "every iteration of While")
    ends = [looped.view.arrays.visible.boxes[i].id for i in looped.view.arrays.visible.ends[0]]
    for place in (title_of(looped, iteration), looped.link(*ends)):
        assert looped.view.pointer.hit(place).box is None
        QTest.mouseDClick(looped.view.viewport(), LEFT, Qt.KeyboardModifier.NoModifier, place)
        assert looped.space.document.view.collapsed == before.view.collapsed
        assert QApplication.activePopupWidget() is None


def test_a_scope_that_is_opened_stands_where_it_was_one_box(canvas: Any) -> None:
    document, scope = add_block(Document(), "dense", (0, 0))
    document, other = add_block(document, "conv2d", (400, 0))
    places = {f"{scope}/": (0.0, 0.0), f"{other}/": (400.0, 0.0)}
    canvas.space.open_document(replace(document, view=replace(document.view, positions=places)))
    canvas.space.debugger.flush()
    box = canvas.view.arrays.visible.boxes[canvas.number(f"{scope}/")]
    scope_folding.open_box(canvas.space, box)
    arrays = canvas.view.arrays
    assert arrays.centre(canvas.number(f"{other}/")) == (400, 0), "what stands does not move"
    framed = [frame for frame in arrays.frames if frame.scope == scope]
    assert [frame.boxes.sum() for frame in framed] == [len(arrays) - 1]
    x, y, width, height = framed[0].rect
    assert abs(x + width / 2) < 8
    assert y + TITLE / 2 > -height, "amid its place, or as far below as it must"


def test_a_node_that_stands_among_others_takes_their_frame_away(looped: Any) -> None:
    x, y, width, height = titled(looped, "every iteration of While").rect
    arrays = looped.view.arrays
    places = {n: arrays.centre(looped.number(n)) for n in looped.space.shown.operations}
    places["while_loop/initial"] = (x + width / 2, y + height / 2)
    commands.move_nodes(looped.space, places)
    titles = [frame.title for frame in looped.view.arrays.frames]
    assert "every iteration of While" not in titles
    assert titles[:1] == ["while_loop"]


def frames(homes: list[tuple[str, ...]], rects: np.ndarray) -> tuple[Frame, ...]:
    framing = Framing(homes)
    return framing.frames(framing.measure(rects))


@given(
    st.lists(st.tuples(st.sampled_from(HOMES), st.integers(0, 9), st.integers(0, 9)), max_size=20)
)
def test_a_frame_holds_its_boxes_and_only_those(boxes: list[tuple[Any, int, int]]) -> None:
    rects = np.array([(200.0 * x, 100.0 * y, 172.0, 52.0) for _, x, y in boxes]).reshape(-1, 4)
    found = frames([home for home, _, _ in boxes], rects)
    for frame in found:
        left, top, width, height = frame.rect
        x, y, w, h = rects.T
        within = (x > left) & (y > top) & (x + w < left + width) & (y + h < top + height)
        touches = (x < left + width) & (y < top + height) & (x + w > left) & (y + h > top)
        assert (frame.boxes == within).all()
        assert (frame.boxes == touches).all()
        assert (frame.boxes == [frame.scope in home for home, _, _ in boxes]).all()
        assert frame.boxes.sum() > 1
    for inner, outer in itertools.permutations(found, 2):
        (x, y, w, h), (left, top, width, height) = inner.rect, outer.rect
        apart = x >= left + width or y >= top + height or x + w <= left or y + h <= top
        if inner.scope.startswith(f"{outer.scope}/"):
            assert left < x
            assert top + TITLE <= y, "the outer title is free"
            assert x + w < left + width
            assert y + h < top + height
            assert not inner.outer
        else:
            assert apart or outer.scope.startswith(f"{inner.scope}/")


def place_of(x: int, y: int) -> tuple[float, float, float, float]:
    return (130.0 * x, 90.0 * y, 172.0, 52.0)


@given(
    boxes=st.lists(
        st.tuples(st.sampled_from(HOMES), st.integers(0, 9), st.integers(0, 9)), max_size=20
    ),
    data=st.data(),
)
def test_frames_are_those_of_a_new_scene_wherever_boxes_went(
    boxes: list[tuple[Any, int, int]], data: st.DataObject
) -> None:
    homes = [home for home, _, _ in boxes]
    framing = Framing(homes)
    rects = np.array([place_of(x, y) for _, x, y in boxes]).reshape(-1, 4)
    measured = framing.measure(rects)
    for _ in range(3):
        rects = rects.copy()
        for box in data.draw(st.sets(st.sampled_from(range(len(boxes))), max_size=4) if boxes
                             else st.just(set())):  # fmt: skip
            rects[box] = place_of(data.draw(st.integers(0, 9)), data.draw(st.integers(0, 9)))
        measured = framing.measure(rects, measured)
        found, anew = framing.frames(measured), frames(homes, rects)
        assert [(f.title, f.scope, f.rect, f.outer) for f in found] == [
            (f.title, f.scope, f.rect, f.outer) for f in anew
        ]
        assert [f.boxes.tolist() for f in found] == [f.boxes.tolist() for f in anew]


def test_of_two_frames_that_would_lie_over_each_other_one_is_drawn() -> None:
    """Their boxes stand apart, but so near that a title would be in the other frame."""
    homes = [("a",), ("a",), ("b",), ("b",)]

    def scopes_at(gap: float) -> list[str]:
        places = [(0.0, 0.0), (300.0, 0.0), (0.0, 52.0 + gap), (300.0, 52.0 + gap)]
        return [f.scope for f in frames(homes, np.array([(x, y, 172.0, 52.0) for x, y in places]))]

    def side_by_side(gap: float) -> list[str]:
        xs = [0.0, 172.0, 344.0 + gap, 516.0 + gap]
        return [f.scope for f in frames(homes, np.array([(x, 0.0, 172.0, 52.0) for x in xs]))]

    assert side_by_side(2 * SIDE) == ["a", "b"]
    assert side_by_side(2 * SIDE - 1) == ["a"]
    assert scopes_at(TITLE + SIDE) == ["a", "b"]
    assert scopes_at(TITLE + SIDE - 1) == ["a"]


def test_only_what_no_frame_is_around_is_an_outer_one() -> None:
    rects = np.array([(300.0 * n, 0.0, 172.0, 52.0) for n in range(6)])
    homes = [("a",), ("a", "a/x"), ("a", "a/x"), ("b",), ("b",), ()]
    found = {frame.scope: (frame.title, frame.outer) for frame in frames(homes, rects)}
    assert found == {"a": ("a", True), "b": ("b", True), "a/x": ("x", False)}


def test_an_iteration_is_around_what_has_no_scope() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, (0,))
    graph = builder.build()
    (loop,) = (op for op in graph if loop_of(op) is not None)
    inner = next(iter(loop.attrs[LOOP].graph)).name
    around = surroundings(graph, [("i", inner), ("n", "elsewhere")])
    assert around[0][-1] == f"{loop.name} iteration"
    assert around[1] == ()
