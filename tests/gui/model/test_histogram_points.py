"""What is known of a tensor's histograms stays small, and goes on where it ended."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from gradstep.gui.model.histogram_points import MOST, HistogramPoints


def rows(steps: list[int]) -> np.ndarray:
    return np.array([[step, step + 1, 0, 7] for step in steps], np.float32).reshape(-1, 4)


@given(st.lists(st.tuples(st.integers(0, 4000), st.integers(1, 300)), max_size=12))
def test_they_are_few_ascending_and_of_their_steps(told: list[tuple[int, int]]) -> None:
    points, last = HistogramPoints(), -1
    for first, count in told:
        steps = [*range(first, first + count)]
        points.put(np.array(steps), rows(steps))
        last = steps[-1]
        assert len(points) <= MOST
        assert points.stop == last + 1
        assert (np.diff(points.steps) > 0).all()
        assert points.rows[:, 0].tolist() == points.steps.tolist()
        assert points.span == (float(points.first), float(last + 1))
        for step in (points.first, last, (points.first + last) // 2):
            at = points.looked_at(step)
            assert points.steps[at] == max(s for s in points.steps.tolist() if s <= step)
        assert points.looked_at(last + 1) == -1


def test_a_long_training_is_seen_from_its_beginning() -> None:
    points = HistogramPoints()
    for start in range(0, 5000, 50):
        steps = [*range(start, start + 50)]
        points.put(np.array(steps), rows(steps))
    assert points.first == 0
    assert len(points) > MOST / 2
    assert {*np.diff(points.steps)[:-1].tolist()} == {16}
    assert points.steps[-1] == 4999


def test_nothing_is_known_at_first() -> None:
    points = HistogramPoints()
    points.put(np.zeros(0, np.int64), np.zeros((0, 4), np.float32))
    assert (len(points), points.first, points.stop, points.looked_at(0)) == (0, 0, 0, -1)
    assert points.span == (0.0, 1.0)
