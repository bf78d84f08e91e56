"""Expectations as an example writes them down: one function for each thing that can be said."""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

import numpy as np

from gradstep.core.document.expectation import Expectation, ExpectationKind, Variation
from gradstep.core.graph.model import Constant

AS_IT_IS = Variation()


class Comparing(TypedDict, total=False):
    """run: after which it is asked. when: what is changed before. rtol, atol: how near is near."""

    run: int
    when: Variation
    rtol: float
    atol: float


def value(name: str, expected: Any, text: str, **how: Unpack[Comparing]) -> Expectation:
    """The tensor or variable `name` after a run. A scalar stands for every element."""
    return equal(f'x["{name}"]', expected, text, **how)


def gradient(name: str, expected: Any, text: str, **how: Unpack[Comparing]) -> Expectation:
    """The gradient that reaches `name`; None where there must be none."""
    if expected is None:
        return none(f'grad["{name}"]', text, how.get("run", 0), how.get("when", AS_IT_IS))
    return equal(f'grad["{name}"]', expected, text, **how)


def equal(what: str, expected: Any, text: str, **how: Unpack[Comparing]) -> Expectation:
    """An expression's value: a number, nested lists, an array, or another expression (a str)."""
    return _compared(ExpectationKind.EQUALS, what, expected, text, **how)


def different(what: str, expected: Any, text: str, **how: Unpack[Comparing]) -> Expectation:
    """As `equal`, but it must not be."""
    return _compared(ExpectationKind.DIFFERS, what, expected, text, **how)


def none(what: str, text: str, run: int = 0, when: Variation = AS_IT_IS) -> Expectation:
    """There is no such gradient, or no run computes that value."""
    return Expectation(text, what, ExpectationKind.NONE, run=run, when=when)


def holds(what: str, text: str, run: int = 0, when: Variation = AS_IT_IS) -> Expectation:
    """A comparison is true at every element: `abs(x["a"] - x["b"]) < 1e-6`."""
    return Expectation(text, what, ExpectationKind.HOLDS, run=run, when=when)


def fails(
    node: str, error: str, message: str, text: str, run: int = 0, when: Variation = AS_IT_IS
) -> Expectation:
    """Run number `run` fails at `node` ("": anywhere) with that kind of error, whose text has
    `message` in it."""
    return Expectation(
        text, node, ExpectationKind.FAILS, run=run, error=error, message=message, when=when
    )


def _compared(
    kind: ExpectationKind, what: str, expected: Any, text: str, **how: Unpack[Comparing]
) -> Expectation:
    if isinstance(expected, str):
        return Expectation(text, what, kind, other=expected, **how)
    return Expectation(text, what, kind, Constant(_array(expected)), **how)


def _array(expected: Any) -> np.ndarray:
    """Floats as float32, as nearly all that the examples compute; an array as it is."""
    if isinstance(expected, np.ndarray):
        return expected
    array = np.array(expected)
    return array.astype({"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype))
