"""A dense curve is a stroke for each column of pixels: no spike is lost, and no gap is left."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
from hypothesis import given
from PySide6.QtGui import QColor

from gradstep.core.debug.breaks.missing_number import NOT_THERE
from gradstep.gui.model.curve_points import Points
from gradstep.gui.model.sampled_points import SampledPoints
from gradstep.gui.panels.training.curve_line import CurveLine, columns

COUNT = 20_000


def points(seed: int) -> Points:
    made = Points()
    numbers = np.random.default_rng(seed).standard_normal(COUNT)
    numbers[1234], numbers[4321] = 50, -70
    made.put(0, numbers)
    return made


@given(st.integers(0, 9), st.integers(200, 2000), st.integers(0, 15_000))
def test_no_spike_is_lost_and_no_gap_is_left(seed: int, pixels: int, start: int) -> None:
    known = points(seed)
    stretch = known.stretch(start, start + 5000, 4 * pixels)
    pixel = 5000 / pixels
    found = columns(stretch, pixel)
    if found is None:
        assert stretch.size > pixel
        return
    x, low, high = found
    numbers = known.numbers[stretch.steps[0] : stretch.steps[-1] + stretch.size]
    assert (low.min(), high.max()) == (numbers.min(), numbers.max())
    assert np.allclose(np.diff(x) / pixel, 1)
    assert (low[1:] <= high[:-1]).all()
    assert (low[:-1] <= high[1:]).all()
    columns_of = np.floor(stretch.steps / pixel)
    assert len(x) == len(np.unique(columns_of))
    assert (abs(x - (np.unique(columns_of) + 0.5) * pixel) < 1e-6).all()


def test_where_steps_were_left_out_lines_lead_over_them(qapp: object) -> None:
    """As of norms, which a long training looks at in some of its steps."""
    sparse, whole = SampledPoints(), np.arange(0, COUNT, dtype=np.int64)
    looked = np.concatenate([whole[:5000], whole[5000::700]])
    sparse.put(looked, np.random.default_rng(0).standard_normal(len(looked)))
    assert columns(sparse.stretch(0, COUNT, 4000), 20.0) is None
    gaps = Points()
    gaps.put(0, np.where(whole % 900 < 300, 1.0, NOT_THERE))
    assert columns(gaps.stretch(0, COUNT, 4000), 20.0) is None


def test_a_column_has_the_same_steps_wherever_the_view_is() -> None:
    known = points(1)
    one, other = (columns(known.stretch(at, at + 9000, 4000), 10.0) for at in (2000, 3000))
    assert one is not None
    assert other is not None
    both = np.intersect1d(one[0][2:-2], other[0][2:-2])
    assert len(both) > 500
    for kind in (1, 2):
        first, second = (each[kind][np.isin(each[0], both)] for each in (one, other))
        assert np.array_equal(first, second)


def test_what_lies_between_two_steps(qapp: object) -> None:
    line = CurveLine(QColor("white"), 1)
    assert line.between(0, 9) is None
    line.show_line(np.arange(10.0), np.array([0, 5, 1, np.nan, 2, 9, 0, 0, 0, 0]), (1, 1))
    assert line.between(2.5, 4.5) == (1, 9), "with the points that lines lead to"
    assert line.between(2.2, 2.8) == (1, 1)
    line.show_columns(np.arange(3.0), np.zeros(3), np.array([1.0, 2, 3]), (1, 1))
    assert line.between(-1, 5) == (0, 3)
    assert line.boundingRect().contains(0, 0)
    assert line.boundingRect().contains(2, 3)
