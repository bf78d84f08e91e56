"""Histograms count each number once, and a long training makes few of them."""

from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gradstep.core.debug.breaks import histograms as module
from gradstep.core.debug.breaks.histograms import BINS, COLUMNS, MOST, Histograms, histogram
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.training import Wish
from gradstep.core.errors import GradstepError
from tests.core.debug.motion.test_training import noisy
from tests.support.drawn_share import share

NUMBERS = hnp.arrays(
    st.sampled_from([np.float32, np.float64, np.int32, np.uint8, np.bool_]),
    hnp.array_shapes(min_dims=0, max_dims=3, max_side=12),
)


@given(NUMBERS)
def test_each_number_is_counted_once_in_its_bin(array: np.ndarray) -> None:
    row = histogram(array)
    numbers = array.reshape(-1).astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    assert row.shape == (COLUMNS,)
    assert row[2] == len(numbers) - len(finite)
    assert row[3:].sum() == len(finite)
    if not len(finite):
        assert np.isnan(row[:2]).all()
        return
    low, high = finite.min(), finite.max()
    assert row[:2].tolist() == [low, high]
    finite, low, high = finite / 4, low / 4, high / 4  # the whole may be beyond the largest number
    if not (high - low) / BINS > 1e-300:
        return  # its bins have no width
    expected, _ = np.histogram(finite, BINS, (low, high))
    # A number on the edge of two bins may be in either of them.
    assert np.abs((row[3:] - expected).cumsum()).max() <= _on_edges(finite, low, high)


def test_numbers_that_are_farther_apart_than_any_number_is_large() -> None:
    row = histogram(np.array([-1.7e308, 0.0, 1.7e308, 1.7e308]))
    assert row[3:].tolist() == [1] + [0] * 31 + [1] + [0] * 30 + [2]


def _on_edges(numbers: np.ndarray, low: float, high: float) -> int:
    places = (numbers - low) / (high - low) * BINS
    return int(np.sum(np.abs(places - np.round(places)) < 1e-6))


def test_of_many_numbers_some_are_counted() -> None:
    many = np.random.default_rng(1).normal(size=1 << 18)
    row = histogram(many)
    assert len(many) / 4 < row[3:].sum() < len(many)
    share = row[3:].cumsum() / row[3:].sum()
    assert abs(np.interp(0, np.linspace(row[0], row[1], BINS), share) - 0.5) < 0.03


def spread(session: DebugSession, texts: list[str], runs: int) -> dict[int, np.ndarray]:
    found: dict[int, np.ndarray] = {}
    wanted = Histograms(session.curves(texts))
    session.train(
        Wish(runs, session.curves([]), histograms=wanted, spread=found.__setitem__, share=1.0)
    )
    return found


def test_they_are_those_of_the_run_that_they_are_said_to_be_of() -> None:
    session = DebugSession(noisy())
    found = spread(session, ['x["w:0"]', 'grad["w:0"]', 'update["w:0"]'], 12)
    assert [*found] == [*range(12)]
    for run in (3, 11, 0):
        session.run_to(f"{run}:{len(session.plan.steps)}")
        frame = session.frame()
        before = session.frame(run, 0).value("w")
        now, gradient = frame.value("w"), frame.gradient("w")
        assert now is not None
        assert gradient is not None
        assert before is not None
        for row, array in zip(found[run], (now, gradient, now - before), strict=True):
            np.testing.assert_array_equal(row, histogram(array).astype(np.float32))


@settings(max_examples=share(15), deadline=None)
@given(st.integers(1, 9), st.integers(1, 300))
@pytest.mark.slow
def test_a_long_training_makes_few(most: int, runs: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST", most)
        made = [*spread(DebugSession(noisy()), ['x["w:0"]'], runs)]
    assert made[0] == 0
    assert len(made) <= most * (2 + np.log2(1 + runs / most)) + 2  # the last one is recorded
    gaps = np.diff(made[:-1])
    assert (gaps[1:] >= gaps[:-1]).all()
    assert all(run % gap == 0 for run, gap in zip(made[1:-1], gaps, strict=True))


@pytest.mark.parametrize(("runs", "stride"), [(0, 1), (200, 1), (2000, 8), (10**8, 16)])
def test_they_are_spread_over_the_runs_that_are_asked_for(runs: int, stride: int) -> None:
    session = DebugSession(noisy())
    found: list[int] = []
    wanted = Histograms(session.curves(['x["w:0"]']), runs)
    assert wanted.stride == stride
    wish = Wish(60, session.curves([]), histograms=wanted, spread=lambda run, _: found.append(run))
    session.train(wish)
    assert found == [run for run in range(60) if run % stride == 0]


def test_what_is_no_tensor_of_numbers_is_refused_and_what_is_not_computed_is_said() -> None:
    session = DebugSession(noisy())
    with pytest.raises(GradstepError, match="do not compute 'nothing'"):
        session.curves(['x["nothing:0"]'])
    wanted: Any = Histograms(session.curves(['x["w:0"]']))
    wanted.tensors = _Texts()
    with pytest.raises(GradstepError, match="holds no real numbers"):
        wanted.read(None)
    assert MOST > BINS


class _Texts:
    """What gives a tensor of texts."""

    texts = ('x["s"]',)

    def arrays(self, values: object) -> list[np.ndarray]:
        return [np.array([b"a"], object)]
