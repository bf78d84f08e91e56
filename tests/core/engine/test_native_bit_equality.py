"""Plans with and without the native extension: the same values, errors, variables to the bit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.engine.calls import call_loop
from gradstep.core.engine.calls.native_table import Table
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.run.feed_values import infer_fed_types
from gradstep.core.engine.run.recording import Recording
from gradstep.core.engine.run.step_costs import measure
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.native_extension import extension
from tests.support.layouts import EXACT, Bits, Case, assert_same, bits, debugged, passes, run
from tests.support.random_networks import networks
from tests.support.random_programs import programs
from tests.support.small_workloads import WORKLOADS, workload

pytestmark = pytest.mark.skipif(
    extension().make is None, reason=f"gradstep-native: {extension().why_not}"
)
FEW = int(os.environ.get("GRADSTEP_NATIVE_CASES", "25"))  # ./dev native --check draws more
FITTING = [name for name in WORKLOADS if name != "w8"]  # which gathers, and sums rows
anything = st.one_of(networks(), programs())


@contextmanager
def without() -> Iterator[None]:
    with patch.object(call_loop, "table_of", lambda calls: None):
        yield


@contextmanager
def tables() -> Iterator[list[Table]]:
    """Those that are made meanwhile."""
    made: list[Table] = []
    make = call_loop.table_of

    def note(calls: Any) -> Table | None:
        table = make(calls)
        made.extend([] if table is None else [table])
        return table

    with patch.object(call_loop, "table_of", note):
        yield made


@pytest.mark.parametrize("fast", [False, True])
@given(case=anything)
@settings(max_examples=FEW)
@pytest.mark.slow
def test_runs_agree(fast: bool, case: Case) -> None:
    with passes(EXACT):
        with without():
            want = run(case, fast)
        assert_same(want, run(case, fast))


@given(anything)
@settings(max_examples=FEW)
@pytest.mark.slow
def test_the_debugger_agrees(case: Case) -> None:
    with without():
        want = debugged(case)
    assert_same(want, debugged(case))


def recorded(case: Case) -> tuple[Recording, VariableStore]:
    """Ready for its third run, which is the first that both ways round are fast in."""
    plan = compile_plan(case.graph, case.fetches, case.targets, infer_fed_types(case.feeds))
    recording, store = Recording(plan, NumpyBackend()), VariableStore(NumpyBackend(), case.initial)
    recording.feed(case.feeds)
    for _ in range(3):
        recording.begin(store)
        recording.keep(store, recording.run(0, len(plan.steps))[0])
    recording.begin(store)
    return recording, store


def in_strides(case: Case, stride: int) -> list[list[Bits]]:
    """What each step has made when a run stops behind it, every so many steps."""
    recording, _ = recorded(case)
    steps = recording.plan.steps
    found = []
    for start in range(0, len(steps), stride):
        stop = min(start + stride, len(steps))
        assert recording.run(start, stop) == (stop, None)
        made = (recording.value(v) for step in steps[start:stop] for v in step.writes)
        found.append([bits(x) for x in made if isinstance(x, np.ndarray)])
    return found


@pytest.mark.parametrize("name", FITTING)
def test_a_step_is_a_step(name: str) -> None:
    case = workload(name)
    with without():
        want = in_strides(case, 1)
    with tables() as made:
        assert in_strides(case, 1) == want
    assert made
    assert [*chain(*in_strides(case, 7))] == [*chain(*want)]


def test_small_plans_run_in_c() -> None:
    """Of the chain of 1,000 operations, all but what sums it up."""
    with tables() as made:
        run(workload("w2"), fast=True)
    (table,) = made
    assert table.kinds().count("call") == 0


def test_a_profile_times_the_rows_that_run() -> None:
    case = workload("w2")
    with tables() as made:
        recording, store = recorded(case)
        profile = measure(recording, store, runs=3)
    assert made
    assert sum(cost.calls for cost in profile.costs) == len([*recording.calls])
    table = made[0]
    _, first = next(iter(recording.calls_as_made))
    assert first.func.__self__ in made, table  # type: ignore[attr-defined]


def test_what_is_off_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADSTEP_NATIVE", "0")
    extension.cache_clear()
    try:
        assert extension().make is None
        assert "GRADSTEP_NATIVE" in extension().why_not
        with tables() as made:
            run(workload("w1"), fast=True)
        assert not made
    finally:
        monkeypatch.undo()
        extension.cache_clear()
