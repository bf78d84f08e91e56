"""Where links run: each as if it were alone, and a dragged scene as if it had been made so."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.autodiff.request import GradientRequest
from core.graph.dtypes import DType, Shape
from core.graph.model import Graph, Operation, TensorRef
from core.ops.infer import infer
from gui.canvas import detour, routing
from gui.canvas.arrays import Movement, SceneArrays
from gui.canvas.visible import VisibleGraph

PLACES = st.tuples(st.integers(0, 6), st.integers(0, 8)).map(lambda p: (p[0] * 120.0, p[1] * 40.0))


@st.composite
def scenes(draw: st.DrawFn) -> tuple[VisibleGraph, dict[str, tuple[float, float]]]:
    """Some operations anywhere, each wired to two before it."""
    count = draw(st.integers(3, 12))
    given_ = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}
    ops = [Operation("n0", "Placeholder", attrs=given_)]
    for i in range(1, count):
        sources = draw(st.tuples(*[st.integers(0, i - 1)] * 2))
        ops.append(Operation(f"n{i}", "Sub", tuple(TensorRef(f"n{s}") for s in sources)))
    graph = Graph.of(ops)
    places = {op.name: draw(PLACES) for op in ops}
    return VisibleGraph.of(graph, infer(graph), GradientRequest()), places


@given(scenes())
def test_links_take_no_notice_of_each_other(
    scene: tuple[VisibleGraph, dict[str, tuple[float, float]]],
) -> None:
    visible, places = scene
    arrays = SceneArrays.of(visible, places)
    for number, link in enumerate(visible.links):
        start = np.array([arrays.output_port(link.source, link.out)])
        end = np.array([arrays.input_port(link.target, link.into)])
        alone = routing.curves(start, end)
        detour.avoid(alone, start, end, visible.ends[[number]], arrays.rects)
        assert np.array_equal(alone[0], arrays.points[number])


@given(scenes(), st.sets(st.integers(0, 2), min_size=1), PLACES)
def test_a_drag_leads_to_the_scene_of_the_new_places(
    scene: tuple[VisibleGraph, dict[str, tuple[float, float]]],
    moved: set[int],
    by: tuple[float, float],
) -> None:
    visible, places = scene
    boxes = np.zeros(len(visible.boxes), dtype=bool)
    boxes[list(moved)] = True
    movement = Movement(SceneArrays.of(visible, places), boxes)
    movement.by(-8.0, 4.0)
    dragged = movement.by(*by)
    there = {f"n{i}": (places[f"n{i}"][0] + by[0], places[f"n{i}"][1] + by[1]) for i in moved}
    anew = SceneArrays.of(visible, {**places, **there})
    assert np.array_equal(dragged.rects, anew.rects)
    links = anew.links_of(boxes)  # the others keep the way that they had
    assert np.array_equal(dragged.points[links], anew.points[links])
    assert np.array_equal(dragged.link_bounds[links], anew.link_bounds[links])
