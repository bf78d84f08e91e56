"""What a run of a document gives, as a user would check it: said in the file, held by a check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from gradstep.core.debug.breaks.expression import parse
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, TensorRef

RTOL, ATOL = 1e-5, 1e-6  # what float32 keeps through a small network


class ExpectationKind(StrEnum):
    """What is said of `what`."""

    EQUALS = "equals"  # it is `value`, or what `other` says; NaN is NaN
    DIFFERS = "differs"  # it is not, at one element at least
    NONE = "none"  # there is no such gradient, or no run computes that value
    HOLDS = "holds"  # it is a comparison, and true at every element
    FAILS = "fails"  # the run fails there, with `error` and `message`


def _nothing() -> Mapping[str, Constant]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Variation:
    """What the user would change by hand before running; what is empty stays as it is.

    feeds, initial:   by tensor and by variable, in place of the document's for these alone.
    of, wrt:          the gradients asked for.
    fetches, targets: what a run computes besides.
    overrides, stops: False switches all of the document's off.
    device:           where it runs: "cpu", "emulate:tf-gpu"…
    """

    feeds: Mapping[str, Constant] = field(default_factory=_nothing)
    initial: Mapping[str, Constant] = field(default_factory=_nothing)
    of: tuple[TensorRef, ...] = ()
    wrt: tuple[TensorRef, ...] = ()
    fetches: tuple[TensorRef, ...] = ()
    targets: tuple[str, ...] = ()
    overrides: bool = True
    stops: bool = True
    device: str = "cpu"


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that holds once run number `run` (from 0) is over.

    text:    what it teaches, one sentence.
    what:    an expression over the values then (gradstep.core.debug.breaks.expression): x["loss"],
             grad["c"], norm(grad["c"]); of FAILS the operation that fails, "" for any.
    value:   the tensor; a scalar stands for every element.
    other:   an expression, in place of a value.
    error:   the error's kind ("InvalidArgumentError"), "" for any.
    message: a part of the error's text.
    when:    what is changed before it runs.

    Raises GradstepError (ValueError) for one that could not be checked.
    """

    text: str
    what: str
    kind: ExpectationKind = ExpectationKind.EQUALS
    value: Constant | None = None
    other: str = ""
    run: int = 0
    rtol: float = RTOL
    atol: float = ATOL
    error: str = ""
    message: str = ""
    when: Variation = Variation()

    def __post_init__(self) -> None:
        if self.kind is not ExpectationKind.FAILS:
            parse(self.what)
        compares = self.kind in (ExpectationKind.EQUALS, ExpectationKind.DIFFERS)
        if compares and (self.value is None) == (self.other == ""):
            raise self._wrong("needs a value, or another expression, and not both")
        if self.other:
            parse(self.other)
        if self.run < 0 or not (self.rtol >= 0 and self.atol >= 0):
            raise self._wrong("has a negative run or tolerance")

    def _wrong(self, why: str) -> GradstepError:
        return GradstepError(f"the expectation '{self.text or self.what}' {why}", kind="ValueError")


def variations(expectations: Iterable[Expectation]) -> list[Variation]:
    """Each once; they hold maps, so that they cannot be keys."""
    found: list[Variation] = []
    for e in expectations:
        if e.when not in found:
            found.append(e.when)
    return found
