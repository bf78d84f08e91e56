"""How numbers, elements and places are said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes

from gradstep.core.checks.why.explanation_text import describe_range, norm, operands
from gradstep.core.checks.why.explanation_words import (
    broadcast_index,
    capitalize,
    element,
    extent,
    list_words,
    number,
    place,
    sentence,
)
from gradstep.core.checks.why.questioned_run import state_of
from gradstep.core.graph.model import Operation, Phase, TensorRef
from tests.support.each_case import each_of


def f32(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


@each_of(
    ("x", "said"),
    [
        (np.float32(-0.5), "-0.5"),
        (np.array(1234567.0), "1.23457e+06"),
        (0.1 + 0.2, "0.3"),
        (float("nan"), "nan"),
        (np.True_, "True"),
        (np.int64(12345678), "12345678"),
        (1 + 2j, "1+2j"),
    ],
)
def test_numbers(x: Any, said: str) -> None:
    assert number(x) == said


@each_of(
    ("x", "said"),
    [
        (f32(2, 2, 2), "is 2 throughout"),
        (f32(-1, 3), "lies in [-1, 3]"),
        (f32(), "is empty"),
        (np.array([True, True]), "is True throughout"),
        (np.array([True]), "is True throughout"),
        (np.array([True, False]), "has 2 elements"),
        (np.array([1j, 1j, 1j]), "is 0+1j throughout"),
        (np.array([1j, 2j, 3j]), "has 3 elements"),
    ],
)
def test_what_elements_have_in_common(x: np.ndarray, said: str) -> None:
    assert extent(x) == said


@each_of(
    ("x", "index", "said"),
    [
        (f32(5, 6), (1,), "x = 6"),
        (f32(5, 6), (3, 0), "x = 5"),
        (f32(5), (3,), "x = 5"),  # broadcast
        (f32(5), None, "x = 5"),
        (np.array(7), (), "x = 7"),
        (f32(5, 6), None, "x lies in [5, 6]"),
        (f32(5, 6), (2,), "x lies in [5, 6]"),  # there is no such element
        (np.array(["a", "b"], object), (0,), "x"),
        ("state", (0,), "x"),
    ],
)
def test_what_an_operand_is_at_an_element(x: Any, index: Any, said: str) -> None:
    assert element("x", x, index) == said


@given(array_shapes(min_dims=0, max_dims=3, max_side=3), st.data())
def test_an_element_comes_from_where_broadcasting_takes_it(
    shape: tuple[int, ...], data: st.DataObject
) -> None:
    kept = [data.draw(st.booleans()) for _ in shape]
    small = tuple(n if k else 1 for n, k in zip(shape, kept, strict=True))
    small = small[data.draw(st.integers(0, len(small))) :]
    numbers = np.arange(np.prod(small, dtype=int)).reshape(small)
    wide = np.broadcast_to(numbers, shape)
    for index in np.ndindex(shape):
        found = broadcast_index(small, index)
        assert found is not None
        assert numbers[found] == wide[index]


@pytest.mark.parametrize(
    ("shape", "index"), [((2, 2), (0,)), ((2,), (2,)), ((0,), (0,)), ((3, 1), (3, 0))]
)
def test_what_is_not_broadcast_there(shape: tuple[int, ...], index: tuple[int, ...]) -> None:
    assert broadcast_index(shape, index) is None


def test_places_lists_and_sentences() -> None:
    assert place((0, 3)) == " at index [0, 3]"
    assert place(()) == place(None) == ""
    assert list_words("a") == "a"
    assert list_words("ab") == "a and b"
    assert list_words("abc") == "a, b and c"
    assert sentence("a", "", "b.") == "a; b."
    assert capitalize("it is") == "It is"
    assert capitalize("") == ""


@each_of(
    ("x", "said"),
    [
        (f32(0, 1), "is finite: it lies in [0, 1]; 1 of 2 elements is 0, at [0]"),
        (f32(*[0] * 9, 1), "is finite: it lies in [0, 1]; 9 of 10 elements are 0"),
        (f32(4), "is finite and not zero: it is 4"),
        (np.array([[4]]), "is not zero: it is 4"),
        (np.array([1j, 2j]), "is finite and not zero: it has 2 elements"),
        (np.array([True]), "is not zero: it is True"),
        (f32(), "is empty"),
        (np.array(["a"], object), "holds no numbers"),
    ],
)
def test_of_what_nothing_is_wrong(x: np.ndarray, said: str) -> None:
    assert describe_range(x) == said


@pytest.mark.parametrize(
    ("x", "said"), [(f32(3, 4), "5"), (np.array([3 + 4j]), "5"), (np.array([[-2]]), "2")]
)
def test_norms(x: np.ndarray, said: str) -> None:
    assert norm(x) == said


@each_of(
    ("x", "state"),
    [
        (f32(1, np.nan, np.inf), "nan"),
        (f32(1, np.inf), "inf"),
        (np.array([complex(0, np.inf)]), "inf"),
        (f32(0, 0), "zero"),
        (f32(0, 1), "ok"),
        (f32(), "ok"),
        (np.array([False]), "zero"),
        (np.array([0]), "zero"),
        (np.array([""], object), "ok"),
    ],
)
def test_states(x: np.ndarray, state: str) -> None:
    assert state_of(x) == state


@pytest.mark.parametrize("count", [1, 4, 5])
def test_four_operands_are_shown(count: int) -> None:
    op = Operation("sum", "AddN", tuple(TensorRef(f"x{k}") for k in range(count)))
    said = operands(op, [f32(k, 9) for k in range(count)], (0,))
    assert said.startswith(", ".join(f"x{k} = {k}" for k in range(min(count, 4))))
    assert said.endswith(", …") == (count > 4)


def test_axes_and_what_is_no_array_are_not_shown() -> None:
    refs = (TensorRef("x"), TensorRef("axis"))
    assert operands(Operation("y", "Sum", refs), [f32(1, 2), np.int32([0])], ()) == (
        "x lies in [1, 2]"
    )
    assert operands(Operation("y", "Add", refs), [f32(1, 2), None], (1,)) == "x = 2"
    names = {refs[0]: "the part by z"}
    back = Operation("g/y", "Neg", refs[:1], phase=Phase.BACKWARD)
    assert operands(back, [f32(1, 2)], (1,), names) == "the part by z = 2"
