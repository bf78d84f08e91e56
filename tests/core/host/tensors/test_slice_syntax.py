"""Slices as text: what NumPy makes of them, and what is wrong with those that are none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, basic_indices

from gradstep.core.errors import GradstepError
from gradstep.core.host.tensors.slice_syntax import parse_slice


def written(index: object) -> str:
    """An index as a user types it."""
    parts = index if isinstance(index, tuple) else (index,)
    return f"[{', '.join(map(_part, parts))}]"


def _part(part: object) -> str:
    if part is Ellipsis:
        return "..."
    if not isinstance(part, slice):
        return str(part)
    bounds = ["" if bound is None else str(bound) for bound in (part.start, part.stop, part.step)]
    return ":".join(bounds if part.step is not None else bounds[:2])


@given(st.data())
def test_a_slice_is_numpys(data: st.DataObject) -> None:
    shape = data.draw(array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=6))
    index = data.draw(basic_indices(shape, allow_newaxis=False))
    array = np.arange(np.prod(shape)).reshape(shape)
    picks = parse_slice(written(index), shape)
    expected = array[index if isinstance(index, tuple) else (index,)]
    np.testing.assert_array_equal(picks.apply(array), expected)
    assert picks.sizes == np.shape(expected)
    again = parse_slice(picks.text, shape)
    np.testing.assert_array_equal(again.apply(array), expected)
    for position, element in np.ndenumerate(expected):
        assert array[picks.index_of(position)] == element
        assert picks.position_of(picks.index_of(position)) == position


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[0", "lacks a bracket"),
        ("[5]", "5 is out of range: axis 0 has 3 elements, 0 to 2"),
        ("[:, -5]", "-5 is out of range: axis 1 has 4 elements, 0 to 3"),
        ("[a]", "'a' on axis 0 is no index"),
        ("[0, 1.5]", "'1.5' on axis 1 is no index"),
        ("[0, 0, 0]", "3 indices for a tensor with 2 axes, of shape [3, 4]"),
        ("[1:2:3:4]", "more than start:stop:step"),
        ("[::0]", "'::0' on axis 0 has a step of 0"),
        ("[..., ...]", "'...' may stand in a slice once"),
        ("[, 1]", "nothing is said of axis 0"),
        ("[[0, 1]]", "is no index"),
        ("[None]", "'None' on axis 0 is no index"),
        ("[99999999999999999999]", "is no index"),
        ("__import__('os')", "is no index"),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str) -> None:
    with pytest.raises(GradstepError) as failure:
        parse_slice(text, (3, 4))
    assert said in failure.value.message
    assert failure.value.hint


_BOUND = st.none() | st.integers(-9, 9)


@given(st.tuples(_BOUND, _BOUND, _BOUND.filter(lambda step: step != 0)), st.integers(0, 5))
def test_a_slice_that_ends_beyond_either_end_is_numpys(
    bounds: tuple[int | None, int | None, int | None], size: int
) -> None:
    array = np.arange(size)
    picks = parse_slice(written(slice(*bounds)), (size,))
    np.testing.assert_array_equal(picks.apply(array), array[slice(*bounds)])
    assert picks.sizes == array[slice(*bounds)].shape
    np.testing.assert_array_equal(parse_slice(picks.text, (size,)).apply(array), picks.apply(array))


def test_nothing_is_all_of_it() -> None:
    for text in ("", "[]", "[:]", "...", "[0:]", "[::1]"):
        assert parse_slice(text, (3, 4)).is_whole
    assert parse_slice("", ()).apply(np.array(5)).shape == ()
