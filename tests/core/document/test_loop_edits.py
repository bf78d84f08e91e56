"""Edits of what is in a loop: the same as outside of it, and computed, saved and exported alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.loop import anywhere, loop_of, loops_around, within
from gradstep.core.graph.model import Constant, Edge, TensorRef
from gradstep.core.io.native.gradstep_file import from_bytes, to_bytes
from gradstep.core.io.tensorflow.graphdef_export import to_pb
from gradstep.core.io.tensorflow.graphdef_import import from_pb
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.program.derive import derive

TIMES, AT = "while/times", (0.0, 0.0)


def power() -> Document:
    """loss = x (2x)^3, and beside it more = 5x, which the loop does not know of."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=())
        tf.multiply(x, 5.0, name="more")
        factor = tf.multiply(x, 2.0, name="factor")
        _, y = tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, tf.multiply(y, factor, name="times")), [0, x]
        )
        loss = tf.identity(y, name="loss")
    request = GradientRequest(of=(loss.ref,), wrt=(x.ref,))
    return Document(graph=builder.build(), request=request, feeds={"x:0": Constant(np.float32(1))})


def nested() -> Document:
    """loss = x 2^4, by two loops of two iterations, one in the other; beside it more = 5x."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=())
        tf.multiply(x, 5.0, name="more")

        def inner(i: Any, y: Any) -> Any:
            return tf.while_loop(
                lambda j, y: j < 2, lambda j, y: (j + 1, tf.multiply(y, 2.0, name="times")), [0, y]
            )

        _, y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, inner(i, y)[1]), [0, x])
        loss = tf.identity(y, name="loss")
    request = GradientRequest(of=(loss.ref,), wrt=(x.ref,))
    return Document(graph=builder.build(), request=request, feeds={"x:0": Constant(np.float32(1))})


def results(document: Document, x: float = 1.0) -> tuple[float, float]:
    """loss and its derivative by x, which recorded and fast runs agree on."""
    assert not infer_declared(document.graph).problems
    derived = derive(document)
    slope = derived.gradients[TensorRef("x")]
    assert slope is not None
    fetches = [TensorRef("loss"), slope]
    found = [
        Session(derived.graph, fast=fast).run(fetches, {TensorRef("x"): np.float32(x)})
        for fast in (False, True)
    ]
    assert found[0] == found[1]
    return float(found[0][0]), float(found[0][1])


def kept(document: Document) -> Document:
    """The same document, once through its file; its GraphDef computes the same loss."""
    again = from_bytes(to_bytes(document))
    assert [*within(again.graph)] == [*within(document.graph)] or results(again) == results(
        document
    )
    read = from_pb(to_pb(document))
    feeds = {TensorRef("x"): np.float32(1)}
    loss = [Session(d.graph).run([TensorRef("loss")], feeds) for d in (document, read)]
    assert loss[0] == loss[1]
    return again


def test_a_new_node_goes_into_the_wires_of_the_loop() -> None:
    document, new = document_edits.add_operation(power(), "Square", AT, beside=TIMES)
    assert new == "while/Square"
    assert loops_around(document.graph, new) == ("while/While",)
    factor = anywhere(document.graph, TIMES).inputs[1]
    assert factor is not None
    document = document_edits.connect(document, factor, Edge(new, 0))
    document = document_edits.connect(document, TensorRef(new), Edge(TIMES, 1))
    assert results(kept(document)) == (64, 64 * 7)


def test_a_constant_of_the_loop_is_another() -> None:
    document, new = document_edits.add_operation(
        power(), "Const", AT, attrs={"value": Constant(np.float32(3))}, beside=TIMES
    )
    document = document_edits.connect(document, TensorRef(new), Edge(TIMES, 1))
    assert results(kept(document)) == (27, 27)
    document = document_edits.set_attr(document, new, "value", Constant(np.float32(-1)))
    assert results(kept(document)) == (-1, -1)


@pytest.mark.parametrize(
    ("made", "reader", "loops", "expected"),
    [(power, TIMES, 1, (125, 125 * 4)), (nested, "while/while/times", 2, (625, 625 * 5))],
)
def test_a_wire_from_outside_is_captured_once(
    made: Callable[[], Document], reader: str, loops: int, expected: tuple[float, float]
) -> None:
    before = made()
    assert len(loops_around(before.graph, reader)) == loops
    document = document_edits.connect(before, TensorRef("more"), Edge(reader, 1))
    assert results(kept(document)) == expected
    again = document_edits.connect(document, TensorRef("more"), Edge(reader, 1))
    assert [op.name for op in within(again.graph)] == [op.name for op in within(document.graph)]
    capture = anywhere(document.graph, reader).inputs[1]
    assert capture is not None
    freed = document_edits.remove_operations(document, [capture.op])
    assert [len(op.inputs) for op in freed.graph] == [
        len(op.inputs) - (loop_of(op) is not None and loops == 1) for op in document.graph
    ]
    problem = infer_declared(freed.graph).problems[0]
    assert (problem.node, problem.text) == (reader, "input 'y' is not connected")
    back = document_edits.connect(freed, TensorRef("more"), Edge(reader, 1))
    assert results(back) == expected


def test_a_loop_goes_round_without_what_is_not_wired_yet() -> None:
    document, new = document_edits.add_operation(power(), "Mul", AT, beside=TIMES)
    derived = derive(document)
    assert [(p.node, p.code) for p in derived.problems] == [(new, "unconnected")]
    slope = derived.gradients[TensorRef("x")]
    feeds = {TensorRef("x"): np.float32(1)}
    assert Session(derived.graph).run([TensorRef("loss"), slope], feeds) == [8, 32]
    document = document_edits.connect(document, TensorRef(new), Edge("while/NextIteration_1", 0))
    problem, no_gradient = derive(document).problems
    assert (problem.node, problem.text) == (new, "input 'x' is not connected")
    assert no_gradient.text.startswith("the gradient of 'loss' waits for while/Mul")


def test_what_is_renamed_copied_and_made_python_computes_the_same() -> None:
    document = document_edits.rename_operation(power(), TIMES, "while/product")
    document, copies = document_edits.duplicate_operations(document, ["while/product"])
    copy = copies["while/product"]
    result = next(op for op in within(document.graph) if TensorRef("while/product") in op.inputs)
    document = document_edits.connect(document, TensorRef(copy), Edge(result.name, 0))
    document = document_edits.remove_operations(document, ["while/product"])
    assert results(kept(document)) == (8, 32)
    as_python = document_edits.to_pyfunc(document, copy, [TensorRef("more")])
    assert anywhere(as_python.graph, copy).type == "PyFunc"
    assert len(anywhere(as_python.graph, copy).inputs) == 3
    assert not infer_declared(as_python.graph).problems


def test_the_shape_of_a_loop_variable_can_be_opened() -> None:
    """What the error for a variable that changes its shape proposes."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=(1,))
        _, y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tf.identity(y)), [0, x])
        tf.reduce_sum(y, name="loss")
    document = Document(graph=builder.build())
    document, new = document_edits.add_operation(
        document, "ConcatV2", AT, beside="while/Identity_2"
    )
    document, axis = document_edits.add_operation(
        document, "Const", AT, attrs={"value": Constant(np.int32(0))}, beside=new
    )
    round = anywhere(document.graph, "while/Identity_2").inputs[0]
    assert round is not None
    for source, edge in ((round, 0), (round, 1), (TensorRef(axis), 2)):
        document = document_edits.connect(document, source, Edge(new, edge))
    document = document_edits.connect(document, TensorRef(new), Edge("while/Identity_2", 0))
    assert "shape_invariants" in infer_declared(document.graph).problems[0].text
    document = document_edits.set_attr(document, "while/Merge_1", "shape", Shape.of(None))
    assert not infer_declared(document.graph).problems
    feeds = {TensorRef("x"): np.ones(1, np.float32)}
    assert Session(document.graph).run([TensorRef("loss")], feeds) == [4]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (
            lambda d: document_edits.connect(d, TensorRef(TIMES), Edge("loss", 0)),
            "is in a while loop",
        ),
        (
            lambda d: document_edits.connect(d, TensorRef("loss"), Edge(TIMES, 1)),
            "would close a cycle",
        ),
        (
            lambda d: document_edits.connect(d, TensorRef("while/NextIteration_1"), Edge(TIMES, 1)),
            "would close a cycle",
        ),
        (
            lambda d: document_edits.remove_operations(d, ["while/Merge_1"]),
            "holds the loop 'while/While'",
        ),
        (
            lambda d: document_edits.remove_operations(d, ["while/LoopCond"]),
            "holds the loop 'while/While'",
        ),
        (
            lambda d: document_edits.duplicate_operations(d, ["while/Merge"]),
            "is an argument of its loop",
        ),
        (lambda d: document_edits.rename_operation(d, TIMES, "x"), "is taken"),
        (lambda d: document_edits.add_control(d, TIMES, "more"), "only one of them is in its loop"),
        (
            lambda d: document_edits.connect(d, TensorRef("nowhere"), Edge(TIMES, 1)),
            "no operation named",
        ),
    ],
)
def test_what_would_break_a_loop_is_refused(edit: Callable[[Document], Any], words: str) -> None:
    with pytest.raises(GradstepError, match=words):
        edit(power())


