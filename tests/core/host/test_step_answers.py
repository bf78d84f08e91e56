"""What made a step different: by hand in NumPy, said where it cannot be told, and nothing moved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.tensor_bytes import unpack
from tests.support.drawn_share import share

ROWS, BATCH, RATE, LONG = 24, 6, 0.05, 1e6
OUTLIER = 15  # in the third batch of an epoch
_drawn = np.random.default_rng(3)
X = _drawn.normal(size=(ROWS, 3)).round(3)
Y = (X @ [[1.0], [-2.0], [0.5]] + 0.1 * _drawn.normal(size=(ROWS, 1))).round(3)
Y[OUTLIER] += 30


def document(reduce: str = "Mean", couple: str = "", rows: int | None = None) -> Document:
    """A line through points, one of which is far off. couple: how rows hang on each other."""
    b = GraphBuilder()
    x, y = b.placeholder("x", shape=(rows, 3)), b.placeholder("y", shape=(rows, 1))
    p = b.one("MatMul", x, b.variable("w", shape=(3, 1)), name="p")
    if couple == "mean":
        p = b.one("Sub", p, b.one("Mean", p, np.array([0], np.int32), name="m", keep_dims=True))
    if couple == "noise":
        noise = b.one("RandomUniform", b.one("Shape", p), dtype=DType.FLOAT32, seed=5, seed2=7)
        p = b.one("Mul", p, noise)
    d = b.one("Squeeze", b.one("Sub", p, y), squeeze_dims=[1])
    b.one(reduce, b.one("Square", d), np.array([0], np.int32), name="loss")
    loss = TensorRef("loss")
    return Document(
        graph=b.build(),
        data=Dataset({"x:0": str(X.tolist()), "y:0": str(Y.tolist())}, BATCH),
        initial={"w": Constant(np.ones((3, 1), np.float32))},
        optimizers=(Optimizer("Momentum", {"learning_rate": RATE, "momentum": 0.5}, of=(loss,)),),
        fetches=(loss,),
    )


def trained(made: Document, steps: int = 8) -> EngineService:
    service = EngineService(CpuOnly())
    opened, _ = service.handle(m.Open(), (gradstep_file.to_bytes(made),))
    assert isinstance(opened, m.Opened)
    assert not opened.program.problems
    ask(service, m.Train(steps=steps), m.Trained)
    return service


def ask(service: EngineService, request: m.Message, kind: type[Any]) -> Any:
    reply, _ = service.handle(request)
    assert isinstance(reply, kind), reply
    return reply


def refused(service: EngineService, request: m.Message) -> str:
    error = ask(service, request, m.Failed).error
    return f"{error.message}; {error.hint}"


def batch(run: int) -> np.ndarray:
    return np.arange(ROWS).reshape(-1, BATCH)[run % (ROWS // BATCH)]


def slope(w: np.ndarray, rows: np.ndarray) -> tuple[float, np.ndarray]:
    """Loss and gradient of the mean."""
    d = X[rows] @ w - Y[rows]
    return float(np.mean(d**2)), 2 * X[rows].T @ d / len(rows)


def by_hand(run: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The variable and its momentum before each run up to `run`, and behind it."""
    w, v = np.ones((3, 1)), np.zeros((3, 1))
    found = [(w, v)]
    for number in range(run + 1):
        v = 0.5 * v + slope(w, batch(number))[1]
        w = w - RATE * v
        found.append((w, v))
    return found


@pytest.fixture(scope="module")
def line() -> EngineService:
    return trained(document())


def test_the_row_that_is_far_off_is_named_first_with_its_loss_and_its_share(
    line: EngineService,
) -> None:
    found = ask(line, m.WeighRows(run=2, seconds=LONG), m.RowsWeighed)
    w, _ = by_hand(2)[2]
    _, whole = slope(w, batch(2))
    alone = {row: slope(w, np.array([row])) for row in batch(2).tolist()}
    shares = {
        r: float(np.vdot(g, whole) / np.vdot(whole, whole)) / 6 for r, (_, g) in alone.items()
    }
    assert sum(shares.values()) == pytest.approx(1)
    assert (found.size, found.looked, found.adds_up) == (6, 6, True)
    assert found.columns == ["x:0", "y:0"]
    first = found.rows[0]
    assert (first.row, first.place) == (OUTLIER, OUTLIER - 12)
    assert first.share > 0.7
    assert first.cells[1] == f"{Y[OUTLIER, 0]:.4g}"
    assert [row.row for row in found.rows] == sorted(shares, key=lambda r: -shares[r])
    for row in found.rows:
        loss, g = alone[row.row]
        assert row.loss == pytest.approx(loss, rel=1e-4)
        assert row.norm == pytest.approx(np.linalg.norm(g), rel=1e-4)
        assert row.share == pytest.approx(shares[row.row], rel=1e-3, abs=1e-6)
    others = np.mean([loss for row, (loss, _) in alone.items() if row != OUTLIER])
    assert found.others == pytest.approx(others, rel=1e-4)


