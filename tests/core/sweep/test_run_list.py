"""Which runs there are: all combinations, or some that are drawn, the same each time."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.errors import GradstepError
from gradstep.core.sweep.run_list import MOST, grid, sample, varied
from gradstep.core.sweep.setting_syntax import Setting, parse_setting

VALUES = st.lists(st.integers(0, 99).map(str), min_size=1, max_size=4, unique=True)


@given(st.lists(VALUES, min_size=1, max_size=3), st.integers(0, 3))
def test_a_grid_has_each_combination_once(lists: list[list[str]], seeds: int) -> None:
    settings = [Setting(f"s{n}", tuple(values)) for n, values in enumerate(lists)]
    runs = grid(settings, range(1, seeds + 1))
    found = [(*run.values.values(), run.seed) for run in runs]
    assert found == [*product(*lists, [*range(1, seeds + 1)] or [None])]
    assert [run.number for run in runs] == [*range(1, len(runs) + 1)]
    assert varied(runs) == [s.name for s in settings if len(s.values) > 1]


@given(st.integers(0, 1 << 40), st.integers(1, 20))
def test_the_same_seed_draws_the_same(seed: int, count: int) -> None:
    settings = [parse_setting("a=1e-4:1:log"), parse_setting("b=3,5,7")]
    runs = sample(settings, count, seed, ())
    assert runs == sample(settings, count, seed, ())
    assert len(runs) == count
    assert all(1e-4 <= float(r.values["a"]) <= 1 and r.values["b"] in "357" for r in runs)
    assert runs != sample(settings, count, seed + 1, ())


def test_many_draws_are_spread() -> None:
    runs = sample([parse_setting("a=1e-4:1:log"), parse_setting("b=3,5,7")], 600, 1, ())
    below = sum(float(run.values["a"]) < 1e-2 for run in runs)
    assert 250 < below < 350  # half of the decades
    assert all(150 < sum(r.values["b"] == b for r in runs) < 250 for b in "357")


def test_what_cannot_be_made_is_said() -> None:
    for settings, words in (
        ([parse_setting("a=1:2:log")], "does not say how many"),
        ([parse_setting("a=1,2"), parse_setting("a=3")], "set twice"),
        ([parse_setting(f"{name}=1:100:100") for name in "abc"], f"at most {MOST:,}"),
    ):
        with pytest.raises(GradstepError, match=words):
            grid(settings, ())
    with pytest.raises(GradstepError, match="at most"):
        sample([parse_setting("a=1:2")], MOST, 0, (1, 2))
