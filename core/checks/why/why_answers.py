"""Answering Why: the reason for a value or a gradient, from the runs that it is really made in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

import msgspec
import numpy as np

from gradstep.core.autodiff.explain.gradient_paths import find_flow_path, find_forward_path
from gradstep.core.autodiff.explain.loop_inlining import unroll_loops
from gradstep.core.autodiff.explain.missing_gradient import explain_none
from gradstep.core.autodiff.explain.why_answer import Link, WhyAnswer
from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.checks.why.backward_iterations import passed_by
from gradstep.core.checks.why.cutting_feeds import find_cutting_feeds
from gradstep.core.checks.why.explanation_text import describe_range
from gradstep.core.checks.why.questioned_run import Recollection, state_of
from gradstep.core.checks.why.run_explanations import WORDS, GradientQuestion, explain_value
from gradstep.core.checks.why.scratch_run import run_to_end, scratch_session
from gradstep.core.checks.why.step_on_other_inputs import differing
from gradstep.core.debug.history.loop_iterations import NONE_CHOSEN
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import NO_FUNCTIONS, Functions
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.graph.foreign_origin import why_frozen
from gradstep.core.graph.loop import loops_around, way_to
from gradstep.core.graph.model import Graph, Operation, TensorRef, unknown_name
from gradstep.core.graph.problems import Problem
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.typing.flatten_loops import flatten_loops
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.invalid_operations import broken_operations
from gradstep.core.program.gradient_context import Situation
from gradstep.core.protocol.messages import Explanation


class Explainer:
    """here: where gradients are looked at that no run of `session` computes; functions: for PyFunc,
    by their tokens; backend: where what no run has computed is run. session, run, step: the runs
    that are looked at, up to number `run` as of `step` (by default all of it), of loops in the
    iterations that the session looks at.
    Ends with Cancelled where that is asked for."""

    def __init__(
        self,
        here: Situation,
        functions: Functions = NO_FUNCTIONS,
        backend: Backend | None = None,
        session: DebugSession | None = None,
        run: int = 0,
        step: int | None = None,
    ) -> None:
        self.here, self._functions = here, functions
        self._backend = backend or NumpyBackend()
        self._session = session
        self._looked_at = NONE_CHOSEN if session is None else session.looked_at()
        self._there = (
            None if session is None else Recollection(session, run, step, looked_at=self._looked_at)
        )

    @collector_paused()
    def value(self, name: str) -> Explanation:
        """Why the tensor is as it is. Raises GradstepError for a wrong name."""
        assert self._there is not None
        assert self._session is not None
        ref = TensorRef.parse(name)
        around = way_to(self._session.program.graph, ref.op)
        if around is None:
            raise unknown_name(ref.op, self._session.program.graph.operations)
        found = explain_value(self._there, ref)
        if found.cause == "waiting" and around and self._session.stop.inside:
            found = self._in_a_loop(self._session, around[0], ref)
        if found.cause == "waiting" and not around:
            found = self._untouched(self._session, ref) or found
        error = self._session.stop.error
        if found.cause == "waiting" and error is not None:
            found = replace(found, text=found.text + _said(error))
        return _message(found)

    @collector_paused()
    def gradient(self, of: str, wrt: str) -> Explanation:
        """Why d(of)/d(wrt) is as it is. Raises GradstepError for a wrong name, and for an operation
        whose gradient cannot be derived."""
        y, x = TensorRef.parse(of), TensorRef.parse(wrt)
        found = self._recorded(y, x) or self._asked(y, x)
        if why := why_frozen(self.here.graph.operations.get(x.op)):
            text = f"{x.short}: {why}. What the graph itself would give: {found.text}"
            found = replace(found, text=text)
        return _message(found)

    def _in_a_loop(self, session: DebugSession, loop: Operation, ref: TensorRef) -> WhyAnswer:
        """Of a loop that the session stands in, from a run of its own."""
        beside = self._beside(session.program.graph, [loop.output()])
        try:
            run_to_end(beside)
        except GradstepError as error:
            text = f"{ref.short} is computed in a loop that is not done.{_said(error)}"
            return WhyAnswer("none", "waiting", ref.op, text=text)
        there = self._recollected(beside)
        return self._otherwise(session, there, ref, ref.short) or explain_value(there, ref)

    def _untouched(self, session: DebugSession, ref: TensorRef) -> WhyAnswer | None:
        """Of a variable that no step of the program reads or writes; None of all else."""
        assert self._there is not None
        shown = self._there.again.array(session.view().value(ref))
        if ref.op in session.plan.step_of or not isinstance(shown, np.ndarray):
            return None
        state = state_of(shown)
        said = describe_range(shown) if state == "ok" else f"is {WORDS[state]}"
        text = f"{ref.short} {said}; no step of this program reads or writes it."
        cause = "" if state == "ok" else "initial"
        return WhyAnswer(state, cause, ref.op, text=text)

    def _otherwise(
        self, session: DebugSession, there: Recollection, ref: TensorRef, name: str
    ) -> WhyAnswer | None:
        """Where what the session shows of a loop that it stands in is not what a run of its own
        came to, as behind what was given by hand in there: that this is so. name: of the value."""
        shown, found = there.again.array(session.view().value(ref)), there.array(ref)
        if shown is None and session.timeline.link.seen.touches(session.stop.run):
            text = f"{name} is not computed yet, and hangs on what was given by hand in this run."
            return WhyAnswer("none", "waiting", ref.op, text=text)
        if not isinstance(shown, np.ndarray) or found is None:
            return None
        if not differing(shown, found).any():
            return None
        text = (
            f"{name} is not what a run from the beginning makes of it: it was given by hand in "
            "this loop, or is made of what was. Step out of the loop, and ask again."
        )
        state = state_of(shown)
        return WhyAnswer(state, "changed", ref.op, text=text)

    # -- gradients -------------------------------------------------------------------------------

    def _recorded(self, y: TensorRef, x: TensorRef) -> WhyAnswer | None:
        """From the session's runs, if they compute this gradient, and have."""
        there, session = self._there, self._session
        if there is None or session is None:
            return None
        program = session.program
        for derived in program.derived:
            gradient = derived.gradients.get(x)
            if derived.of != (y,):
                continue
            if gradient is not None and there.array(gradient) is not None:
                question = GradientQuestion(there, program.forward, derived, y, x)
                return self._cut(program.forward, y, x, question.explanation())
            if way_to(program.forward, x.op):  # by itself nobody can ask for it
                return self._within(program.forward, derived, y, x)
        return None

    def _within(
        self, graph: Graph, derived: Differentiation, y: TensorRef, x: TensorRef
    ) -> WhyAnswer:
        """Of a tensor in a loop, from a run of its own that computes all of `derived`."""
        if x in derived.gradients:
            return self._run(graph, derived, y, x)
        passed = passed_by(graph, x)
        if passed is not None:
            name = f"d {y.short} / d {x.short}"
            text = (
                f"{name} is None: {x.op} (Switch) is the loop's own, and not differentiated by "
                f"itself; ask of {passed.short}, which it passes on."
            )
            return WhyAnswer("none", "not_differentiable", x.op, text=text)
        return explain_none(*unroll_loops(graph, derived), y, x, flatten_loops(graph))

    def _asked(self, y: TensorRef, x: TensorRef) -> WhyAnswer:
        """From the graph, and from a run of its own."""
        here = self.here
        request = replace(here.request, of=(y,), wrt=(x,))
        graph = here.needed(request)
        broken = broken_operations(graph, infer_declared(graph))
        if problem := broken.get(y.op) or broken.get(x.op):
            return _not_derived(graph, y, x, problem)
        derived = here.held(y, x) or differentiate(graph, request, here.functions)
        if x not in derived.gradients:
            return explain_none(*unroll_loops(graph, derived), y, x, flatten_loops(here.graph))
        return self._cut(graph, y, x, self._run(graph, derived, y, x))

    def _run(self, graph: Graph, derived: Differentiation, y: TensorRef, x: TensorRef) -> WhyAnswer:
        """From a run that computes just this, and the gradients on the way."""
        gradients = [ref for ref in derived.gradients.values() if ref.op in derived.graph]
        beside = self._beside(derived.graph, gradients)
        try:
            run_to_end(beside)
        except GradstepError as error:
            text = f"d {y.short} / d {x.short}: it exists; run the graph to see its value."
            path = find_flow_path(graph, derived, y, x)
            return WhyAnswer("ok", "", text=text + _said(error), path=path)
        there = self._recollected(beside)
        if self._session is not None and x.op not in graph:
            name, gradient = f"d {y.short} / d {x.short}", derived.gradients[x]
            if found := self._otherwise(self._session, there, gradient, name):
                return found
        return self._placed(GradientQuestion(there, graph, derived, y, x).explanation())

    def _recollected(self, beside: DebugSession) -> Recollection:
        """What a session computed that ran for this question."""
        past, looked_at = self._there, self._looked_at
        return Recollection(beside, 0, aside=True, past=past, looked_at=looked_at)

    def _beside(self, graph: Graph, fetches: Iterable[TensorRef]) -> DebugSession:
        """A session before its first run, which begins with what the run that is looked at began
        with."""
        there, start = self._there, dict[str, Any]()
        if there is not None:
            values = there.run.values()
            start = {n: values(v[0]) for n, v in there.run.plan.versions.items()}
        given, functions = self.here.given, self._functions
        return scratch_session(graph, fetches, given, functions, self._backend, start)

    def _cut(self, graph: Graph, y: TensorRef, x: TensorRef, found: WhyAnswer) -> WhyAnswer:
        """With what is to be said of feeds that are in the way."""
        if x.op not in graph:  # in a loop
            return found
        fed = {ref for ref in self.here.given if ref.op in graph}
        fed = {ref for ref in fed if graph[ref.op].type not in VARIABLES}
        cut = find_cutting_feeds(graph, y, x, fed)
        if not cut:
            return found
        names = ", ".join(ref.short for ref in cut)
        text = (
            f"{found.text} {y.short} does not follow {x.short} in this run: {names} is fed, which "
            "cuts the way, and the gradient is that of the graph without the feed. Leave the feed "
            "out to train through it."
        )
        if found.cause:
            return replace(found, text=text)
        return replace(found, cause="fed", node=cut[0].op, text=text)

    def _placed(self, found: WhyAnswer) -> WhyAnswer:
        """With places in the session's run, where it makes a step that only a run of its own was
        seen to make."""
        there = self._there
        steps = {} if there is None else there.run.plan.step_of

        def placed(link: Link) -> Link:
            step = None if link.run is not None or link.iterations else steps.get(link.op)
            if there is None or step is None:
                return link
            return replace(link, run=there.number, position=there.run.position(step))

        return replace(found, chain=tuple(map(placed, found.chain)))


def _said(error: GradstepError) -> str:
    """Why there are no values to look at."""
    place = f" (at {error.place})" if error.place else ""
    way = f"; {error.hint}" if error.hint else ""
    return f" That fails: {error.message}{place}{way}."


def _not_derived(graph: Graph, y: TensorRef, x: TensorRef, broken: Problem) -> WhyAnswer:
    """There is no gradient as long as an operation on the way cannot run."""
    at = next(iter(loops_around(graph, broken.node)), broken.node)
    text = f"d {y.short} / d {x.short} cannot be derived because of {broken.node}: {broken.text}"
    return WhyAnswer(
        state="none",
        cause="broken",
        node=broken.node,
        path=find_forward_path(graph, at, y.op),
        text=f"{text}. To go on, {broken.fix}." if broken.fix else f"{text}.",
    )


def _message(found: WhyAnswer) -> Explanation:
    return msgspec.convert(asdict(found), Explanation)
