"""Reductions in steps give what one gives, and share what is long."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.gpu.fusion import reductions as module
from gradstep.gpu.fusion.reductions import NAMES, reductions, stages


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MANY", 1)
    monkeypatch.setattr(module, "_LONG", 2)
    stages.cache_clear()


SHAPES = st.lists(st.sampled_from([1, 2, 3, 4, 6, 8]), min_size=1, max_size=4).map(tuple)


@given(st.data())
def test_steps_give_what_one_gives(data: Any) -> None:
    name = data.draw(st.sampled_from(NAMES))
    shape = data.draw(SHAPES)
    some = st.sets(st.integers(-len(shape), len(shape) - 1), max_size=len(shape))
    axes = data.draw(some.filter(lambda found: len({a % len(shape) for a in found}) == len(found)))
    axis = data.draw(st.sampled_from([None, tuple(axes)]))
    keepdims = data.draw(st.booleans())
    x = np.random.default_rng(len(shape)).integers(-3, 4, shape).astype(np.int64)
    if data.draw(st.booleans()):
        x = x.T  # whose elements do not lie in order
        axis = None
    wanted = getattr(np, name)(x, axis=axis, keepdims=keepdims)
    found = reductions(np)[name](x, axis=axis, keepdims=keepdims)
    np.testing.assert_array_equal(found, wanted)
    assert np.shape(found) == np.shape(wanted)
    place = np.empty_like(wanted)
    assert reductions(np)[name](x, axis=axis, out=place, keepdims=keepdims) is place
    np.testing.assert_array_equal(place, wanted)


def test_a_type_is_that_of_every_step() -> None:
    x = np.full((8, 8), 100, np.int8)
    found = reductions(np)["sum"](x, dtype=np.int8)
    assert (found, found.dtype) == (np.int8(6400 % 256), np.dtype(np.int8))


def test_what_is_long_is_parted_among_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    stages.cache_clear()
    everything = stages((4096, 4096), frozenset({0, 1}))
    assert [shape[1] for shape, _ in everything[:1]] == [2048]
    assert everything[-1] == ((1, 2048, 1), 1)
    rows = stages((128, 56, 56, 64), frozenset({0, 1, 2}))  # to each channel
    assert rows[0] == ((1, 784, 512, 64), 2)
    assert stages((4096, 4096), frozenset({1})) == (((4096, 4096, 1), 1),)
    assert stages((100, 7), frozenset({0})) == (((1, 100, 7), 1),)


def test_cub_is_left_off_unless_it_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    core = SimpleNamespace(
        set_reduction_accelerators=told.append, set_routine_accelerators=told.append
    )
    functions = {name: getattr(np, name) for name in NAMES}
    monkeypatch.setenv(module.SETTING, "cub")
    reductions(SimpleNamespace(_core=core, **functions))
    assert told == []
    monkeypatch.delenv(module.SETTING)
    reductions(SimpleNamespace(_core=core, **functions))
    assert told == [[], []]
