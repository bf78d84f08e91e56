"""Run k is fed batch k, to the bit, by whatever way the debugger comes there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.debug.motion.training import Wish
from gradstep.core.debug.motion.validation import Validation
from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.host.session_restore import begin, course_of, follow
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive

ROWS, BATCH, MOST = 11, 4, 14
COLUMNS = {"x:0": "normal([11, 3], 0, 1, seed=3) | scale(2)", "y:0": "normal([11, 1], seed=4)"}
RAGGED = Dataset(COLUMNS, BATCH, shuffle=5)
FLIPPED = {"x:0": "normal([11, 1, 3], 0, 1, seed=3) | flip()", "y:0": "normal([11, 1], seed=4)"}
SOURCES = (
    RAGGED,
    Dataset(COLUMNS, BATCH, 5, drop_last=True),
    Dataset(COLUMNS, BATCH, limit=8),
    Dataset(FLIPPED, BATCH, 5),
)
NAMES = ("x", "y", "p", "loss", "w", "w/Momentum")


def document(data: Dataset = RAGGED) -> Document:
    """A line through points by momentum. Each run hangs on all before it."""
    b = GraphBuilder()
    x, y = b.placeholder("x", shape=(None, 3)), b.placeholder("y", shape=(None, 1))
    p = b.one("MatMul", x, b.variable("w", shape=(3, 1)), name="p")
    d = b.one("Squeeze", b.one("Sub", p, y, name="d"), name="s", squeeze_dims=[1])
    b.one("Mean", b.one("Square", d, name="q"), np.array([0], np.int32), name="loss")
    loss = TensorRef("loss")
    return Document(
        graph=b.build(),
        data=data,
        initial={"w": Constant(np.ones((3, 1), np.float32))},
        optimizers=(Optimizer("Momentum", {"learning_rate": 0.1, "momentum": 0.5}, of=(loss,)),),
        fetches=(loss,),
    )


def held(session: DebugSession, run: int) -> dict[str, np.ndarray]:
    frame = session.frame(run, len(session.plan.steps))
    found = {name: frame.value(name) for name in NAMES}
    assert all(value is not None for value in found.values()), found
    return {name: np.asarray(value) for name, value in found.items()}


@cache
def stepped(data: int) -> Sequence[dict[str, np.ndarray]]:
    """What each run ends with, seen when it was over."""
    session = DebugSession(derive(document(SOURCES[data])))
    ends = []
    for run in range(MOST):
        session.continue_()
        ends.append(held(session, run))
    return ends


@pytest.mark.parametrize("data", range(len(SOURCES)))
def test_runs_are_those_of_a_session_that_is_fed_the_batches(data: int) -> None:
    """Values are TensorFlow's way of feeding: Session.run again and again."""
    program = derive(document(SOURCES[data]))
    assert not program.problems
    session = Session(program.graph, initial=program.initial)
    order = np.random.default_rng(0).permutation(MOST)
    assert program.batches is not None
    fed = {run: program.batches.feeds_at(run) for run in order}
    for run, ends in enumerate(stepped(data)):
        loss, w, *_ = session.run(["loss", "w"], fed[run], program.targets)
        for ref, array in fed[run].items():
            np.testing.assert_array_equal(ends[ref.op], array)
        np.testing.assert_array_equal(ends["loss"], loss)
        np.testing.assert_array_equal(ends["w"], w)


def test_an_epoch_feeds_each_row_once_and_says_which() -> None:
    rows = np.concatenate([ends["x"] for ends in stepped(0)[:3]])
    assert rows.shape == (ROWS, 3)
    assert len(np.unique(rows, axis=0)) == ROWS
    session = DebugSession(derive(document()))
    said = [session.continue_().batch.partition(",")[0] for _ in range(4)]
    assert said == [f"batch {n} of epoch {e}" for e, n in ((1, 1), (1, 2), (1, 3), (2, 1))]
    assert session.run_to("1:0").batch.startswith("batch 2 of epoch 1, rows ")


RUN = st.integers(0, MOST - 1)
MOVES = st.one_of(
    st.tuples(st.sampled_from(["step", "step_into", "continue_", "step_back"]), st.just(0)),
    st.tuples(st.sampled_from(["reverse_continue", "restart", "edit", "again"]), st.just(0)),
    st.tuples(st.just("run_to"), RUN),
    st.tuples(st.just("train"), st.integers(1, 6)),
    st.tuples(st.just("pause"), st.integers(0, 3)),
)


