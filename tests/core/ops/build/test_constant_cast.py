"""Values in another element type: the same numbers, or a sentence that says why not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.build.constant_cast import convert_constant

ARRAYS = (
    np.array([0.0, -1.0, 2.0, 0.5, 1e30, np.nan, np.inf, -np.inf, 16777217.0, 2.0**63]),
    np.array([0, 1, -1, 2, 127, 128, 255, 256, 2**31, 2**53 + 1, -(2**63), 2**63 - 1]),
    np.array([0, 1, 2**63, 2**64 - 1], np.uint64),
    np.array([True, False]),
    np.array([0, 1 + 0j, 1j, np.nan]),
    np.array([b"1", b"0.5", b"-1", b"x", b"nan", b"1e400", b"99999999999999999999"], object),
)
KINDS = [kind for kind in DType if kind not in (DType.RESOURCE, DType.VARIANT)]


@given(st.sampled_from(ARRAYS).flatmap(st.sampled_from), st.sampled_from(KINDS))
def test_a_value_comes_back_or_is_refused(value: object, dtype: DType) -> None:
    array = np.asarray(value, object if isinstance(value, bytes) else None)
    found = or_refusal(array, dtype)
    if isinstance(found, str):
        assert dtype.value in found
        return
    assert DType.of(found.dtype) is dtype
    assert found.shape == array.shape
    if array.dtype == object or dtype is DType.STRING:
        return
    wanted = array if dtype.is_complex else array.real
    if array.dtype.kind in "fc" and found.dtype.kind in "fc":  # to the nearest there is
        wanted = wanted.astype(found.dtype)
    assert np.array_equal(found, wanted, equal_nan=True)


def or_refusal(array: np.ndarray, dtype: DType) -> np.ndarray | str:
    try:
        return convert_constant(array, dtype)
    except GradstepError as error:
        return error.message


@pytest.mark.parametrize(
    ("value", "dtype", "says"),
    [
        ([1, 0.5], DType.INT32, "0.5 at index [1] is not a whole number, and int32 has no others"),
        (np.nan, DType.INT32, "nan is not a whole number, and int32 has no others"),
        (1e10, DType.INT32, "10000000000.0 is out of range for int32"),
        (-1, DType.UINT8, "-1 is out of range for uint8"),
        (2, DType.BOOL, "2 is neither 0 nor 1, which stand for bool's false and true"),
        (16777217, DType.FLOAT32, "16777217 is no number that float32 has"),
        (1e300, DType.FLOAT32, "1e+300 is out of range for float32"),
        (1j, DType.FLOAT64, "1j has an imaginary part, and float64 has none"),
    ],
)
def test_why_a_value_is_refused(value: object, dtype: DType, says: str) -> None:
    with pytest.raises(GradstepError) as caught:
        convert_constant(np.asarray(value), dtype)
    assert caught.value.message == says
    assert "Cast" in caught.value.hint


def test_numbers_become_text_and_text_numbers() -> None:
    texts = convert_constant(np.array([1.5, -2.0], np.float32), DType.STRING)
    assert texts.tolist() == [b"1.5", b"-2.0"]
    assert convert_constant(texts, DType.FLOAT32).tolist() == [1.5, -2.0]
    with pytest.raises(GradstepError, match=r"'-2\.0' at index \[1\]|'1\.5' at index \[0\]"):
        convert_constant(texts, DType.INT32)
