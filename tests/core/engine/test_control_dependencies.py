"""The table of control dependencies, ref and resource, from the graphs TensorFlow made."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from tests.support.each_case import each_of

CASES = Path(__file__).parents[2] / "data" / "oracle" / "cases"
LINE = re.compile(r"(?P<name>\S+) = (?P<type>\w+)\((?P<inputs>[^)]*)\)(?: \{(?P<attrs>.*)\})?")
# What the oracle's shorter listings leave out.
MISSING = {
    "ref": ["x = VariableV2() {dtype=float32, shape=()}"],
    "resource": [
        "x = VarHandleOp() {dtype=float32, shape=()}",
        "Const = Const() {dtype=float32, value=1.0}",
    ],
}
# What `y` is in the program, as a tensor of the graph.
FETCHES = {
    "control_dependencies_three_programs": {
        "ref | y = x": "x",
        "ref | y = tf.identity(x)": "y",
        "ref | y = x_plus_1": "AssignAdd",
        "resource | y = x": "x/Read/ReadVariableOp",
        "resource | y = tf.identity(x)": "y",
        "resource | y = x_plus_1": "ReadVariableOp",
    },
    "control_dependencies_variants": {
        "ref | y = x + 0": "y",
        "ref | y = x.value()": "x/read",
        "ref | y = x.read_value()": "read",
        "ref | y = tf.add(x_plus_1, 0)": "y",
        "ref | y = tf.convert_to_tensor(x)": "x/read",
        "resource | y = x + 0": "y",
        "resource | y = x.value()": "ReadVariableOp_1",
        "resource | y = x.read_value()": "Read/ReadVariableOp",
        "resource | y = tf.add(x_plus_1, 0)": "y",
        "resource | y = tf.convert_to_tensor(x)": "ReadVariableOp_1",
    },
}
PROGRAMS = [(case, program) for case, programs in FETCHES.items() for program in programs]


def load(case: str) -> dict:
    return json.loads((CASES / f"{case}.json").read_text())


def operation(line: str) -> Operation:
    match = LINE.fullmatch(line)
    assert match, line
    inputs = [text for text in match["inputs"].split(", ") if text]
    attrs: dict = {"dtype": DType.FLOAT32} if match["type"] != "Identity" else {}
    if "value=" in (match["attrs"] or ""):
        attrs["value"] = Constant(np.float32(match["attrs"].partition("value=")[2]))
    elif "shape=" in (match["attrs"] or ""):
        attrs["shape"] = Shape(())
    return Operation(
        name=match["name"],
        type=match["type"],
        inputs=tuple(TensorRef(text) for text in inputs if not text.startswith("^")),
        control_inputs=tuple(text[1:] for text in inputs if text.startswith("^")),
        attrs=attrs,
    )


def graph_of(kind: str, lines: list[str]) -> Graph:
    known = {operation(line).name for line in lines}
    missing = [line for line in MISSING[kind] if operation(line).name not in known]
    return Graph.of(operation(line) for line in (*missing, *lines))


@each_of(("case", "program"), PROGRAMS)
def test_five_runs_print_what_tensorflow_prints(case: str, program: str) -> None:
    recorded = load(case)[program]
    graph = graph_of(program.split()[0], recorded["graph"])
    session = Session(graph, initial={"x": np.float32(0)})
    printed = [session.run([FETCHES[case][program]])[0] for _ in range(5)]
    assert [float(x) for x in printed] == recorded["printed"]["data"]
    assert float(session.store["x"]) == recorded["x_after_5_runs"]["data"]


@pytest.mark.parametrize("kind", ["ref", "resource"])
def test_a_no_op_carries_the_control_edge(kind: str) -> None:
    case = load("control_dependencies_variants")
    graph = graph_of(kind, case[f"{kind} | y = x + 0"]["graph"])
    update = next(op.name for op in graph if op.type.startswith("AssignAdd"))
    graph = Graph.of([*graph, Operation("no_op", "NoOp", control_inputs=(update,))])
    session = Session(graph, initial={"x": np.float32(0)})
    for _ in range(5):
        assert session.run([], targets=["no_op"]) == []
    expected = case[f"{kind} | tf.no_op() carries the control edge"]["x_after_5_runs"]
    assert float(session.store["x"]) == expected["data"]
