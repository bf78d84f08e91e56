"""Gradients written in NumPy: in the document, in its program, and in what is exported."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.script.python_script import to_python
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from gradstep.core.program.function_kinds import in_role

X, Y = np.array([1.0, 2.0, 3.0], np.float32), np.array([4.0, 5.0, 6.0], np.float32)
FORWARD = "def forward(x, y):\n    return x * y\n"
GRADIENT = "def backprop(grad, x, y):\n    return grad * y, grad * x\n"


def document(
    source: str = GRADIENT, known: bool = True, kind: CodeKind = CodeKind.NUMPY_GRADIENT
) -> Document:
    """`loss` = the sum of the Python function `e` of x and y, whose gradient is `source`."""
    b = GraphBuilder()
    x, y = (b.placeholder(n, shape=(3,) if known else None) for n in "xy")
    types = {"Tin": (x.dtype,) * 2, "Tout": (x.dtype,), "shapes": (x.shape,)}
    e = b.one("PyFunc", x, y, name="e", token="times", **types)
    b.one("Sum", e, np.array([0], np.int32), name="loss")
    return Document(
        graph=b.build(),
        request=replace(
            GradientRequest.to("loss", "x", "y"),
            overrides=(Override("Times", "e", OverrideKind.OP),),
        ),
        feeds={"x": Constant(X), "y": Constant(Y)},
        code={
            "times": CodeItem("times", CodeKind.PYFUNC, FORWARD),
            "Times": CodeItem("Times", kind, source),
        },
    )


def gradients_of(document: Document) -> dict[str, Any]:
    """Gradients at the end of a run, or the error that ended it."""
    program = derive(document, trusted=True)
    assert program.problems == ()
    session = DebugSession(program)
    stop = session.continue_()
    if stop.error is not None:
        return {"error": stop.error}
    return {ref.op: session.frame().gradient(ref) for ref in document.request.wrt}


@pytest.mark.parametrize("known", [True, False])
def test_arrays_are_the_gradient(known: bool) -> None:
    found = gradients_of(document(known=known))
    np.testing.assert_array_equal(found["x"], Y)
    np.testing.assert_array_equal(found["y"], X)


def test_it_is_the_same_as_a_graph_function() -> None:
    source = "def f(op, grad):\n    x, y = op.inputs\n    return grad * y, grad * x\n"
    built, computed = document(source, kind=CodeKind.GRADIENT), document()
    for name, value in gradients_of(built).items():
        np.testing.assert_array_equal(value, gradients_of(computed)[name])


def test_none_is_zeros_once_the_graph_is_built() -> None:
    found = gradients_of(document("def f(grad, x, y):\n    return None, grad\n"))
    assert found["x"].tolist() == [0, 0, 0]
    assert found["y"].tolist() == [1, 1, 1]


def test_the_debugger_steps_over_it_at_its_node() -> None:
    program = derive(document(), trusted=True)
    made = [op for op in program.graph if op.type == "PyFunc" and op.name != "e"]
    assert [(op.origin, op.phase.value, op.attrs["token"]) for op in made] == [
        ("e", "backward", "Times")
    ]
    assert program.custom == {"e": "Times"}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def f(grad, x, y):\n    return grad\n", "Times returns 1 values, but expects to see 2"),
        ("def f(grad, x, y):\n    pass\n", "Times returns 0 values, but expects to see 2"),
        ("def f(grad, x, y):\n    return grad, grad[:2]\n", "results of shapes [3], [2] where"),
        (
            "def f(grad, x, y):\n    return grad, grad.astype(float)\n",
            "1-th value returned by Times is double, but expects float",
        ),
        ("def f(grad, x, y):\n    return grad, unknown\n", "'Times', line 2: NameError"),
        ("def f(grad, x):\n    return grad, x\n", "takes 2 positional arguments but 3 were given"),
    ],
)
def test_what_is_wrong_is_said_when_it_runs(source: str, said: str) -> None:
    error = gradients_of(document(source))["error"]
    assert said in error.message
    assert error.node == "gradients/e_grad/PyFunc"


def test_integers_get_no_gradient() -> None:
    b = GraphBuilder()
    x, n = b.placeholder("x", shape=(2,)), b.placeholder("n", "int32", (2,))
    types = {"Tin": (x.dtype, n.dtype), "Tout": (x.dtype, n.dtype)}
    e, _ = b.op("PyFunc", x, n, name="e", token="f", shapes=(x.shape, n.shape), **types)
    b.one("Sum", e, np.array([0], np.int32), name="loss")
    forward = "def f(x, n):\n    return x * np.float32(n), n\n"
    backprop = "def g(grad, other, x, n):\n    return grad * np.float32(n + other), None\n"
    found = Document(
        graph=b.build(),
        request=replace(GradientRequest.to("loss", "x", "n"), overrides=(Override("G", "PyFunc"),)),
        feeds={"x": Constant(np.float32([1, 2])), "n": Constant(np.int32([3, 4]))},
        code={
            "f": CodeItem("f", CodeKind.PYFUNC, forward),
            "G": CodeItem("G", CodeKind.NUMPY_GRADIENT, backprop),
        },
    )
    # The second output is of integers: what arrives for it is zeros.
    assert gradients_of(found)["x"].tolist() == [3, 4]
    assert gradients_of(found)["n"] is None


def test_it_is_trusted_like_all_code() -> None:
    program = derive(document(), trusted=False)
    assert [p.code for p in program.problems] == ["untrusted-code"]
    error = DebugSession(program).continue_().error
    assert error is not None
    assert error.kind == "UntrustedCodeError"


def test_it_survives_the_file() -> None:
    again = gradstep_file.from_bytes(gradstep_file.to_bytes(document()))
    assert again.code == document().code
    assert gradients_of(again)["x"].tolist() == Y.tolist()


def test_roles() -> None:
    functions = {"times": lambda x, y: x * y, "Times": lambda g, x, y: (None, g)}
    called = in_role(document().code, functions, CodeKind.PYFUNC)
    assert called["times"] is functions["times"]
    assert called["Times"](X, X, Y)[0].tolist() == [0, 0, 0]
    assert set(in_role(document().code, functions, CodeKind.GRADIENT)) == {"Times"}


def test_a_script_registers_it() -> None:
    """A script for TensorFlow 2.21, where it gave the same gradients."""
    script = to_python(document()).decode()
    compile(script, "script", "exec")
    assert "tf.RegisterGradient('Times')(on_arrays(backprop))" in script
    plain = document("def f(op, g):\n    return g, g\n", kind=CodeKind.GRADIENT)
    assert "on_arrays" not in to_python(plain).decode()


def test_a_graph_with_an_eager_function_opens_and_asks_for_its_gradient() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(3,))
    types = {"Tin": (x.dtype,), "Tout": (DType.FLOAT32,), "shapes": (Shape.of(3),)}
    e = b.one("EagerPyFunc", x, name="e", token="f", **types)
    b.one("Sum", e, np.array([0], np.int32), name="loss")
    code = {"f": CodeItem("f", CodeKind.PYFUNC, "def f(x):\n    return x * x\n")}
    opened = Document(
        graph=b.build(),
        request=GradientRequest.to("loss", "x"),
        feeds={"x": Constant(X)},
        code=code,
    )
    [problem] = derive(opened, trusted=True).problems
    assert (problem.node, "on a tape" in problem.text) == ("e", True)
    source = "def g(grad, x):\n    return grad * 2 * x\n"
    mended = opened.with_(
        request=replace(opened.request, overrides=(Override("G", "EagerPyFunc"),)),
        code={**code, "G": CodeItem("G", CodeKind.NUMPY_GRADIENT, source)},
    )
    assert gradients_of(mended)["x"].tolist() == [2, 4, 6]
    assert TensorRef("e") in derive(mended, trusted=True).gradients
