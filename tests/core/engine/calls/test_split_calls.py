"""Large calls in parts: the same bits in any number of threads, the same failures, no warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from gradstep.core.engine.calls import split_calls
from gradstep.core.engine.calls.call_loop import StepCalls
from gradstep.core.engine.calls.split_calls import Split, one_blas_thread, split_call
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.thread_pool import VARIABLE
from tests.support.layouts import Case, assert_same, run

THREADS = (1, 2, 3, 5)
_SAME = {"strides": [1, 1, 1, 1], "padding": "SAME"}
_random = np.random.default_rng(5)


def floats(*shape: int) -> np.ndarray:
    return _random.standard_normal(shape).astype(np.float32)


def large() -> Case:
    """Of every kind of work that is split, large enough for it."""
    b = GraphBuilder()
    x, k = b.placeholder("x", shape=(1100, 600)), b.placeholder("k", shape=(3, 3, 64, 64))
    y = tf.tanh(x * 1.5 + x[:, :1]) * tf.nn.relu(x)  # one after the other: blocks
    rows, halves = tf.reduce_sum(y, axis=1), tf.reduce_max(y, axis=0)
    taken = tf.gather(y, b.constant(np.arange(2000, dtype=np.int32) % 1000))
    images = tf.reshape(y[:512], [3, 40, 40, 64])
    z = tf.nn.conv2d(images, k, **_SAME)
    to_images = tf.nn.conv2d_backprop_input([3, 40, 40, 64], k, z, **_SAME)
    to_filter = tf.nn.conv2d_backprop_filter(images, [3, 3, 64, 64], z, **_SAME)
    product = tf.matmul(y, y, transpose_b=True)
    pairs = tf.reshape(y, [11, 100, 600])
    many = tf.matmul(pairs, pairs, transpose_b=True)
    fetched = (rows, halves, taken, z, to_images, to_filter, product, many, y)
    feeds = {x.ref: floats(1100, 600), k.ref: floats(3, 3, 64, 64)}
    return Case(b.build(), tuple(t.ref for t in fetched), (), feeds)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.slow
def test_threads_change_no_bit(fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    case = large()
    found = []
    for count in THREADS:
        monkeypatch.setenv(VARIABLE, str(count))
        found.append(run(case, fast=fast, runs=2))
    for count, other in zip(THREADS[1:], found[1:], strict=True):
        assert_same(found[0], other, f"{count} threads")


SMALL = {"_ELEMENTS": 20, "WORTH_SPLITTING": 40, "_PRODUCTS": 500, "_FEWEST": 4}
sizes = st.integers(1, 30)


def both(call: Callable[[], Any], place: np.ndarray) -> Iterator[np.ndarray]:
    """What the call makes as it is, and in parts if it is split."""
    call()
    yield place.copy()
    place.fill(7)
    with patch.multiple(split_calls, **SMALL):
        split_call(call)()
    yield place


@given(
    shape=st.lists(sizes, min_size=1, max_size=3),
    ones=st.lists(st.booleans(), min_size=3, max_size=3),
    flip=st.booleans(),
    named=st.booleans(),
    function=st.sampled_from([np.add, np.hypot, np.arctan2]),
)
def test_elements(
    shape: list[int], ones: list[bool], flip: bool, named: bool, function: np.ufunc
) -> None:
    """Of arrays that broadcast, and lie in memory in any order."""
    a = floats(*shape)
    b = floats(*(1 if one else size for one, size in zip(ones, shape, strict=False)))
    place = np.empty(shape[::-1] if flip else shape, np.float32)
    place = place.T if flip else place
    call = partial(function, a, b, out=place) if named else partial(function, a, b, place)
    one, other = both(call, place)
    assert np.array_equal(one, other)


@given(shape=st.lists(sizes, min_size=2, max_size=3), data=st.data())
def test_reductions(shape: list[int], data: st.DataObject) -> None:
    x = floats(*shape)
    axes = tuple(data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1)))
    keep = data.draw(st.booleans())
    place = np.empty(np.sum(x, axis=axes, keepdims=keep).shape, np.float32)
    one, other = both(partial(np.add.reduce, x, axes, x.dtype, place, keep), place)
    assert np.array_equal(one, other)


@given(st.integers(0, 30), st.integers(0, 30))
def test_copies_that_overlap_stay_whole(start: int, to: int) -> None:
    line = np.arange(100.0)
    wanted = line.copy()
    wanted[to : to + 60] = line[start : start + 60]
    with patch.multiple(split_calls, **SMALL):
        split_call(partial(np.copyto, line[to : to + 60], line[start : start + 60]))()
    assert np.array_equal(line, wanted)


@given(st.lists(sizes, min_size=0, max_size=1), sizes, sizes, sizes, st.booleans(), st.booleans())
def test_products(
    batch: list[int], rows: int, inner: int, columns: int, flip_a: bool, flip_b: bool
) -> None:
    """Of whole numbers, which are exact however they are added up."""
    a = np.rint(4 * floats(*batch, *((inner, rows) if flip_a else (rows, inner))))
    b = np.rint(4 * floats(*batch, *((columns, inner) if flip_b else (inner, columns))))
    a, b = a.swapaxes(-1, -2) if flip_a else a, b.swapaxes(-1, -2) if flip_b else b
    place = np.empty((*batch, rows, columns), np.float32)
    one, other = both(partial(np.matmul, a, b, place), place)
    assert np.array_equal(one, other)


def test_what_is_split() -> None:
    """Large calls, and no small ones."""
    x, y, out = floats(900, 600), floats(600, 900), floats(900, 600)
    product = np.empty((900, 900), np.float32)
    for large_call in (
        partial(np.add, x, x, out),
        partial(np.copyto, out, x),
        partial(np.add.reduce, x, (1,), x.dtype, out[:, 0]),
        partial(np.matmul, x, y, product),
    ):
        assert isinstance(split_call(large_call), Split)
    small = partial(np.add, x[:90], x[:90], out[:90])
    assert split_call(small) is small
    first_axis = partial(np.add.reduce, x, (0,), x.dtype, out[0])
    assert split_call(first_axis) is first_axis


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("fast", [False, True])
def test_a_failure_in_a_thread_names_the_operation(
    fast: bool, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(threads))
    """The last of its elements fails, amid other operations."""
    b = GraphBuilder()
    x = b.placeholder("x", "int32", (700_000,))
    y = tf.pow(x + 1, x - 1, name="power") * 2
    fed = np.ones(700_000, np.int32)
    fed[-1] = 0
    (one,) = run(Case(b.build(), (y.ref,), (), {x.ref: fed}), fast=fast, runs=1)
    assert "power" in one.error


@pytest.mark.parametrize("fast", [False, True])
def test_nan_warns_in_no_thread(fast: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "3")
    b = GraphBuilder()
    x = b.placeholder("x", shape=(1000, 700))
    y = tf.sqrt(x) / (x - x)
    feeds = {x.ref: -np.ones((1000, 700), np.float32)}
    with np.errstate(all="raise"):
        (one,) = run(Case(b.build(), (y.ref,), (), feeds), fast=fast, runs=1)
    assert not one.error


def test_blas_has_one_thread_while_parts_run() -> None:
    def counts() -> list[int]:
        return [library["num_threads"] for library in threadpool_info()]

    before = counts()
    with one_blas_thread():
        with one_blas_thread():
            assert counts() == [1] * len(before)
        assert counts() == [1] * len(before)
    assert counts() == before


def test_a_step_and_a_run_have_as_many_threads_of_blas() -> None:
    """Also a step that is not split, of a plan in which another one is."""
    found: list[list[int]] = []

    def note() -> None:
        found.append([library["num_threads"] for library in threadpool_info()])

    with threadpool_limits(2):
        calls = StepCalls(((note,), (Split([note]),)))
        for pack in (False, True):
            if pack:
                calls.pack()
            for steps in ((0, 1), (1, 2), (0, 2)):
                calls.between(*steps)()
    assert found == [[1] * len(found[0])] * 8
