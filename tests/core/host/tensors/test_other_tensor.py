"""A tensor less another, at another step, run or in another session; and its history."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import hypothesis.extra.numpy as hn
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.history.recorded_run import RecordedRun
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.tensors.tensor_difference import result_kind, subtract
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.tensor_bytes import elements
from tests.support.drawn_share import share

RUNS = 5
FIRST = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
Slice, Other = m.TensorSlice, m.OtherTensor


def document() -> Document:
    """w goes down the gradient of its squares: each run makes it 0.8 of what it was."""
    g = GraphBuilder()
    w = g.variable("w", shape=[3, 4])
    g.one("Mul", w, w, name="square")
    g.one("Neg", w, name="less")
    g.one("Cast", w, name="whole", DstT="int32")
    return Document(
        graph=g.build(),
        request=GradientRequest.to("square", "w"),
        initial={"w": Constant(FIRST)},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.1}),),
    )


def weights(run: int) -> np.ndarray:
    """As run number `run` began with them."""
    return FIRST * 0.8**run


class Engine:
    """RUNS runs are recorded, and it stands at the end of the last."""

    def __init__(self) -> None:
        self.service = EngineService(CpuOnly())
        self.opened = self.ask(m.Open(), gradstep_file.to_bytes(document()))
        self.length = len(self.opened.program.steps)

    def ask(self, message: m.Message, *buffers: bytes) -> Any:
        reply, self.buffers = self.service.handle(message, buffers)
        assert not isinstance(reply, m.Failed), reply
        return reply

    def refusal(self, message: m.Message) -> str:
        reply, _ = self.service.handle(message, ())
        assert isinstance(reply, m.Failed)
        assert "\n" not in reply.error.message
        assert reply.error.hint
        return reply.error.message

    def go_to(self, run: int, step: int = -1) -> None:
        self.ask(m.Control(command="run_to", target=f"{run}:{self.length if step < 0 else step}"))

    def table(self, of: m.TensorSlice, row: int = 0, rows: int = 100) -> np.ndarray:
        reply = self.ask(m.ReadTable(of=of, row=row, rows=rows, columns=100))
        found = elements(self.buffers[0], np.dtype(reply.dtype))
        return found.reshape(reply.rows, reply.columns)


@pytest.fixture(scope="module")
def engine() -> Engine:
    made = Engine()
    made.go_to(RUNS - 1)
    return made


CHOICES = (
    (Other(), np.zeros_like(FIRST)),
    (Other(earlier=1), weights(RUNS) - weights(RUNS - 1)),
    (Other(run=0, step=0), weights(RUNS) - FIRST),
    (Other(run=2), weights(RUNS) - weights(3)),
    (Other(step=0), weights(RUNS) - weights(RUNS - 1)),
    (Other(ref="less:0"), weights(RUNS) + weights(RUNS - 1)),
    (Other(ref="square:0", run=1), weights(RUNS) - weights(1) ** 2),
)


@pytest.mark.parametrize(("minus", "expected"), CHOICES)
def test_the_difference_is_in_every_answer(
    engine: Engine, minus: m.OtherTensor, expected: np.ndarray
) -> None:
    of = Slice(ref="w:0", minus=minus)
    close = {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(engine.table(of), expected, **close)
    np.testing.assert_allclose(engine.table(of, 1, 1), expected[1:2], **close)
    part = Slice(ref="w:0", index="[1:, ::-2]", axes=[1, 0], minus=minus)
    np.testing.assert_allclose(engine.table(part), expected[1:, ::-2].T, **close)
    said = engine.ask(m.DescribeTensor(of=of, bins=4))
    assert said.stats.minimum == pytest.approx(expected.min(), rel=1e-5, abs=1e-6)
    assert said.stats.norm == pytest.approx(np.linalg.norm(expected), rel=1e-5, abs=1e-6)
    drawn = engine.ask(m.DrawTensor(of=of, height=3, width=4))
    picture = np.frombuffer(engine.buffers[0]).reshape(drawn.shape)[0]
    np.testing.assert_allclose(picture, expected, **close)
    engine.ask(m.DrawLines(of=of, width=4))
    np.testing.assert_allclose(np.frombuffer(engine.buffers[0]).reshape(3, 4), expected, **close)
    largest = engine.ask(m.FindElement(of=of, condition="max"))
    assert expected.ravel()[largest.position] == pytest.approx(expected.max(), abs=1e-5)


def test_what_is_looked_at_may_be_of_another_step(engine: Engine) -> None:
    of = Slice(ref="w:0", run=2, step=0, minus=Other(earlier=1))
    np.testing.assert_allclose(engine.table(of), weights(2) - weights(1), rtol=1e-5)


def test_what_another_framework_computed(engine: Engine) -> None:
    """Of a tensor by its name, of a gradient by that of the variable whose it is."""
    ones = Constant(np.ones((3, 4), np.float32))
    told = RecordedRun("torch 2.13.0", values={"less:0": ones}, gradients={"w": ones})
    other = Engine()
    other.ask(m.Open(), gradstep_file.to_bytes(replace(document(), recorded=told)))
    other.go_to(0)
    of = Slice(ref="less:0", minus=Other(recorded=True))
    np.testing.assert_allclose(other.table(of), -FIRST - 1, rtol=1e-5)
    gradient = other.ask(m.Open(), gradstep_file.to_bytes(replace(document(), recorded=told)))
    held = gradient.program.gradients["w:0"]
    other.go_to(0)
    np.testing.assert_allclose(
        other.table(Slice(ref=held, minus=Other(recorded=True))), 2 * FIRST - 1, rtol=1e-5
    )
    ask = m.ReadTable(of=Slice(ref="w:0", minus=Other(recorded=True)), rows=1, columns=1)
    assert "nothing was recorded of w:0 elsewhere" in other.refusal(ask)
    assert "nothing was recorded" in engine.refusal(ask)


def test_another_session() -> None:
    sessions = Engine()
    sessions.go_to(1)
    sessions.ask(m.ManageSessions(command="new", name="b"))
    sessions.go_to(3)
    of = Slice(ref="w:0", minus=Other(session="main"))
    np.testing.assert_allclose(sessions.table(of), weights(4) - weights(2), rtol=1e-5)
    of = Slice(ref="w:0", minus=Other(session="main", run=0, step=0))
    np.testing.assert_allclose(sessions.table(of), weights(4) - FIRST, rtol=1e-5)
    ask = m.ReadTable(of=Slice(ref="w:0", minus=Other(session="c")), rows=1, columns=1)
    assert "no session 'c'" in sessions.refusal(ask)


@pytest.mark.parametrize(
    ("minus", "said"),
    [
        (Other(earlier=RUNS), "there is no run 5 before this one"),
        (Other(ref="nothing:0"), "nothing:0 has no value"),
        (Other(run=RUNS + 3), "w:0 has no value"),
        (Other(ref="square_grad_shape:0"), "has no value"),
    ],
)
def test_what_cannot_be_held_against(engine: Engine, minus: m.OtherTensor, said: str) -> None:
    ask = m.ReadTable(of=Slice(ref="w:0", minus=minus), rows=1, columns=1)
    assert said in engine.refusal(ask)


NUMBERS = st.sampled_from("bool uint8 int8 int32 int64 float16 float32 float64 complex64".split())


@given(data=st.data(), one=NUMBERS, other=NUMBERS)
def test_differences_of_any_two_kinds(data: st.DataObject, one: str, other: str) -> None:
    """As NumPy has them in the wider kind; nothing wraps around."""
    shape = data.draw(hn.array_shapes(min_dims=0, min_side=0, max_side=3))
    a, b = (data.draw(hn.arrays(np.dtype(kind), shape)) for kind in (one, other))
    kind = result_kind(a.dtype, b.dtype)
    with np.errstate(all="ignore"):
        expected = a.astype(kind) - b.astype(kind)
    found = subtract(a, b)
    assert found.dtype == kind
    assert kind.kind in "fc"
    np.testing.assert_array_equal(found, expected)


def test_what_has_no_difference() -> None:
    with pytest.raises(GradstepError, match=r"shapes \[2\] and \[3\] differ"):
        subtract(np.zeros(2), np.zeros(3))
    with pytest.raises(GradstepError, match="no number"):
        subtract(np.array([b"a"], object), np.zeros(1))
    huge = np.broadcast_to(np.float32(3), (1 << 20, 1 << 20))
    assert subtract(huge, huge)[5, 7] == 0, "of one value, it takes no memory"
    varied = np.broadcast_to(np.arange(1 << 10, dtype=np.float32), (1 << 20, 1 << 10))
    with pytest.raises(GradstepError, match="too large to be looked at as a whole"):
        subtract(varied, varied[:, ::-1])


# -- histories -------------------------------------------------------------------------------------


def history(engine: Engine, what: Any, **of: Any) -> dict[tuple[int, int], float | None]:
    found = engine.ask(m.ReadHistory(of=Slice(**of), what=what))
    assert found.seen <= found.total
    places = [*zip(found.runs, found.steps, strict=True)]
    assert places == sorted(set(places))
    return dict(zip(places, found.values, strict=True))


def test_a_variable_at_every_write(engine: Engine) -> None:
    found = history(engine, "norm", ref="w:0")
    for (run, step), norm in found.items():
        wanted = weights(run + 1 if step else run)
        assert norm == pytest.approx(np.linalg.norm(wanted), rel=1e-5)
    assert {run for run, step in found if step} == {*range(RUNS)}
    assert found[0, 0] == pytest.approx(np.linalg.norm(FIRST))


def test_any_other_tensor_once_a_run(engine: Engine) -> None:
    for what, number in (("mean", np.mean), ("minimum", np.min), ("maximum", np.max)):
        found = history(engine, what, ref="square:0")
        assert [run for run, _ in found] == [*range(RUNS)]
        wanted = [number(weights(run) ** 2) for run in range(RUNS)]
        np.testing.assert_allclose([*found.values()], wanted, rtol=1e-5)
    found = history(engine, "element", ref="square:0", index="[2, 1]")
    np.testing.assert_allclose(
        [*found.values()], [weights(run)[2, 1] ** 2 for run in range(RUNS)], rtol=1e-5
    )


def test_the_distance_from_where_it_began(engine: Engine) -> None:
    found = history(engine, "norm", ref="w:0", minus=Other(run=0, step=0))
    for (run, step), norm in found.items():
        away = weights(run + 1 if step else run) - FIRST
        assert norm == pytest.approx(np.linalg.norm(away), rel=1e-4, abs=1e-6)


@settings(max_examples=share(6), deadline=None)
@given(runs=st.integers(2, 60), points=st.integers(1, 40))
def test_runs_that_were_not_recorded(runs: int, points: int) -> None:
    """What is known of them has the numbers that it has when one goes there."""
    made = Engine()
    made.ask(m.Train(steps=runs, curves=[]))
    for ref, power in (("w:0", 1), ("square:0", 2)):
        found = made.ask(m.ReadHistory(of=Slice(ref=ref), what="maximum", points=points))
        for run, step, value in zip(found.runs, found.steps, found.values, strict=True):
            begun = run + 1 if step and power == 1 else run
            assert value == pytest.approx(weights(begun).max() ** power, rel=1e-4)
        assert len(found.runs) <= 3 * points + 3
        assert found.total >= runs
