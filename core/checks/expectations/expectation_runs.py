"""Running a document as its expectations ask, to say of each whether it holds.

Nothing here touches the debug session that the user steps through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.cancellation import check_cancelled
from gradstep.core.checks.expectations.expectation_verdict import (
    ExpectationVerdict,
    Outcome,
    verdict,
)
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.dataset import dataset_without
from gradstep.core.document.document import Document
from gradstep.core.document.expectation import Expectation, Variation, variations
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.placed_backend import open_placed
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.problems import Problem
from gradstep.core.ops.state.print_output import nowhere, printing_to
from gradstep.core.program.derive import derive
from gradstep.core.program.user_code import Function
from gradstep.core.protocol.messages import CheckedExpectation


def check_expectations(
    document: Document,
    functions: Mapping[str, Function],
    open_backend: Callable[[str], Backend],
    known: Program | None = None,
) -> list[CheckedExpectation]:
    """Every expectation of `document`, in their order.

    functions: its custom Python by name. known: the program of this document, or of one before an
    edit, of which each variation takes what is the same. Raises Cancelled where that is asked for.
    """
    found: dict[int, ExpectationVerdict] = {}
    with printing_to(nowhere):
        for when in variations(document.expectations):
            mine = [i for i, e in enumerate(document.expectations) if e.when == when]
            found.update(_verdicts(document, when, mine, functions, open_backend, known))
    return [_said(e, found[i]) for i, e in enumerate(document.expectations)]


def apply_variation(document: Document, when: Variation) -> Document:
    """`document` as the user would have changed it."""
    return document.with_(
        request=_request(document.request, when),
        feeds={**document.feeds, **when.feeds},
        data=dataset_without(document.data, {TensorRef.parse(name).op for name in when.feeds}),
        initial={**document.initial, **when.initial},
        fetches=when.fetches or document.fetches,
        targets=when.targets or document.targets,
    )


def _request(request: GradientRequest, when: Variation) -> GradientRequest:
    kept = request.overrides if when.overrides else ()
    return replace(
        request,
        of=when.of or request.of,
        wrt=when.wrt or request.wrt,
        overrides=kept,
        stops=request.stops if when.stops else frozenset(),
        stopped_edges=request.stopped_edges if when.stops else frozenset(),
    )


def _verdicts(
    document: Document,
    when: Variation,
    mine: list[int],
    functions: Mapping[str, Function],
    open_backend: Callable[[str], Backend],
    known: Program | None,
) -> dict[int, ExpectationVerdict]:
    """Of the expectations numbered `mine`, which share one variation."""
    found: dict[int, ExpectationVerdict] = {}
    try:
        trial = open_trial(document, functions, when, open_backend, known)
    except GradstepError as error:
        return dict.fromkeys(mine, ExpectationVerdict(False, error.message))
    for run in range(1 + max(document.expectations[i].run for i in mine)):
        check_cancelled()
        outcome = trial.run(run)
        here = (i for i in mine if document.expectations[i].run == run)
        found.update((i, verdict(document.expectations[i], outcome)) for i in here)
    return found


def open_trial(
    document: Document,
    functions: Mapping[str, Function],
    when: Variation,
    open_backend: Callable[[str], Backend],
    known: Program | None = None,
) -> Trial:
    """The runs of a document under a variation, on its device and those that operations are placed
    on. known: see `check_expectations`. Raises GradstepError."""
    program = derive(apply_variation(document, when), functions, previous=known)
    return Trial(program, open_placed(when.device, document.graph, open_backend))


class Trial:
    """A program that is run from its start, one run after another, keeping the last alone. Where
    it has threads they go on in turn, as when the user lets them; the values are the main one's."""

    def __init__(self, program: Program, backend: Backend) -> None:
        self._program = program
        self._found = tuple(_error_of(p) for p in program.problems if p.severity == "error")
        self._threads: Scheduler | None = None
        self._failure: GradstepError | None = None
        try:
            self._threads = Scheduler(program, backend, limit_bytes=0)
        except GradstepError as error:
            self._failure = error

    def run(self, number: int) -> Outcome:
        """Run number `number`, the one after the last; a run that failed is not gone on from."""
        if self._threads is None:
            return Outcome(self._program, None, self._failure, self._found)
        if self._failure is not None:
            return Outcome(self._program, None, _earlier(self._failure), self._found)
        main = self._threads.session
        self._failure = self._run(self._threads, number)
        return Outcome(self._program, main.frame(), self._failure, self._found)

    def _run(self, threads: Scheduler, number: int) -> GradstepError | None:
        """Why run `number` of the main thread does not come to its end, or None."""
        length = threads.session.timeline.length
        if self._program.threads:
            stop = threads.command("continue_")
        else:
            stop = threads.command("run_to", f"{number}:{length}")
        if stop.error is not None or (stop.run, stop.step) == (number, length):
            return stop.error
        return GradstepError(f"the run stops: {stop.reason}", node=stop.op)


def _earlier(failure: GradstepError) -> GradstepError:
    return GradstepError(f"a run before it failed: {failure.message}", kind="AbortedError")


def _error_of(problem: Problem) -> GradstepError:
    return GradstepError(problem.text, kind=problem.kind or problem.code, node=problem.node or None)


def _said(e: Expectation, found: ExpectationVerdict) -> CheckedExpectation:
    return CheckedExpectation(
        text=e.text, what=e.what, kind=e.kind.value, run=e.run, ok=found.ok, came=found.came
    )
