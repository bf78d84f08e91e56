"""Going to an operation, a wire or a scope, whatever hides it."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations, pairwise
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Edge, Graph, Operation, TensorRef
from gradstep.gui import commands
from gradstep.gui.canvas.scene.camera import LEGIBLE
from gradstep.gui.model.settings import settings

SCOPES = ("tower", "tower/block", "head")
CLOSED = [*chain.from_iterable(combinations(SCOPES, n) for n in range(len(SCOPES) + 1))]


def nested() -> Document:
    """x -> tower/in -> tower/block/deep -> head/out, and its gradient."""
    attrs = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}
    names = ("x", "tower/in", "tower/block/deep", "head/out")
    ops = [Operation("x", "Placeholder", attrs=attrs)]
    ops += [Operation(b, "Tanh", (TensorRef(a),)) for a, b in pairwise(names)]
    return Document(
        graph=Graph.of(ops),
        request=GradientRequest.to("head/out", "x"),
        feeds={"x:0": Constant(np.float32([1, 2]))},
    )


def close(canvas: Any, *scopes: str) -> None:
    commands.set_collapsed(canvas.space, frozenset(scopes), "Close")
    canvas.space.select([])


@pytest.fixture
def closed(canvas: Any) -> Any:
    """A canvas on nested scopes."""
    canvas.space.open_document(nested())
    canvas.space.debugger.flush()
    return canvas


def is_shown(canvas: Any, name: str) -> bool:
    """Whether the operation's own box is plainly in view, legible, and flashes."""
    number = canvas.view.arrays.visible.number.get(name)
    if number is None or canvas.view.camera.scale < LEGIBLE:
        return False
    rect = canvas.view.box_rect(number)
    seen, ring = canvas.view.camera.visible, canvas.view.revealer.flash.rect
    return seen.contains(rect) and ring.contains(rect) and ring.width() < 2 * rect.width()


@pytest.mark.parametrize("name", ["x", "tower/in", "tower/block/deep", "head/out"])
def test_only_what_hides_it_is_opened(closed: Any, name: str) -> None:
    for scopes in CLOSED:
        close(closed, *scopes)
        closed.view.camera.zoom_to(0.05)
        closed.view.camera.look_at(QPointF(9000, 9000))
        commands.reveal(closed.space, name)
        assert closed.space.selection == (name,)
        assert is_shown(closed, name), scopes
        left = {scope for scope in scopes if not name.startswith(f"{scope}/")}
        assert closed.space.document.view.collapsed == left


def test_what_is_plainly_in_view_stays_where_it_is(closed: Any) -> None:
    commands.reveal(closed.space, "tower/block/deep")
    before = closed.view.camera.visible
    commands.reveal(closed.space, "tower/block/deep")
    assert closed.view.camera.visible == before
    closed.view.camera.pan(closed.view.viewport().rect().bottomRight())
    commands.reveal(closed.space, "tower/block/deep")
    middle = closed.view.box_rect(closed.number("tower/block/deep")).center()
    assert (closed.view.camera.visible.center() - middle).manhattanLength() < 3


def test_tensors_wires_and_scopes_are_gone_to_as_well(closed: Any) -> None:
    close(closed, *SCOPES)
    commands.reveal(closed.space, "tower/in:0")
    assert is_shown(closed, "tower/in")
    assert closed.space.document.view.collapsed == {"tower/block", "head"}
    commands.reveal(closed.space, "tower/block")
    assert closed.space.selection == ("tower/block/deep",)
    assert is_shown(closed, "tower/block/"), "the box of the scope, which stays closed"
    wire = Edge("head/out", 0)
    commands.reveal(closed.space, edge=wire)
    assert (closed.space.selected_edge, closed.space.selection) == (wire, ())
    assert not closed.space.document.view.collapsed
    middle = closed.view.arrays.routes.middle(closed.view.stage.facts.selected_link)
    assert closed.view.revealer.flash.rect.contains(QPointF(*middle))


def test_a_path_is_selected_and_its_end_is_gone_to(closed: Any) -> None:
    close(closed, *SCOPES)
    commands.reveal(closed.space, "head/out", "tower/block/deep", at="tower/block/deep")
    assert closed.space.selection == ("head/out", "tower/block/deep")
    assert closed.space.document.view.collapsed == {"head"}
    assert is_shown(closed, "tower/block/deep")


def test_a_derived_operation_is_shown_where_it_came_from(closed: Any) -> None:
    close(closed, *SCOPES)
    step = next(s for s in closed.space.program.steps if s.origin == "tower/in" != s.op)
    commands.reveal(closed.space, step.op)
    assert closed.space.selection == (step.op,)
    assert is_shown(closed, "tower/in")


def test_what_is_gone_is_said_to_be(closed: Any) -> None:
    before = closed.space.document
    commands.reveal(closed.space, "no/such")
    assert closed.said == [("info", "no/such is not in the graph any more")]
    assert closed.space.document is before


@pytest.mark.slow
def test_the_flash_ends_and_is_off_without_animations(closed: Any, qtbot: Any) -> None:
    commands.reveal(closed.space, "x")
    flash = closed.view.revealer.flash
    assert not flash.rect.isEmpty()
    qtbot.waitUntil(lambda: flash.rect == QRectF(), timeout=5000)
    settings().motion = False
    commands.reveal(closed.space, "tower/in")
    assert flash.rect == QRectF()


@pytest.mark.slow
def test_a_large_graph_is_waited_for(closed: Any, qtbot: Any) -> None:
    ops = [*nested().graph]
    ops += [Operation(f"tower/n{i}", "Tanh", (TensorRef("tower/in"),)) for i in range(250)]
    document = nested().with_(graph=Graph.of(ops))
    view = replace(document.view, collapsed=frozenset(SCOPES))
    closed.space.open_document(document.with_(view=view))
    commands.reveal(closed.space, "tower/n249")
    assert closed.view.stage.laying_out
    qtbot.waitUntil(lambda: is_shown(closed, "tower/n249"), timeout=20000)
