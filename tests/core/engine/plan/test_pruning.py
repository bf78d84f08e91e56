"""Only what is needed runs, once; feeds cut data edges and not control edges."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Graph
from gradstep.core.ops.build.builder import GraphBuilder, Tensor

CASE = Path(__file__).parents[3] / "data" / "oracle" / "cases" / "session_run_pruning.json"
RECORDED = json.loads(CASE.read_text())


class Counted:
    """The oracle's graph, b<-a, c<-a, d<-(b,c), e<-ph, f<-a ^e, whose functions count calls."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.functions: dict[str, Any] = {}
        self.b = GraphBuilder()
        a = self.function("a", lambda: 1.0)
        b = self.function("b", lambda x: x + 1, a)
        c = self.function("c", lambda x: x * 2, a)
        self.function("d", lambda x, y: x + y + 1, b, c)
        ph = self.b.placeholder("ph")
        self.function("e", lambda x: x, ph)
        with self.b.control_dependencies(["e"]):
            self.function("f", lambda x: x + 1, a)
        self.session = Session(self.b.build(), functions=self.functions)

    def function(self, name: str, compute: Any, *inputs: Tensor) -> Tensor:
        def counted(*arrays: np.ndarray) -> np.ndarray:
            self.calls[name] += 1
            return np.float32(compute(*arrays))

        self.functions[name] = counted
        return self.b.one(
            "PyFunc",
            *inputs,
            name=name,
            token=name,
            Tin=(DType.FLOAT32,) * len(inputs),
            Tout=(DType.FLOAT32,),
            shapes=(Shape(()),),
        )

    def run(self, *fetches: str, **feeds: float) -> list[float]:
        self.calls.clear()
        return [float(x) for x in self.session.run(fetches, feeds)]


@pytest.fixture(scope="module")
def counted() -> Counted:
    return Counted()


@pytest.mark.parametrize(
    ("key", "fetches", "feeds"),
    [
        ("run(a)", "a", {}),
        ("run(b)", "b", {}),
        ("run(d)", "d", {}),
        ("run([d,d,b])", "d d b", {}),
        ("run(c) with unfed ph elsewhere", "c", {}),
        ("run(d) feed b=100", "d", {"b": 100}),
        ("run(d) feed b,c", "d", {"b": 100, "c": 10}),
        ("run(d) feed d=7", "d", {"d": 7}),
        ("run(f) feed ph", "f", {"ph": 1}),
        ("run(f) feed e=0 and ph=1: e STILL RUNS through the control edge", "f", {"e": 0, "ph": 1}),
        ("run(placeholder) fed: returned as is", "ph", {"ph": 3.5}),
    ],
)
def test_values_and_calls(
    counted: Counted, key: str, fetches: str, feeds: dict[str, float]
) -> None:
    values = counted.run(*fetches.split(), **feeds)
    expected = RECORDED[key]["value"]["data"]
    assert values == (expected if isinstance(expected, list) else [expected])
    assert counted.calls == RECORDED[key]["calls"]


@pytest.mark.parametrize("feeds", [{}, {"e": 0.0}])
def test_a_control_dependency_wants_its_placeholder_fed(
    counted: Counted, feeds: dict[str, float]
) -> None:
    with pytest.raises(GradstepError) as caught:
        counted.run("f", **feeds)
    recorded = RECORDED["run(f) unfed"]
    assert caught.value.message == recorded["message"].partition("\n")[0]
    assert caught.value.node == recorded["op"]


def test_a_fed_tensor_keeps_what_was_fed_although_its_operation_runs(counted: Counted) -> None:
    assert counted.run("f", "e", ph=1.0, e=7.0) == [2.0, 7.0]
    assert counted.calls["e"] == 1


def test_a_target_runs_and_returns_nothing(counted: Counted) -> None:
    counted.calls.clear()
    assert counted.session.run([], {"ph": 1.0}, ["f"]) == []
    assert counted.calls == RECORDED["run(f.op) returns None"]["calls"]


def test_nothing_asked_nothing_run(counted: Counted) -> None:
    assert counted.run() == RECORDED["run([])"]["value"]
    assert not counted.calls


def test_feeding_variables() -> None:
    b = GraphBuilder()
    v = b.variable("v", shape=())
    b.one("Mul", v, 10.0, name="v10")
    w = b.one("VarHandleOp", name="w", dtype=DType.FLOAT32, shape=Shape(()))
    b.one("ReadVariableOp", w, name="cached", dtype=DType.FLOAT32)
    b.one("Mul", b.one("ReadVariableOp", w, dtype=DType.FLOAT32), 10.0, name="w10")
    session = Session(b.build(), initial={"v": np.float32(1), "w": np.float32(1)})
    fed = RECORDED["feed_ref_Variable"]
    assert float(session.run(["v10"], {"v": 4})[0]) == fed["run(v*10,{v:4})"]["data"]
    assert float(session.run(["v"])[0]) == fed["v_after"]["data"]
    other = RECORDED["feed_resource_Variable"]
    assert (
        float(session.run(["w10"], {"cached": 4})[0]) == other["run(w*10,{w:4})"]["value"]["data"]
    )


def test_a_constant_can_be_fed() -> None:
    b = GraphBuilder()
    b.one("Mul", b.constant(2.0, name="cst"), 3.0, name="y")
    assert [float(x) for x in Session(b.build()).run(["y"], {"cst": 5.0})] == [15.0]


def test_assigning_to_a_fed_variable_is_refused() -> None:
    b = GraphBuilder()
    b.one("Assign", b.variable("v", shape=()), 1.0, name="set")
    graph: Graph = b.build()
    with pytest.raises(GradstepError, match="must be a variable"):
        Session(graph).run(["set"], {"v": 2.0})