def test_shares_of_a_sum_are_those_of_a_mean() -> None:
    still = (Optimizer("GradientDescent", {"learning_rate": 0}, of=(TensorRef("loss"),)),)
    services = (trained(document(by).with_(optimizers=still)) for by in ("Sum", "Mean"))
    asked = m.WeighRows(run=2, seconds=LONG)
    found, other = (ask(service, asked, m.RowsWeighed) for service in services)
    assert found.adds_up
    assert found.gap < 1e-5
    assert [row.share for row in found.rows] == pytest.approx([row.share for row in other.rows])


@pytest.mark.parametrize("couple", ["mean", "noise"])
@pytest.mark.parametrize("seconds", [0.0, LONG])
def test_rows_that_hang_on_each_other_are_said_to_and_none_is_blamed(
    couple: str, seconds: float
) -> None:
    service = trained(document(couple=couple))
    found = ask(service, m.WeighRows(run=3, seconds=seconds), m.RowsWeighed)
    assert not found.adds_up
    assert found.gap > 0.01
    assert all(row.share is None for row in found.rows)


def test_without_time_few_rows_are_looked_at_and_the_sum_is_compared_all_the_same(
    line: EngineService,
) -> None:
    found = ask(line, m.WeighRows(run=2, seconds=0), m.RowsWeighed)
    every = ask(line, m.WeighRows(run=2, seconds=LONG, limit=2), m.RowsWeighed)
    assert (found.size, found.looked, found.adds_up) == (6, 1, True)
    assert [row.place for row in found.rows] == [0]
    assert (len(every.rows), every.looked) == (2, 6)


def test_a_row_that_is_infinite_comes_first() -> None:
    made = document()
    bad = X.copy()
    bad[10] = 1e30
    data = Dataset({"x:0": str(bad.tolist()), "y:0": str(Y.tolist())}, BATCH)
    found = ask(trained(made.with_(data=data), 2), m.WeighRows(run=1, seconds=LONG), m.RowsWeighed)
    assert (found.rows[0].row, found.rows[0].loss, found.adds_up) == (10, None, False)
    assert found.rows[1].loss is not None


def test_a_step_is_told_against_those_before(line: EngineService) -> None:
    found = ask(line, m.CompareStep(run=6, before=3), m.StepCompared)
    held = by_hand(6)
    slopes = [slope(held[run][0], batch(run)) for run in range(7)]
    norms = [float(np.linalg.norm(g)) for _, g in slopes]
    moves = [np.linalg.norm(held[r + 1][0] - held[r][0]) for r in range(7)]
    ratios = [move / np.linalg.norm(held[r + 1][0]) for r, move in enumerate(moves)]
    assert found.first == 3
    assert found.loss.here == pytest.approx(slopes[6][0], rel=1e-4)
    assert found.loss.before == pytest.approx(np.median([s[0] for s in slopes[3:6]]), rel=1e-4)
    assert found.gradient.here == pytest.approx(norms[6], rel=1e-4)
    assert found.gradient.before == pytest.approx(np.median(norms[3:6]), rel=1e-4)
    (layer,) = found.layers
    assert layer.variable == "w:0"
    assert layer.update.here == pytest.approx(ratios[6], rel=1e-4)
    assert layer.update.before == pytest.approx(np.median(ratios[3:6]), rel=1e-4)
    first = ask(line, m.CompareStep(run=0), m.StepCompared)
    assert (first.first, first.loss.before) == (0, None)
    assert first.loss.here == pytest.approx(slopes[0][0], rel=1e-4)


def test_the_step_is_done_again_without_a_row(line: EngineService) -> None:
    found = ask(line, m.LeaveOut(run=2, places=[OUTLIER - 12]), m.LeftOut)
    w, v = by_hand(2)[2]
    for outcome, rows in ((found.real, batch(2)), (found.without, np.delete(batch(2), 3))):
        loss, g = slope(w, rows)
        after = w - RATE * (0.5 * v + g)
        assert outcome.loss == pytest.approx(loss, rel=1e-4)
        assert outcome.norm == pytest.approx(np.linalg.norm(g), rel=1e-4)
        assert outcome.next_loss == pytest.approx(slope(after, batch(3))[0], rel=1e-4)


