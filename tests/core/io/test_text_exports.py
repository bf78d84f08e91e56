"""DOT and Python text of a document."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.graphviz import to_dot
from gradstep.core.io.open_document import read
from gradstep.core.io.script.python_script import to_python
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.examples.build import EXAMPLES, FOLDER
from tests.support import tensorflow_graphs
from tests.support.queueing import queue_document

LOOP = ("While", "Enter", "RefEnter", "Exit")  # TensorFlow makes these by itself


def test_dot_says_what_is_stopped_and_overridden() -> None:
    text = to_dot(read(FOLDER / "stop_gradient.gradstep")).decode()
    assert '"r" -> "y" [label="stopped", arrowhead=tee];' in text
    text = to_dot(read(FOLDER / "floor_identity.gradstep")).decode()
    assert '"rounded" [label="rounded\\nFloor\\ngradient: Identity"];' in text


def test_dot_quotes_names() -> None:
    graph = Graph.of([Operation('a"\\b', "NoOp"), Operation("c", "NoOp", (), ('a"\\b',))])
    assert '"a\\"\\\\b" -> "c" [style=dashed];' in to_dot(Document(graph=graph)).decode()


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_script_makes_every_operation_in_order(name: str) -> None:
    document = read(FOLDER / f"{name}.gradstep")
    made = _made(to_python(document).decode())
    own = [
        op for op in map(document.graph.__getitem__, document.graph.order) if op.type not in LOOP
    ]
    assert [n for n in made if n in document.graph] == [op.name for op in own]


def test_a_script_asks_for_gradients_as_the_document_does() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=[2])
        start = builder.placeholder("start", shape=[2])
        tf.multiply(x, start, name="y")
        tf.multiply(x, 2.0, name="z")
    request = GradientRequest(
        of=(TensorRef("y"), TensorRef("z")),
        wrt=(TensorRef("x"),),
        stops=frozenset([TensorRef("start")]),
        unconnected_zero=True,
        grad_ys=(None, TensorRef("start")),
        gate=True,
    )
    text = to_python(Document(builder.build(), request)).decode()
    asked = (
        "gradients = tf1.gradients([tensor('y'), tensor('z')], [tensor('x')], "
        "grad_ys=[None, tensor('start')], gate_gradients=True, "
        "stop_gradients=[tensor('start')], unconnected_gradients='zero')"
    )
    assert asked in text


def test_a_script_asks_for_the_same() -> None:
    text = to_python(read(FOLDER / "override_add.gradstep")).decode()
    assert "tf.RegisterGradient('CustomAdd')(backprop)" in text
    assert "with graph.gradient_override_map({'PyFunc': 'CustomAdd'}):" in text
    assert "gradients = tf1.gradients([tensor('loss')], [tensor('c'), tensor('k')])" in text
    assert "np.array([0.06, -0.04], np.float32)" in text


def test_functions_of_one_file_are_written_once_and_those_of_one_name_stay_apart() -> None:
    shared = "def helper(x): return x\n\n\ndef one(x): return helper(x)\n\n\n"
    shared += "@tf.RegisterGradient('Two')\ndef _two(op, grad): return grad\n"
    forward = "def forward(x): return x"
    items = [
        CodeItem("one", CodeKind.PYFUNC, shared),
        CodeItem("Two", CodeKind.GRADIENT, shared),
        CodeItem("Three", CodeKind.GRADIENT, "def backprop(op, grad): return grad"),
        CodeItem("a_forward", CodeKind.PYFUNC, forward),
        CodeItem("b-forward", CodeKind.PYFUNC, forward.replace("return x", "return 2 * x")),
        CodeItem("broken", CodeKind.PYFUNC, "def ("),
    ]
    calls = [
        Operation(item.name, "PyFunc", attrs={"token": item.name, "Tout": (DType.FLOAT32,)})
        for item in items
        if item.kind is CodeKind.PYFUNC
    ]
    graph, code = Graph.of(calls), {item.name: item for item in items}
    text = to_python(Document(graph=graph, code=code)).decode()
    assert text.count("def helper(x)") == 1
    assert text.count("RegisterGradient('Two')") == 1
    assert "tf.RegisterGradient('Three')(backprop)" in text
    functions = ["one", "a_forward", "b_forward", "None"]
    assert [f"py_func({name}, [], " in text for name in functions] == [True] * 4
    assert text.index("a_forward = forward") < text.index("return 2 * x")
    assert text.index("return 2 * x") < text.index("b_forward = forward")


def test_a_tensor_among_the_attributes_is_written_as_one() -> None:
    document = tensorflow_graphs.document("program_estimator")
    red = "bad_color=tf.make_tensor_proto(np.array([255, 0, 0, 255], np.uint8))"
    assert red in to_python(document).decode()


def test_dot_draws_what_is_in_a_loop() -> None:
    text = to_dot(tensorflow_graphs.document("map_fn_nested")).decode()
    assert text.count("{") == text.count("}") == 5  # four loops, two of them in another
    assert text.index('"cluster map/while/While"') < text.index('"cluster map/while/map/while/W')
    assert '"map/while/NextIteration" -> "map/while/Merge" [label="next"' in text
    assert '"map/while/While" -> "map/while/Merge";' in text


@pytest.mark.parametrize("name", ["map_fn_nested", "dynamic_rnn_LSTMCell", "while_control_inputs"])
def test_a_script_has_functions_for_a_loop(name: str) -> None:
    """What is in it is made there, or is another name of what TensorFlow makes."""
    graph = tensorflow_graphs.document(name).graph
    source = to_python(Document(graph=graph)).decode()
    loops = [op for op in within(graph) if op.type == "While"]
    tree = ast.parse(source)
    tree.body = [n for n in tree.body if not isinstance(n, ast.For)]  # that keeps names free
    functions = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    for loop in loops:
        assert {f"{loop.scope.replace('/', '_')}_{part}" for part in ("cond", "body")} <= functions
    texts = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    said = {text.rstrip("/") for text in texts if isinstance(text, str)}
    assert {op.name for op in within(graph)} <= said
    assert source.count("tf1.while_loop(") == len(loops)


def test_a_script_says_in_which_branch_an_operation_in_a_loop_is() -> None:
    """TensorFlow's gradients ask; and its own operations leave the names of others free."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=[])

        def body(i: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
            def inner() -> Tensor:
                return tf.cond(tf.less(a, 3.0), lambda: a * x, lambda: a - x)

            def looping() -> Tensor:
                return tf.while_loop(lambda b: b < 9.0, lambda b: b + x, [a])

            return i + 1, tf.cond(tf.equal(i, 1), inner, looping)

        tf.while_loop(lambda i, _: i < 3, body, (0, x))
    text = to_python(Document(graph=builder.build())).decode()
    outer, inner = ("'while/Equal', 1"), ("'while/cond/Less', 0")
    place = f"with branch(({outer}), ({inner})):\n        tf.raw_ops.Sub("
    assert place in text
    assert f"leads_into('while/cond/cond/Sub/Switch', 0, ({outer}), ({inner}))" in text
    assert "    leads_out(['while/cond/while/While'])" in text
    assert text.index("def leads_into(") < text.index("graph.unique_name(") < text.index(place)
    ast.parse(text)


def test_names_cannot_break_out_of_a_script() -> None:
    odd = "x'); import os; ('"
    graph = Graph.of([Operation(odd, "NoOp")])
    title = '"""\nimport os\n"""'
    tree = ast.parse(to_python(Document(graph=graph, title=title)))
    modules = [n.names[0].name for n in ast.walk(tree) if isinstance(n, ast.Import)]
    assert modules == ["numpy", "tensorflow"]


def test_numbers_that_are_none_can_be_read_by_python() -> None:
    value = Constant(np.array([np.nan, -np.inf, 0.1], np.float32))
    graph = Graph.of([Operation("v", "Const", attrs={"value": value})])
    text = to_python(Document(graph=graph)).decode()
    assert "np.array([np.nan, -np.inf, 0.1], np.float32)" in text


def test_what_a_script_cannot_hold_is_refused() -> None:
    with pytest.raises(GradstepError, match="not connected"):
        to_python(Document(graph=Graph.of([Operation("a", "Neg", (None,))])))
    big = Operation("a", "Const", attrs={"value": Constant(np.arange(5000.0))})
    with pytest.raises(GradstepError, match="5000 elements"):
        to_python(Document(graph=Graph.of([big])))


def _made(source: str) -> list[str]:
    """Names given to operations, in the order of the script."""
    calls: list[Any] = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Call)]
    named = [(c.lineno, k.value.value) for c in calls for k in c.keywords if k.arg == "name"]
    return [name for _, name in sorted(named)]


