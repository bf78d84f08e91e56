"""Where links run: each as if it were alone, and an edited scene as if it had been made so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.typing.inference import infer
from gradstep.gui.canvas.scene import incremental_routing
from gradstep.gui.canvas.scene.link_detours import routed
from gradstep.gui.canvas.scene.link_routing import LANE, Routes
from gradstep.gui.canvas.scene.obstacles import Obstacles
from gradstep.gui.canvas.scene.scene_arrays import Movement, SceneArrays, joined_ports
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph

Places = dict[str, tuple[float, float]]
Scene = tuple[VisibleGraph, Places]

# Near together, and so far apart that links take lanes.
PLACES = st.tuples(st.integers(0, 6), st.integers(0, 8)).map(lambda p: (p[0] * 120.0, p[1] * 40.0))
AFAR = st.tuples(st.integers(0, 30), st.integers(0, 6)).map(lambda p: (p[0] * 240.0, p[1] * 70.0))


def graph_of(sources: list[tuple[int, ...]], waits: set[int]) -> Graph:
    """An operation for each entry, wired to those before it; some wait for the first."""
    attrs = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}
    ops = [Operation("n0", "Placeholder", attrs=attrs)]
    for i, before in enumerate(sources, 1):
        refs = tuple(TensorRef(f"n{s % i}") for s in before)
        ops.append(Operation(f"n{i}", "Sub", refs, ("n0",) if i in waits else ()))
    return Graph.of(ops)


def visible_of(graph: Graph) -> VisibleGraph:
    return VisibleGraph.of(graph, infer(graph), GradientRequest())


@st.composite
def scenes(draw: st.DrawFn, most: int = 12) -> Scene:
    """Some operations anywhere, each wired to two before it."""
    pairs = st.tuples(*[st.integers(0, 30)] * 2)
    sources = draw(st.lists(pairs, min_size=2, max_size=most))
    graph = graph_of(sources, draw(st.sets(st.integers(1, most))))
    where = draw(st.sampled_from([PLACES, AFAR]))
    return visible_of(graph), {name: draw(where) for name in graph.operations}


def assert_same(found: Routes, wanted: Routes) -> None:
    """To the bit, but for what only says how finely links are drawn."""
    for name in ("ports", "counts", "bounds"):
        assert np.array_equal(getattr(found, name), getattr(wanted, name), equal_nan=True), name
    (_, _, zones), (_, _, others) = (each.shapes.taken(each.rows) for each in (found, wanted))
    assert np.array_equal(zones, others, equal_nan=True)
    used = wanted.pieces(np.arange(len(wanted)))
    assert np.array_equal(found.curves[used], wanted.curves[used])
    assert np.allclose(found.deviations[used], wanted.deviations[used], rtol=1e-3, atol=1e-3)


@given(scenes(), st.data())
def test_links_take_no_notice_of_each_other(scene: Scene, data: st.DataObject) -> None:
    arrays = SceneArrays.of(*scene)
    links = st.lists(st.integers(0, len(arrays.routes) - 1), min_size=1, unique=True)
    some = np.array(data.draw(links))  # in any order
    found = routed(arrays.routes.ports[some], Obstacles(arrays.rects))
    assert_same(found, arrays.routes.taken(some))


@given(scenes(), st.sets(st.integers(0, 2), min_size=1), PLACES)
@pytest.mark.slow
def test_a_drag_leads_to_the_scene_of_the_new_places(
    scene: Scene, moved: set[int], by: tuple[float, float]
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
    ends = boxes[visible.ends]
    out = np.flatnonzero(ends.sum(axis=1) == 1)  # the others keep the way that they had
    assert_same(dragged.routes.taken(out), anew.routes.taken(out))
    start = SceneArrays.of(visible, places)
    within = np.flatnonzero(ends.all(axis=1))
    shifted = start.routes.taken(within).shifted(*by)
    assert_same(dragged.routes.taken(within), shifted)
    assert np.array_equal(dragged.routes.ports, anew.routes.ports)


@given(scenes(), st.lists(st.tuples(st.integers(0, 12), PLACES | AFAR), min_size=1, max_size=4))
@pytest.mark.slow
def test_moves_lead_to_the_scene_of_the_new_places(
    scene: Scene, moves: list[tuple[int, tuple[float, float]]]
) -> None:
    visible, places = scene
    arrays = SceneArrays.of(visible, places)
    for number, to in moves:
        places = {**places, f"n{number % len(places)}": to}
        arrays = SceneArrays.of(visible, places, before=arrays)
        assert_same(arrays.routes, SceneArrays.of(visible, places).routes)


@given(scenes(8), scenes(8), st.integers(0, 8))
@pytest.mark.slow
def test_an_edit_leads_to_the_scene_of_the_new_graph(
    first: Scene, second: Scene, renamed: int
) -> None:
    """To any other graph: with more boxes or fewer, wired otherwise, in another order."""
    (visible, places), (other, elsewhere) = first, second
    before = SceneArrays.of(visible, places)
    kept = {**elsewhere, **{name: at for name, at in places.items() if name in elsewhere}}
    del kept[f"n{renamed % len(kept)}"]
    kept[f"n{renamed % (len(kept) + 1)}"] = (60.0, 20.0)
    anew = SceneArrays.of(other, kept)
    assert_same(SceneArrays.of(other, kept, before=before).routes, anew.routes)


def chain(count: int) -> Scene:
    """Operations in a row that all read the first one, as layers read a shared constant."""
    graph = graph_of([(i, 0) for i in range(count - 1)], set())
    places = {name: (240.0 * i, 0.0) for i, name in enumerate(graph.operations)}
    return visible_of(graph), {**places, "n0": (0.0, 200.0)}


def counted_routing(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many links are routed anew by each edit to come."""
    counts: list[int] = []

    def counting(ports: np.ndarray, obstacles: Obstacles) -> Routes:
        counts.append(len(ports))
        return routed(ports, obstacles)

    monkeypatch.setattr(incremental_routing, "routed", counting)
    return counts


