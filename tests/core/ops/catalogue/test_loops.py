"""tf.while_loop and its kin build TensorFlow's graphs, and refuse in its words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.edits import disconnect
from gradstep.core.graph.loop import loop_of, within
from gradstep.core.graph.model import Edge, Graph, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.typing.flatten_loops import flatten_loop_types
from gradstep.core.ops.typing.inference import infer, infer_declared

# As TensorFlow 2.21 has it in v1 mode, but for the Whiles, which it has not, and operators, whose
# names are the op types.
NESTED = """
x n outer/Const outer/Enter outer/Enter_1 outer/While_1 outer/Merge outer/Merge_1 outer/Less/Enter
outer/Less outer/LoopCond outer/Switch outer/Switch_1 outer/Identity outer/Identity_1
outer/while/Const outer/while/Enter outer/while/Enter_1 outer/while/mul/Enter outer/while/While
outer/while/Merge outer/while/Merge_1 outer/while/Less/Enter outer/while/Less outer/while/LoopCond
outer/while/Switch outer/while/Switch_1 outer/while/Identity outer/while/Identity_1
outer/while/Const_1 outer/while/AddV2 outer/while/mul/Enter_1 outer/while/mul
outer/while/NextIteration outer/while/NextIteration_1 outer/while/Exit outer/while/Exit_1
outer/Const_1 outer/AddV2 outer/NextIteration outer/NextIteration_1 outer/Exit outer/Exit_1
"""


@pytest.fixture
def builder() -> Any:
    made = GraphBuilder()
    with made.as_default():
        yield made


def test_names_and_control_inputs_are_tensorflows(builder: GraphBuilder) -> None:
    x, n = builder.placeholder("x", shape=[2]), builder.placeholder("n", "int32", [])

    def body(i: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
        _, b = tf.while_loop(
            lambda j, b: j < i, lambda j, b: (j + 1, tf.multiply(b, x, name="mul")), (0, a)
        )
        return i + 1, b

    tf.while_loop(lambda i, a: i < n, body, (0, x), name="outer")
    graph = builder.build()
    assert [op.name for op in within(graph)] == NESTED.split()
    everything = {op.name: op for op in within(graph)}
    assert everything["outer/Const_1"].control_inputs == ("outer/Identity",)
    assert everything["outer/while/Const_1"].control_inputs == ("outer/while/Identity",)
    loop = loop_of(graph["outer/While_1"])
    assert loop is not None
    assert loop.variables == ("outer/Merge", "outer/Merge_1")
    assert loop.captures == ("outer/Less/Enter", "outer/while/mul/Enter")
    assert GraphBuilder(graph).unique("outer/while/mul") == "outer/while/mul_1"


def test_types_inside_are_known_whatever_wire_into_the_loop_is_open(builder: GraphBuilder) -> None:
    x, n = builder.placeholder("x", shape=[2]), builder.placeholder("n", "int32", [])
    tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x), (0, x), name="outer")
    graph = builder.build()
    loop = loop_of(graph["outer/While"])
    assert loop is not None
    whole = flatten_loop_types(graph, infer(graph)).types
    for index, argument in enumerate(loop.arguments):
        cut = disconnect(graph, Edge("outer/While", index))
        types = flatten_loop_types(cut, infer(cut)).types
        assert types[TensorRef(argument)] == infer_declared(loop.graph).types[TensorRef(argument)]
        others = (TensorRef(name) for name in loop.arguments if name != argument)
        assert all(types[ref].dtype is whole[ref].dtype for ref in others)


def test_what_is_only_outside_is_a_capture(builder: GraphBuilder) -> None:
    """An operation on tensors from outside belongs to the body, once for every iteration."""
    x = builder.placeholder("x", "float32", [])
    drawn = []

    def body(i: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
        drawn.append(tf.square(x) + tf.random_uniform([], seed=1))
        return i + 1, a + drawn[0]

    _, y = tf.while_loop(lambda i, a: i < 3, body, (0, 0.0))
    graph = builder.build()
    assert "Square" not in {op.type for op in graph}
    values = [Session(graph, fast=fast).run([y.ref], {"x": 2.0})[0] for fast in (False, True)]
    assert 12 < values[0] < 15
    assert values[0] == values[1]


def grow(i: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
    return i + 1, tf.concat([a, a], 0)


def few(i: Tensor, *_: Tensor) -> Tensor:
    return i < 3


REFUSED: list[tuple[Callable[[Tensor], Any], str, str]] = [
    (lambda x: tf.while_loop(3, grow, (0, x)), "TypeError", "'cond' must be callable."),
    (lambda x: tf.while_loop(few, 3, (0, x)), "TypeError", "'body' must be callable."),
    (lambda x: tf.while_loop(few, grow, []), "ValueError", "'loop_vars' must be provided."),
    (
        lambda x: tf.while_loop(lambda i: i, lambda i: i + 1, [0]),
        "ValueError",
        "The condition of a loop must be one bool",
    ),
    (
        lambda x: tf.while_loop(few, lambda i, a: [i + 1], (0, x)),
        "ValueError",
        "The two structures don't have the same nested structure",
    ),
    (lambda x: tf.while_loop(few, lambda i: None, [0]), "ValueError", "None values not supported."),
    (
        lambda x: tf.while_loop(few, grow, (0, x)),
        "ValueError",
        "Input tensor 'x:0' enters the loop with shape (2,), but has shape (4,) after one "
        "iteration. To allow the shape to vary across iterations, use the `shape_invariants` "
        "argument of tf.while_loop to specify a less-specific shape.",
    ),
    (
        lambda x: tf.while_loop(few, grow, (0, x), shape_invariants=[[], [3]]),
        "ValueError",
        "The shape invariant specified for x:0 is not compatible with the initial shape of the "
        "loop variable. It enters the loop with shape (2,), but the specified shape invariant is "
        "(3,).",
    ),
    (
        lambda x: tf.while_loop(few, lambda i, a: (i + 1, tf.cast(a, "int32")), (0, x)),
        "TypeError",
        "has type int32 after one iteration",
    ),
    (lambda x: tf.map_fn(tf.square, 1.0), "ValueError", "elements in elems must be 1+ dimensional"),
]


@pytest.mark.parametrize(("build", "kind", "text"), REFUSED)
def test_it_refuses_in_tensorflows_words(
    builder: GraphBuilder, build: Callable[[Tensor], Any], kind: str, text: str
) -> None:
    x = builder.placeholder("x", shape=[2])
    with pytest.raises(GradstepError) as caught:
        build(x)
    assert (caught.value.kind, text in caught.value.message) == (kind, True), caught.value.message


def inside(builder: GraphBuilder) -> tuple[Tensor, Graph]:
    """A tensor of a loop's body."""
    kept: list[Tensor] = []

    def body(i: Tensor) -> Tensor:
        kept.append(tf.multiply(i, i, name="mul"))
        return i + 1

    tf.while_loop(few, body, [0])
    return kept[0], builder.build()


def test_what_is_inside_cannot_be_used_outside(builder: GraphBuilder) -> None:
    inner, graph = inside(builder)
    with pytest.raises(GradstepError, match="'while/mul' is in a while loop"):
        tf.identity(inner)
    with pytest.raises(GradstepError, match="because they are in different while loops"):
        tf.while_loop(few, lambda i: i + tf.identity(inner), [0])
    session = Session(graph)
    with pytest.raises(GradstepError, match="has been marked as not fetchable") as caught:
        session.run(["while/mul"])
    assert caught.value.kind == "InaccessibleTensorError"
    with pytest.raises(GradstepError, match="Tensor while/mul:0 may not be fed"):
        session.run(["while/Exit:0"], {"while/mul": 1})
    with pytest.raises(GradstepError, match="not fetchable"):
        graph["while/mul"]
