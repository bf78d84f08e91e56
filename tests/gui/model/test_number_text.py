"""Numbers as the nodes, tables and tooltips write them."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.protocol.messages import Stats
from gradstep.gui.model.number_text import (
    brief,
    byte_size,
    duration,
    elements,
    exact,
    is_wrong,
    scalar,
    short,
    whole,
)
from gradstep.gui.model.value_cache import TensorValue


def known(array: object, stats: Stats | None = None) -> TensorValue:
    data = np.asarray(array)
    return TensorValue("x:0", "known", str(data.dtype), data.shape, data.reshape(-1)[:64], stats)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float32(0.66369414), "0.663694"),
        (1.0, "1"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Inf"),
        (np.int32(6), "6"),
        (True, "True"),
        (b"cat", '"cat"'),
        (1.5e-7, "1.5e-07"),
    ],
)
def test_scalars(value: object, text: str) -> None:
    assert scalar(value) == text


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.float32([1.06, 1.96]), "[ 1.060 1.960 ]"),
        (np.float32([0.06, -0.04]), "[  0.060 -0.040 ]"),
        (np.float32([1, 2]), "[ 1. 2. ]"),
        (np.int32([0, 1]), "[ 0 1 ]"),
        (np.float32([1.5, np.nan]), "[ 1.500   NaN ]"),
        (np.float32([1e-5, 2e-5]), "[ 1.00e-5 2.00e-5 ]"),
        (np.float32(0.5), "0.5"),
        (np.zeros(0, np.float32), "[0] empty"),
        (np.float32([[-2], [-6]]), "[[-2.][-6.]]"),
        (np.float32([[1, -2], [3, 4]]), "[[1. -2.][3. 4.]]"),
        (np.int32([[[1]], [[2]]]), "[[[1]][[2]]]"),
        (np.float32([1e-7, 4]), "[  1e-7 4.000 ]"),
        (np.float32([-1e-7, 4]), "[ -1e-7 4.000 ]"),
        (np.float32(-0.0), "0"),
        (np.float32([-0.0, 0.5]), "[ 0.000 0.500 ]"),
        (np.float32([-0.0, -0.0]), "[ 0. 0. ]"),
    ],
)
def test_small_tensors_show_their_elements(array: np.ndarray, text: str) -> None:
    assert brief(known(array)) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.0, "0"), (0.01234, "0.0123"), (1.2345e-5, "1.23e-5"), (48_211.0, "4.82e4"), (12.0, "12")],
)
def test_short_numbers(number: float, text: str) -> None:
    assert short(number) == text


def test_fewer_decimals_before_fewer_elements() -> None:
    assert brief(known(np.float32([0.123, 0.456, 0.789]))) == "[ 0.12 0.46 0.79 ]"


def test_large_tensors_show_shape_and_range_and_what_is_wrong() -> None:
    stats = Stats(minimum=-1.25, maximum=3.5, mean=0.1, norm=9.0, nans=2)
    value = known(np.zeros((64, 32), np.float32), stats)
    assert brief(value) == "64×32  2 NaN, else -1.25 to 3.5"
    assert is_wrong(value)


def test_what_has_no_room_is_a_range_that_nobody_takes_for_elements() -> None:
    array = np.float32([[1.25, 2.125], [-6.5, -2.25]])
    stats = Stats(minimum=-6.5, maximum=2.125, mean=0.1, norm=9.0)
    assert brief(known(array, stats)) == "2×2  -6.5 to 2.12"
    alike = Stats(minimum=-0.0, maximum=0.0, mean=0.0, norm=0.0, zeros=2048)
    assert brief(known(np.zeros((64, 32)), alike)) == "64×32  all 0"


def test_a_table_keeps_the_sign_of_a_zero() -> None:
    assert (scalar(-0.0), exact(-0.0)) == ("0", "-0")
    assert (scalar(complex(-0.0, -1)), exact(complex(-0.0, -1))) == ("0-1j", "-0-1j")


def test_elements_of_one_array_line_up() -> None:
    assert len({len(text) for text in elements(np.float32([-10.5, 1.25, np.inf]))}) == 1


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 µs"), (4.213e-6, "4.21 µs"), (183e-6, "183 µs"), (0.0183, "18.3 ms"), (2.5, "2.50 s")],
)
def test_durations_have_three_digits_and_a_unit(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (1023, "1023 B"), (3200, "3.1 KB"), (5 << 30, "5.0 GB")]
)
def test_sizes_have_the_unit_that_keeps_them_short(count: int, text: str) -> None:
    assert byte_size(count) == text


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 2, 4)])
def test_what_has_no_elements_says_so_instead_of_brackets_around_nothing(
    shape: tuple[int, ...],
) -> None:
    empty = known(np.zeros(shape, np.float32))
    assert not whole(empty, 20)
    assert brief(empty).endswith(" empty")
