"""TensorFlow's loops: read as Whiles, run, stepped, and written back node for node."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph import edits
from gradstep.core.graph.loop import loop_of, within
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.tensorflow.graphdef_export import to_graphdef, to_pb
from gradstep.core.io.tensorflow.graphdef_import import from_pb, from_pbtxt
from gradstep.core.io.tensorflow.graphdef_proto import message
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.build.variable import TRAINABLE
from gradstep.core.program.derive import derive
from tests.support import oracle
from tests.support import tensorflow_graphs as written
from tests.support.comparable import comparable
from tests.support.rounding import Rounding, assert_rounded_alike

FORWARD = (oracle.CASES.parent / "graphs" / "while_loop_forward.pbtxt").read_text()


@pytest.mark.parametrize("name", written.names())
def test_a_graph_of_tensorflow(name: str) -> None:
    """It gives the recorded values, in one of the layouts, in turn; writing gives the nodes it was
    read from, and one of both kinds of file, in turn, the same graph again."""
    document, in_turn = written.document(name), written.names().index(name) % 2
    _check_runs(name, Session(document.graph, fast=bool(in_turn)))
    again = to_pb(document)
    assert _nodes(again) == _nodes(written.graph_bytes(name))
    if in_turn:
        assert comparable(from_pb(again, name).graph) == comparable(document.graph)
    else:
        kept = gradstep_file.to_bytes(document, readable=False)
        reopened = gradstep_file.from_bytes(kept)
        assert comparable(reopened.graph) == comparable(document.graph)
        assert gradstep_file.to_bytes(reopened, readable=False) == kept


LOOPS = Rounding(terms=12, steps=12)  # cells of some units, over some steps, and back


def _check_runs(name: str, session: Session) -> None:
    if init := written.initializer(name):
        session.run([], targets=[init])
    for step in written.steps(name):
        values = session.run(list(step.fetches), step.feeds, step.targets)
        for (ref, expected), value in zip(step.fetches.items(), values, strict=True):
            if expected.dtype == object:
                assert value.tolist() == expected.tolist(), ref
            else:
                assert_rounded_alike(value, expected, LOOPS, ref)


def _nodes(data: bytes) -> dict[str, Any]:
    """What each node says, but for how its constants are packed, and the mark that reading puts on
    variables that are not trained."""
    proto = message("GraphDef")()
    proto.ParseFromString(data)
    found = {}
    for node in proto.node:
        said = {k: v for k, v in node.attr.items() if k != TRAINABLE}
        attrs = {k: str(v) for k, v in said.items() if not v.HasField("tensor")}
        found[node.name] = node.op, list(node.input), node.device, attrs
    return found


@pytest.mark.parametrize(
    "name", ["map_fn_nested", "while_with_cond", "dynamic_rnn_GRUCell_training"]
)
def test_stepping_there_and_back(name: str) -> None:
    """The debugger walks into loops and out, back to the start, and forward to the same values."""
    step = next(written.steps(name))
    feeds = {ref: Constant(value) for ref, value in step.feeds.items()}
    fetches = tuple(TensorRef.parse(ref) for ref in step.fetches)
    document = written.document(name).with_(feeds=feeds, fetches=fetches)
    session = DebugSession(derive(document, {}), NumpyBackend())
    session.run_to(next(op.name for op in document.graph if loop_of(op)))
    for _ in range(9):
        session.step_into()
    session.step_back()
    session.step_out()
    for _ in range(2):
        session.continue_()
        for ref, expected in step.fetches.items():
            assert_rounded_alike(session.frame().value(ref), expected, LOOPS, ref)
        session.step_back()
        session.reverse_continue()
        assert (session.stop.run, session.stop.step) == (0, 0)
        session.step()


def test_arrays_and_stacks_are_seen_as_of_the_step() -> None:
    """Whatever a handle's arrays hold at a position, in the loop as around it, and back again."""
    document = written.document("while_loop_with_gradient")
    feeds = {"x:0": Constant(np.float32(2)), "n:0": Constant(np.int32(3))}
    document = document.with_(feeds=feeds, fetches=(TensorRef("dy_dx"),))
    session = DebugSession(derive(document, {}), NumpyBackend())
    stack = "gradients/while/mul_grad/Mul_1/f_acc"
    back = next(op.name for op in document.graph if loop_of(op) and op.name.startswith("grad"))
    assert document.graph[back].origin == "while/While"
    full, popped = (
        "a stack of 3, from the top: 4.0, 2.0, 1.0",
        "a stack of 2, from the top: 2.0, 1.0",
    )
    session.run_to(back)
    assert str(session.frame().state(stack)) == full
    session.step_into()
    session.run_to("gradients/while/mul_grad/Mul_1/StackPopV2")
    assert str(session.frame().state(stack)) == full
    session.step_into()
    assert str(session.frame().state(stack)) == popped
    session.step_back()
    assert str(session.frame().state(stack)) == full
    session.continue_()
    assert str(session.frame().state(stack)) == "a stack of 0"