def test_a_script_keeps_resource_variables_apart() -> None:
    kind = {"dtype": DType.FLOAT32, "shape": Shape(())}
    graph = Graph.of([Operation(name, "VarHandleOp", attrs=kind) for name in "ab"])
    start = {"a": Constant(np.float32(2))}
    text = to_python(Document(graph=graph, initial=start)).decode()
    assert "tf1.Variable(np.array(2.0, np.float32), name='a', use_resource=True)" in text
    assert "tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[], shared_name='b', name='b')" in text


def test_an_operation_without_what_it_must_have_is_refused() -> None:
    for type in ("Placeholder", "Const"):
        with pytest.raises(GradstepError, match="is missing"):
            to_python(Document(graph=Graph.of([Operation("a", type)])))


def test_a_script_starts_the_threads() -> None:
    document = queue_document(3, 2)
    closing = replace(document.threads[0], closes="two_put")
    script = to_python(document.with_(threads=(closing, document.threads[1]))).decode()
    compile(script, "script", "exec")
    first = "args=(session, [operation('one_put')], feeds, operation('two_put')), daemon=True)"
    assert f"    threading.Thread(target=keep_running, {first}.start()\n" in script
    assert "keep_running" not in to_python(document.with_(threads=())).decode()


def test_a_constant_of_one_value_is_not_too_long_for_a_script() -> None:
    value = Constant(np.full((300, 300), 0.1, np.float32))
    document = Document(graph=Graph.of([Operation("a", "Const", attrs={"value": value})]))
    text = to_python(document).decode()
    written = re.search(r"np\.broadcast_to\(.*, \(300, 300\)\)", text)
    assert written is not None
    np.testing.assert_array_equal(eval(written[0], {"np": np}), value.array)


