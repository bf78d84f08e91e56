"""Writing down what a run of a document gives, for later runs to be held to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from gradstep.core.checks.expectations.expectation_runs import open_trial
from gradstep.core.checks.expectations.expectation_verdict import as_given, as_it_failed
from gradstep.core.document.document import Document
from gradstep.core.document.expectation import Expectation, ExpectationKind, Variation
from gradstep.core.engine.backend import Backend
from gradstep.core.ops.state.print_output import nowhere, printing_to
from gradstep.core.program.user_code import Function


def capture_expectations(
    document: Document,
    functions: Mapping[str, Function],
    open_backend: Callable[[str], Backend],
    what: Sequence[str],
    run: int = 0,
    when: Variation = Variation(),  # noqa: B008 - it is frozen
) -> list[Expectation]:
    """Of each expression what it is once run number `run` is over; without any, how that run fails.
    Raises GradstepError for a wrong name, and for a run that fails, or does not, unexpectedly."""
    with printing_to(nowhere):
        trial = open_trial(document, functions, when, open_backend)
        *_, outcome = (trial.run(number) for number in range(run + 1))
    if not what:
        return [as_it_failed(outcome, run, when)]
    return [as_given(each, outcome, run, when) for each in what]


def add_expectations(document: Document, found: Sequence[Expectation], text: str = "") -> Document:
    """`document` with these expectations, in the place of those that were about the same. text:
    what they teach; "": what those said."""
    kept = [*document.expectations]
    for new in found:
        old = next((e for e in kept if _about(e) == _about(new)), None)
        said = text or (new.text if old is None else old.text)
        here = len(kept) if old is None else kept.index(old)
        kept[here : here + 1] = [replace(new, text=said)]
    return document.with_(expectations=tuple(kept))


def _about(e: Expectation) -> tuple[object, ...]:
    failure = e.kind is ExpectationKind.FAILS
    return ("failure", e.run, e.when) if failure else (e.what, e.run, e.when)
