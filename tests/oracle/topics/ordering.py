"""Control dependencies, and what a read of a variable sees."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.ops.build.builder import Tensor, call
from tests.oracle.program import Program
from tests.oracle.reasons import PYTHON
from tests.oracle.table import DOCUMENTATION, Case, checks

PYTHON_TYPES = "the class that TensorFlow's Python gives y"


LINE = re.compile(r"(?P<name>\S+) = (?P<type>\w+)\((?P<inputs>[^)]*)\)(?: \{(?P<attrs>.*)\})?")


# What the shorter recorded listings leave out.
MISSING = {
    "ref": ["x = VariableV2() {dtype=float32, shape=()}"],
    "resource": [
        "x = VarHandleOp() {dtype=float32, shape=()}",
        "Const = Const() {dtype=float32, value=1.0}",
    ],
}


# What `y` is in each program, as a tensor of the graph.
FETCHES = {
    "ref | y = x": "x",
    "ref | y = tf.identity(x)": "y",
    "ref | y = x_plus_1": "AssignAdd",
    "resource | y = x": "x/Read/ReadVariableOp",
    "resource | y = tf.identity(x)": "y",
    "resource | y = x_plus_1": "ReadVariableOp",
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
}


def operation(line: str) -> Operation:
    """A line of a recorded listing."""
    match = LINE.fullmatch(line)
    assert match, line
    inputs = [text for text in match["inputs"].split(", ") if text]
    attrs: dict[str, Any] = {"dtype": DType.FLOAT32} if match["type"] != "Identity" else {}
    if "value=" in (match["attrs"] or ""):
        attrs["value"] = Constant(np.float32(match["attrs"].partition("value=")[2]))
    elif "shape=" in (match["attrs"] or ""):
        attrs["shape"] = Shape(())
    return Operation(
        name=match["name"],
        type=match["type"],
        inputs=tuple(TensorRef.parse(text) for text in inputs if not text.startswith("^")),
        control_inputs=tuple(text[1:] for text in inputs if text.startswith("^")),
        attrs=attrs,
    )


def listed(kind: str, lines: list[str]) -> Graph:
    known = {operation(line).name for line in lines}
    missing = [line for line in MISSING[kind] if operation(line).name not in known]
    return Graph.of(operation(line) for line in (*missing, *lines))


@checks("control_dependencies_three_programs", "control_dependencies_variants")
def five_runs(case: Case) -> None:
    """TensorFlow's graphs of assign_add and y, run five times."""
    for entry in case.recorded:
        if not entry.startswith(("ref |", "resource |")):
            continue
        kind = entry.split()[0]
        if entry in FETCHES:
            graph = listed(kind, case.given(entry, "graph"))
            session = Session(graph, initial={"x": np.float32(0)})
            printed = [session.run([FETCHES[entry]])[0] for _ in range(5)]
            case.value(np.array(printed), entry, "printed")
            y = graph[TensorRef.parse(FETCHES[entry]).op]
            _listed_y(case, entry, y)
        else:
            graph = listed(kind, case.at(f"{kind} | y = x + 0", "graph"))
            update = next(op.name for op in graph if op.type.startswith("AssignAdd"))
            graph = Graph.of([*graph, Operation("no_op", "NoOp", control_inputs=(update,))])
            session = Session(graph, initial={"x": np.float32(0)})
            values = [session.run([], targets=["no_op"]) or None for _ in range(5)]
            case.value(values, entry, "printed")
        case.value(session.store["x"], entry, "x_after_5_runs")


def _listed_y(case: Case, entry: str, y: Operation) -> None:
    case.skip(PYTHON_TYPES, entry, "type_of_y")
    same = y.type == case.at(entry, "y_op")
    if same:
        case.graph(y.type, entry, "y_op")
        case.graph(list(y.control_inputs), entry, "y_op_control_inputs")
    else:
        why = "the Python object that y is; what it is in the graph is fetched here"
        case.skip(why, entry, "y_op")
        case.skip(why, entry, "y_op_control_inputs")


@checks("control_dependencies_three_programs")
def program_text(case: Case) -> None:
    case.skip(DOCUMENTATION, "program")


@checks("control_dependencies_variants")
def nesting(case: Case) -> None:
    case.skip_each(PYTHON, "bad_argument", "bad_element")
    case.skip(
        "control_dependencies of TensorFlow's Python: here control inputs are drawn as wires, "
        "and GraphBuilder's nested blocks add up",
        "nesting",
    )
    for kind in ("ref", "resource"):
        with Program(resource=kind == "resource") as p:
            x = p.variable("x", np.float32(0))
            if kind == "ref":
                assigned = x.update("Assign", np.float32(10)).ref.op
            else:
                x.update("Assign", np.float32(10))
                assigned = "AssignVariableOp"
            with p.builder.control_dependencies([assigned]):
                y = call("Identity", x.read_value() if kind == "resource" else x.read)
            case.value(p.run(y), f"assign_then_identity_{kind}")
    _order(case)


def _order(case: Case) -> None:
    """A, then B, then C by control edges: each run executes what its fetch needs, in order."""
    entry = "execution_order"
    ran: list[str] = []
    with Program() as p:
        made: dict[str, Tensor] = {}
        for name in "ABC":
            before = [] if name == "A" else [chr(ord(name) - 1)]

            def note(name: str = name) -> np.ndarray:
                ran.append(name)
                return np.float32(1)

            with p.builder.control_dependencies(before):
                made[name] = p.py_func(note, [], name=name, shapes=(Shape(()),))[0]
        p.builder.op("NoOp", name="group", control_inputs=("A", "B", "C"))
        for key, fetches in {"run(C)": "C", "run(B)": "B", "run([C, A])": "CA"}.items():
            ran.clear()
            p.run([made[name] for name in fetches])
            case.value(list(ran), entry, key)
        ran.clear()
        p.run([], targets=["group"])
        case.value(list(ran), entry, "run(group(A,B,C))")


@checks("ref_variable_aliasing")
def aliasing(case: Case) -> None:
    for entry in case.recorded:
        if entry.startswith(("ref shape", "resource shape")):
            kind, shape = entry.split(" shape ")
            case.value(_aliased(kind, (3,) if shape == "[3]" else ()), entry)
        elif entry.startswith("unordered"):
            case.skip("TensorFlow leaves this order open; Gradstep's is the graph's", entry)


def _aliased(kind: str, shape: tuple[int, ...]) -> dict[str, Any]:
    """A read before an update and reads after it, all fetched in one run."""
    with Program(resource=kind == "resource") as p:
        x = p.variable("x", np.zeros(shape, np.float32))
        r = x.read
        early = p.builder.one("AddV2", r, 0.0)
        with p.builder.control_dependencies([r.ref.op, early.ref.op]):
            plus = x.update("AssignAdd", np.ones(shape, np.float32))
        updated = plus.ref.op if kind == "ref" else "AssignAddVariableOp"
        with p.builder.control_dependencies([updated]):
            b = call("Identity", r)
            c = call("AddV2", r, p.builder.constant(np.float32(0)))
        names = (
            "r (read made and run before assign_add)",
            "early = r+0 before",
            "b = identity(r) after",
            "c = r+0 after",
            "p",
        )
        found = p.run(dict(zip(names, (r, early, b, c, plus), strict=True)))
        return {k: np.array(v) for k, v in found.items()}
