"""Integers: quotients, powers and shifts where TensorFlow, NumPy and C could part ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from tests.support.each_case import each_of
from tests.support.one_op import run

# TensorFlow 2.21 computed these.
QUOTIENTS = {
    "Div": [3, -3, -3, 3, 0],
    "FloorDiv": [3, -4, -4, 3, 0],
    "FloorMod": [1, 1, -1, -1, 0],
    "TruncateDiv": [3, -3, -3, 3, 0],
    "TruncateMod": [1, -1, 1, -1, 0],
    "Mod": [1, -1, 1, -1, 0],
}


@each_of("dtype", [np.int8, np.int32, np.int64])
@each_of("type", QUOTIENTS)
def test_integer_quotients(type: str, dtype: Any) -> None:
    x, y = np.array([7, -7, 7, -7, 0], dtype), np.array([2, 2, -2, -2, 3], dtype)
    found = run(type, x, y)
    assert found.dtype == dtype
    assert found.tolist() == QUOTIENTS[type]


@each_of("type", QUOTIENTS)
def test_unsigned_quotients(type: str) -> None:
    x, y = np.array([7, 249, 7, 249], np.uint8), np.array([2, 2, 254, 254], np.uint8)
    wanted = [1, 1, 7, 249] if type.endswith("Mod") else [3, 124, 0, 0]
    assert run(type, x, y).tolist() == wanted


@each_of("type", QUOTIENTS)
def test_the_smallest_integer_over_minus_one(type: str) -> None:
    wanted = 0 if type.endswith("Mod") else -(2**31)
    assert run(type, np.int32(-(2**31)), np.int32(-1)) == wanted


@each_of("type", QUOTIENTS)
def test_integers_over_zero_are_an_error(type: str) -> None:
    with pytest.raises(GradstepError, match=r"^Integer division by zero$") as caught:
        run(type, np.array([1, 2], np.int32), np.array([1, 0], np.int32))
    assert caught.value.kind == "InvalidArgumentError"
    assert caught.value.hint
    assert run(type, np.zeros(0, np.int32), np.zeros(0, np.int32)).size == 0


def test_integer_powers() -> None:
    x, y = np.array([2, -1, 0, 3], np.int32), np.array([3, 5, 0, 40], np.int32)
    assert run("Pow", x, y).tolist() == [8, -1, 1, 689956897]
    with pytest.raises(
        GradstepError, match=r"^Integers to negative integer powers are not allowed$"
    ):
        run("Pow", x, np.array([1, 1, -1, 1], np.int32))


def test_integers_round_to_themselves() -> None:
    assert run("Round", np.array([3, -4], np.int64)).tolist() == [3, -4]


def test_shifts_go_no_further_than_the_width() -> None:
    x, y = np.array([1, -1, 5, 100, -100], np.int8), np.array([31, 7, 0, 8, -1], np.int8)
    assert run("LeftShift", x, y).tolist() == [-128, -128, 5, 0, -100]
    assert run("RightShift", x, y).tolist() == [0, -1, 5, 0, -100]
    unsigned = np.array([1, 255, 5], np.uint8), np.array([0, 1, 255], np.uint8)
    assert run("LeftShift", *unsigned).tolist() == [1, 254, 128]
    assert run("RightShift", *unsigned).tolist() == [1, 127, 0]
