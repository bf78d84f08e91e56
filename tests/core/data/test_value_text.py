"""Whatever stands in the place of a value is read, and what is none says why; nothing is ever
evaluated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as npst
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given

from gradstep.core.data.array_files import Reading
from gradstep.core.data.generators import GENERATORS
from gradstep.core.data.value_text import is_quick, typed_value
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.io.disk.memory_budget import Budget
from tests.support.each_case import each_of

RECORDED = Path(__file__).parents[2] / "data" / "tensorflow" / "initializers.json"


def value(text: str, *shape: int | None, dtype: DType = DType.FLOAT32) -> np.ndarray:
    return typed_value(text, TensorType(dtype, Shape(shape)), "w", Reading())


def refusal(text: str, *shape: int | None, dtype: DType = DType.FLOAT32) -> GradstepError:
    with pytest.raises(GradstepError) as caught:
        value(text, *shape, dtype=dtype)
    assert "\n" not in caught.value.message
    return caught.value


@each_of(
    ("text", "expected"),
    [
        ("[1, 2]", [1, 2]),
        ("(1, -2e-3)", [1, -0.002]),
        ("[nan, -inf]", [np.nan, -np.inf]),
        ("[NaN, -Infinity]", [np.nan, -np.inf]),
        ("[True, false]", [1, 0]),
        ("0.5", [0.5, 0.5]),
        ("[1. 2.]", [1, 2]),
        ("[1 -2]", [1, -2]),
        ("array([1., 2.], dtype=float32)", [1, 2]),
        ("tensor([1., 2.])", [1, 2]),
        ("[np.float32(1.0), np.float32(2.0)]", [1, 2]),
        ("1\t2", [1, 2]),
        ("1\n2\n", [1, 2]),
        ("1 2", [1, 2]),
        ("1, 2", [1, 2]),
        ("1;2", [1, 2]),
        ("left\tright\n1\t2", [1, 2]),
        ("[9007199254740993, 36893488147419103232]", [2**53, 2**65]),
        ("zeros", [0, 0]),
        ("full(7)", [7, 7]),
        ("range(2)", [0, 1]),
        ("range(4, 0, -2)", [4, 2]),
        ("linspace(0, 3)", [0, 3]),
    ],
)
def test_what_is_a_value(text: str, expected: list[float]) -> None:
    found = value(text, 2)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, np.array(expected, np.float32))


@each_of(
    ("text", "words", "todo"),
    [
        ("", "no value", "write numbers"),
        ("[1, 2", "'[1, 2' is not a value", "write numbers"),
        ("[__import__('os').getcwd()]", "not a value", "write numbers"),
        ("__import__('os')", "not a value", "write numbers"),
        ("open", "not a value", "write numbers"),
        ("[1, 2, 3]", "shape [3] does not fit [2]", "reshape"),
        ("[[1, 2], [3]]", "differ in length", "same length"),
        ("['a', 'b']", "'a' at index [0] is no number that float32 has", "write"),
        ("[1j, 2]", "has an imaginary part", "write"),
        ("[1, 2e39]", "2e+39 at index [1] is out of range for float32", "write"),
        ("[1. 2. ... 9.]", "numbers are left out", "np.save"),
        ("1\t2\n3", "row 2 has 1 cell, and row 1 has 2", "same number"),
        ("1\tx\n3\ty", "row 2, column 'x' is 'y', which is no number", "leave the column out"),
        ("a\tb\n1\t\n", "row 2, column 'b' is empty", "fill it in"),
        ("nromal()", "no generator 'nromal'", "did you mean normal?"),
        ("normal(std=2)", "normal takes no 'std'", "mean, stddev, seed"),
        ("normal(1, 2, 3, 4)", "was given 4 arguments", "normal(mean=0.0, stddev=1.0, seed=None)"),
        ("normal(0, mean=1)", "'mean' twice", "write"),
        ("normal('a')", "'mean' of normal is 'a', and not a number", ""),
        ("normal(open)", "an argument of normal is no number", "write it out"),
        ("normal(seed=1.5)", "'seed' of normal is 1.5, and not a whole number", ""),
        ("normal([2, -1])", "[2, -1] is no shape", "whole numbers"),
        ("linspace(1)", "linspace needs 'stop'", "linspace(start, stop, num=None)"),
        ("linspace(0, 1, 0)", "cannot make 0 numbers", "write num"),
        ("range(0, 1, 0)", "a delta that is not 0", "range(5)"),
        ("bernoulli(2)", "2 is no probability", "from 0 to 1"),
        ("variance_scaling(1, 'fan')", "knows no 'fan'", "fan_in"),
        ("zeros([100000, 100000])", "float32[100000, 100000] takes 37 GiB", "smaller shape"),
        ("range(1e18)", "of memory, and a value may take 1.0 GiB", "smaller shape"),
        ("@", "no file after @", "@FILE.npy"),
    ],
)
def test_what_is_none_says_why(text: str, words: str, todo: str) -> None:
    error = refusal(text, 2)
    assert words in error.message
    assert todo in error.hint


@pytest.mark.parametrize("text", ["range(1e6)", "linspace(0, 1, 1000000)"])
def test_a_row_takes_the_memory_of_what_it_is_made_of(text: str) -> None:
    """Whatever becomes of its numbers: a billion truths would take eight times what is allowed."""
    kind, reading = TensorType(DType.BOOL), Reading(budget=Budget(4 << 20))
    with pytest.raises(GradstepError, match=r"float64\[1000000\] takes 7\.6 MiB"):
        typed_value(text, kind, "x", reading)


@pytest.mark.parametrize("text", ["[1.5]", "[300]", "[-1]", "[1e300]", str(2**70)])
def test_integers_are_not_bent_to_fit(text: str) -> None:
    refusal(text, 1, dtype=DType.UINT8)


def test_fractions_are_not_drawn_for_whole_numbers() -> None:
    assert "uniform(low, high)" in refusal("normal()", 2, dtype=DType.INT32).hint
    drawn = value("uniform(-3, 4, seed=1)", 500, dtype=DType.INT64)
    assert {*drawn.tolist()} == {*range(-3, 4)}


def test_complex_numbers_as_they_are_printed() -> None:
    found = value("[1.+2.j  3.-1.j]", 2, dtype=DType.COMPLEX64)
    assert found.tolist() == [1 + 2j, 3 - 1j]


def test_a_generator_needs_to_know_how_many() -> None:
    error = refusal("normal()", None, 4)
    assert "[?, 4], does not say how many" in error.message
    assert value("normal([8, 4])", None, 4).shape == (8, 4)
    assert value("normal(shape=[8, 4])", None, 4).shape == (8, 4)


@pytest.mark.parametrize("case", json.loads(RECORDED.read_text())["cases"])
def test_a_seed_gives_tensorflows_numbers(case: dict[str, Any]) -> None:
    """As TensorFlow's initializers of the same name and arguments drew them."""
    name = case["name"].removeprefix("random_")
    if name not in GENERATORS:
        pytest.skip("no generator")
    arguments = ", ".join(f"{k}={v!r}" for k, v in {**case["arguments"], "seed": 5}.items())
    expected = np.array(case["values"], np.float32).reshape(case["shape"])
    np.testing.assert_array_equal(value(f"{name}({arguments})", *case["shape"]), expected)


