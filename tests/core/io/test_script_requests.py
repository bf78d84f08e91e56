"""Scripts for NumPy and PyTorch of every kind of request: the debugger's gradients, or a refusal.

Without PyTorch its script is only held to have no name that is nowhere.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Edge, Graph, Operation, TensorRef
from gradstep.core.io.export_document import to_bytes
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.program.derive import derive
from tests.core.io.test_array_scripts import numbers, printed

AT = Constant(np.array([[0.3, 0.45], [0.6, 0.7]], np.float32))


def document(
    block: Callable[[Tensor], object],
    wrt: Iterable[str] = ("x",),
    of: Iterable[str] = ("loss",),
    **request: object,
) -> Document:
    builder = GraphBuilder()
    with builder.as_default():
        block(builder.placeholder("x", shape=[2, 2]))
    ends = tuple(map(TensorRef.parse, of))
    asked = GradientRequest(ends, tuple(map(TensorRef.parse, wrt)))
    asked = replace(asked, **request)  # type: ignore[arg-type]
    return Document(builder.build(), asked, feeds={"x:0": AT}, fetches=ends)


def product(x: Tensor) -> None:
    tf.square(tf.identity(x, name="mid") * x, name="loss")


def weighted(x: Tensor) -> None:
    tf.square(tf.identity(tf.constant([[1.0, 2.0], [3.0, 4.0]]), name="w"), name="start")
    product(x)


def rounded(x: Tensor) -> None:
    tf.square(tf.floor(x * 4.0, name="rounded") + x, name="loss")


def at(*names: str) -> tuple[TensorRef, ...]:
    return tuple(map(TensorRef, names))


def instead(gradient: str, target: str) -> dict[str, object]:
    return {"overrides": (Override(gradient, target, OverrideKind.OP),)}


REQUESTS = {
    "of a tensor within": document(product, ["mid", "x"]),
    "of a tensor within alone": document(product, ["mid"]),
    "of what leads nowhere": document(weighted, ["w", "x"]),
    "zeros for none": document(weighted, ["w", "x"], unconnected_zero=True),
    "from a constant on": document(weighted, grad_ys=at("w")),
    "from what is computed on": document(weighted, grad_ys=at("start")),
    "from a tensor within on": document(product, grad_ys=at("mid")),
    "from what it is of on": document(product, grad_ys=at("x")),
    "of two sums": document(product, of=["loss", "mid"]),
    "a stop at what is asked": document(product, ["mid", "x"], stops=frozenset(at("mid"))),
    "a stop at the end": document(product, stops=frozenset(at("loss"))),
    "a stopped wire": document(product, stopped_edges=frozenset([Edge("mid", 0)])),
    "straight through": document(rounded, **instead("Identity", "rounded")),
    "its own rule by name": document(rounded, **instead("Floor", "rounded")),
}


@pytest.mark.parametrize("name", REQUESTS)
@pytest.mark.parametrize("suffix", [".numpy.py", ".torch.py"])
def test_a_script_has_the_debuggers_gradients(name: str, suffix: str) -> None:
    asked = REQUESTS[name]
    assert not lost_names(to_bytes(asked, suffix).decode())
    if suffix == ".torch.py" and importlib.util.find_spec("torch") is None:
        return
    session, said = DebugSession(derive(asked, {})), printed(asked, suffix)
    session.continue_()
    for x in asked.request.wrt:
        right, text = session.frame().gradient(x.short), said[f"gradient by {x.short}"]
        if right is None:
            assert text == "None"
        else:
            np.testing.assert_allclose(numbers(text), np.ravel(right), rtol=1e-5)


def lost_names(text: str) -> set[str]:
    """Names that are read in a script and are nowhere: neither built in, nor of the module, nor
    of the function that reads them."""
    tree = ast.parse(text)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    lines = [node for node in tree.body if node not in functions]
    module = {node.name for node in functions} | bound(lines) | {*dir(builtins)}
    parts = [lines, *([node] for node in functions)]
    return {name for part in parts for name in read(part) - bound(part) - module}


def read(nodes: Iterable[ast.AST]) -> set[str]:
    names = (one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Name))
    return {one.id for one in names if isinstance(one.ctx, ast.Load)}


def bound(nodes: Iterable[ast.AST]) -> set[str]:
    found = set[str]()
    for one in (each for node in nodes for each in ast.walk(node)):
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            found.add(one.id)
        elif isinstance(one, ast.arg):
            found.add(one.arg)
        elif isinstance(one, ast.alias):
            found.add(one.asname or one.name)
    return found


def test_a_rule_of_another_op_type_is_no_gradient_of_pytorchs() -> None:
    asked = document(lambda x: tf.nn.relu(x, name="loss"), **instead("Tanh", "loss"))
    assert numbers(printed(asked)["gradient by x"]) == pytest.approx(1 - AT.array.ravel() ** 2)
    with pytest.raises(GradstepError, match="the gradient of 'loss' is Tanh's, which cannot"):
        to_bytes(asked, ".torch.py")


def test_a_python_function_has_no_gradient_but_one_that_is_given() -> None:
    plain = document(lambda x: tf.add(tf.square(x, name="own"), x, name="loss"))
    attrs = {"Tin": (DType.FLOAT32,), "Tout": (DType.FLOAT32,), "shapes": (Shape((2, 2)),)}
    own = Operation("own", "PyFunc", at("x"), attrs={**attrs, "token": "f"})
    graph = Graph({**plain.graph.operations, "own": own})
    code = {"f": CodeItem("f", CodeKind.PYFUNC, "def f(x):\n    return np.square(x)\n")}
    asked = plain.with_(graph=graph, code=code)
    assert numbers(printed(asked)["gradient by x"]).tolist() == [1, 1, 1, 1]
    assert "np.asarray(f_(x.detach().numpy()))" in to_bytes(asked, ".torch.py").decode()
    wrong = code | {"f": replace(code["f"], kind=CodeKind.GRADIENT)}
    with pytest.raises(GradstepError, match="a Python function that the document does not have"):
        to_bytes(asked.with_(code=wrong), ".torch.py")


def test_a_function_that_is_no_gradient_is_none_of_an_operation() -> None:
    asked = document(product, **instead("f", "mid"))
    code = {"f": CodeItem("f", CodeKind.PYFUNC, "def f(x):\n    return x\n")}
    with pytest.raises(GradstepError, match="asks for 'f', which is not registered"):
        to_bytes(asked.with_(code=code), ".numpy.py")
    with pytest.raises(GradstepError, match="the gradient of 'mid' is f's"):
        to_bytes(asked.with_(code=code), ".torch.py")


@pytest.mark.parametrize("suffix", [".numpy.py", ".torch.py"])
@pytest.mark.parametrize("part", ["of", "wrt"])
def test_another_output_than_the_first_is_refused(suffix: str, part: str) -> None:
    def block(x: Tensor) -> None:
        tf.reduce_sum(x, name="loss")
        x.builder.op("TopKV2", x, np.int32(1), name="rows")

    with pytest.raises(GradstepError, match="output 1 of 'rows' cannot be written as"):
        to_bytes(document(block, **{part: ["rows:1"]}), suffix)


def test_of_what_has_several_outputs_each_can_be_asked_for() -> None:
    def block(x: Tensor) -> None:
        first, second = tf.unstack(x, name="rows")
        tf.reduce_sum(first * second * second, name="loss")

    asked = document(block, wrt=["rows:1", "x"])
    told = printed(asked)
    assert numbers(told["gradient by rows:1"]) == pytest.approx([2 * 0.3 * 0.6, 2 * 0.45 * 0.7])
    assert numbers(told["gradient by x"])[:2] == pytest.approx([0.36, 0.49])
    text = to_bytes(asked, ".torch.py").decode()
    assert "rows_1 = rows_1.clone().requires_grad_()" in text
    if importlib.util.find_spec("torch") is not None:
        told = printed(asked, ".torch.py")
        assert numbers(told["gradient by rows:1"]) == pytest.approx([0.36, 0.63])


def test_a_gradient_through_what_is_fed_is_no_gradient_of_pytorchs() -> None:
    asked = document(product)
    asked = asked.with_(feeds={**asked.feeds, "mid:0": AT})
    x = AT.array.ravel()
    assert numbers(printed(asked)["gradient by x"]) == pytest.approx(4 * x**3)
    with pytest.raises(GradstepError, match="a gradient goes through 'mid', which is fed"):
        to_bytes(asked, ".torch.py")


def test_functions_of_one_name_are_two_and_no_tensors_name() -> None:
    twice = (
        "def scale(x):\n    return np.multiply(x, 2)\ndef rule(op, grad):\n    return scale(grad)\n"
    )
    thrice = "def rule(op, grad):\n    return grad * 3\n"

    def block(x: Tensor) -> None:
        tf.identity(tf.identity(tf.square(x, name="scale"), name="B_"), name="loss")

    rules = (("A", "loss"), ("B", "B_"))
    overrides = tuple(Override(name, target, OverrideKind.OP) for name, target in rules)
    code = {n: CodeItem(n, CodeKind.GRADIENT, s) for n, s in (("A", twice), ("B", thrice))}
    asked = document(block, overrides=overrides).with_(code=code)
    found = numbers(printed(asked)["gradient by x"])
    assert found == pytest.approx(2 * 3 * 2 * AT.array.ravel())
    if importlib.util.find_spec("torch") is not None:
        code["A"] = replace(code["A"], source=twice.replace("np.multiply(x, 2)", "x * 2"))
        found = numbers(printed(asked.with_(code=code), ".torch.py")["gradient by x"])
        assert found == pytest.approx(2 * 3 * 2 * AT.array.ravel())


def test_what_is_no_python_is_no_function() -> None:
    asked = document(product, **instead("f", "mid"))
    asked = asked.with_(code={"f": CodeItem("f", CodeKind.GRADIENT, "def f(:")})
    with pytest.raises(GradstepError, match="there is no function in 'f'"):
        to_bytes(asked, ".torch.py")
