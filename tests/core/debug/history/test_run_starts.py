"""Where runs are computed again from: evenly spread, in little memory, first and last always."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.debug.history.run_starts import RunStarts
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.variable_store import VariableStore

SIZE = 40  # bytes


def store(run: int) -> VariableStore:
    return VariableStore(NumpyBackend(), {"w": np.full(SIZE // 4, run, np.float32)})


@given(gaps=st.lists(st.integers(1, 5), max_size=60), limit=st.integers(0, 600))
def test_they_take_so_many_bytes_and_lie_evenly(gaps: list[int], limit: int) -> None:
    starts, given_ = RunStarts(0, store(0)), [0]
    for gap in gaps:
        run = given_[-1] + gap
        given_.append(run)
        starts.keep(run, store(run), limit)
        there = [run for run in given_ if run in starts]
        assert {0, run} <= {*there}
        assert SIZE * (len(there) - 2) <= max(limit - SIZE, 0)
        assert all(kept % starts.stride == 0 for kept in there[:-1])
        for asked in range(run + 3):
            nearest = starts.before(asked)
            assert nearest == max(kept for kept in there if kept <= asked)
            assert (starts[nearest]["w"] == nearest).all()
            later = starts.after(asked)
            assert later == min((kept for kept in there if kept > asked), default=None)


def test_what_is_dropped_counts_no_more() -> None:
    starts = RunStarts(0, store(0))
    for run in range(1, 6):
        starts.keep(run, store(run), 1 << 20)
    starts.begin_at(3, starts[3])
    assert [run for run in range(7) if run in starts] == [3, 4, 5]
    starts.keep(6, store(6), 3 * SIZE)
    assert [run for run in range(7) if run in starts] == [3, 4, 5, 6]
    assert not starts.wants(2)
