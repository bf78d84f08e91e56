"""What is wired where an op type takes a handle: an error at the node, never an InternalError."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import SCALAR, DType, Shape
from gradstep.core.graph.model import Constant, Edge, Graph, Operation, TensorRef
from gradstep.core.ops.declare.resource_handles import HANDLES
from gradstep.core.ops.declare.table import OpDef, all_ops, lookup
from gradstep.core.ops.typing.inference import infer
from gradstep.core.ops.typing.input_fit import why_not
from gradstep.core.program.derive import derive
from tests.support.each_case import on_each

FLOAT = DType.FLOAT32
KINDS = {"component_types": (FLOAT,), "shapes": (SCALAR,)}
TABLE = {"key_dtype": FLOAT, "value_dtype": FLOAT}
ELEMENTS = {"output_types": (FLOAT,), "output_shapes": (SCALAR,)}
ATTRS: dict[Any, Any] = {DType: FLOAT, tuple: (FLOAT,), str: "x", Shape: SCALAR, int: 1}


def made(name: str, type: str, *inputs: str, **attrs: Any) -> Operation:
    return Operation(name, type, tuple(map(TensorRef.parse, inputs)), attrs=attrs)


def const(name: str, value: Any) -> Operation:
    array = np.asarray(value)
    return made(name, "Const", dtype=DType.of(array.dtype), value=Constant(array))


def of_type(dtype: DType) -> Any:
    return np.array(b"a", object) if dtype is DType.STRING else np.zeros((), dtype.numpy)


STACK = (const("two", np.int32(2)), made("s", "StackV2", "two", elem_type=FLOAT))
# What leads to `h`; after "popped" types do not tell what it is, and only the run does.
VALUES: dict[str, tuple[Operation, ...]] = {
    "array": (const("h", np.ones(3, np.float32)),),
    "number": (const("h", np.int32(3)),),
    "text": (const("h", np.array(b"queue", object)),),
    "queue": (made("h", "FIFOQueueV2", **KINDS),),
    "table": (made("h", "HashTableV2", **TABLE),),
    "iterator": (made("h", "IteratorV2", **ELEMENTS),),
    "stack": (const("two", np.int32(2)), made("h", "StackV2", "two", elem_type=FLOAT)),
    "tensor_array": (const("two", np.int32(2)), made("h", "TensorArrayV3", "two", dtype=FLOAT)),
    "variable": (made("h", "VarHandleOp", dtype=FLOAT, shape=SCALAR),),
    "ref variable": (made("h", "VariableV2", dtype=FLOAT, shape=SCALAR),),
    "popped array": (
        *STACK,
        const("x", np.ones(3, np.float32)),
        made("pushed", "StackPushV2", "s", "x"),
        Operation("h", "StackPopV2", (TensorRef("s"),), ("pushed",), {"elem_type": DType.RESOURCE}),
    ),
    "popped queue": (
        *STACK,
        made("x", "FIFOQueueV2", **KINDS),
        made("pushed", "StackPushV2", "s", "x"),
        Operation("h", "StackPopV2", (TensorRef("s"),), ("pushed",), {"elem_type": DType.RESOURCE}),
    ),
}
TAKES_HANDLES = [
    (definition, index)
    for definition in all_ops()
    for index, spec in enumerate(definition.inputs)
    if spec.handle
]


def drawn(definition: OpDef, at: int, value: str) -> Graph:
    """An operation of that type, its input `at` the value, the others of types that it takes."""
    inputs, others = [], []
    taken = {spec.name: spec.takes[0] if spec.takes else FLOAT for spec in definition.inputs}
    for index, spec in enumerate(definition.inputs):
        if index == at or spec.handle:
            inputs.append("h")
            continue
        others.append(const(f"other{index}", of_type(taken[spec.like or spec.name])))
        inputs.append(f"other{index}")
    attrs = {k: ATTRS.get(v) for k, v in definition.attrs.items() if isinstance(v, type)}
    it = Operation("it", definition.type, tuple(map(TensorRef.parse, inputs)), attrs=attrs)
    return Graph.of([*VALUES[value], *others, it])


def said(graph: Graph) -> Iterator[GradstepError]:
    """What is said of a run of it."""
    initial = {"h": Constant(np.array(1, np.float32))} if "ariable" in graph["h"].type else {}
    program = derive(Document(graph=graph, initial=initial, targets=("it",)))
    assert not [p for p in program.problems if p.kind == "InternalError"], program.problems
    yield from failure(Session(program.graph, initial=program.initial))


def failure(session: Session) -> Iterator[GradstepError]:
    try:
        session.run([], {}, ["it"])
    except GradstepError as error:
        yield error


@on_each(TAKES_HANDLES, lambda case: f"{case[0].type} at {case[1]}", lambda case: case[0].subject)
def test_what_is_no_such_handle_is_refused_at_the_node(case: tuple[OpDef, int]) -> None:
    definition, at = case
    wanted = definition.inputs[at].handle
    for value in VALUES:
        errors = [*said(drawn(definition, at, value))]
        for error in errors:
            assert error.kind != "InternalError", f"{value}: {error.message}"
            assert error.node in ("it", "pushed"), f"{value}: {error.message}"
        about = [e for e in errors if "wrong type" in e.message or "does not match" in e.message]
        if value == wanted:
            assert not about, f"{value}: {about[0].message}"
        elif wanted != "variable" or value in HANDLES:
            assert errors, f"{value} was taken"


def test_who_takes_which_handle_is_declared() -> None:
    found = {definition.inputs[index].handle for definition, index in TAKES_HANDLES}
    assert found == HANDLES.keys()
    for definition in all_ops():
        for index in definition.state.writes:
            spec = definition.inputs[index]
            assert spec.ref or spec.handle, f"{definition.type}: {spec.name}"


@pytest.mark.parametrize("number", range(2))
@pytest.mark.parametrize("value", ["queue", "table", "iterator"])
def test_no_op_takes_for_a_tensor_what_a_handle_leads_to(value: str, number: int) -> None:
    """Each op in one of the layouts, in turn."""
    fast = bool(number)
    for definition in [*all_ops()][number::2]:
        if not definition.inputs or definition.inputs[0].handle or definition.branch == "loop":
            continue
        graph = drawn(definition, 0, value)
        for error in failure(Session(graph, fast=fast)):
            assert error.kind != "InternalError", f"{definition.type}: {error.message}"
            assert error.node == "it", definition.type


def test_a_handle_of_something_else_is_no_wire_for_the_canvas() -> None:
    definition = lookup("QueueSizeV2")
    for value in HANDLES.keys() & VALUES.keys():
        graph = Graph.of([*drawn(definition, 0, value)])
        error = why_not(graph, infer(graph).types, TensorRef("h"), Edge("it", 0))
        assert (error is None) == (value == "queue"), value
        if error is not None:
            assert error.hint == "wire the handle of a queue to it"


def test_a_variable_is_read_as_what_it_holds() -> None:
    for type in ("VarHandleOp", "VariableV2"):
        held = made("h", type, dtype=DType.STRING, shape=SCALAR)
        graph = Graph.of([held, made("it", "ReadVariableOp", "h", dtype=FLOAT)])
        (problem,) = [p for p in derive(Document(graph=graph)).problems if p.node == "it"]
        assert problem.text == "Trying to access a variable of string as float32"


def test_a_merge_of_two_kinds_of_handles_is_of_neither() -> None:
    queue, table = (VALUES[x][0] for x in ("queue", "table"))
    graph = Graph.of([
        queue,
        Operation("t", table.type, attrs=table.attrs),
        made("merged", "Merge", "h", "t"),
        made("alike", "Merge", "h", "h"),
    ])  # fmt: skip
    types = infer(graph).types
    merged, alike = types[TensorRef("merged")], types[TensorRef("alike")]
    assert (merged.handle, merged.holds) == ("", ())
    assert (alike.handle, len(alike.holds)) == ("queue", 1)
