"""Another op type in a node's place, and inputs in another order: no wire is lost."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradstep.core.ops.catalogue  # noqa: F401 - declares every op
from gradstep.core.debug.concurrency.thread_state import Thread
from gradstep.core.document import document_edits
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.document.retyping import change_type, exchange_inputs, why_not_type
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, Edge, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder, call
from gradstep.core.ops.declare.table import all_ops, lookup
from gradstep.core.ops.typing.inference import infer_declared

TYPES = sorted(definition.type for definition in all_ops())
EXAMPLES = Path(__file__).parents[3] / "assets/examples"


@cache
def tutorial() -> Document:
    return gradstep_file.load(EXAMPLES / "tutorial.gradstep")


def floats(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


def numbers() -> Document:
    b = GraphBuilder()
    with b.as_default():
        x, y = (b.constant(floats(*v), name=n) for n, v in (("x", (1, 4)), ("y", (2, 2))))
        call("Square", call("Sub", x, y, name="difference"), name="square")
        call("Add", *call("Unpack", x, name="parts", num=2).op.outputs, name="sum")
    return Document(b.build())


def value(document: Document, name: str) -> list[float]:
    found: list[float] = Session(document.graph).run([TensorRef(name)])[0].tolist()
    return found


def test_a_node_becomes_another_with_its_wires() -> None:
    document = change_type(numbers(), "difference", "Mul")
    assert value(document, "square") == [4.0, 64.0]
    document = change_type(document, "square", "Exp")
    assert np.allclose(value(document, "square"), np.exp([2.0, 8.0]))
    assert list(document.graph.operations) == list(numbers().graph.operations)


def test_an_output_that_the_document_speaks_of_is_not_lost() -> None:
    b = GraphBuilder()
    with b.as_default():
        x = b.constant(floats(1, 4), name="x")
        call("Identity", call("Unpack", x, name="parts", num=2).op.outputs[0], name="first")
    document, second = Document(b.build()), TensorRef("parts", 1)
    assert change_type(document, "parts", "Identity").graph["parts"].type == "Identity"
    request = document.request
    for said in (
        document.with_(request=replace(request, stops=frozenset({second}))),
        document.with_(request=replace(request, of=(TensorRef("first"),), grad_ys=(second,))),
        document.with_(feeds={str(second): Constant(np.float32(1))}),
        document.with_(threads=(Thread("filler", fetches=(second,)),)),
        document.with_(optimizers=(Optimizer("GradientDescent", {}, of=(second,)),)),
    ):
        with pytest.raises(GradstepError, match="its output 1 is read"):
            change_type(said, "parts", "Identity")


def test_attributes_that_both_have_keep_their_values() -> None:
    b = GraphBuilder()
    with b.as_default():
        x, axes = b.constant(np.float32([[1, 2], [3, 4]])), b.constant(np.int32([1]))
        call("Sum", x, axes, name="sum", keep_dims=True)
    document = change_type(Document(b.build()), "sum", "Max")
    assert value(document, "sum") == [[2.0], [4.0]]


@pytest.mark.parametrize(
    ("name", "type", "why"),
    [
        ("difference", "Exp", "it would lose a wire"),
        ("x", "Placeholder", "the document keeps something"),
        ("parts", "Identity", "its output 1 is read, and Identity gives 1"),
        ("difference", "LogicalAnd", "bool"),
    ],
)
def test_what_would_lose_a_wire_is_refused(name: str, type: str, why: str) -> None:
    with pytest.raises(GradstepError, match=f"'{name}' cannot become {type}: .*{why}"):
        change_type(numbers(), name, type)


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(["d", "e", "a", "loss"]),
    type=st.sampled_from(sorted(d.type for d in all_ops())),
)
def test_whatever_is_offered_keeps_every_wire_and_can_be_put_there(name: str, type: str) -> None:
    document = tutorial()
    types = infer_declared(document.graph).types
    op = document.graph[name]
    if why_not_type(document, op, lookup(type), types):
        with pytest.raises(GradstepError, match=f"'{name}' cannot become {type}"):
            change_type(document, name, type)
        return
    made = change_type(document, name, type)
    assert made.graph[name].type == type
    assert made.graph[name].inputs[: len(op.inputs)] == op.inputs
    assert made.graph.consumers[name] == document.graph.consumers[name]
    lookup(type).arity(len(made.graph[name].inputs))


def test_inputs_change_places_and_stops_stay_on_their_wires() -> None:
    document = document_edits.toggle_stop(numbers(), Edge("difference", 0))
    assert value(document, "difference") == [-1.0, 2.0]
    made = exchange_inputs(document, "difference")
    assert value(made, "difference") == [1.0, -2.0]
    assert made.request.stopped_edges == {Edge("difference", 1)}
    back = exchange_inputs(made, "difference")
    assert [*back.graph] == [*document.graph]
    assert back.request == document.request


def test_the_first_two_inputs_that_fit_each_other_change_places() -> None:
    b = GraphBuilder()
    with b.as_default():
        which = b.constant(np.array([True, False]), name="which")
        x, y = b.constant(floats(1, 2)), b.constant(floats(3, 4))
        call("Select", which, x, y, name="chosen")
    made = exchange_inputs(Document(b.build()), "chosen")
    assert made.graph["chosen"].inputs[0] == TensorRef("which")
    assert value(made, "chosen") == [3.0, 2.0]


def test_an_input_that_is_open_changes_places_too() -> None:
    document = document_edits.disconnect(numbers(), Edge("difference", 1))
    made = exchange_inputs(document, "difference")
    assert made.graph["difference"].inputs == (None, TensorRef("x"))


@pytest.mark.parametrize("name", ["square", "x"])
def test_where_no_two_fit_that_is_said(name: str) -> None:
    with pytest.raises(GradstepError, match=f"no two inputs of '{name}' can be exchanged"):
        exchange_inputs(numbers(), name)
