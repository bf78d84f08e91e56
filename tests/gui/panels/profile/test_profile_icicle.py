"""The icicle: tiles that add up, and ways through them by mouse and keys."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor

from gradstep.core.protocol.messages import ProfileRow
from gradstep.gui.look import theme
from gradstep.gui.model.cost_tree import leaves, total, tree
from gradstep.gui.panels.profile.icicle_layout import NARROW, Tile, lay_out
from gradstep.gui.panels.profile.profile_icicle import Icicle

LEFT, KEY = Qt.MouseButton.LeftButton, Qt.Key
PHASES = ("forward", "backward", "update")


def run_of(*rows: tuple[str, str, float]) -> Any:
    """A run of (operation, phase, microseconds)."""
    made = [
        ProfileRow(op=op, type="Mul", phase=phase, origin=op, seconds=1e-6 * n, bytes_made=int(n))
        for op, phase, n in rows
    ]
    return total("", tree(leaves(made, {}), "icicle"))


@pytest.fixture
def icicle(show: Callable[..., Any], qapp: Any) -> Any:
    theme.apply(qapp, theme.DARK)
    made = show(Icicle(lambda: theme.DARK), 416, 160)
    made.show_costs(
        run_of(
            ("conv/a", "forward", 30), ("conv/b", "forward", 10), ("loss", "forward", 20),
            ("conv/a", "backward", 40),
        ),
        "time",
    )  # fmt: skip
    return made


@pytest.fixture
def chosen(icicle: Icicle) -> list[str]:
    """What the icicle said was chosen."""
    found: list[str] = []
    icicle.chosen.connect(lambda cost: found.append(cost.name))
    return found


def middle(icicle: Icicle, name: str, phase: str = "forward") -> QPoint:
    tile = next(t for t in icicle.tiles if t.cost and t.cost.name == name and t.cost.phase == phase)
    return icicle.rect_of(tile).center().toPoint()


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "s/b", "s/c", "s/t/d"]),
            st.sampled_from(PHASES),
            st.floats(0, 1e6),
        ),
        min_size=1,
        max_size=40,
    ),
    st.floats(50, 2000),
    st.integers(1, 6),
)
def test_tiles_lie_within_their_parents(rows: list[Any], width: float, levels: int) -> None:
    tiles = lay_out(run_of(*rows), "time", width, levels)
    assert tiles[0].width == width
    assert max(tile.level for tile in tiles) < levels
    for number, tile in enumerate(tiles):
        below = [t for t in tiles if t.parent == number]
        assert sum(t.width for t in below) <= tile.width * (1 + 1e-9)
        for left, right in pairwise(below):
            assert left.x + left.width <= right.x + 1e-6
        for child in below:
            assert child.level == tile.level + 1
            assert child.x >= tile.x - 1e-6


def test_narrow_neighbours_are_one_tile() -> None:
    rows = [("big", "forward", 1000.0), *((f"op{i}", "forward", 1.0) for i in range(20))]
    tiles = lay_out(run_of(*rows), "time", 400.0, 3)
    (rest,) = [tile for tile in tiles if tile.cost is None]
    assert rest.rest == 20
    assert all(tile.width >= NARROW for tile in tiles if tile.cost is not None)


def test_phases_keep_their_order_and_all_else_goes_by_size(icicle: Icicle) -> None:
    def level(number: int) -> list[tuple[str, float]]:
        found = [t for t in icicle.tiles if t.level == number and t.cost]
        return [(t.cost.label, round(t.width)) for t in found if t.cost]

    assert level(1) == [("forward", 240), ("backward", 160)]
    assert level(2) == [("conv", 160), ("loss", 80), ("conv", 160)]
    assert level(3) == [("a", 120), ("b", 40), ("∂ a · a", 160)]


def test_tiles_have_the_colours_of_their_phases(icicle: Icicle) -> None:
    picture = icicle.grab().toImage()

    def nearest(name: str, phase: str) -> str:
        at = middle(icicle, name, phase) + QPoint(0, 9)
        color = picture.pixelColor(at)
        return min(PHASES, key=lambda p: _distance(color, theme.DARK.phase(p)))

    assert nearest("conv/a", "forward") == "forward"
    assert nearest("∂ conv/a · a", "backward") == "backward"


def _distance(a: QColor, b: QColor) -> int:
    return sum(abs(x - y) for x, y in zip(a.getRgb()[:3], b.getRgb()[:3], strict=True))


def test_a_click_chooses_and_a_double_click_zooms(
    icicle: Icicle, chosen: list[str], qtbot: Any
) -> None:
    qtbot.mouseClick(icicle, LEFT, pos=middle(icicle, "conv/b"))
    assert chosen == ["conv/b"]
    qtbot.mouseDClick(icicle, LEFT, pos=middle(icicle, "conv"))
    assert icicle.whole.name == "conv"
    assert [round(t.width) for t in icicle.tiles] == [400, 300, 100]
    qtbot.keyClick(icicle, KEY.Key_Escape)
    assert icicle.whole.name == "forward"
    qtbot.mouseClick(icicle, Qt.MouseButton.BackButton, pos=QPoint(200, 20))
    assert icicle.whole.name == ""


def test_keys_walk_zoom_and_say_where_they_are(
    icicle: Icicle, chosen: list[str], qtbot: Any
) -> None:
    icicle.setFocus()
    for key in (KEY.Key_Down, KEY.Key_Right, KEY.Key_Left, KEY.Key_Down, KEY.Key_Right):
        qtbot.keyClick(icicle, key)
    assert chosen == ["forward", "backward", "forward", "conv", "loss"]
    assert icicle.accessibleDescription() == "loss, Mul · forward, 20.0 µs · 20.0 %"
    qtbot.keyClick(icicle, KEY.Key_Left)
    qtbot.keyClick(icicle, KEY.Key_Return)
    assert icicle.whole.name == "conv"
    qtbot.keyClick(icicle, KEY.Key_Down)
    assert chosen[-1] == "conv/a"
    qtbot.keyClick(icicle, KEY.Key_Up)
    qtbot.keyClick(icicle, KEY.Key_Return)
    assert icicle.whole.name == "forward", "Enter on the widest tile leads out of it"


def test_another_measurement_keeps_the_zoom(icicle: Icicle, qtbot: Any) -> None:
    qtbot.mouseDClick(icicle, LEFT, pos=middle(icicle, "conv"))
    icicle.show_costs(run_of(("conv/a", "forward", 3), ("conv/b", "forward", 1)), "time")
    assert (icicle.whole.name, round(1e6 * icicle.whole.seconds)) == ("conv", 4)
    icicle.show_costs(run_of(("x", "forward", 3)), "time")
    assert icicle.whole.name == "", "there is no such scope any more"


def test_it_tells_what_is_under_the_pointer(icicle: Icicle) -> None:
    tile = icicle.tile_at(middle(icicle, "conv/a"))
    assert tile is not None
    assert icicle.describe(tile) == "conv/a\nMul · forward\n30.0 µs · 30.0 %"
    assert icicle.tile_at(QPoint(2, 2)) is None


def test_a_run_without_time_is_drawn_too(icicle: Icicle) -> None:
    icicle.show_costs(run_of(("a", "forward", 0)), "time")
    assert isinstance(icicle.tiles[0], Tile)
    assert not icicle.grab().isNull()
