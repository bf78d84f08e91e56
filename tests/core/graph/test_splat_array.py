"""Constants of one value: small whatever their shape, and equal to what they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.graph.dtypes import array_bytes
from gradstep.core.graph.model import Constant
from gradstep.core.graph.splat_array import LEAST, is_splat

VALUES = st.sampled_from(
    [
        np.float32(0.0), np.float32(-0.0), np.float32(np.nan), np.float16(1), np.int8(-1),
        np.uint64(2**64 - 1), np.bool_(True), np.complex64(1 + 2j), np.complex128(complex("nan")),
    ]
)  # fmt: skip
SIZES = st.sampled_from([0, 1, LEAST - 1, LEAST, LEAST + 1, 70_000])


@given(VALUES, SIZES, st.booleans())
def test_a_constant_is_what_it_was_made_of(value: np.generic, size: int, as_view: bool) -> None:
    array = np.broadcast_to(value, (size,)) if as_view else np.full(size, value)
    constant = Constant(array)
    assert constant.array.tobytes() == array.tobytes()
    assert constant.array.dtype == array.dtype
    assert is_splat(constant.array) == (size >= LEAST)
    assert not constant.array.flags.writeable
    again = Constant(np.array(array))
    assert constant == again
    assert hash(constant) == hash(again)


@given(VALUES, st.integers(0, LEAST - 1))
def test_one_other_bit_makes_another_constant(value: np.generic, place: int) -> None:
    array = np.full(LEAST, value)
    bits = array.view(np.uint8)
    bits[place * array.itemsize] ^= 1
    constant = Constant(array)
    assert not is_splat(constant.array)
    assert constant != Constant(np.full(LEAST, value))


def test_texts_of_one_value_and_of_two() -> None:
    texts = np.full(LEAST, b"a", object)
    assert is_splat(Constant(texts).array)
    texts[-1] = b"b"
    assert not is_splat(Constant(texts).array)
    assert Constant(np.full(LEAST, "ab")).array.shape == (LEAST,)


def test_no_memory_is_taken_for_it() -> None:
    huge = np.broadcast_to(np.float64(1.5), (1 << 20, 1 << 20))
    constant = Constant(huge)
    assert constant == Constant(huge)
    assert constant != Constant(huge.T[:-1])
    assert hash(constant) == hash(Constant(huge))
    assert Constant.taking(huge) == constant


@pytest.mark.parametrize("shape", [(-1,), (1 << 62, 4), (1 << 62, 2, 0), (1,) * 33])
def test_shapes_that_no_array_has(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="array of shape"):
        array_bytes(shape, 4)
    assert array_bytes((3, 0, 1 << 40), 4) == 0
