"""Random networks and programs: both layouts, whatever the passes, show the same bits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.layouts import (
    EXACT,
    Case,
    assert_same,
    check,
    passes,
    run,
    run_once,
    session,
)
from tests.support.random_networks import networks
from tests.support.random_programs import programs

anything = st.one_of(networks(), programs())
some_passes = st.sets(st.sampled_from(EXACT))


@given(anything)
@pytest.mark.slow
def test_layouts_and_debugger_agree(case: Case) -> None:
    check(case)


@given(anything, some_passes)
@pytest.mark.slow
def test_any_set_of_passes_gives_the_same(case: Case, names: set[str]) -> None:
    want = run(case, fast=False)
    with passes(names):
        assert_same(want, run(case, fast=True), f"passes {sorted(names)}")


@given(anything, st.data())
@pytest.mark.slow
def test_what_is_fetched_changes_no_bit(case: Case, data: st.DataObject) -> None:
    """Other fetches in every run of one session, whose variables go on."""
    plain, fast = session(case, fast=False), session(case, fast=True)
    with passes(EXACT):
        for _ in range(3):
            some = data.draw(st.permutations(case.fetches).map(lambda x: x[: len(x) // 2 + 1]))
            part = case.fetching(some)
            assert_same([run_once(plain, part)], [run_once(fast, part)], f"fetches {some}")
