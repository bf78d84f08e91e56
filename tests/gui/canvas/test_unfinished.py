"""A node that is not finished is marked quietly, and the rest keeps its values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.gui import commands
from gradstep.gui.canvas.interact import screen_reader
from gradstep.gui.canvas.scene import hit_test
from gradstep.gui.model.problem_rows import current_problems
from gradstep.gui.panels.outline.outline_rows import outline_rows


@pytest.fixture
def half(canvas: Any) -> Any:
    """y = x², z = y + ?, w = -z: z is not finished."""
    space = canvas.space
    space.open_document(Document())
    commands.add_node(space, "Placeholder", (0.0, 0.0), name="x")
    for place, (type, name, source) in enumerate(
        (("Square", "y", "x"), ("Add", "z", "y"), ("Neg", "w", "z"))
    ):
        commands.add_node(space, type, (200.0 + 200 * place, 0.0), name=name)
        commands.connect(space, TensorRef(source), Edge(name, 0))
    canvas.view.fit()
    canvas.view.camera.zoom_100()
    space.control("continue_")
    return canvas


def number(canvas: Any, name: str) -> int:
    return canvas.view.arrays.visible.number[name]


def test_what_is_upstream_has_its_value(half: Any) -> None:
    facts = half.view.stage.facts
    found = half.space.value("y")
    assert found is not None
    assert np.array_equal(found.array, [1, 1])
    assert facts.reading(number(half, "z"), False).text == "open: y"
    assert facts.reading(number(half, "w"), False).text == "waiting for y of z"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("prod", "waits for y of prod"),
        ("product", "waits for product"),
        ("layer_1/dense/z", "waiting for y of z"),
        ("product_of_both_sides", "waits for product_of_both_sides"),
    ],
)
def test_who_waits_says_whose_input_is_open(half: Any, name: str, said: str) -> None:
    commands.rename(half.space, "z", name)
    assert half.view.stage.facts.reading(number(half, "w"), False).text == said


def test_nothing_is_called_a_problem(half: Any) -> None:
    facts = half.view.stage.facts
    assert facts.problems == {}
    assert {box: str(what) for box, what in facts.unfinished.items()} == {
        number(half, "z"): "input 'y' of z",
        number(half, "w"): "input 'y' of z",
    }
    assert "waits for input 'y' of z" in screen_reader.describe(half.view.stage, number(half, "w"))
    (row,) = current_problems(half.space)
    assert (row.node, row.severity) == ("z", "info")
    rows = outline_rows(half.space.document, half.space.inference, half.space.program)
    assert not any(leaf.problem for group in rows for leaf in group.children)


def test_what_no_run_needs_is_marked_nowhere(half: Any) -> None:
    """An operation of a type that Gradstep lacks, beside the way to what is asked for."""
    document = half.space.document
    odd = Operation("odd", "Zorp", (TensorRef("x"),))
    graph = Graph.of((*document.graph, odd))
    half.space.edit("Load", document.with_(graph=graph, fetches=(TensorRef("y"),)))
    half.space.debugger.flush()
    assert half.view.stage.facts.problems == {}
    rows = {row.node: row.severity for row in current_problems(half.space)}
    assert rows["odd"] == "info"
    half.space.edit("Ask", document.with_(graph=graph, fetches=(TensorRef("odd"),)))
    half.space.debugger.flush()
    assert half.view.stage.facts.problems.keys() == {number(half, "odd")}


def test_the_open_input_alone_is_marked(half: Any) -> None:
    facts = half.view.stage.facts
    assert facts.open_inputs(number(half, "z")) == (1,)
    assert facts.open_inputs(number(half, "w")) == ()
    arrays = half.view.arrays
    at = hit_test.port_point(arrays, hit_test.Port(number(half, "z"), 1, is_output=False))
    image = half.view.grab().toImage()
    pixel = half.view.mapFromScene(*at)
    seen = [image.pixelColor(pixel.x() + dx, pixel.y()).getRgb()[:3] for dx in range(-8, 9)]
    wanted = np.array(half.space.theme.selection.getRgb()[:3])
    assert np.abs(np.array(seen) - wanted).max(axis=1).min() < 60


def test_a_placeholder_without_a_feed_is_not_fed(half: Any) -> None:
    document = half.space.document
    half.space.edit("Unfeed", document.with_(feeds={}))
    half.space.debugger.flush()
    facts = half.view.stage.facts
    assert facts.reading(number(half, "x"), False).text == "not fed"
    assert facts.reading(number(half, "y"), False).text == "waiting for x"
    assert {row.severity for row in current_problems(half.space)} == {"info"}


def test_finishing_it_takes_the_marks_away(half: Any) -> None:
    commands.connect(half.space, TensorRef("x"), Edge("z", 1))
    half.space.debugger.flush()
    assert half.view.stage.facts.unfinished == {}
    found = half.space.value("w")
    assert found is not None
    assert np.array_equal(found.array, [-2, -2])
