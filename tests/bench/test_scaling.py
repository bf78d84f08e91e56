"""What a user waits for grows as the graph does. Counted, not timed: so nothing here can fail on a
busy machine, and what grows faster is named."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from itertools import pairwise

import pytest

from gradstep.core.persistent import overlaid_mapping
from tests.bench.growth_figure import STAGES, exponent_of, figure
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
@pytest.mark.slow
def test_twice_the_operations_are_twice_the_work(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overlaid_mapping, "_SMALL", 1 << 30)  # both are edited as small ones
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


def test_the_figure_has_every_stage_once_and_no_name_over_another() -> None:
    stages = set(Stages(SHAPES["chain"](40), lines_run).costs)
    assert set(STAGES) <= stages
    costs = {size: dict.fromkeys(STAGES, size * 1e-5) for size in (1_000, 10_000, 50_000)}
    root = ET.fromstring(figure({"chain": costs, "tree": costs}))
    svg = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{svg}polyline")) == 2 * len(STAGES)
    texts = [(text.text or "", text.attrib) for text in root.iter(f"{svg}text")]
    names = [(a["x"], float(a["y"])) for text, a in texts if text.partition(" 1.00")[0] in STAGES]
    assert len(names) == 2 * len(STAGES)
    for column in {x for x, _ in names}:
        ys = sorted(y for x, y in names if x == column)
        assert min(b - a for a, b in pairwise(ys)) >= 12


def test_the_exponent_of_a_figure_leaves_out_what_is_too_short() -> None:
    assert exponent_of({1_000: 0.001, 10_000: 0.1, 100_000: 1.0}) == pytest.approx(1)
    assert exponent_of({1_000: 0.001, 10_000: 0.1}) is None