def test_the_real_step_is_the_one_that_was_made_to_the_bit(line: EngineService) -> None:
    losses, end = [], len(line._session.plan.steps)
    for run in (4, 5):
        ask(line, m.Control(command="run_to", target=f"{run}:{end}"), m.Stopped)
        losses.append(float(value(line, "loss:0").item()))
    found = ask(line, m.LeaveOut(run=4, places=[0]), m.LeftOut)
    assert [found.real.loss, found.real.next_loss] == losses


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (m.CompareStep(run=99), "run 100 has not been made"),
        (m.WeighRows(run=-1), "run 0 has not been made"),
        (m.LeaveOut(run=2, places=[*range(6)]), "0 of 6 are left"),
        (m.LeaveOut(run=2, places=[6]), "6 of 6 are left"),
    ],
)
def test_what_cannot_be_asked_is_said(line: EngineService, request_: m.Message, says: str) -> None:
    assert says in refused(line, request_)


def test_rows_that_cannot_be_fed_one_by_one_are_said() -> None:
    said = refused(trained(document(rows=6)), m.WeighRows(run=1))
    assert said.startswith("rows cannot be looked at one by one: ")
    assert "(6, 3)" in said


def test_a_variable_changed_by_hand_is_looked_at_from_behind_there() -> None:
    service = trained(document(), 2)
    session = service._session
    session.timeline.assign({"w": np.zeros((3, 1), np.float32)})
    ask(service, m.Train(steps=4), m.Trained)
    assert ask(service, m.CompareStep(run=4), m.StepCompared).first == 2
    assert "from outside" in refused(service, m.CompareStep(run=1))


def test_a_run_that_is_not_kept_any_more_is_said_to_be_gone() -> None:
    service = EngineService(CpuOnly())
    service.handle(m.Open(recorded_limit=1), (gradstep_file.to_bytes(document()),))
    ask(service, m.Train(steps=3), m.Trained)
    service._session.timeline.assign({"w": np.zeros((3, 1), np.float32)})
    ask(service, m.Train(steps=3), m.Trained)
    for request in (m.CompareStep(run=1), m.WeighRows(run=1), m.LeaveOut(run=1, places=[0])):
        assert "run 2 is not kept any more" in refused(service, request)


def test_without_data_there_are_no_rows_but_what_was_before() -> None:
    made = document().with_(
        data=None, feeds={"x": Constant(X.astype(np.float32)), "y": Constant(Y.astype(np.float32))}
    )
    service = trained(made)
    assert ask(service, m.WeighRows(run=3), m.RowsWeighed).size == 0
    assert ask(service, m.CompareStep(run=3), m.StepCompared).first == 0


def test_f6_ends_it() -> None:
    service = trained(document())
    service.pause()
    try:
        for request in (m.CompareStep(run=3), m.WeighRows(run=3), m.LeaveOut(run=3, places=[0])):
            assert "cancelled" in refused(service, request)
    finally:
        service.handle(m.Control(command="pause"))


def value(service: EngineService, ref: str) -> np.ndarray:
    reply, buffers = service.handle(m.Read(refs=[ref]))
    assert isinstance(reply, m.Values)
    return unpack(reply.parts[0], buffers)


QUESTIONS = st.one_of(
    st.builds(m.CompareStep, run=st.integers(0, 9), before=st.integers(0, 9)),
    st.builds(m.WeighRows, run=st.integers(0, 9), seconds=st.sampled_from([0.0, LONG])),
    st.builds(m.LeaveOut, run=st.integers(0, 9), places=st.lists(st.integers(0, 5), min_size=1)),
)


@settings(deadline=None, max_examples=share(15))
@given(st.booleans(), st.integers(0, 9), st.lists(QUESTIONS, min_size=1, max_size=4))
@pytest.mark.slow
def test_nothing_of_the_session_changes_to_the_bit(
    small: bool, here: int, questions: list[m.Message]
) -> None:
    """Not where it stands, what is there, nor what comes of going on; random draws included."""
    made = gradstep_file.to_bytes(document(couple="noise"))
    asked, other = EngineService(CpuOnly()), EngineService(CpuOnly())
    for service in (asked, other):
        service.handle(m.Open(recorded_limit=2000 if small else 1 << 20), (made,))
        ask(service, m.Train(steps=10), m.Trained)
        ask(service, m.Control(command="run_to", target=f"{here}:4"), m.Stopped)
    before, recorded = asked._session.stop, asked._session.timeline.recorded_runs
    for question in questions:
        assert (
            not isinstance(asked.handle(question)[0], m.Failed) or question.__class__ is m.LeaveOut
        )
    assert asked._session.stop == before
    assert asked._session.timeline.recorded_runs == recorded
    assert asked._session.timeline.nbytes == other._session.timeline.nbytes
    for then in (None, m.Train(steps=3)):
        if then is not None:
            assert asked.handle(then)[0] == other.handle(then)[0]
        for ref in ("w:0", "w/Momentum:0", "p:0", "loss:0"):
            np.testing.assert_array_equal(value(asked, ref), value(other, ref))
