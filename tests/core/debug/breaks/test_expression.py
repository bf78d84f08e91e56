"""The language of conditions and watches, and what is not in it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.debug.breaks.expression import Scope, parse
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.number_kinds import BFLOAT16
from tests.support.each_case import each_of

VALUES = {
    "a:0": np.array([[1.0, -2.0], [3.0, np.nan]], np.float32),
    "b:0": np.array([3, 4], np.int32),
    "empty:0": np.zeros((0, 2), np.float32),
}
GRADIENTS = {"a:0": np.array([0.5, np.inf], np.float32)}
UPDATES = {"b:0": np.array([0.3, -0.4])}
VALUES["relu:0"] = np.array([[0, 1, 0, 0], [0, 0, -0.0, np.nan]], np.float32)
VALUES["image:0"] = np.array([[[[0, 1], [0, 0]]], [[[0, 0], [0, 0]]]], np.float32)
VALUES["sigmoid:0"] = np.array([0.5, 0.005, 0.995, 0.2, np.nan], np.float32)
VALUES["short:0"] = np.ones(1000, BFLOAT16)
VALUES["complex:0"] = np.array([3 + 4j, 0])


class Known:
    def value(self, ref: TensorRef) -> np.ndarray | None:
        return VALUES.get(str(ref))

    def gradient(self, ref: TensorRef) -> np.ndarray | None:
        return GRADIENTS.get(str(ref))

    def update(self, ref: TensorRef) -> np.ndarray | None:
        return UPDATES.get(str(ref))

    def place(self, name: str) -> int | None:
        return {"run": 3, "step": 12}.get(name)

    def before(self) -> None:
        return None

    def written(self, ref: TensorRef) -> bool:
        return str(ref) == "b:0"

    def lacks_gradient(self, ref: TensorRef, of: str = "") -> bool:
        return str(ref) != "a:0"

    def gradient_written(self, ref: TensorRef, of: str = "") -> bool:
        return (str(ref), of) == ("a:0", "loss")


def evaluate(text: str, subject: str = "a:0") -> Any:
    return parse(text).evaluate(Scope(Known(), TensorRef.parse(subject)))


@each_of(
    ("text", "expected"),
    [
        ("norm(x['b:0'])", 5.0),
        ("run * 100 + step", 312.0),
        ("run > 2 and x['b:0'][0] > 0", True),
        ("iteration > 0", None),
        ("previous(x['b:0'])", None),
        ("written(x['b'])", True),
        ("written(x['a'])", False),
        ("isnone(grad)", False),
        ("isnone(grad['b'])", True),
        ("written(grad['a', 'loss'])", True),
        ("written(grad['a']) or not written(x['b'])", False),
        ("x['b:0'] + 1", [4, 5]),
        ("norm(x['short']) ** 2", pytest.approx(1000)),
        ("mean(x['short'])", 1.0),  # added up in bfloat16, it would be 0.256
        ("max(x['short']) + 0.001", pytest.approx(1.001)),
        ("2 * x['b'] - 1 > 5", [False, True]),
        ("any(isnan(value))", True),
        ("all(isfinite(value))", False),
        ("any(isinf(grad))", True),
        ("max(abs(value[0]))", 2.0),
        ("value[1, 0] ** 2", 9.0),
        ("value[:, 0]", [1, 3]),
        ("value[-1][0]", 3.0),
        ("shape(value) == (2, 2)", True),
        ("shape(value)[0] == 2", True),
        ("size(value)", 4),
        ("rank(value)", 2),
        ("1 < 2 < 3", True),
        ("1 < 2 < 2", False),
        ("not (1 > 2) and (2 > 1 or 1 > 2)", True),
        ("-inf < min(x['b:0'])", True),
        ("7 // 2 + 7 % 2", 4.0),
        ("count(value > 0)", 2),
        ("mean(x['b:0']) == 3.5", True),
        ("x['empty:0'] > 0", np.zeros((0, 2), bool)),
        ("grad['a:0'][0]", 0.5),
        ("9 ** 9 ** 9 ** 9", np.inf),
        ("update['b:0'][1]", -0.4),
        ("norm(update['b:0'])", 0.5),
        ("ratio(update['b:0'], x['b:0'])", 0.1),
        ("ratio(0 * update['b:0'], x['empty:0'])", 0),
        ("ratio(1, 0)", np.inf),
        ("norm(x['complex:0'])", 5.0),
        ("norm(9 ** 9 ** 9)", np.inf),
        ("dead(x['relu:0'])", 0.5),
        ("dead(x['image:0'])", 0.5),
        ("dead(x['b:0'])", 0),
        ("dead(x['empty:0'])", 1),
        ("dead(0)", 1),
        ("saturated(x['sigmoid:0'], 0, 1)", 0.4),
        ("saturated(x['sigmoid:0'], -1, 1)", 0.2),
        ("saturated(x['empty:0'], 0, 1)", 0),
    ],
)
def test_results(text: str, expected: Any) -> None:
    np.testing.assert_array_equal(evaluate(text), expected)


@pytest.mark.parametrize(
    ("text", "holds"),
    [("isnan(value)", True), ("value > 100", False), ("x['empty:0'] > 0", False), ("1", True)],
)
def test_a_condition_holds_when_any_element_is_true(text: str, holds: bool) -> None:
    assert parse(text).holds(Scope(Known(), TensorRef("a"))) is holds


@pytest.mark.parametrize("text", ["value > 0", "grad > 0", "x['nowhere:3'] > 0"])
def test_what_is_not_there_yet_is_none_and_no_condition_holds(text: str) -> None:
    scope = Scope(Known(), TensorRef("nowhere"))
    assert parse(text).evaluate(scope) is None
    assert not parse(text).holds(scope)
    assert parse("value").evaluate(Scope(Known())) is None


@each_of(
    "text",
    [
        "",
        "value >",
        "loss > 1",
        "__import__('os')",
        "value.__class__",
        "(lambda: 1)()",
        "[x for x in value]",
        "open('f')",
        "norm(value, 2)",
        "norm(x=value)",
        "value[value]",
        "value[True]",
        "'text'",
        "value if 1 else 2",
        "value @ value",
        "value is None",
        "y['a:0']",
        "{}",
        "value; value",
        "f'{value}'",
        "(yield)",
        "(y := 1)",
        "*value",
        "value[1.5]",
        "value\0",
        "x['a',]",
        "written(value)",
        "written(x['a', 'loss'])",
        "written(grad['a', 1])",
        "isnone(value)",
        "isnone(grad['a', 1])",
        "(" * 500,
        "-" * 999 + "1",
        "1" * 2000,
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(GradstepError) as caught:
        parse(text)
    assert caught.value.kind == "ExpressionError"


@pytest.mark.parametrize(
    "text",
    ["value[9]", "x['b:0'] + value[:, :0]", "min(x['empty:0'])", "(value, grad, x['b:0'][1:])"],
)
def test_values_that_do_not_fit_are_an_error_with_the_text(text: str) -> None:
    with pytest.raises(GradstepError) as caught:
        evaluate(text)
    assert text in caught.value.message


@given(st.text(alphabet="valuegrdx[](){}'\":0123456789.+-*/<>=!~&|^%@, \nandornot_", max_size=60))
def test_no_text_does_anything_but_give_a_value_or_an_error(text: str) -> None:
    with suppress(GradstepError):
        np.asarray(evaluate(text))  # as whoever counts, draws or compares it does


@pytest.mark.parametrize("text", ["(value, value[1:])", "(value, 1)", "((1, 2), value)"])
def test_parts_of_several_shapes_are_no_value_and_no_condition(text: str) -> None:
    with pytest.raises(GradstepError, match="its parts have no shape in common"):
        evaluate(text)
    with pytest.raises(GradstepError, match="its parts have no shape in common"):
        parse(text).holds(Scope(Known(), TensorRef.parse("a")))
    with pytest.raises(GradstepError, match="no shape in common"):
        evaluate(f"any({text}) or 1")
