"""What was looked at in some steps is found there, and in bins, and held until the next look."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.debug.breaks.missing_number import NOT_THERE, is_not_there
from gradstep.gui.model import sampled_points
from gradstep.gui.model.sampled_points import SampledPoints


@given(seed=st.integers(0, 9999), parts=st.integers(1, 6), most=st.integers(1, 300))
def test_looks_are_where_they_were(seed: int, parts: int, most: int) -> None:
    dice, points, model = np.random.default_rng(seed), SampledPoints(), dict[int, float]()
    for _ in range(parts):  # on from the end, or over what was there
        first = max(points.stop + int(dice.integers(-60, 60)), 0)
        steps = first + np.cumsum(dice.integers(1, 9, int(dice.integers(1, 400))))
        odd = dice.random(len(steps))
        numbers = np.where(
            odd < 0.05, np.nan, np.where(odd < 0.1, NOT_THERE, dice.random(len(odd)))
        )
        points.put(steps, numbers)
        model = {step: x for step, x in model.items() if step < steps[0]}
        model |= dict(zip(steps.tolist(), numbers.tolist(), strict=True))
    assert points.steps.tolist() == [*model]
    assert (points.first, points.stop) == (min(model), max(model) + 1)
    for step in dice.integers(points.first - 3, points.stop + 3, 20).tolist():
        before = [s for s in model if s <= step]
        there = before and step < points.stop
        assert points.looked_at(step) == (before[-1] if there else -1)
        np.testing.assert_equal(points.at(step), model[before[-1]] if there else NOT_THERE)
    start, stop = sorted(dice.integers(points.first, points.stop, 2).tolist())
    found = points.stretch(start, stop, most)
    assert len(found.steps) <= max(most, 64) + 3
    wanted = [x for s, x in model.items() if start <= s <= stop and np.isfinite(x)]
    if wanted:
        assert np.nanmax(found.high) >= max(wanted)
        assert np.nanmin(found.low) <= min(wanted)
    wrong = [s for s, x in model.items() if start <= s <= stop and np.isnan(x)]
    computed = [s for s in wrong if not is_not_there(np.array([model[s]]))[0]]
    assert found.wrong.any() or not computed


def test_the_oldest_go_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampled_points, "MOST", 1000)
    points = SampledPoints()
    for first in range(0, 50_000, 1000):
        steps = np.arange(first, first + 1000, 10)
        points.put(steps, steps.astype(float))
    assert len(points) <= 1000
    assert points.stop == 49_991
    assert points.at(points.first + 5) == points.first
    np.testing.assert_array_equal(points.numbers, points.steps)
