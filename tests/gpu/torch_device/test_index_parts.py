"""Subscripts in the words of a library without negative steps, held to NumPy's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from gradstep.gpu.torch_device.index_parts import parts
from tests.support.each_case import each_of


def picked(x: np.ndarray, index: Any) -> np.ndarray:
    """What a library gives that only goes forwards, and is turned round then."""
    made, turned = parts(index, x.shape, lambda part: part)
    for part in made:
        assert not isinstance(part, slice) or part.step is None or part.step > 0
        assert part is not Ellipsis
    return np.flip(x[made], turned)


SHAPES = nps.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)


@given(st.data())
def test_any_subscript_of_slices_numbers_and_new_axes(data: Any) -> None:
    shape = data.draw(SHAPES)
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    index = data.draw(nps.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    np.testing.assert_array_equal(picked(x, index), x[index])


@each_of(
    "index",
    [
        np.array([2, 0]),
        (slice(None), np.array([[1], [0]])),
        (np.array([0, 2]), np.array([1, 1]), slice(0, 2)),
        (Ellipsis, np.array([1, 0])),
        np.array([True, False, True]),
        (np.array([[True, False], [False, True], [True, True]]), Ellipsis),
        (Ellipsis, np.array([True, False, False])),
        (np.int64(1), Ellipsis, slice(None, None, 2)),
    ],
)
def test_arrays_of_places_and_masks_are_left_as_they_are(index: Any) -> None:
    x = np.arange(18).reshape(3, 2, 3)
    np.testing.assert_array_equal(picked(x, index), x[index])


def test_a_backward_slice_beside_an_array_is_refused() -> None:
    with pytest.raises(TypeError, match="backward slice beside an array"):
        parts((slice(None, None, -1), np.array([0])), (3, 3), lambda part: part)
