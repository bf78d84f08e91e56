"""Stacking, opening and closing every scope leave what is looked at where it is on the screen."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from PySide6.QtCore import QPoint

from gradstep.core.document.document import Document, View
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.gui.canvas.interact.viewport import READABLE
from tests.support.block_documents import decoder

CLOSE = 3  # pixels: the camera stands at whole ones


def in_scopes(count: int, scopes: int) -> Document:
    """A chain of operations, a run of them in each scope."""
    names = [f"s{i * scopes // count}/n{i}" for i in range(count)]
    first = Operation(names[0], "Placeholder", attrs={"dtype": DType.FLOAT32, "shape": Shape.of(2)})
    ops = [Operation(now, "Tanh", (TensorRef(before),)) for before, now in pairwise(names)]
    closed = frozenset(f"s{i}" for i in range(scopes))
    return Document(graph=Graph.of([first, *ops]), view=View(collapsed=closed))


def look_at(canvas: Any, name: str) -> None:
    """So near that the rest is out of view."""
    camera = canvas.view.camera
    camera.zoom_to(2.0)
    camera.look_at(canvas.view.box_rect(canvas.number(name)).center() + QPoint(60, 20))


def assert_stays(canvas: Any, name: str, act: Callable[[], None], then: str) -> None:
    look_at(canvas, name)
    at, scale = canvas.middle(name), canvas.view.camera.scale
    act()
    assert canvas.view.camera.scale == scale
    assert (canvas.middle(then) - at).manhattanLength() <= CLOSE


@pytest.mark.parametrize(("name", "then"), [("ln_f/", "ln_f/"), ("h/5/", "h/0/"), ("ids", "ids")])
@pytest.mark.slow
def test_stacking(canvas: Any, name: str, then: str) -> None:
    canvas.space.open_document(decoder(12))
    canvas.space.stacks.toggle()
    assert_stays(canvas, name, canvas.space.stacks.toggle, then)


@pytest.mark.slow
def test_parting_a_stack_leaves_what_is_beside_it(canvas: Any) -> None:
    canvas.space.open_document(decoder(12))
    assert_stays(canvas, "ln_f/", canvas.space.stacks.toggle, "ln_f/")


@pytest.mark.slow
def test_parting_a_stack_shows_its_first_block_where_it_stood(canvas: Any) -> None:
    canvas.space.open_document(decoder(12))
    assert_stays(canvas, "h/0/", canvas.space.stacks.toggle, "h/0/")


@pytest.mark.slow
def test_who_saw_the_whole_sees_the_whole(canvas: Any) -> None:
    canvas.space.open_document(decoder(12))
    canvas.view.fit()
    for _ in range(2):
        canvas.space.stacks.toggle()
        assert canvas.view.camera.visible.contains(canvas.view.stage.area)


def test_closing_every_scope(canvas: Any) -> None:
    canvas.space.open_document(in_scopes(40, 4))
    stage = canvas.view.stage
    stage.open_scopes()
    assert_stays(canvas, "s2/n25", stage.collapse_scopes, "s2/")


@pytest.mark.slow
def test_opening_every_scope_of_a_graph_that_is_laid_out_beside(canvas: Any, qtbot: Any) -> None:
    canvas.space.open_document(in_scopes(400, 8))
    stage = canvas.view.stage

    def open_all() -> None:
        stage.open_scopes()
        assert stage.laying_out
        qtbot.waitUntil(lambda: not stage.laying_out, timeout=20_000)

    assert_stays(canvas, "s0/", open_all, "s0/n0")
    canvas.space.undo_stack.undo()
    assert_stays(canvas, "s3/", open_all, "s3/n150")


@pytest.mark.slow
def test_who_could_read_the_whole_can_read_what_came_of_it(canvas: Any, qtbot: Any) -> None:
    canvas.space.open_document(in_scopes(400, 8))
    stage, camera = canvas.view.stage, canvas.view.camera
    canvas.view.fit()
    stage.open_scopes()
    qtbot.waitUntil(lambda: not stage.laying_out, timeout=20_000)
    assert camera.scale >= READABLE
    assert camera.visible.intersects(canvas.view.box_rect(canvas.number("s0/n0")))
