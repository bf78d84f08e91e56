"""Few points stand for many: no spike is lost, and a step is where it was."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.gui.model import curve_points
from gradstep.gui.model.curve_points import Points, smoothed

parts = st.lists(st.tuples(st.integers(-40, 40), st.integers(1, 700)), min_size=1, max_size=8)


@given(parts=parts, most=st.integers(1, 400), seed=st.integers(0, 9))
def test_bins_hold_what_is_in_their_steps(
    parts: list[tuple[int, int]], most: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    points, model = Points(), dict[int, float]()
    for offset, count in parts:  # on from the end, or with a gap, or over what was there
        step = max(points.stop + offset, 0)
        numbers = np.where(rng.random(count) < 0.05, np.nan, rng.normal(size=count))
        points.put(step, numbers)
        model = {s: x for s, x in model.items() if s < step and s >= points.first}
        model |= dict(zip(range(step, step + count), numbers.tolist(), strict=True))
    for step in (points.first, points.stop - 1, points.stop, -1):
        np.testing.assert_equal(points.at(step), model.get(step, np.nan))
    start, stop = sorted(rng.integers(points.first - 5, points.stop + 5, 2).tolist())
    found = points.stretch(start, stop, most)
    assert len(found.steps) <= max(most, 64) + 1
    assert found.size * max(most, 1) <= max(8 * (stop - start + 2), 1) or found.size == 1
    covered = set[int]()
    for first, low, high in zip(found.steps.tolist(), found.low, found.high, strict=True):
        inside = [model.get(s, np.nan) for s in range(first, min(first + found.size, points.stop))]
        known = [x for x in inside if not np.isnan(x)]
        np.testing.assert_equal((low, high), (min(known), max(known)) if known else (np.nan,) * 2)
        covered |= {*range(first, first + found.size)}
    wanted = {s for s in range(start, stop + 1) if points.first <= s < points.stop}
    assert wanted <= covered


def test_the_oldest_go_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curve_points, "MOST", 1000)
    points = Points()
    for step in range(0, 5000, 100):
        points.put(step, np.arange(step, step + 100, dtype=float))
    assert len(points) <= 1000
    assert points.stop == 5000
    assert points.at(points.first) == points.first
    assert np.isnan(points.at(points.first - 1))
    assert points.stretch(0, 5000, 20).high[-1] == 4999


def test_a_gap_that_is_longer_than_what_is_kept_takes_no_memory() -> None:
    points = Points()
    points.put(0, np.arange(100.0))
    points.put(10**12, np.array([5.0]))
    assert (points.first, points.stop, points.at(10**12)) == (10**12, 10**12 + 1, 5.0)
    assert points.stretch(0, 2e12, 20).high[-1] == 5.0


@pytest.mark.parametrize("steps", [1, 10, 64])
def test_smoothing_is_the_mean_of_the_steps_before(steps: int) -> None:
    points = Points()
    numbers = np.random.default_rng(1).normal(size=300)
    numbers[7] = np.nan
    points.put(0, numbers)
    found = smoothed(points.stretch(0, 300, 400), steps)
    expected = [np.nanmean(numbers[max(i - steps + 1, 0) : i + 1]) for i in range(300) if i != 7]
    np.testing.assert_allclose(np.delete(found, 7), expected)
