"""Outputs with many readers, and boxes that wait for many: their links are stubs with a number."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document, View
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.ops.typing.inference import infer
from gradstep.gui import commands
from gradstep.gui.canvas.interact import tooltips
from gradstep.gui.canvas.scene import hubs
from gradstep.gui.canvas.scene.hit_test import Hit, Port
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph

SOURCE = Operation("x", "Placeholder", attrs={"dtype": DType.FLOAT32, "shape": Shape.of(2)})


def fan(count: int, waiting: int = 0) -> Document:
    """`count` readers of x, in a column far from it; `end` waits for so many of them."""
    readers = [Operation(f"r{i}", "Neg", (TensorRef("x"),)) for i in range(count)]
    end = Operation("end", "NoOp", control_inputs=tuple(op.name for op in readers[:waiting]))
    places = {f"r{i}": (700.0, 60.0 * i) for i in range(count)}
    view = View(positions={"x": (0.0, 600.0), "end": (1400.0, 600.0), **places})
    return Document(graph=Graph.of([SOURCE, *readers, end]), view=view)


def links(visible: VisibleGraph, source: str) -> np.ndarray:
    return np.flatnonzero(visible.ends[:, 0] == visible.number[source])


@pytest.mark.parametrize(("count", "is_hub"), [(hubs.MOST, False), (hubs.MOST + 1, True)])
def test_links_are_stubs_where_more_lead_from_one_output(
    canvas: Any, count: int, is_hub: bool
) -> None:
    canvas.space.open_document(fan(count))
    arrays = canvas.view.arrays
    lengths = np.diff(arrays.routes.bounds[links(arrays.visible, "x")][:, ::2]).ravel()
    assert (lengths < 2 * hubs.STUB).all() == is_hub
    assert (lengths > 400).all() == (not is_hub)
    port = Port(canvas.number("x"), 0, is_output=True)
    said = tooltips.text(canvas.view.stage, Hit(port, port.box))
    assert (f"{count} wires lead from here" in said) == is_hub


def test_a_box_that_waits_for_many_has_one_stub(canvas: Any) -> None:
    canvas.space.open_document(fan(50, waiting=40))
    visible = canvas.view.arrays.visible
    control = np.flatnonzero(visible.control)
    assert visible.hubs.at_source[control].all()
    assert {(hub.box, hub.is_control, len(hub.links)) for hub in visible.hubs.all} == {
        (canvas.number("x"), False, 50),
        (canvas.number("end"), True, 40),
    }


def test_one_wire_more_or_less_draws_the_others_anew(canvas: Any) -> None:
    """As if the graph had been opened so."""
    canvas.space.open_document(fan(hubs.MOST + 1))
    for _ in range(2):
        commands.disconnect(canvas.space, Edge("r3", 0))
        after = canvas.view.arrays
        anew = SceneArrays.of(after.visible, canvas.view.stage.places())
        assert np.array_equal(after.routes.bounds, anew.routes.bounds)
        assert not after.visible.hubs.all
        canvas.space.undo_stack.undo()
        assert canvas.view.arrays.visible.hubs.all


def shown_whole(canvas: Any) -> bool:
    """Whether lines are seen half-way between x and its readers."""
    arrays = canvas.view.arrays
    here = canvas.pixel((350.0, float(arrays.centre(canvas.number("r20"))[1] + 600) / 2))
    image = canvas.view.grab().toImage()
    plain = canvas.space.theme.background.lightness()
    column = (image.pixelColor(here.x(), y).lightness() for y in range(0, image.height(), 1))
    return sum(abs(light - plain) > 30 for light in column) > 10


def test_they_are_drawn_out_where_an_end_is_selected_or_pointed_at(canvas: Any) -> None:
    canvas.space.open_document(fan(40))
    canvas.view.fit()
    canvas.space.select([])
    stage = canvas.view.stage
    assert not shown_whole(canvas)
    canvas.space.select(["x"])
    assert shown_whole(canvas)
    assert len(stage.facts.drawn_out) == 40
    canvas.space.select(["r7"])
    assert stage.facts.drawn_out.tolist() == [stage.arrays.visible.link_of[Edge("r7", 0)]]
    canvas.space.select([], Edge("r9", 0))
    assert stage.facts.drawn_out.tolist() == [stage.arrays.visible.link_of[Edge("r9", 0)]]
    canvas.space.select([])
    canvas.view.camera.zoom_100()
    canvas.view.camera.look_at(canvas.view.box_rect(canvas.number("x")).center())
    canvas.point_at(canvas.output("x"))
    assert len(stage.facts.drawn_out) == 40
    QApplication.sendEvent(canvas.view.viewport(), QEvent(QEvent.Type.Leave))
    assert not len(stage.facts.drawn_out)
    canvas.view.camera.look_at(canvas.view.box_rect(canvas.number("r9")).center())
    canvas.point_at(canvas.link("x", "r9"))
    assert stage.facts.drawn_out.tolist() == [stage.arrays.visible.link_of[Edge("r9", 0)]]


def test_the_number_stands_at_the_stub(canvas: Any) -> None:
    seen = {}
    for count in (40, 90):
        canvas.space.open_document(fan(count))
        canvas.space.select([])
        canvas.view.camera.zoom_100()
        canvas.view.camera.look_at(canvas.view.box_rect(canvas.number("x")).center())
        at = canvas.output("x")
        area = canvas.view.grab().copy(at.x() + int(hubs.STUB), at.y() - 8, 40, 16).toImage()
        seen[count] = area
        assert any(
            area.pixelColor(x, y).lightness() > 90 for x in range(40) for y in range(area.height())
        )
    assert seen[40] != seen[90]


ENDS = st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda ends: ends[0] != ends[1])


@given(wires=st.lists(ENDS, max_size=14), waits=st.sets(ENDS, max_size=10))
def test_hubs_are_what_counting_finds(wires: list[Any], waits: set[Any]) -> None:
    """Of up to five operations; more than three are many."""
    after = [sorted({a for a, b in waits if b == i}) for i in range(5)]
    graph = Graph.of(
        Operation(
            f"n{i}",
            "AddN",
            tuple(TensorRef(f"n{a}") for a, b in wires if b == i),
            tuple(f"n{a}" for a in after[i]),
        )
        for i in range(5)
    )
    visible = VisibleGraph.of(graph, infer(graph), GradientRequest())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hubs, "MOST", 3)
        found = hubs.find_hubs(visible)
    drawn = visible.links
    out = Counter((link.source, link.is_control) for link in drawn)
    late = [out[link.source, link.is_control] > 3 for link in drawn]
    into = Counter(
        link.target
        for link, is_late in zip(drawn, late, strict=True)
        if link.is_control and not is_late
    )
    early = [
        link.is_control and not is_late and into[link.target] > 3
        for link, is_late in zip(drawn, late, strict=True)
    ]
    assert found.at_target.tolist() == late
    assert found.at_source.tolist() == early
    assert sum(len(hub.links) for hub in found.all) == sum(late) + sum(early)