def test_a_script_bends_optimizers_as_the_document_does() -> None:
    document = read(FOLDER / "tutorial.gradstep")
    (optimizer,) = document.optimizers
    scales = {"c": 0.5}
    bent = replace(
        optimizer,
        schedule="warmup(10) * exponential_decay(100, 0.9, staircase=True)",
        clip="global_norm(2)",
        decay="decoupled(0.01)",
        scales=scales,
    )
    text = to_python(document.with_(optimizers=(bent,))).decode()
    compile(text, "script", "exec")
    lines = text.splitlines()
    rate = "train_rate = tf1.train.exponential_decay(0.001, train_step, decay_steps=100.0, "
    order = [
        rate + "decay_rate=0.9, staircase=True)",
        "train_rate = train_rate * tf.minimum((tf.cast(train_step, tf.float32) + 1.0) / 10.0, 1.0)",
        f"train_scales = {scales!r}",
        "train_gradients, _ = tf.clip_by_global_norm(train_gradients, 2.0)",
        "with tf1.control_dependencies(train_decays):",
    ]
    assert [line for line in lines if line in order] == order
    assert "global_step=train_step, name='train')" in text
    for decay, said in (("l2(0.5)", "+ 0.5 * v"), ("", "tf.clip_by_value(g, -1.0, 1.0)")):
        other = replace(optimizer, clip="value(1)", decay=decay)
        text = to_python(document.with_(optimizers=(other,))).decode()
        compile(text, "script", "exec")
        assert said in text
        assert "train_rate = 0.001" in text