def test_what_lasts_stays_outside_and_is_captured() -> None:
    document, new = document_edits.add_operation(power(), "VariableV2", AT, beside=TIMES)
    assert (new, loops_around(document.graph, new)) == ("VariableV2", ())
    document = document_edits.set_attr(document, new, "shape", Shape(()))
    document = document_edits.set_initial(document, new, np.float32(4))
    document = document_edits.connect(document, TensorRef(new), Edge(TIMES, 1))
    session = Session(derive(document).graph, initial={new: np.float32(4)})
    assert session.run([TensorRef("loss")], {TensorRef("x"): np.float32(1)}) == [64]


def test_a_stop_stays_on_its_wire_where_a_capture_before_it_goes() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x, a, b = (builder.placeholder(name, shape=()) for name in ("x", "a", "b"))
        tf.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, tf.add(tf.multiply(y, a), tf.multiply(y, b))),
            [0, x],
        )
    document = Document(graph=builder.build())
    while_ = next(op for op in document.graph if loop_of(op) is not None)
    loop = loop_of(while_)
    assert loop is not None
    places = {ref.op: number for number, ref in enumerate(while_.inputs) if ref is not None}
    stops = frozenset(Edge(while_.name, places[name]) for name in "ab")
    document = document.with_(request=GradientRequest(stopped_edges=stops))
    for gone, stays in ("ab", "ba"):
        left = document_edits.remove_operations(document, [loop.arguments[places[gone]]])
        (stop,) = left.request.stopped_edges
        assert left.graph.source(stop) == TensorRef(stays)
