"""Where plots stand: none is too narrow to be read; what has no room is scrolled."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given

from gradstep.gui.panels.training.plot_groups import (
    LEAST_HEIGHT,
    LEAST_WIDTH,
    PlotKey,
    least_height,
    places,
)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["", "s", "t"])), max_size=9),
    st.integers(50, 2000),
    st.integers(50, 900),
)
def test_each_has_a_place_that_is_wide_enough(
    names: list[tuple[str, str]], width: int, height: int
) -> None:
    keys = [PlotKey(*name) for name in sorted(names)]
    found = places(keys, width, height)
    assert len({*found}) == len(found) == len(keys)
    assert found == sorted(found)
    columns = 1 + max((column for _, column in found), default=0)
    assert columns == 1 or columns * LEAST_WIDTH <= width
    rows = 1 + max((row for row, _ in found), default=0)
    if rows > 1 and rows * LEAST_HEIGHT > height:
        assert least_height(found) >= rows * 90
