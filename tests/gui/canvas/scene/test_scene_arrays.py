"""How large boxes are, where their ports are, which one lies on top, how far everything goes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.graph.stacked_blocks import each_by_itself
from gradstep.core.ops.typing.inference import infer
from gradstep.gui.canvas.scene.scene_arrays import (
    INTO,
    OUT,
    PADDING,
    PORT,
    ROW,
    TITLE,
    WIDTH,
    SceneArrays,
    heights,
)
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph
from tests.gui.canvas.test_scene import Scene, scenes

ATTRS = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}


def visible(wires: dict[str, tuple[str, ...]], collapsed: tuple[str, ...] = ()) -> VisibleGraph:
    """Placeholders, and sums of them; of the gradient from "sum" to "x" where both are there."""
    ops = []
    for name, sources in wires.items():
        refs = tuple(TensorRef(source) for source in sources)
        ops.append(
            Operation(name, "AddN" if refs else "Placeholder", refs, attrs={} if refs else ATTRS)
        )
    graph = Graph.of(ops)
    asked = GradientRequest()
    if {"sum", "x"} <= wires.keys():
        asked = GradientRequest.to("sum", "x")
    return VisibleGraph.of(graph, infer(graph), asked, each_by_itself(collapsed))


def test_a_box_has_room_for_its_rows_and_its_ports() -> None:
    seen = visible({"x": (), "sum": ("x",) * 7, "apart": ("x",), "wide": ("x",) * 3})
    tall = dict(zip(seen.number, heights(seen).tolist(), strict=True))
    assert tall["x"] == TITLE + PADDING + 2 * ROW  # its value and its gradient
    assert tall["apart"] == TITLE + PADDING + ROW
    slots = seen.port_counts[:, INTO].tolist()  # one more than wired: it takes any number
    assert slots[seen.number["sum"]] == 8
    assert tall["sum"] == TITLE + 8 * PORT
    assert tall["wide"] == TITLE + 4 * PORT
    assert not np.any(heights(seen) % 4)


def test_a_scope_has_a_port_on_each_side_and_no_rows() -> None:
    seen = visible({"x": (), "s/a": ("x",), "s/b": ("x",)}, collapsed=("s",))
    assert heights(seen)[seen.number["s/"]] == TITLE + PORT


def test_what_has_neither_rows_nor_ports_is_a_title() -> None:
    graph = Graph.of([Operation("n", "NoOp")])
    seen = VisibleGraph.of(graph, infer(graph), GradientRequest())
    assert heights(seen).tolist() == [TITLE]


@given(scenes())
def test_ports_share_the_body_of_their_side_evenly(scene: Scene) -> None:
    arrays = SceneArrays.of(*scene)
    for box, (x, y, width, height) in enumerate(arrays.rects.tolist()):
        middle = scene[1][arrays.visible.boxes[box].id]
        assert (x + width / 2, y + height / 2) == pytest.approx(middle) == arrays.centre(box)
        assert width == WIDTH
        for side, place in ((OUT, arrays.output_port), (INTO, arrays.input_port)):
            count = int(arrays.visible.port_counts[box, side])
            found = [place(box, i) for i in range(count)]
            assert {px for px, _ in found} <= {x + width if side == OUT else x}
            ys = [y + TITLE, *(py for _, py in found), y + height]
            assert ys == sorted(ys)
            if found:
                apart = (height - TITLE) / count
                assert np.allclose([b - a for a, b in pairwise(ys[1:-1])], apart)
                assert ys[1] - ys[0] == pytest.approx(apart / 2) == ys[-1] - ys[-2]


def test_control_wires_join_titles() -> None:
    read = Operation("b", "Neg", (TensorRef("c"),), ("a",))
    graph = Graph.of([*(Operation(n, "Placeholder", attrs=ATTRS) for n in "ac"), read])
    seen = VisibleGraph.of(graph, infer(graph), GradientRequest())
    arrays = SceneArrays.of(seen, {"a": (0.0, 0.0), "b": (500.0, 300.0), "c": (0.0, 300.0)})
    (number,) = (i for i, link in enumerate(seen.links) if link.is_control)
    start, end = arrays.routes.ports[number].tolist()
    a, b = (arrays.rects[seen.number[name]].tolist() for name in "ab")
    assert start == [a[0] + a[2], a[1] + TITLE / 2]
    assert end == [b[0], b[1] + TITLE / 2]


@given(scenes(), st.lists(st.integers(0, 2), unique=True), st.data())
def test_who_lies_on_top(scene: Scene, raised: list[int], data: st.DataObject) -> None:
    """Later ones over earlier ones, and those that were raised over all, the last one on top."""
    arrays = SceneArrays.of(*scene, raised=tuple(raised))
    count = len(arrays)
    order = [*(i for i in range(count) if i not in raised), *raised]
    some = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    assert arrays.from_below(some).tolist() == [i for i in order if some[i]]
    for box in range(count):
        over = order[order.index(box) + 1 :]
        assert arrays.is_covered(box) == any(_touch(arrays, box, other) for other in over)


def _touch(arrays: SceneArrays, box: int, other: int) -> bool:
    a, b = arrays.rects[box], arrays.rects[other]
    return all(max(a[i], b[i]) <= min(a[i] + a[i + 2], b[i] + b[i + 2]) for i in (0, 1))


@given(scenes(), st.tuples(*[st.floats(-400, 4000)] * 4))
def test_what_touches_a_rectangle(scene: Scene, corners: Any) -> None:
    arrays = SceneArrays.of(*scene)
    left, right = sorted(corners[:2])
    top, bottom = sorted(corners[2:])
    for box, (x, y, width, height) in enumerate(arrays.rects.tolist()):
        apart = x > right or x + width < left or y > bottom or y + height < top
        assert arrays.boxes_in(left, top, right, bottom)[box] != apart
    for link, line in enumerate(arrays.routes.lines(np.arange(len(arrays.routes)), 0.01)):
        (low_x, low_y), (high_x, high_y) = line.min(axis=0), line.max(axis=0)
        slack = 0.1  # the line is drawn a little beside the curve
        found = arrays.links_in(left, top, right, bottom)[link]
        if low_x <= right and high_x >= left and low_y <= bottom and high_y >= top:
            assert found
        far = low_x > right + slack or high_x < left - slack
        if far or low_y > bottom + slack or high_y < top - slack:
            assert not found


def test_a_rectangle_that_touches_an_edge_touches() -> None:
    scene = visible({"x": (), "sum": ("x",)})
    arrays = SceneArrays.of(scene, {"x": (0.0, 0.0), "sum": (500.0, 300.0)})
    left, top, right, bottom = arrays.routes.bounds[0].tolist()
    assert arrays.links_in(left - 9, top, left, bottom)[0]
    assert arrays.links_in(right, top, right + 9, bottom)[0]
    assert arrays.links_in(left, top - 9, right, top)[0]
    assert arrays.links_in(left, bottom, right, bottom + 9)[0]
    x, y, width, height = arrays.rects[0].tolist()
    far = 50.0
    assert arrays.boxes_in(x - far, y, x, y + 1)[0]
    assert arrays.boxes_in(x + width, y, x + width + far, y + 1)[0]
    assert arrays.boxes_in(x, y - far, x + 1, y)[0]
    assert arrays.boxes_in(x, y + height, x + 1, y + height + far)[0]


@given(scenes())
def test_the_extent_holds_everything_and_no_more(scene: Scene) -> None:
    arrays = SceneArrays.of(*scene)
    left, top, right, bottom = arrays.extent
    rects, routes = arrays.rects, arrays.routes
    t = np.linspace(0, 1, 4097)  # polylines cut off the sharp bends of long links that lead back
    weights = np.stack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3], axis=1)
    points = (weights @ routes.curves[routes.pieces(np.arange(len(routes)))]).reshape(-1, 2)
    corners = np.concatenate([rects[:, :2], rects[:, :2] + rects[:, 2:], points])
    found = [left, top, right, bottom]
    wanted = [*corners.min(axis=0), *corners.max(axis=0)]
    assert np.allclose(found, wanted, rtol=0, atol=0.01)


def test_the_extent_of_nothing_and_of_frames() -> None:
    assert SceneArrays.of(visible({}), {}).extent == (0.0, 0.0, 1.0, 1.0)
    seen = visible({"s/a": (), "s/b": ()})
    arrays = SceneArrays.of(seen, {"s/a": (0.0, 0.0), "s/b": (300.0, 0.0)})
    (frame,) = arrays.frames
    x, y, width, height = frame.rect
    assert arrays.extent == (x, y, x + width, y + height)
    assert arrays.scopes == ["s", "s"]


@given(scenes(), st.data())
def test_links_of_boxes_are_those_that_begin_or_end_there(
    scene: Scene, data: st.DataObject
) -> None:
    arrays = SceneArrays.of(*scene)
    flags = st.lists(st.booleans(), min_size=len(arrays), max_size=len(arrays))
    some = np.array(data.draw(flags))
    found = arrays.links_of(some).tolist()
    wanted = [some[link.source] or some[link.target] for link in arrays.visible.links]
    assert found == wanted
