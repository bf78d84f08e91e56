"""Rows that go over parts of their arrays one after the other give what whole rows give."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

native = pytest.importorskip(
    "gradstep_native", reason="the extension in native/ is not built: ./dev native"
)
LENGTH, MARGIN = 50, 6
FUNCTIONS = (np.add, np.multiply, np.subtract, np.maximum, np.negative, np.square)
PLACES = st.tuples(st.integers(0, 3), st.sampled_from([0, 0, 0, 1, 2, MARGIN]))


@st.composite
def chains(draw: st.DrawFn) -> list[tuple[np.ufunc, int, list[tuple[int, int]]]]:
    """Functions of arrays of a length, each by which memory it lies in and how far behind its
    beginning; an offset of MARGIN stands for a single number."""
    made = []
    for _ in range(draw(st.integers(2, 8))):
        function = draw(st.sampled_from(FUNCTIONS))
        length = draw(st.sampled_from([LENGTH, LENGTH, LENGTH, LENGTH - 3]))
        made.append((function, length, [draw(PLACES) for _ in range(function.nargs)]))
    return made


def bound(memory: list[np.ndarray], chain: list[Any]) -> list[Callable[[], Any]]:
    calls = []
    for function, length, places in chain:
        arrays = [
            memory[which][MARGIN:][:1].reshape(())
            if offset == MARGIN and number < len(places) - 1
            else memory[which][offset % MARGIN :][:length]
            for number, (which, offset) in enumerate(places)
        ]
        calls.append(partial(function, *arrays[:-1], out=arrays[-1]))
    return calls


@settings(max_examples=200)
@given(chains(), st.sampled_from([1, 8, 64]), st.sampled_from(["float32", "float64", "int32"]))
def test_chains_on_overlapping_arrays(chain: list[Any], part: int, dtype: str) -> None:
    start = np.random.default_rng(len(chain)).integers(-3, 4, (4, LENGTH + MARGIN)).astype(dtype)
    results = []
    for by_table in (False, True):
        memory = [x.copy() for x in start]
        calls = bound(memory, chain)
        with np.errstate(all="ignore"):
            if by_table:
                native.Table(calls, part).run()
            else:
                for call in calls:
                    call()
        results.append([x.tobytes() for x in memory])
    assert results[0] == results[1]


def test_large_arrays_are_gone_over_in_parts() -> None:
    """In one range and in several, with one among them that is not to be cut."""
    size = 100_003
    x, y, z = (np.random.default_rng(n).normal(size=size).astype(np.float32) for n in range(3))
    a, b, flags = np.empty_like(x), np.empty_like(x), np.empty(size, bool)
    calls = [
        partial(np.multiply, x, y, a),
        partial(np.add, a, z, a),
        partial(np.greater, a, np.float32(0).reshape(()), flags),
        partial(np.tanh, a, b),
        partial(np.subtract, b, a, b),
        partial(np.negative, b, a),
    ]
    for call in calls:
        call()
    want = a.tobytes(), b.tobytes(), flags.tobytes()
    for array in (a, b, flags):
        array[...] = 0
    table = native.Table(calls)
    assert table.run() == (6, None)
    assert (a.tobytes(), b.tobytes(), flags.tobytes()) == want
    for array in (a, b, flags):
        array[...] = 0
    assert [table.run(n, n + 2)[0] for n in (0, 2, 4)] == [2, 2, 2]
    assert (a.tobytes(), b.tobytes(), flags.tobytes()) == want
