"""What is under the pointer: the port that is meant, the node on top, the nearest wire, a title."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.graph.stacked_blocks import each_by_itself
from gradstep.core.layout.nested_scopes import TITLE
from gradstep.core.ops.typing.inference import infer
from gradstep.gui.canvas.scene.hit_test import (
    LINK_REACH,
    PORT_REACH,
    Hit,
    Port,
    at,
    nearest_link,
    port_point,
    ports,
)
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.scene.scope_frames import Frame
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph
from tests.gui.canvas.test_scene import Scene, scenes

FAR = 600.0  # farther than a node is wide or high


def scene(
    places: dict[str, tuple[float, float]],
    wires: dict[str, tuple[str, ...]],
    raised: tuple[int, ...] = (),
    collapsed: tuple[str, ...] = (),
) -> SceneArrays:
    """Operations with their centres; those without wires are placeholders."""
    attrs = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}
    ops = []
    for name in places:
        refs = tuple(TensorRef(source) for source in wires.get(name, ()))
        kind = {0: "Placeholder", 1: "Neg", 2: "Sub"}[len(refs)]
        ops.append(Operation(name, kind, refs, attrs={} if refs else attrs))
    graph = Graph.of(ops)
    visible = VisibleGraph.of(graph, infer(graph), GradientRequest(), each_by_itself(collapsed))
    centres = {box.id: places[box.members[0]] for box in visible.boxes}
    return SceneArrays.of(visible, centres, raised)


@pytest.fixture(scope="module")
def row() -> SceneArrays:
    """a and b on the left, c reads both, far to the right."""
    places = {"a": (0.0, 0.0), "b": (0.0, FAR), "c": (2 * FAR, 0.0)}
    return scene(places, {"c": ("a", "b")})


def sides(arrays: SceneArrays, box: int) -> tuple[float, float, float, float]:
    x, y, width, height = arrays.rects[box].tolist()
    return x, y, x + width, y + height


def test_a_box_is_hit_up_to_its_edges_and_not_beyond(row: SceneArrays) -> None:
    left, top, right, bottom = sides(row, 0)
    for x, y in [(left, top), (right, top), (left, bottom), (right, bottom)]:
        assert at(row, (x, y), 1.0) == Hit(box=0)
    for x, y in [(0, top - 0.01), (0, bottom + 0.01), (left - 0.01, top), (right + 0.01, top)]:
        assert at(row, (x, y), 1.0).box is None


@pytest.mark.parametrize(
    "port", [Port(0, 0, True), Port(2, 0, True), Port(2, 0, False), Port(2, 1, False)]
)
def test_a_port_is_hit_as_far_as_its_reach(row: SceneArrays, port: Port) -> None:
    """Down and up a little less far than sideways, so that neighbours do not get in each other's
    way."""
    x, y = port_point(row, port)
    left, _, right, _ = sides(row, port.box)
    assert x == (right if port.is_output else left)
    out = 1 if port.is_output else -1
    for inside in (0.0, -out * 8.9, out * 8.9):
        assert at(row, (x + inside, y), 1e6) == Hit(port=port, box=port.box)
    assert at(row, (x + out * 9.1, y), 1e6) == Hit()
    assert at(row, (x - out * 9.1, y), 1.0) == Hit(box=port.box)
    away = 1 if port.index else -1  # from the other port of that side
    assert at(row, (x, y + away * 7.4), 1.0).port == port
    assert at(row, (x, y + away * 7.6), 1.0).port is None


def test_between_two_ports_the_nearer_one_is_meant(row: SceneArrays) -> None:
    upper, lower = Port(2, 0, False), Port(2, 1, False)
    (x, high), (_, low) = port_point(row, upper), port_point(row, lower)
    middle = (high + low) / 2
    assert low - high < 2 * PORT_REACH / 1.2  # both are within reach there
    assert at(row, (x, middle - 0.1), 1.0).port == upper
    assert at(row, (x, middle + 0.1), 1.0).port == lower
    assert at(row, (x - 8.0, high), 1.0).port == upper


def test_the_node_on_top_is_meant_where_several_lie() -> None:
    places = {"a": (0.0, 0.0), "b": (40.0, 0.0), "c": (80.0, 0.0), "far": (FAR, FAR)}
    assert at(scene(places, {}), (20.0, 0.0), 1.0) == Hit(box=2)
    assert at(scene(places, {}, raised=(1, 0)), (20.0, 0.0), 1.0) == Hit(box=0)
    assert at(scene(places, {}, raised=(0, 1)), (20.0, 0.0), 1.0) == Hit(box=1)
    assert at(scene(places, {}, raised=(0, 1)), (20.0 - 86.0, 0.0), 1.0).box == 0


def test_a_port_under_another_node_is_not_meant() -> None:
    places = {"a": (0.0, 0.0), "b": (60.0, 0.0)}
    port = Port(0, 0, is_output=True)
    covered = scene(places, {})
    assert at(covered, port_point(covered, port), 1.0) == Hit(box=1)
    seen = scene(places, {}, raised=(0,))
    assert at(seen, port_point(seen, port), 1.0) == Hit(port=port, box=0)


def test_a_scope_has_no_ports() -> None:
    arrays = scene({"s/a": (0.0, 0.0), "b": (FAR, 0.0)}, {"b": ("s/a",)}, collapsed=("s",))
    number = arrays.visible.number["s/"]
    assert ports(arrays, number) == []
    point = arrays.output_port(number, 0)
    assert at(arrays, point, 1.0) == Hit(box=number)
    other = arrays.visible.number["b"]
    assert ports(arrays, other) == [Port(other, 0, True), Port(other, 0, False)]


@pytest.mark.parametrize("scale", [0.25, 1.0, 4.0])
def test_a_wire_is_hit_within_so_many_pixels(scale: float) -> None:
    """From a to c it runs straight."""
    arrays = scene({"a": (0.0, 0.0), "c": (2 * FAR, 0.0)}, {"c": ("a",)})
    (x, y), (end, level) = arrays.output_port(0, 0), arrays.input_port(1, 0)
    assert y == level
    middle = (x + end) / 2
    reach = LINK_REACH / scale
    for side in (-1, 1):
        assert at(arrays, (middle, y + side * 0.99 * reach), scale) == Hit(link=0)
        assert at(arrays, (middle, y + side * 1.01 * reach), scale) == Hit()


def test_a_wire_ends_at_its_ports() -> None:
    arrays = scene({"a": (0.0, 0.0), "c": (2 * FAR, 0.0)}, {"c": ("a",)})
    (start, y), (end, _) = arrays.output_port(0, 0), arrays.input_port(1, 0)
    for side in (-5.0, 5.0):
        assert nearest_link(arrays, (start - 3.0, y + side), 6.0) == 0
        assert nearest_link(arrays, (end + 3.0, y + side), 6.0) == 0
        assert nearest_link(arrays, (start - 5.0, y + side), 6.0) is None
        assert nearest_link(arrays, (end + 5.0, y + side), 6.0) is None


@given(scenes(), st.data())
@pytest.mark.slow
def test_the_wire_that_is_hit_is_the_nearest(places: Scene, data: st.DataObject) -> None:
    arrays = SceneArrays.of(*places)
    lines = arrays.routes.lines(np.arange(len(arrays.routes)), 0.01)
    line = data.draw(st.sampled_from(lines))
    near = line[data.draw(st.integers(0, len(line) - 1))]
    off = data.draw(st.tuples(*[st.floats(-12, 12)] * 2))
    point = (float(near[0] + off[0]), float(near[1] + off[1]))
    reach = data.draw(st.floats(2, 12))
    gaps = [_distance(line, point) for line in lines]
    assume(abs(min(gaps) - reach) > 1.0)
    found = nearest_link(arrays, point, reach)
    if min(gaps) > reach:
        assert found is None
    else:
        assert found is not None
        assert gaps[found] <= min(gaps) + 2 * reach / 20 + 0.02


def _distance(line: np.ndarray, point: tuple[float, float]) -> float:
    """From a polyline, chord by chord."""
    starts, ways = line[:-1], np.diff(line, axis=0)
    lengths = np.sum(ways * ways, axis=1)
    along = np.sum((point - starts) * ways, axis=1)
    shares = np.clip(along / np.where(lengths == 0, 1, lengths), 0, 1)
    return float(np.hypot(*(starts + shares[:, None] * ways - point).T).min())


def test_nodes_come_before_wires_and_wires_before_titles() -> None:
    arrays = scene({"a": (0.0, 0.0), "c": (2 * FAR, 0.0)}, {"c": ("a",)})
    _, y = arrays.output_port(0, 0)
    both = np.ones(2, dtype=bool)
    outer = Frame("outer", "outer", both, (-300.0, y - TITLE / 2, 1800.0, 400.0), True)
    inner = Frame("inner", "outer/inner", both, (500.0, y + 4.0, 300.0, 300.0), False)
    framed = replace(arrays)
    framed.__dict__["frames"] = (outer, inner)
    assert at(framed, (0.0, y), 1.0) == Hit(box=0)
    assert at(framed, (FAR, y), 1.0) == Hit(link=0)
    assert at(framed, (FAR, y - 10.0), 1.0) == Hit(frame=outer)
    assert at(framed, (FAR, y + 10.0), 1.0) == Hit(frame=inner)  # the outer one's title is under it
    assert at(framed, (FAR, y + 4.0 + TITLE), 1.0) == Hit(frame=inner)
    assert at(framed, (FAR, y + 4.1 + TITLE), 1.0) == Hit()


@pytest.mark.parametrize(
    ("x", "y", "is_in"),
    [
        (10, 5, True),
        (30, 5 + TITLE, True),
        (9.9, 5, False),
        (30.1, 5, False),
        (20, 4.9, False),
        (20, 5.1 + TITLE, False),
    ],
)
def test_a_title_ends_where_its_frame_does(x: float, y: float, is_in: bool) -> None:
    frame = Frame("f", "f", np.zeros(0, dtype=bool), (10.0, 5.0, 20.0, 100.0), True)
    arrays = scene({"a": (-FAR, -FAR)}, {})
    arrays.__dict__["frames"] = (frame,)
    assert bool(at(arrays, (x, y), 1.0)) is is_in
