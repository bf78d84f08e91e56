"""A read of a ref variable is its buffer; a read of a resource variable is a snapshot."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Graph
from gradstep.core.ops.build.builder import GraphBuilder

CASE = Path(__file__).parents[2] / "data" / "oracle" / "cases" / "ref_variable_aliasing.json"
KEYS = {
    "r": "r (read made and run before assign_add)",
    "early": "early = r+0 before",
    "b": "b = identity(r) after",
    "c": "c = r+0 after",
    "p": "p",
}


def ref_graph(shape: tuple[int, ...]) -> Graph:
    b = GraphBuilder()
    x = b.variable("x", shape=shape)
    r = b.one("Identity", x, name="r")
    b.one("AddV2", r, 0.0, name="early")
    with b.control_dependencies(["early"]):
        b.one("AssignAdd", x, np.ones(shape, np.float32), name="p")
    with b.control_dependencies(["p"]):
        b.one("Identity", r, name="b")
        b.one("AddV2", r, 0.0, name="c")
    return b.build()


def resource_graph(shape: tuple[int, ...]) -> Graph:
    b = GraphBuilder()
    x = b.one(
        "VarHandleOp", name="x", dtype=DType.FLOAT32, shape=b.variable("s", shape=shape).shape
    )
    r = b.one("ReadVariableOp", x, name="r", dtype=DType.FLOAT32)
    b.one("AddV2", r, 0.0, name="early")
    one = b.constant(np.ones(shape, np.float32))
    with b.control_dependencies(["early"]):
        b.op("AssignAddVariableOp", x, one, name="add", dtype=DType.FLOAT32)
    with b.control_dependencies(["add"]):
        b.one("ReadVariableOp", x, name="p", dtype=DType.FLOAT32)
        b.one("Identity", r, name="b")
        b.one("AddV2", r, 0.0, name="c")
    return b.build()


@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize("kind", ["ref", "resource"])
def test_reads_before_and_after_an_update(kind: str, shape: tuple[int, ...]) -> None:
    recorded = json.loads(CASE.read_text())[f"{kind} shape {list(shape)}"]
    graph = ref_graph(shape) if kind == "ref" else resource_graph(shape)
    session = Session(graph, initial={"x": np.zeros(shape, np.float32)})
    values = dict(zip(KEYS, session.run(list(KEYS)), strict=True))
    for name, key in KEYS.items():
        np.testing.assert_array_equal(values[name], np.array(recorded[key]["data"], np.float32))


def test_a_fetched_variable_has_its_value_at_the_end_of_the_run() -> None:
    session = Session(ref_graph(()), initial={"x": np.float32(4)})
    x, early = session.run(["x", "early"], targets=["p"])
    assert (float(x), float(early)) == (5.0, 4.0)
