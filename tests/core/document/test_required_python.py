"""The Python that graphs ask for by name, and which function of a source serves."""

from __future__ import annotations

import ast
from dataclasses import replace

import hypothesis.strategies as st
import pytest
from hypothesis import given

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.document.function_lookup import identifier, meant
from gradstep.core.document.required_python import find_requested_functions, missing_code
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.program.user_code import compile_item
from tests.support import gradient_facts as facts


def test_what_the_articles_graph_asks_for() -> None:
    add, gradient = find_requested_functions(facts.document("article_forward"))
    assert (add.name, add.kind, add.nodes) == ("pyfunc_0", CodeKind.PYFUNC, ("e",))
    assert add.head == "def pyfunc_0(c, k, d):"  # reads of variables by the variables
    assert "#   c  float32 [2]\n" in add.stub
    assert "# and returns float32 of any shape\n" in add.stub
    assert gradient.head == "def CustomAdd(op, grad):"
    assert "    c, k, d = op.inputs\n" in gradient.stub
    on_arrays = replace(gradient, kind=CodeKind.NUMPY_GRADIENT)
    assert on_arrays.head == "def CustomAdd(grad, c, k, d):"


def test_each_name_once_with_everything_that_asks_for_it() -> None:
    relus = [
        Operation(f"r{i}", "Relu", (TensorRef("x"),), attrs={"_gradient_op_type": "Guided"})
        for i in range(3)
    ]
    x = Operation("x", "Placeholder", attrs={"dtype": DType.FLOAT32, "shape": Shape.of(2)})
    document = Document(graph=Graph.of([x, *relus]))
    [asked] = find_requested_functions(document)
    assert asked.nodes == ("r0", "r1", "r2")
    assert "the gradient of r0 (Relu) and 2 more" in asked.stub
    assert missing_code(document, ["x"]) == []
    assert missing_code(document, ["r2"]) == [asked]
    code = {"Guided": CodeItem("Guided", CodeKind.NUMPY_GRADIENT, asked.stub)}
    assert missing_code(document.with_(code=code)) == []
    other = {"Guided": CodeItem("Guided", CodeKind.PYFUNC, asked.stub)}
    assert missing_code(document.with_(code=other)) == [asked]


def test_overrides_ask_while_they_are_on() -> None:
    document = facts.document("gradients_alone")
    for enabled in (True, False):
        override = Override("Mine", "Relu", enabled=enabled)
        request = GradientRequest(overrides=(override,))
        names = [a.name for a in find_requested_functions(document.with_(request=request))]
        assert names == ["Mine"] * enabled
    borrowed = GradientRequest(overrides=(Override("Identity", "Relu"),))
    assert find_requested_functions(document.with_(request=borrowed)) == []


@given(st.text(max_size=12), st.lists(st.text("ab/:-é1 \n", max_size=6), max_size=4))
def test_every_stub_is_python_that_is_found_and_fails(name: str, inputs: list[str]) -> None:
    graph = Graph.of(
        [
            *(Operation(word, "Unheard") for word in dict.fromkeys(filter(None, inputs))),
            Operation(
                "import os\n",  # what a file calls its operations is not to be run
                "PyFunc",
                tuple(TensorRef(word) for word in inputs if word),
                attrs={"token": name, "Tin": (), "Tout": (DType.FLOAT32,)},
            ),
        ]
    )
    [asked] = find_requested_functions(Document(graph=graph))
    assert asked.name == name
    for kind in CodeKind:
        item = replace(asked, kind=kind).item
        function = compile_item(item, trusted=True)
        assert meant(ast.parse(item.source), name) == identifier(name)
        arguments = ast.parse(item.source).body[0].args.args
        with pytest.raises(GradstepError, match="is not written yet"):
            function(*[asked.op] * len(arguments))


@given(st.text())
def test_any_name_can_be_a_functions(name: str) -> None:
    word = identifier(name)
    ast.parse(f"def {word}():\n    pass\n")
    assert identifier(word) == word


@pytest.mark.parametrize(
    ("source", "name", "function"),
    [
        ("def f(): pass\ndef g(): pass\n", "else", "g"),
        ("def f(): pass\ndef g(): pass\n", "f", "f"),
        ("def f(): pass\ndef g(): pass\ndef f(): pass\n", "f", "f"),
        ("def a_b(): pass\ndef g(): pass\n", "a-b", "a_b"),
        ("@tf.RegisterGradient('Own')\ndef f(): pass\ndef g(): pass\n", "Own", "f"),
        ("@RegisterGradient('Own')\ndef f(): pass\ndef g(): pass\n", "Own", "f"),
        ("@tf.RegisterGradient(NAME)\ndef f(): pass\ndef g(): pass\n", "NAME", "g"),
        ("class f:\n    def inner(self): pass\n", "f", None),
    ],
)
def test_which_function_is_meant(source: str, name: str, function: str | None) -> None:
    assert meant(ast.parse(source), name) == function
