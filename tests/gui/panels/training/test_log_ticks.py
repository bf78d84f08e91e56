"""The numbers of a logarithmic axis: round, in view, and never over each other."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.gui.panels.training.log_ticks import log_ticks

EXPONENTS = st.floats(-320, 310)


@given(EXPONENTS, st.floats(1e-3, 600), st.integers(1, 40))
def test_none_covers_another(low: float, width: float, most: int) -> None:
    ticks = log_ticks(low, low + width, most)
    assert all(low <= tick <= low + width for tick in ticks)
    pairs = pairwise(ticks)
    assert all(b - a >= width / most * (1 - 1e-9) for a, b in pairs)
    assert len(ticks) >= min(int(width), 1), "a whole decade has a number"


@pytest.mark.parametrize(
    ("low", "high", "most", "numbers"),
    [
        (-3, -1, 60, [x * 10**d for d in (-3, -2) for x in range(1, 10)] + [0.1]),
        (-3, -1, 10, [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1]),
        (-3, -1, 5, [0.001, 0.003, 0.01, 0.03, 0.1]),
        (-3, -1, 3, [0.001, 0.01, 0.1]),
        (-9, 1, 3, [1e-8, 1e-4, 1]),
    ],
)
def test_they_are_round(low: float, high: float, most: int, numbers: list[float]) -> None:
    assert [10**tick for tick in log_ticks(low, high, most)] == pytest.approx(numbers)


def test_no_room_no_numbers() -> None:
    assert log_ticks(0, 1, 0) == log_ticks(1, 1, 9) == log_ticks(0, float("inf"), 9) == []
