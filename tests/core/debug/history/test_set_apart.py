"""A value that is given by hand gets memory of its own: in that of the run, a few steps being bound
again, and all as if the whole run had been laid out anew."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.engine.run.recording import Recording
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from tests.bench import training_graph


def _trained() -> Document:
    """Gradients that are each other's bytes, and variables that change places from run to run."""
    nodes = 24
    wrt = tuple(map(TensorRef, training_graph.variables(nodes)))
    return training_graph.drawn(nodes).with_(
        feeds={"x:0": Constant(training_graph.FEED)},
        request=GradientRequest(of=(TensorRef(training_graph.LOSS),), wrt=wrt),
        optimizers=(Optimizer("Momentum", {"learning_rate": 0.1, "momentum": 0.9}),),
    )


def _passed_on() -> Document:
    """One value under several names, each of which somebody reads."""
    build = GraphBuilder()
    w = build.variable("w", shape=(2,))
    passed = [build.one("Tanh", w)]
    for _ in range(3):
        passed.append(build.one("Identity", passed[-1]))
    passed.append(build.one("Identity", passed[1]))
    read = [build.one("Square", each) for each in passed]
    build.one("AddN", *read, name="loss")
    return Document(
        graph=build.build(),
        initial={"w": Constant(np.array([0.5, -1], np.float32))},
        request=GradientRequest(of=(TensorRef("loss"),), wrt=(TensorRef("w"),)),
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.1}),),
    )


@pytest.fixture(scope="module", params=[_trained, _passed_on], ids=["trained", "passed on"])
def program(request: pytest.FixtureRequest) -> Program:
    return derive(request.param())


def _shared(session: DebugSession) -> list[int]:
    """Values that others lie with."""
    same = session.timeline._live.layout.same
    return sorted({*same, *same.values()})


def _seen(session: DebugSession) -> list[bytes]:
    """All values of all runs, and of two more behind them."""
    for _ in range(2):
        session.continue_()
    timeline, found = session.timeline, list[bytes]()
    for run in range(timeline.first, timeline.runs):
        frame = session.frame(run, timeline.done(run))
        for ref in session.plan.tensors:
            value = frame.value(ref)
            found.append(b"" if value is None else np.asarray(value).tobytes())
    return found


def _given(program: Program, number: int, run: int, step: int | None) -> DebugSession:
    """A session in which one of those values was given in a run, after that step or its last."""
    session = DebugSession(program)
    for _ in range(run):
        session.continue_()
    value = _shared(session)[number]
    made = session.plan.made_by[value] + 1
    session.run_to(f"{session.stop.run}:{max(made, 0 if step is None else step)}")
    if step is None:
        session.continue_()
    ref = session.plan.values[value].ref
    now = session.frame().value(ref)
    session.inject({str(ref): np.asarray(now) + 1})
    return session


@pytest.mark.parametrize("run", [1, 2], ids=["as laid out", "the other way round"])
@pytest.mark.parametrize("step", [0, None], ids=["inside", "at its end"])
def test_all_is_as_if_laid_out_anew(
    program: Program, run: int, step: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = len(_shared(DebugSession(program)))
    assert count > 4
    for number in range(count):
        here = _seen(_given(program, number, run, step))
        with monkeypatch.context() as patch:
            patch.setattr(Recording, "with_apart", lambda self, values: None)
            assert here == _seen(_given(program, number, run, step))


def test_only_what_deals_with_it_is_bound_again(program: Program) -> None:
    session = DebugSession(program)
    session.continue_()
    session.continue_()
    before = session.timeline._live
    bound = [*before._calls.by_step]
    ref = session.plan.values[_shared(session)[0]].ref
    session.inject({str(ref): np.asarray(session.frame().value(ref)) + 1})
    live = session.timeline._live
    assert live is not before
    places = zip(before.layout.places, live.layout.places, strict=True)
    moved = {value for value, (then, now) in enumerate(places) if then != now}
    assert moved
    for step, then, now in zip(session.plan.steps, bound, live._calls.by_step, strict=True):
        assert then is now or not moved.isdisjoint((*step.reads, *step.writes)), step.op.name
