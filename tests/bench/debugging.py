"""What the debugger adds to a run, and what moving through time and asking why cost it.

    python -m tests.bench.debugging ROUNDS SECONDS

prints one JSON object: what targets.DEBUG names -> the ratio, or the seconds, in each round. All
that is compared takes turns in one process.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.why.finiteness_survey import Surveyor
from gradstep.core.checks.why.why_answers import Explainer
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.query.query_search import find
from gradstep.core.debug.query.recorded_query import Query, Which
from gradstep.core.debug.watches import watch
from gradstep.core.engine.plan.step_groups import group_steps
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from gradstep.core.program.gradient_context import Situation
from tests.bench.interleaving import Timer, interleave
from tests.bench.ours import handed_over
from tests.bench.workloads import w2, w4

MUCH, LITTLE = 512 << 20, 128 << 20  # bytes for recorded runs: some twenty of W4, or a few
ARMED, FAR_BACK = 10, 10  # breakpoints; runs
MOVED = 25  # runs of a move
LONG = 10_000  # operations
DIGITS = Path(__file__).parents[2] / "assets" / "examples" / "softmax_digits.gradstep"
ASKED = 1000  # runs of it


def debugger(build: Callable[..., object], rate: float, limit: int = MUCH) -> DebugSession:
    """A debugger on a workload of the benchmarks, that keeps so many bytes of runs."""
    plan, feeds, initial = handed_over(build, rate)
    program = Program(
        graph=plan.graph,
        forward=plan.graph,
        fetches=plan.fetches,
        targets=plan.targets,
        feeds=feeds,
        initial=initial,
    )
    return DebugSession(program, limit_bytes=limit)


def full(build: Callable[..., object], rate: float) -> DebugSession:
    """One that keeps all the runs that it may, so that it records each over the oldest one: memory
    that was never used before costs more, and is soon all taken."""
    session = debugger(build, rate, LITTLE)
    for _ in range(2 * LITTLE // session.timeline.nbytes):
        session.continue_()
    return session


def timed(step: Callable[[], object]) -> Timer:
    """The CPU seconds of so many steps."""

    def run(steps: int) -> float:
        start = time.process_time()
        for _ in range(steps):
            step()
        return time.process_time() - start

    return run


def armed_with(
    session: DebugSession, breakpoints: Sequence[Breakpoint], step: Callable[[], object]
) -> Timer:
    """The same of steps of a session, with these breakpoints and no others."""
    timer = timed(step)

    def run(steps: int) -> float:
        session.set_breakpoints(breakpoints)
        return timer(steps)

    return run


def breakpoints(rounds: int, seconds: float) -> list[float]:
    """Whole runs, which pass breakpoints that are never hit often enough to stop. Of one session,
    since two have their values at other places in memory, which can make more of a difference."""
    session = full(w2.ours, w2.RATES["time"])
    names = [step.op.name for step in session.plan.steps if step.computes]
    every = len(names) // ARMED
    armed = [Breakpoint(name, hits=1 << 40) for name in names[::every][:ARMED]]
    timers = {
        "armed": armed_with(session, armed, session.continue_),
        "free": armed_with(session, (), session.continue_),
    }
    return _ratios(interleave(timers, rounds, seconds), "armed", "free")


def watched(rounds: int, seconds: float) -> list[float]:
    """Moves over some runs with ten conditions that never hold, which are asked in each of them,
    and ten watches, which are asked where a move ends, and of the runs before it."""
    session = full(w4.ours, w4.RATES["time"])
    ops = [step.op for step in session.plan.steps if step.computes and step.op.output()]
    armed = [Breakpoint(op.name, condition="isnan(value)") for op in ops[:: len(ops) // ARMED]]
    made = [op.output() for op in ops if op.type in ("MatMul", "BiasAddGrad", "Relu", "Mean")]
    texts = [f'norm(x["{ref}"])' for ref in made[:ARMED]]

    def move(texts: Sequence[str]) -> None:
        session.run_to(f"{session.stop.run + MOVED}:0")
        for found in watch(session, texts, MOVED):
            assert found.error is None

    timers = {
        "watched": armed_with(session, armed[:ARMED], lambda: move(texts)),
        "free": armed_with(session, (), lambda: move(())),
    }
    return _ratios(interleave(timers, rounds, seconds), "watched", "free")


def kept(rounds: int, seconds: float) -> list[float]:
    """Whole runs of training, each recorded."""
    session = full(w4.ours, w4.RATES["time"])
    plain = w4.ours(w4.RATES["time"])
    timers = {"kept": timed(session.continue_), "plain": timed(plain.step)}
    return _ratios(interleave(timers, rounds, seconds), "kept", "plain")


def moving(rounds: int, seconds: float) -> dict[str, list[float]]:
    """Steps forward over what has run, and back again; and a jump to an earlier run, to look at a
    gradient, and back."""
    session = debugger(w4.ours, w4.RATES["time"])
    for _ in range(2 * FAR_BACK):
        session.continue_()
    looked_at, now = session.plan.fetches[0], session.stop.run

    def there_and_back() -> None:
        end = len(session.plan.steps)
        session.run_to(f"{now - FAR_BACK}:{end}")
        session.frame().value(looked_at)
        session.run_to(f"{now}:{end}")

    forward, back, far, run = [], [], [], []
    for _ in range(rounds):
        session.run_to(f"{now}:0")
        steps = len(group_steps([step.op for step in session.plan.steps]))
        forward.append(timed(session.step)(steps))
        back.append(timed(session.step_back)(steps))
        session.run_to(f"{now}:{len(session.plan.steps)}")
        far.append(timed(there_and_back)(5) / 5)
        run.append(timed(session.continue_)(1))
        now = session.stop.run
    return {
        "back": [a / b for a, b in zip(back, forward, strict=True)],
        "goto": [a / b for a, b in zip(far, run, strict=True)],
    }


def explaining(rounds: int) -> dict[str, list[float]]:
    """Looking for NaN in a run of a chain of 10,000 operations, the first of which may make one,
    and asking at its end where it came from. CPU seconds."""
    finite, broken = _chain(1.0), _chain(-1.0)
    here = Situation(broken.program.graph, GradientRequest(), {}, {})
    last = broken.plan.fetches[0].short

    def look() -> None:
        assert Surveyor(finite).look(0, 60.0).complete

    def ask() -> None:
        assert Explainer(here, session=broken).value(last).node == "first"

    return {
        "survey": [timed(look)(1) for _ in range(rounds)],
        "why": [timed(ask)(1) for _ in range(rounds)],
    }


def querying(rounds: int) -> dict[str, list[float]]:
    """Queries that hold nowhere, so that every run is looked at. CPU seconds."""
    document = read(DIGITS)
    session = DebugSession(derive(document, {}))
    for _ in range(ASKED):
        session.continue_()
    grown = 'norm(grad["{0}"]) > 2 * previous(norm(grad["{0}"]))'.format("softmax/weights")

    def asked(text: str) -> Callable[[], object]:
        query = Query(text, Which.EVERY)

        def ask() -> None:
            answers = find(session, query)
            assert (answers.runs, answers.repeated, answers.count) == (ASKED, 0, 0)

        return ask

    return {
        "query all": [timed(asked("isnan(value)"))(1) for _ in range(rounds)],
        "query one": [timed(asked(grown))(1) for _ in range(rounds)],
    }


def _chain(x: float) -> DebugSession:
    builder = GraphBuilder()
    factor = builder.constant(np.float32(1.0001))
    y = builder.one("Log", builder.placeholder("x", shape=[8]), name="first")
    for _ in range(LONG - 1):
        y = builder.one("Mul", y, factor)
    graph = builder.build()
    feeds = {TensorRef("x"): np.full(8, x, np.float32)}
    session = DebugSession(Program(graph, graph, fetches=(y.ref,), feeds=feeds))
    session.continue_()
    return session


def _ratios(found: Mapping[str, list[float]], ours: str, theirs: str) -> list[float]:
    return [a / b for a, b in zip(found[ours], found[theirs], strict=True)]


def measure(rounds: int, seconds: float) -> dict[str, list[float]]:
    return {
        "breakpoints": breakpoints(rounds, seconds),
        "watched": watched(rounds, seconds),
        "kept w4": kept(rounds, seconds),
        **moving(rounds, seconds),
        **explaining(rounds),
        **querying(rounds),
    }


if __name__ == "__main__":
    json.dump(measure(int(sys.argv[1]), float(sys.argv[2])), sys.stdout)
