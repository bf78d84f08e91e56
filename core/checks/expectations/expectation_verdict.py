"""Whether an expectation holds of a finished run, and in words what came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.debug.breaks.expression import Scope, parse
from gradstep.core.debug.breaks.expression_names import find_mentions, names_a_tensor
from gradstep.core.debug.history.frame import Frame
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.expectation import Expectation, ExpectationKind, Variation
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import anywhere
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.graph.number_kinds import kind_of

NO_GRADIENT, NOT_COMPUTED, NO_FAILURE = "no gradient", "not computed", "no failure"
_WHOLE = 12  # elements that are written out
_NUMBERS = frozenset("biufc")  # kinds of elements; text is none, and differs from every number
_WRITTEN: Any = {
    "float_kind": lambda x: f"{x:.6g}",
    "bool": str,
    "object": lambda x: repr(x.decode(errors="replace") if isinstance(x, bytes) else x),
}


@dataclass(frozen=True)
class Outcome:
    """A program after one of its runs. frame: the values, None where it could not start;
    failure: what stopped the run; found: what was wrong before it began."""

    program: Program
    frame: Frame | None
    failure: GradstepError | None = None
    found: tuple[GradstepError, ...] = ()

    @property
    def failures(self) -> Sequence[GradstepError]:
        return self.found if self.failure is None else (self.failure, *self.found)


@dataclass(frozen=True)
class ExpectationVerdict:
    """`came`: the value, the failure, or why there is neither."""

    ok: bool
    came: str


def verdict(e: Expectation, outcome: Outcome) -> ExpectationVerdict:
    """Never raises for what a document may say."""
    try:
        return _JUDGES[e.kind](e, outcome)
    except _MissingError as missing:
        nothing_failed = not outcome.failures
        return ExpectationVerdict(
            e.kind is ExpectationKind.NONE and nothing_failed, missing.why(outcome)
        )
    except GradstepError as error:
        return ExpectationVerdict(False, error.message)


def as_given(what: str, outcome: Outcome, run: int, when: Variation) -> Expectation:
    """The expectation that an expression is what it is; that a comparison holds. Raises
    GradstepError where the run failed, and for a comparison that does not."""
    if outcome.failures:
        raise outcome.failures[0]
    text = f"What run {run + 1} gives."
    try:
        value = np.asarray(_value(what, outcome))
    except _MissingError:
        return Expectation(text, what, ExpectationKind.NONE, run=run, when=when)
    if kind_of(value.dtype) != "b" or names_a_tensor(what):
        return Expectation(text, what, value=Constant(value), run=run, when=when)
    if not value.all():
        raise GradstepError(
            f"{what} is {shown(value)}", kind="ValueError", hint="say what holds, or expect a value"
        )
    return Expectation(text, what, ExpectationKind.HOLDS, run=run, when=when)


def as_it_failed(outcome: Outcome, run: int, when: Variation) -> Expectation:
    """The expectation that the run fails as it did. Raises GradstepError if it did not."""
    if not outcome.failures:
        raise GradstepError(
            f"run {run + 1} does not fail", kind="ValueError", hint="expect a value"
        )
    error = outcome.failures[0]
    return Expectation(
        f"Run {run + 1} fails.",
        error.node or "",
        ExpectationKind.FAILS,
        run=run,
        error=error.kind,
        message=error.message,
        when=when,
    )


def shown(value: Any) -> str:
    """A value in one line; of a large one the outer elements."""
    if not isinstance(value, np.ndarray | np.generic):
        return str(value)
    text = np.array2string(
        np.asarray(value), separator=", ", threshold=_WHOLE, edgeitems=1, formatter=_WRITTEN
    )
    return " ".join(text.split())


def _equals(e: Expectation, outcome: Outcome) -> ExpectationVerdict:
    value, expected = _sides(e, outcome)
    off = _differences(value, expected, e)
    if off is None:
        return ExpectationVerdict(False, f"shape {list(value.shape)}, not {list(expected.shape)}")
    return ExpectationVerdict(not off.any(), _worst(value, expected, off))


def _differs(e: Expectation, outcome: Outcome) -> ExpectationVerdict:
    value, expected = _sides(e, outcome)
    off = _differences(value, expected, e)
    return ExpectationVerdict(off is None or bool(off.any()), shown(value))


def _none(e: Expectation, outcome: Outcome) -> ExpectationVerdict:
    return ExpectationVerdict(False, shown(_value(e.what, outcome)))


def _holds(e: Expectation, outcome: Outcome) -> ExpectationVerdict:
    value = _value(e.what, outcome)
    return ExpectationVerdict(bool(np.all(value)), shown(value))


def _fails(e: Expectation, outcome: Outcome) -> ExpectationVerdict:
    said = [f"{error.kind}: {error.message}" for error in outcome.failures]
    for error, text in zip(outcome.failures, said, strict=True):
        right_place = not e.what or e.what == error.node
        if right_place and e.error in ("", error.kind) and e.message in error.message:
            return ExpectationVerdict(True, text)
    return ExpectationVerdict(False, said[0] if said else NO_FAILURE)


_JUDGES = {
    ExpectationKind.EQUALS: _equals,
    ExpectationKind.DIFFERS: _differs,
    ExpectationKind.NONE: _none,
    ExpectationKind.HOLDS: _holds,
    ExpectationKind.FAILS: _fails,
}


class _MissingError(Exception):
    """There is no such value."""

    def why(self, outcome: Outcome) -> str:
        """In words; a failed run, or what was wrong before it, is the reason of all that lacks."""
        reason = str(self)
        return f"{reason}: {outcome.failures[0].message}" if outcome.failures else reason


def _sides(e: Expectation, outcome: Outcome) -> tuple[np.ndarray, np.ndarray]:
    """The value, and what it is held against. Raises as `_value`."""
    value = _value(e.what, outcome)
    expected = _value(e.other, outcome) if e.value is None else e.value.array
    return np.asarray(value), np.asarray(expected)


def _value(expression: str, outcome: Outcome) -> Any:
    """What the expression gives. Raises GradstepError for names that do not exist, and
    _MissingError where there is no value."""
    names = find_mentions(expression)
    for _, ref in names:
        anywhere(outcome.program.graph, ref.op)  # raises, with near misses
    frame = outcome.frame
    value = None if frame is None else parse(expression).evaluate(Scope(frame))
    if value is None:
        raise _MissingError(_reason(names, outcome))
    return value


def _reason(names: Sequence[tuple[str, TensorRef]], outcome: Outcome) -> str:
    """Why one of the tensors that an expression reads has no value."""
    for table, ref in names:
        if table == "grad" and ref not in outcome.program.gradients:
            return NO_GRADIENT
        dead = None if outcome.frame is None else outcome.frame.dead(ref)
        if table == "x" and dead is not None:
            return dead.text
    return NOT_COMPUTED


def _differences(value: np.ndarray, expected: np.ndarray, e: Expectation) -> np.ndarray | None:
    """At which elements the two differ by more than the tolerances; None for other shapes."""
    if expected.ndim and value.shape != expected.shape:
        return None
    kinds = {kind_of(value.dtype), kind_of(expected.dtype)}
    if kinds <= _NUMBERS and kinds & {"f", "c"}:
        left, right = (x.astype(np.result_type(x, np.float64)) for x in (value, expected))
        return np.asarray(~np.isclose(left, right, e.rtol, e.atol, equal_nan=True))
    return np.asarray(value != expected, dtype=bool)


def _worst(value: np.ndarray, expected: np.ndarray, off: np.ndarray) -> str:
    """The value; of a large one that differs, the element that does most."""
    if value.size <= _WHOLE or not off.any():
        return shown(value)
    expected = np.broadcast_to(expected, value.shape)
    at = tuple(int(i) for i in np.argwhere(off)[0])
    if kind_of(value.dtype) in "fiu" and kind_of(expected.dtype) in _NUMBERS:
        distance = np.where(off, np.abs(value.astype(np.float64) - expected), -1.0)
        worst = np.argmax(np.where(np.isnan(distance), np.inf, distance))
        at = tuple(int(i) for i in np.unravel_index(worst, value.shape))
    return f"{shown(value[at])} at {list(at)}, not {shown(expected[at])}"
