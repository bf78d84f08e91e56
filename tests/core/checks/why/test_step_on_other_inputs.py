"""Running one step again: which steps may be, on what, and what they give."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from gradstep.core.checks.why.questioned_run import Recollection
from gradstep.core.checks.why.recorded_values import Recorded
from gradstep.core.checks.why.step_on_other_inputs import Again, by_place
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.whys import graph_of


@pytest.fixture(scope="module")
def session() -> DebugSession:
    """A product, what a Python function and a random draw add, a branch and an assignment."""
    b = GraphBuilder()
    x, p = b.placeholder("x", shape=(2,)), b.placeholder("p", "bool", ())
    v = b.variable("v", shape=(2,))
    product = b.one("Mul", x, 3.0, name="product")
    total = b.one("Sum", product, np.array([0], np.int32), name="total")
    kind = (DType.FLOAT32,)
    python = b.one("PyFunc", product, name="python", token="f", Tin=kind, Tout=kind)
    shape = np.array([2], np.int32)
    drawn = b.one("RandomUniform", shape, dtype=DType.FLOAT32, name="drawn")
    write = b.one("Assign", v, product, name="write")
    _, taken = b.op("Switch", drawn, p, name="branch")
    fetches = tuple(t.ref for t in (total, python, write, taken))
    program = Program(
        b.build(),
        b.build(),
        fetches=fetches,
        feeds={x.ref: np.array([1, 0], np.float32), p.ref: np.array(True)},
        initial={"v": np.zeros(2, np.float32)},
        functions={"f": lambda x: x},
    )
    session = DebugSession(program)
    session.continue_()
    return session


@pytest.mark.parametrize(
    ("name", "can"),
    [
        ("product", True),
        ("total", True),
        ("write", True),
        ("python", False),
        ("drawn", False),
        ("branch", False),
        ("v", False),
    ],
)
def test_what_may_be_run_again(session: DebugSession, name: str, can: bool) -> None:
    """What would call the user's code, draw again or choose a branch may not."""
    step = session.plan.steps[session.plan.step_of[name]]
    assert Again(session).can_run(step) is can


def test_a_step_on_what_it_read_and_on_other_inputs(session: DebugSession) -> None:
    again, ran = Again(session), Recorded(session).run(0)
    step = session.plan.steps[session.plan.step_of["product"]]
    inputs = again.inputs(ran, step)
    found = again.run(step, inputs)
    assert found is not None
    assert found[0].tolist() == [3, 0]
    other = again.run(step, [np.ones(2, np.float32), inputs[1]])
    assert other is not None
    assert other[0].tolist() == [3, 3]
    assert again.run(step, [np.ones(2, np.float32), np.ones(3, np.float32)]) is None
    assert again.array(None) is None


def test_what_a_device_holds_is_run_again_on_the_host(session: DebugSession) -> None:
    """Under its rules, and never there."""
    got: list[object] = []
    device = SimpleNamespace(
        xp=object(), rules=session.backend.rules, get=lambda x: got.append(x) or np.array(5)
    )
    again = Again(cast("DebugSession", SimpleNamespace(backend=device, program=session.program)))
    step = session.plan.steps[session.plan.step_of["product"]]
    found = again.run(step, [np.ones(2, np.float32), np.float32(3)])
    assert found is not None
    assert found[0].tolist() == [3, 3]
    assert (again.array("held there"), got) == (np.array(5), ["held there"])


def test_what_broadcasts_works_place_by_place() -> None:
    graph = graph_of(lambda b: tf.pow(b.placeholder("x", shape=[2]), 2.0, name="y"))
    feeds = {TensorRef("x"): np.ones(2, np.float32)}
    session = DebugSession(Program(graph, graph, fetches=(TensorRef("y"),), feeds=feeds))
    assert by_place(session.plan.steps[session.plan.step_of["y"]])


@pytest.mark.parametrize(("name", "is_by_place"), [("product", True), ("total", False)])
def test_what_works_place_by_place(session: DebugSession, name: str, is_by_place: bool) -> None:
    assert by_place(session.plan.steps[session.plan.step_of[name]]) is is_by_place


def test_what_is_not_done_yet_has_no_value(session: DebugSession) -> None:
    steps = session.plan.step_of
    early = Recollection(session, 0, steps["total"])
    x, product, total = (TensorRef(name) for name in ("x", "product", "total"))
    for ref, value in ((x, [1, 0]), (product, [3, 0])):
        array = early.array(ref)
        assert array is not None
        assert array.tolist() == value
    assert early.array(total) is None
    assert Recollection(session, 0).array(total) == 3
    assert early.array(TensorRef("nowhere")) is None


def test_a_value_is_that_of_its_tensor(session: DebugSession) -> None:
    ran: Any = Recorded(session).run(0)
    index = ran.value_of(TensorRef("total"))
    assert ran.held(index).tolist() == 3
