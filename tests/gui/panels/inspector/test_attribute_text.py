"""Attributes as text: what is written is read back, and nonsense is refused in words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Constant
from gradstep.gui.panels.inspector.attribute_text import (
    array_text,
    attr_text,
    read_array,
    read_attr,
)

SHAPES = st.one_of(
    st.just(Shape(None)),
    st.lists(st.one_of(st.none(), st.integers(0, 99)), max_size=4).map(lambda d: Shape(tuple(d))),
)
VALUES = st.one_of(
    st.integers(-(2**40), 2**40),
    st.floats(allow_nan=False),
    st.sampled_from(DType),
    SHAPES,
    st.lists(st.integers(-9, 9), max_size=4).map(tuple),
    st.lists(st.sampled_from(DType), min_size=1, max_size=3).map(tuple),
    st.lists(SHAPES, min_size=1, max_size=3).map(tuple),
)


@given(VALUES)
def test_attributes_come_back(value: object) -> None:
    assert read_attr(attr_text(value), value) == value


ARRAYS = st.sampled_from([np.float32, np.float64, np.int32, np.int64, np.uint8, np.bool_]).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, max_side=3))
)


@given(ARRAYS)
@example(np.array(48015512, np.float32))  # whose fewest digits are another whole number
def test_tensors_come_back_bit_for_bit(array: np.ndarray) -> None:
    kind = TensorType(DType.of(array.dtype), Shape(array.shape))
    back = read_array(array_text(array), kind)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


@given(ARRAYS)
def test_constants_keep_their_dtype(array: np.ndarray) -> None:
    like = Constant(array)
    back = read_attr(attr_text(like), like)
    assert back.array.dtype == array.dtype
    np.testing.assert_array_equal(back.array, array)


@pytest.mark.parametrize(
    ("text", "like", "said"),
    [
        ("two", 1, "a whole number"),
        ("1.5", 1, "a whole number"),
        ("[2, -3]", Shape(None), "a shape"),
        ("float23", DType.FLOAT32, "an element type"),
        ("[1, [2]]", Constant(np.float32(1)), "differ in length"),
        ("__import__('os')", Constant(np.float32(1)), "is not a value"),
    ],
)
def test_nonsense_is_refused_in_words(text: str, like: object, said: str) -> None:
    with pytest.raises(GradstepError, match=said):
        read_attr(text, like)


@pytest.mark.parametrize("numbers", [[-np.inf, 1], [np.inf, np.nan], [[0, -np.inf], [1, 2]]])
def test_infinities_of_either_sign_are_read_back(numbers: list[object]) -> None:
    like = Constant(np.array(numbers, np.float32))
    assert np.array_equal(read_attr(attr_text(like), like).array, like.array, equal_nan=True)


def test_a_number_that_does_not_fit_is_refused_in_a_sentence() -> None:
    with pytest.raises(GradstepError, match=r"300 at index \[0\] is out of range for uint8"):
        read_attr("[300]", Constant(np.zeros(1, np.uint8)))
