"""What every automatic layout promises, whichever engine made it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.layout.box_diagram import GRID, Box
from gradstep.core.layout.layout_engines import layout

SIZES = st.sampled_from([(172.0, 52.0), (172.0, 68.0), (240.0, 140.0)])


@st.composite
def diagrams(draw: st.DrawFn, cycles: bool = False) -> tuple[list[Box], list[tuple[str, str]]]:
    sizes = draw(st.lists(SIZES, min_size=1, max_size=30))
    number = st.integers(0, len(sizes) - 1)
    pairs = draw(st.lists(st.tuples(number, number), max_size=60))
    boxes = [Box(f"n{i}", *size) for i, size in enumerate(sizes)]
    kept = [(a, b) if cycles or a < b else (b, a) for a, b in pairs if a != b or cycles]
    return boxes, [(f"n{a}", f"n{b}") for a, b in kept]


def overlapping(boxes: list[Box], places: dict[str, tuple[float, float]]) -> list[tuple[str, str]]:
    found = []
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            (ax, ay), (bx, by) = places[a.id], places[b.id]
            beside = abs(ax - bx) >= (a.width + b.width) / 2
            if not beside and abs(ay - by) < (a.height + b.height) / 2:
                found.append((a.id, b.id))
    return found


@pytest.mark.parametrize("engine", ["own", "graphlay"])
@given(diagram=diagrams())
def test_boxes_stay_apart_and_arrows_go_right(engine: str, diagram) -> None:
    boxes, arrows = diagram
    places = layout(boxes, arrows, engine)
    assert set(places) == {box.id for box in boxes}
    assert overlapping(boxes, places) == []
    width = {box.id: box.width for box in boxes}
    for a, b in arrows:
        assert places[a][0] + width[a] / 2 < places[b][0] - width[b] / 2


@settings(deadline=None)
@given(diagram=diagrams(cycles=True))
def test_cycles_and_loops_are_drawn_without_overlaps_and_the_same_each_time(diagram) -> None:
    boxes, arrows = diagram
    places = layout(boxes, arrows)
    assert overlapping(boxes, places) == []
    assert layout(boxes, arrows) == places


@settings(deadline=None)
@given(diagram=diagrams())
def test_corners_lie_on_the_grid(diagram) -> None:
    boxes, arrows = diagram
    places = layout(boxes, arrows)
    for box in boxes:
        x, y = places[box.id]
        assert ((x - box.width / 2) % GRID, (y - box.height / 2) % GRID) == (0, 0)


def test_a_chain_is_a_straight_line() -> None:
    boxes = [Box(str(i), 172, 68) for i in range(300)]
    arrows = [(str(a), str(b)) for a, b in pairwise(range(300))]
    places = layout(boxes, arrows, "own")
    assert {y for _, y in places.values()} == {places["0"][1]}


def test_the_inputs_of_the_tutorial_stand_in_one_column_and_its_loss_last() -> None:
    boxes = [Box(n, 172, 68) for n in "data labels c k d e a loss".split()]
    text = "data-d c-d c-e k-e d-a e-a a-loss labels-loss"
    places = layout(boxes, [(a, b) for a, b in (pair.split("-") for pair in text.split())])
    columns = {name: x for name, (x, _) in places.items()}
    assert len({columns[n] for n in ("data", "labels", "c", "k")}) == 1
    assert columns["loss"] == max(columns.values())


def test_weights_of_a_deep_network_stand_beside_their_layers() -> None:
    chain = [f"layer{i}" for i in range(20)]
    boxes = [Box(n, 172, 68) for n in [*chain, "weights"]]
    places = layout(boxes, [*pairwise(chain), ("weights", "layer19")], "own")
    assert places["weights"][0] == places["layer18"][0]


@pytest.mark.parametrize("near", [True, False])
def test_a_constant_stands_beside_its_first_reader_an_input_with_the_inputs(near: bool) -> None:
    boxes = [*(Box(n, 172, 68) for n in ("x", "h", "loss")), Box("axes", 172, 52, near)]
    places = layout(boxes, [("x", "h"), ("h", "loss"), ("axes", "loss")], "own")
    assert places["axes"][0] == places["h" if near else "x"][0]


def test_arrows_that_cross_needlessly_are_untangled() -> None:
    boxes = [Box(n, 172, 68) for n in "abcdwxyz"]
    places = layout(boxes, [("a", "z"), ("b", "y"), ("c", "x"), ("d", "w")] * 2, "own")
    joined = layout([*boxes, Box("end", 172, 68)], [*zip("abcd", "zyxw", strict=True)]
                    + [(n, "end") for n in "wxyz"], "own")  # fmt: skip
    assert set(places) == set("abcdwxyz")
    left = sorted("abcd", key=lambda n: joined[n][1])
    right = sorted("wxyz", key=lambda n: joined[n][1])
    assert [dict(zip("abcd", "zyxw", strict=True))[n] for n in left] == right


def test_nothing_to_lay_out() -> None:
    assert layout([], []) == {}