@pytest.mark.parametrize("count", [300, 3_000])
def test_a_move_routes_what_it_touches(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    visible, places = chain(count)
    arrays = SceneArrays.of(visible, places)
    counts = counted_routing(monkeypatch)
    middle = f"n{count // 2}"
    x, y = places[middle]
    moved = SceneArrays.of(visible, {**places, middle: (x + 24, y - 48)}, before=arrays)
    assert sum(counts) < 12, "its own links and what runs close by"
    counts.clear()
    back = SceneArrays.of(visible, places, before=moved)
    assert sum(counts) < 12
    assert_same(back.routes, arrays.routes)


@pytest.mark.parametrize("apart", [260.0, 900.0])
def test_what_comes_into_a_lane_moves_the_links_out_of_it(apart: float) -> None:
    """Beyond the rectangle from port to port, and for links that lead near by as for others."""
    graph = graph_of([(0,), (1,), (0, 2), (0,)], set())
    row = {f"n{i}": (apart * i, 0.0) for i in range(4)}
    visible = visible_of(graph)
    beside = SceneArrays.of(visible, {**row, "n4": (apart * 1.5, 2_000.0)})
    link = visible.ends.tolist().index([0, 3])
    assert beside.routes.counts[link] > 1
    height = beside.routes.curves[link, LANE, 0, 1]
    top = min(beside.routes.ports[link, :, 1])
    assert height < top or height > max(beside.routes.ports[link, :, 1])
    inside = {**row, "n4": (apart * 1.5, float(height))}
    moved = SceneArrays.of(visible, inside, before=beside)
    assert moved.routes.curves[link, LANE, 0, 1] != height
    assert_same(moved.routes, SceneArrays.of(visible, inside).routes)
    back = SceneArrays.of(visible, {**row, "n4": (apart * 1.5, 2_000.0)}, before=moved)
    assert_same(back.routes, beside.routes)


@pytest.mark.slow
def test_what_is_compared_grows_with_the_graph_and_not_its_square() -> None:
    """Half of the links lead over all the boxes before their ends."""
    looked: dict[int, int] = {}
    for count in (500, 1_000, 2_000, 4_000):
        arrays = SceneArrays.of(*chain(count))
        obstacles, numbers = Obstacles(arrays.rects), np.arange(len(arrays.visible.links))
        found = routed(joined_ports(arrays.visible, arrays.rects, numbers), obstacles)
        looked[count] = obstacles.looked_at
        assert (found.counts > 1).sum() > 0.4 * len(found), "detours at every size"
    assert looked[4_000] < 10 * looked[500]
    assert looked[4_000] < 200_000  # all pairs of a link and a box in its way: 8 million
