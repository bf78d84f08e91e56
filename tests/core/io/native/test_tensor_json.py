"""Tensors in JSON read as people expect, and come back as they were."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant
from gradstep.core.graph.number_kinds import widened
from gradstep.core.io.native.tensor_json import from_json, to_json
from gradstep.core.json_text import pretty
from tests.core.io.documents import constants


def test_floats_are_written_in_the_fewest_digits() -> None:
    written = to_json(np.array([0.06, np.nan, np.inf, -np.inf], np.float32))
    assert written == {
        "dtype": "float32",
        "shape": [4],
        "data": [0.06, "NaN", "Infinity", "-Infinity"],
    }


def test_nested_lists() -> None:
    assert to_json(np.arange(4).reshape(2, 1, 2))["data"] == [[[0, 1]], [[2, 3]]]
    assert to_json(np.float64(2))["data"] == 2.0
    assert to_json(np.zeros((2, 0)))["data"] == [[], []]
    assert to_json(np.array([True]))["data"] == [True]
    assert to_json(np.array([1 + 2j]))["data"] == [[1.0, 2.0]]


@given(constants())
def test_round_trip(constant: Constant) -> None:
    written = json.loads(pretty(to_json(constant.array)))
    read = from_json(DType(written["dtype"]), written["shape"], written["data"])
    # NumPy's comparison knows no NaN of bfloat16.
    np.testing.assert_array_equal(widened(read), widened(constant.array))
    assert read.dtype == constant.array.dtype
    assert read.shape == constant.array.shape


@pytest.mark.parametrize(
    ("dtype", "shape", "data"),
    [
        ("float32", [2], [1]),
        ("float32", [1, 1], [1]),
        ("float32", [], "nan"),
        ("float32", [], True),
        ("int32", [], 1.5),
        ("int8", [], 300),
        ("bool", [], 1),
        ("complex64", [], 1.0),
        ("string", [], 1),
        ("string", [], {"base64": "%"}),
        ("resource", [], {}),
    ],
)
def test_what_does_not_fit_is_refused(dtype: str, shape: list[int], data: object) -> None:
    with pytest.raises(GradstepError):
        from_json(DType(dtype), shape, data)


def test_pretty_keeps_short_things_on_a_line() -> None:
    value = {"b": list(range(100)), "a": {"z": 1, "y": [1, 2]}}
    assert json.loads(pretty(value)) == value
    assert pretty(value).startswith('{\n  "a": {"y": [1, 2], "z": 1},\n')