BROKEN = {
    "no LoopCond": (
        [('op: "LoopCond"', 'op: "Identity"')],
        "loop 'while/while_context' has 0 LoopConds, not one",
        "while/Enter",
    ),
    "a Merge the wrong way round": (
        [('input: "while/Enter"\n  input: "while/NextIteration"',
          'input: "while/NextIteration"\n  input: "while/Enter"')],
        "Merge 'while/Merge' of a loop does not take an Enter, then a NextIteration",
        "while/Merge",
    ),
    "data that enters without an Enter": (
        [('input: "while/mul/Enter"', 'input: "x"')],
        "The node 'while/mul' has inputs from different frames. The input 'while/Identity_1' is in "
        "frame 'while/while_context'. The input 'x' is in frame ''.",
        "while/mul",
    ),
    "an Enter that is not constant": (
        [('input: "while/mul/Enter"', 'input: "while/Enter_1"')],
        "'while/mul' takes 'while/Enter_1', which enters the first iteration only",
        "while/mul",
    ),
    "an Exit of what goes on": (
        [('op: "Exit"\n  input: "while/Switch"', 'op: "Exit"\n  input: "while/Identity"')],
        "'while/Exit' takes out of a loop what is not the last value of a loop variable",
        "while/Exit",
    ),
    "an Exit at the top": (
        [('op: "Exit"\n  input: "while/Switch"', 'op: "Exit"\n  input: "x"')],
        "Exit 'while/Exit' is in no loop",
        "while/Exit",
    ),
    "which way a loop variable came": (
        [('op: "LoopCond"\n  input: "while/Less"', 'op: "LoopCond"\n  input: "while/Merge:1"')],
        "'while/LoopCond' asks whether loop variable 'while/Merge' is new",
        "while/LoopCond",
    ),
    "a Switch of something else": (
        [('op: "Switch"\n  input: "while/Merge_1"', 'op: "Switch"\n  input: "while/mul/Enter"')],
        "Switch 'while/Switch_1' on a LoopCond has no loop variable",
        "while/Switch_1",
    ),
    "a cycle that is no loop": (
        [('op: "NextIteration"', 'op: "Identity"')],
        "the graph has a cycle",
        None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_frame_that_is_no_loop(case: str) -> None:
    changes, message, node = BROKEN[case]
    text = FORWARD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(GradstepError) as caught:
        from_pbtxt(text.encode(), "broken.pbtxt")
    assert caught.value.message.startswith("broken.pbtxt: ")
    assert message in caught.value.message
    assert node is None or caught.value.node == node
    assert caught.value.hint


def test_a_loop_drawn_here_is_a_frame_there() -> None:
    """What stands around it need be no Enter and no Exit, and two frames may have one name."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=())
        _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])
        _, z = tf.while_loop(lambda i, z: i < 2, lambda i, z: (i + 1, z * y), [0, y])
    graph = builder.build()
    first, second = (op for op in graph if loop_of(op))
    last = {y.ref: TensorRef(first.name, 1), z.ref: TensorRef(second.name, 1)}
    changed = {}
    for op in graph:
        inputs = tuple(last.get(ref, ref) for ref in op.inputs)
        if op is second:  # its counter comes without an Enter
            inputs = (graph[inputs[0].op].inputs[0], *inputs[1:])
        if op.output() not in last:
            named = op.with_attrs(frame_name="same") if op.type == "Enter" else op
            changed[op.name] = replace(named, inputs=inputs)
    changed["last"] = Operation("last", "Neg", (last[z.ref],), (first.name,))
    graph, feeds = Graph(changed), {"x": np.float32(1.5)}
    again = from_pb(to_pb(Document(graph=graph))).graph
    assert Session(again).run(["last"], feeds) == Session(graph).run(["last"], feeds)
    assert Session(graph).run(["last"], feeds)[0] == -(np.float32(1.5) ** 12)
    assert len({op.attrs["frame_name"] for op in again if op.type == "Enter"}) == 2


def test_a_copied_loop_has_names_of_its_own() -> None:
    graph = from_pbtxt(FORWARD.encode()).graph
    feeds = {"x": np.float32(2), "n": np.int32(3)}
    doubled, copies = edits.duplicate(graph, [op.name for op in graph if op.name not in feeds])
    names = [op.name.lower() for op in within(doubled)]
    assert len(set(names)) == len(names)
    for each in (doubled, from_pb(to_pb(Document(graph=doubled))).graph):
        assert Session(each).run(["y", copies["y"]], feeds) == [8, 8]


def test_what_a_border_waits_for_can_be_renamed_and_removed() -> None:
    graph = written.document("while_control_inputs").graph
    renamed = _nodes(to_pb(Document(graph=edits.rename(graph, "first", "begin"))))
    assert renamed["loop/mul/Enter"][1] == ["x", "^begin"]
    removed = _nodes(to_pb(Document(graph=edits.remove(graph, ["z", "last", "last/value"]))))
    assert "last" not in removed
    for gone in ("first", "loop/Enter_1", "v"):
        with pytest.raises(GradstepError, match="not connected"):
            to_pb(Document(graph=edits.remove(graph, [gone])))


def test_what_a_loop_waits_for_its_variables_wait_for() -> None:
    graph = written.document("tensor_array_dynamic").graph
    loop = next(op for op in graph if loop_of(op))
    waiting = Graph({**graph.operations, loop.name: replace(loop, control_inputs=("n",))})
    nodes = _nodes(to_pb(Document(graph=waiting)))
    assert nodes["while/Enter"][1][1:] == nodes["while/Enter_1"][1][1:] == ["^n"]


def test_what_only_our_gradient_reads_has_no_node() -> None:
    document = written.document("while_loop_with_gradient")
    loop = next(op for op in document.graph if loop_of(op))
    trace = TensorRef(loop.name, len(loop_of(loop).variables))
    reader = Operation("reader", "IterationCount", (trace,))
    graph = Graph.of([*document.graph, reader])
    with pytest.raises(GradstepError, match="has no form in a GraphDef") as caught:
        to_graphdef(document, graph)
    assert caught.value.node == "reader"
