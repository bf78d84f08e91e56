"""What is said of one operation's gradient: what is wrong with it, and what would be right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.check.check_result import judge
from gradstep.core.autodiff.check.finite_differences import NumericGradient
from gradstep.core.autodiff.check.op_gradcheck import LocalCheck
from gradstep.core.autodiff.check.override_advice import (
    explain_check,
    find_repeated_factor,
    suggest,
)
from tests.support.each_case import each_of

ARRIVED = np.array([1.0, 2, 3])


def slopes(value: Any) -> NumericGradient:
    v = np.array(value, np.float64)
    return NumericGradient(v, v, v, noise=np.zeros(v.shape), kink=np.zeros(v.shape, bool))


def checked(*inputs: tuple[Any, Any]) -> LocalCheck:
    """Of each input what the gradient gave, and what the numbers say."""
    results = {i: None if x is None else np.array(x, float) for i, (x, _) in enumerate(inputs)}
    numeric = {i: slopes(y) for i, (_, y) in enumerate(inputs)}
    findings = {
        i: judge(x, x, numeric[i], lambda i=i: np.zeros(numeric[i].value.shape))  # type: ignore[misc]
        for i, x in results.items()
    }
    return LocalCheck("y", "Mine", results, numeric, findings)


@each_of(
    ("inputs", "count", "said"),
    [
        ([(None, ARRIVED)], 1, "grad"),
        ([(None, -ARRIVED)], 1, "-grad"),
        ([(None, 0 * ARRIVED)], 1, "None"),
        ([(None, 2 * ARRIVED)], 1, ""),
        ([(None, [1.0, 2])], 1, ""),
        ([(None, ARRIVED), (None, -ARRIVED)], 2, "(grad, -grad)"),
        ([(None, ARRIVED)], 3, "(grad, None, None)"),  # the others are no numbers
        ([(None, ARRIVED), (None, 2 * ARRIVED)], 2, ""),
    ],
)
def test_what_the_numbers_support(inputs: Any, count: int, said: str) -> None:
    assert suggest(checked(*inputs), count, ARRIVED) == said


def test_a_right_gradient_is_said_to_be_so() -> None:
    check = checked((ARRIVED, ARRIVED))
    assert explain_check(check, "1", "", "") == (
        "The gradient 'Mine' agrees with finite differences at y."
    )


@pytest.mark.parametrize(
    ("inputs", "factor", "fix", "said"),
    [
        ([(1, 2)], "", "", "What 'Mine' returns for input 0 is not what finite differences of this "
         "operation give."),
        ([(1, 2), (1, 1), (1, 3)], "", "", "What 'Mine' returns for inputs 0, 2 is not what finite "
         "differences of this operation give."),
        ([(1, 2)], "", "grad", "What 'Mine' returns for input 0 is not what finite differences of "
         "this operation give. The numbers support grad."),
        ([(1, 2)], "x", "-grad", "Multiplying by x again counts it twice. The numbers support "
         "-grad."),
    ],
)  # fmt: skip
def test_what_is_wrong(inputs: Any, factor: str, fix: str, said: str) -> None:
    arriving = "d L / d y"
    found = explain_check(checked(*inputs), arriving, factor, fix)
    assert found == f"At y, grad is already d L / d y. {said}"


def test_the_factor_that_is_there_twice() -> None:
    """Of several inputs that one by which the result is too large; None multiplies nothing."""
    a, b = np.full(3, 2.0), np.array([4.0, 5, 6])
    wrong = checked((ARRIVED * b, ARRIVED), (None, ARRIVED))
    assert find_repeated_factor(wrong, ["a", "b"], [a, b], ARRIVED) == "b"
    assert find_repeated_factor(checked((None, ARRIVED)), ["a"], [a], ARRIVED) == ""
    assert find_repeated_factor(checked((ARRIVED * b, ARRIVED * b)), ["b"], [b], ARRIVED) == ""
    later = checked((ARRIVED, ARRIVED), (ARRIVED * a, ARRIVED))
    assert find_repeated_factor(later, ["a", "b"], [a, b], ARRIVED) == "a"
    assert find_repeated_factor(checked((0 * b, b)), ["a"], [np.zeros(1)], ARRIVED) == ""
