"""Planes side by side: within the room, all alike, no smaller than can be made out."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from gradstep.gui.panels.tensor.picture_fit import GAP, fit, label_height

SIDES = st.integers(1, 300)


@example(room=(30, 30), shape=(1, 31), total=1, stretch=12.0)
@given(st.tuples(st.integers(30, 2000), st.integers(30, 1000)), st.tuples(SIDES, SIDES),
       st.integers(0, 2000), st.sampled_from([1.0, 12.0]))  # fmt: skip
def test_what_is_shown_lies_in_the_room(
    room: tuple[int, int], shape: tuple[int, int], total: int, stretch: float
) -> None:
    found = fit(room, shape, total, stretch)
    assert 1 <= found.planes <= max(total, 1)
    assert found.width > 0
    assert found.height > 0
    label = label_height(room[1], total)
    across = min(found.columns, found.planes)
    lines = -(-found.planes // found.columns)
    assert across * found.width + (across - 1) * GAP <= room[0] + 1e-6
    assert lines * (found.height + label) + (lines - 1) * GAP <= room[1] + 1e-6
