"""Axes of the sweep panel: where numbers stand, and what is written beside them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.gui.panels.sweep.plot_scale import PlotScale, tick_text

NUMBERS = st.lists(st.floats(-1e9, 1e9) | st.sampled_from([0.0, math.nan, math.inf]), max_size=12)


@given(NUMBERS, st.integers(1, 8))
def test_all_numbers_have_a_place_in_their_order(numbers: list[float], most: int) -> None:
    scale = PlotScale.of(numbers)
    shares = scale.shares(np.array(numbers, float))
    finite = [n for n in numbers if math.isfinite(n)]
    assert [math.isnan(s) for s in shares] == [not math.isfinite(n) for n in numbers]
    known = shares[~np.isnan(shares)]
    assert all(-1e-9 <= share <= 1 + 1e-9 for share in known)
    assert all(np.diff(known[np.argsort(finite, kind="stable")]) >= -1e-9)
    ticks = scale.ticks(most)
    assert len(ticks) <= most + 1
    assert all(-1e-6 <= scale.share(tick) <= 1 + 1e-6 for tick in ticks)


def test_numbers_of_many_sizes_stand_on_a_logarithmic_axis() -> None:
    scale = PlotScale.of([0.001, 1, 1000])
    assert [scale.share(n) for n in (0.001, 1, 1000)] == pytest.approx([0, 0.5, 1])
    assert scale.share(0) == 0
    assert not PlotScale.of([1, 2, 3]).log
    assert not PlotScale.of([-1, 1000]).log
    assert PlotScale.of([1e-30, 1]).low == 1e-6  # what is smaller stands at its end
    assert PlotScale.of([7]).share(7) == 0.5


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.001, "0.001"), (20_000, "20k"), (1e-6, "1e-6"), (0, "0"), (2.5, "2.5"), (3e7, "3e7")],
)
def test_ticks_are_written_as_people_do(number: float, text: str) -> None:
    assert tick_text(number) == text
