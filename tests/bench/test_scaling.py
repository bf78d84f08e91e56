"""What a user waits for grows as the graph does. Counted, not timed: so nothing here can fail on a
busy machine, and what grows faster is named."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.bench.scaling import Stages, exponent
from tests.bench.shapes import SHAPES
from tests.support.work import lines_run

SMALL = 80  # operations; twice as many are twice the work
SLACK = 150  # lines


def work(shape: str, ops: int) -> dict[str, Counter[str]]:
    """Stage -> the lines that it runs, by function; what is remembered from graph to graph is
    there."""
    Stages(SHAPES[shape](ops), lambda work: work())
    return Stages(SHAPES[shape](ops), lines_run).costs


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_operations_are_twice_the_work(shape: str) -> None:
    small, large = work(shape, SMALL), work(shape, 2 * SMALL)
    grown = [
        f"{stage}: {function}: {small[stage][function]} lines, then {lines}"
        for stage, counts in large.items()
        for function, lines in counts.items()
        if lines > 2.7 * small[stage][function] + SLACK
    ]
    assert not grown


def test_the_exponent_is_of_the_last_two_sizes() -> None:
    assert exponent({1_000: 0.1, 10_000: 1.0, 100_000: 100.0}) == pytest.approx(2)
    assert exponent({1_000: 0.1}) is None
    assert exponent({1_000: 0.001, 10_000: 0.01}) is None  # too short to tell