def test_bernoulli_compares_tensorflows_uniform_numbers() -> None:
    drawn = value("uniform(seed=3)", 200)
    np.testing.assert_array_equal(value("bernoulli(0.25, seed=3)", 200), drawn < 0.25)


ARRAYS = npst.arrays(
    st.sampled_from([np.float32, np.int32, np.bool_, np.complex64]),
    npst.array_shapes(min_dims=1, max_dims=3, max_side=4),
)


@given(ARRAYS, st.sampled_from([str, repr, np.ndarray.tolist]))
def test_what_python_prints_is_read(array: np.ndarray, write: Any) -> None:
    with np.printoptions(threshold=10_000, floatmode="unique"):
        text = str(write(array))
    again = typed_value(text, TensorType(DType.of(array.dtype)), "x", Reading())
    np.testing.assert_array_equal(again, array)


FINITE = st.floats(allow_nan=False, allow_infinity=False, width=32)


@given(
    npst.arrays(np.float32, npst.array_shapes(min_dims=2, max_dims=2, max_side=5), elements=FINITE),
    st.sampled_from("\t,;"),
    st.booleans(),
)
def test_what_a_spreadsheet_copies_is_read(cells: np.ndarray, mark: str, header: bool) -> None:
    assume(cells.size > 1)  # one cell is a number
    rows = [mark.join(map(str, row)) for row in cells.tolist()]
    names = [mark.join(f"name {i}" for i in range(cells.shape[1]))] if header else []
    np.testing.assert_array_equal(value("\n".join([*names, *rows]), None, cells.shape[1]), cells)


def test_names_of_columns_may_look_like_imaginary_units() -> None:
    assert value("i\tj\n1\t2\n3\t4", None, 2).tolist() == [[1, 2], [3, 4]]
    assert value("j\n5\n6", None, 1).tolist() == [[5], [6]]


def test_a_row_for_a_matrix() -> None:
    assert value("1, 2", None, 2).tolist() == [[1, 2]]
    assert value("1 2\n3 4", None, 2, 1).tolist() == [[[1], [2]], [[3], [4]]]


@given(st.text(max_size=40) | st.text("[]()., -+\t\n1ejnaifzro_=@'\"", max_size=30))
@pytest.mark.slow
def test_no_text_is_more_than_a_value_or_an_error(text: str) -> None:
    try:
        found = value(text, None)
    except GradstepError:
        return
    assert found.dtype == np.float32


@each_of(
    ("text", "quick"),
    [("[1, nan]", True), ("array([1.])", True), ("nan", True), ("1\t2", True),
     ("@x.npy", False), (" normal()", False), ("zeros", False), ("nonsense", True),
     ("normel()", True), ("[" + "1," * 20_000, False)],
)  # fmt: skip
def test_what_is_read_at_once(text: str, quick: bool) -> None:
    assert is_quick(text) is quick