@settings(deadline=None)
@given(st.integers(0, len(SOURCES) - 1), st.booleans(), st.lists(MOVES, max_size=12))
@pytest.mark.slow
def test_any_way_to_a_run_gives_the_same_values(
    data: int, small: bool, moves: list[tuple[str, int]]
) -> None:
    """Forward, back, trained past, paused amid that and gone on, dropped and repeated, edited, in
    an engine that was started anew."""
    limit = 3000 if small else 1 << 20  # bytes: with few, runs are repeated
    program = derive(document(SOURCES[data]))
    threads = Scheduler(program, limit_bytes=limit)
    for move, number in moves:
        session = threads.session
        if move in ("train", "pause"):
            for run, loss in trained(threads, move, number).items():
                assert loss == float(stepped(data)[run]["loss"])
        elif move == "edit":
            changed = document(SOURCES[data]).with_(title="another")
            program = derive(changed, previous=program)
            before, threads = threads, Scheduler(program, limit_bytes=limit, before=threads)
            follow(threads, course_of(before))
        elif move == "again":  # as a new engine is led there
            before, program = threads, derive(document(SOURCES[data]))
            threads = begin(program, before.session.backend, limit)
            follow(threads, course_of(before))
        elif move == "run_to":
            threads.command("run_to", f"{number}:{len(session.plan.steps)}")
        elif move in session.stop.legal and session.timeline.runs < MOST:
            threads.command(move)
        look(threads.session, data)


def trained(threads: Scheduler, move: str, number: int) -> dict[int, float]:
    """The loss of each run of a training, which a pause ends after so many."""
    session, numbers = threads.session, dict[int, float]()
    runs = MOST - session.timeline.runs
    if runs < 1:
        return numbers

    def tell(run: int, found: Sequence[float]) -> None:
        numbers[run] = found[0]
        if move == "pause" and len(numbers) > number:
            session.pause()

    most = runs if move == "pause" else min(number, runs)
    went = threads.train(Wish(most, session.curves(['x["loss:0"]']), tell=tell))
    assert went.made == len(numbers)
    if move == "pause" and runs > number + 2:
        assert went.stop.reason is Reason.PAUSE
    return numbers


def look(session: DebugSession, data: int) -> None:
    """At all runs that are over, whether recorded or to be made again."""
    assert session.stop.reason is not Reason.EXCEPTION
    ends, timeline = stepped(data), session.timeline
    for run in range(timeline.runs):
        if timeline.done(run) == timeline.length:
            for name, value in held(session, run).items():
                np.testing.assert_array_equal(value, ends[run][name], err_msg=f"{name} in {run}")
    x = session.frame().value("x")
    if x is not None:
        np.testing.assert_array_equal(x, ends[session.stop.run]["x"])


def test_a_batch_that_cannot_be_had_stops_at_the_end_of_the_run_before() -> None:
    """Its file has changed under it, say."""

    class Ending:
        """Batches, of which there are only three."""

        def __init__(self) -> None:
            self.there = program.batches

        def __getattr__(self, name: str) -> object:
            return getattr(self.there, name)

        def feeds_at(self, run: int) -> object:
            if run > 2:
                raise GradstepError("rows.npy was changed", kind="FileError")
            assert self.there is not None
            return self.there.feeds_at(run)

    program = derive(document())
    session = DebugSession(replace(program, batches=Ending()))  # type: ignore[arg-type]
    for _ in range(3):
        session.continue_()
    stop = session.continue_()
    assert stop.reason is Reason.EXCEPTION
    assert stop.error is not None
    assert "rows.npy was changed" in stop.error.message
    assert (stop.run, stop.step) == (2, len(session.plan.steps))
    np.testing.assert_array_equal(held(session, 2)["w"], stepped(0)[2]["w"])


@pytest.mark.parametrize("steps", [(7,), (2, 5), (3, 3, 1)])
def test_the_loss_over_held_back_rows_is_measured_after_each_epoch(steps: tuple[int, ...]) -> None:
    """At the variables of then, each row once, and it changes nothing."""
    data = replace(RAGGED, validate=0.3)
    program = derive(document(data))
    assert program.batches is not None
    plain, threads, told = DebugSession(program), Scheduler(program), list[tuple[int, float]]()
    for count in steps:
        session = threads.session
        validation = Validation(program, session.backend, [TensorRef("loss")])
        curves = session.curves(["1"])
        tell = lambda run, found: told.append((run, found[1]))  # noqa: E731
        threads.train(Wish(count, curves, tell=tell, validation=validation))
    expected = []
    for run in range(7):
        plain.continue_()
        w = held(plain, run)["w"]
        if not (run + 1) % program.batches.per_epoch:
            errors = [(f[TensorRef("x")] @ w - f[TensorRef("y")]) ** 2
                      for f, _ in program.batches.held_back()]  # fmt: skip
            expected.append((run, float(np.mean(np.concatenate(errors)))))
    ends = [(run, loss) for run, loss in told if not (run + 1) % program.batches.per_epoch]
    assert [run for run, _ in told] == [*range(7)]
    assert [run for run, _ in ends] == [run for run, _ in expected]
    np.testing.assert_allclose([x for _, x in ends], [x for _, x in expected], rtol=1e-5)
    np.testing.assert_array_equal(held(threads.session, 6)["w"], held(plain, 6)["w"])
