"""Layout scope by scope: what is in a scope stands together, and nothing else among it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.layout.box_diagram import GRID, Box
from gradstep.core.layout.layout_engines import layout
from gradstep.core.layout.layout_process import arrange
from gradstep.core.layout.nested_scopes import SIDE, TITLE, _untangled
from tests.core.layout.test_layout import overlapping
from tests.support.work import lines_run

HOMES = ((), ("a",), ("a", "a/x"), ("a", "a/y"), ("b",), ("b", "b/x"), ("c",))
SIZES = ((172.0, 52.0), (172.0, 68.0), (240.0, 144.0))

Diagram = tuple[list[Box], list[tuple[str, str]]]


@st.composite
def diagrams(draw: st.DrawFn, ordered: bool = False) -> Diagram:
    """ordered: arrows go from scope to scope in one direction only."""
    homes = draw(st.lists(st.sampled_from(HOMES), min_size=1, max_size=24))
    homes = sorted(homes) if ordered else homes
    sizes = [draw(st.sampled_from(SIZES)) for _ in homes]
    boxes = [
        Box(f"n{i}", *size, scopes=home)
        for i, (home, size) in enumerate(zip(homes, sizes, strict=True))
    ]
    number = st.integers(0, len(homes) - 1)
    pairs = draw(st.lists(st.tuples(number, number), max_size=50))
    return boxes, [(f"n{min(pair)}", f"n{max(pair)}") for pair in pairs if pair[0] != pair[1]]


def scopes(boxes: list[Box]) -> Iterator[tuple[list[Box], list[Box]]]:
    """The boxes in each scope of several, and those outside."""
    for scope in {scope for box in boxes for scope in box.scopes}:
        inside = [box for box in boxes if scope in box.scopes]
        if len(inside) > 1:
            yield inside, [box for box in boxes if box not in inside]


@given(diagrams())
def test_boxes_stay_apart_arrows_go_right_corners_lie_on_the_grid(diagram: Diagram) -> None:
    boxes, arrows = diagram
    places = layout(boxes, arrows)
    assert overlapping(boxes, places) == []
    width = {box.id: box.width for box in boxes}
    for a, b in arrows:
        assert places[a][0] + width[a] / 2 < places[b][0] - width[b] / 2
    for box in boxes:
        x, y = places[box.id]
        assert ((x - box.width / 2) % GRID, (y - box.height / 2) % GRID) == (0, 0)


@given(diagrams(ordered=True))
def test_a_scope_has_its_place_to_itself_with_room_for_its_frame(diagram: Diagram) -> None:
    boxes, arrows = diagram
    places = layout(boxes, arrows)
    for inside, outside in scopes(boxes):
        left = min(places[b.id][0] - b.width / 2 for b in inside) - SIDE
        right = max(places[b.id][0] + b.width / 2 for b in inside) + SIDE
        top = min(places[b.id][1] - b.height / 2 for b in inside) - TITLE
        bottom = max(places[b.id][1] + b.height / 2 for b in inside) + SIDE
        for box in outside:
            x, y = places[box.id]
            beside = x + box.width / 2 <= left or x - box.width / 2 >= right
            assert beside or y + box.height / 2 <= top or y - box.height / 2 >= bottom


def test_a_scope_that_others_are_between_is_taken_apart() -> None:
    """a/1 → b → a/2: kept together, an arrow would have to go left."""
    boxes = [Box(n, 172, 52, scopes=("a",) if "/" in n else ()) for n in ("a/1", "b", "a/2")]
    places = layout(boxes, [("a/1", "b"), ("b", "a/2")])
    assert places["a/1"][0] < places["b"][0] < places["a/2"][0]


def test_another_process_gives_the_same() -> None:
    boxes = [Box(f"n{i}", 172, 52, i == 1, HOMES[i % len(HOMES)]) for i in range(12)]
    arrows = [(f"n{i}", f"n{i + 7}") for i in range(5)]
    assert arrange(boxes, arrows) == layout(boxes, arrows)


def test_a_scope_between_two_that_are_taken_apart_stays_together() -> None:
    """Something stands among what is in a, and among what is in z, but nothing among m."""
    homes = dict(enumerate([("a",), (), ("a",), ("m",), ("m",), ("z",), (), ("z",)]))
    pairs = [*pairwise(homes)]
    apart = {0: (), 1: (), 2: (), 3: ("m",), 4: ("m",), 5: (), 6: (), 7: ()}
    assert _untangled(homes, pairs) == apart


def test_a_long_chain_beside_a_scope_is_linear_work() -> None:
    def work(length: int) -> int:
        homes = {i: ("a",) if i < 2 else () for i in range(length)}
        pairs = [(i, i + 1) for i in range(length - 1)]
        return sum(lines_run(lambda: _untangled(homes, pairs)).values())

    assert work(400) < 3 * work(200)
