"""Gradients that are saved as functions: Python of the document, or one line that says why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.cli.command_line import main
from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import GRADIENT_OP_TYPE, Graph, Operation, TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.io.tensorflow.functions.custom_gradients import CustomGradients
from gradstep.core.io.tensorflow.functions.gradient_code import gradient_code
from gradstep.core.io.tensorflow.graphdef_import import flat_graph, from_pb
from gradstep.core.io.tensorflow.graphdef_proto import message
from gradstep.core.program.user_code import functions_of
from gradstep.main import Gradstep
from tests.support import saved_models


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved_models.unpack("tf2_own_gradients", tmp_path_factory.mktemp("own")).open


def test_each_function_is_a_gradient_of_the_document(own: Path) -> None:
    document = read(own)
    asked = {op.gradient_op_type for op in within(document.graph)} - {None}
    assert asked == {*document.code}
    assert len(asked) == 3
    assert "They are here as Python, made of these functions" in document.note
    source = "".join(item.source for item in document.code.values())
    assert "tf.raw_ops.Minimum(x=grads[0], y=" in source
    assert "# made of the function __inference_internal_grad_fn_" in source


def test_it_does_not_run_before_it_is_trusted(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asks = ["grad", str(own), "--feed", "serving_default_x=[[1,2,3]]"]
    asks += ["--of", "StatefulPartitionedCall", "--wrt", "w"]
    assert main(asks, Gradstep()) != 0
    assert "is not trusted, so it does not run" in capsys.readouterr().err
    assert main([*asks, "--trust"], Gradstep()) == 0
    assert "d StatefulPartitionedCall / d w" in capsys.readouterr().out


def test_without_its_rules_the_gradient_is_another(own: Path) -> None:
    """What the rules say is not what the functions compute, so that they must have been used."""
    document = read(own)
    (of,), wrt = document.fetches, (TensorRef("w"),)
    functions, _ = functions_of(document.code.values(), trusted=True)
    plain = "def f(op, *grads):\n    return [grads[0]] + [None] * (len(op.inputs) - 1)\n"
    replaced = [item.__class__(item.name, item.kind, plain) for item in document.code.values()]
    found = []
    for used in (functions, functions_of(replaced, trusted=True)[0]):
        made = differentiate(document.graph, GradientRequest((of,), wrt), used)
        session = Session(made.graph, initial={k: v.array for k, v in document.initial.items()})
        feeds = {"serving_default_x": np.float32([[0.1, 0.2, 0.3]])}
        found.append(session.run([made.gradients[wrt[0]]], feeds)[0])
    assert np.abs(found[0] - found[1]).max() > 0.01


def test_the_library_is_copied_once_for_all_its_gradients() -> None:
    proto: Any = message("FunctionDefLibrary")()
    names = [f"back{number}" for number in range(3)]
    text = _back("", "dy").replace("function {", "", 1).strip().removesuffix("}")
    for name in names:
        text_format.Parse(text.replace('"back"', f'"{name}"'), proto.function.add())
        proto.registered_gradients.add(gradient_func=name, registered_op_type=name)
    asking = [
        Operation(
            name, "IdentityN", (TensorRef("x"), TensorRef("x")), attrs={GRADIENT_OP_TYPE: name}
        )
        for name in names
    ]
    called: list[Any] = []

    def flat(graph: Any) -> Graph:
        called.append(graph)
        return flat_graph(graph)

    graph = Graph.of([Operation("x", "Placeholder"), *asking])
    made = gradient_code(graph, CustomGradients(proto), flat)
    assert [*made.items] == names
    assert all(f"the function {name}" in made.items[name].source for name in names)
    assert all(each is called[0] for each in called)


# -- what cannot be had ----------------------------------------------------------------------------

_FLOAT = "type: DT_FLOAT"


def _argument(kind: str, name: str, type: str = _FLOAT) -> str:
    return f'{kind} {{ name: "{name}" {type} }}'


def _forward() -> str:
    return f"""function {{ signature {{ name: "square" {_argument("input_arg", "a")}
      {_argument("output_arg", "y")} }}
      node_def {{ name: "mul" op: "Mul" input: "a" input: "a"
        attr {{ key: "T" value {{ {_FLOAT} }} }} }} ret {{ key: "y" value: "mul:z:0" }} }}"""


def _back(body: str, ret: str, more: str = "") -> str:
    return f"""function {{ signature {{ name: "back" {_argument("input_arg", "a")}
      {_argument("input_arg", "dy")} {more} {_argument("output_arg", "da")} }}
      {body} ret {{ key: "da" value: "{ret}" }} }}"""


def _node(name: str, op: str, *inputs: str) -> str:
    given = " ".join(f'input: "{each}"' for each in inputs)
    return (
        f'node_def {{ name: "{name}" op: "{op}" {given} attr {{ key: "T" value {{ {_FLOAT} }} }} }}'
    )


def _document(*functions: str, more: str = "") -> Document:
    proto: Any = message("GraphDef")()
    nodes = f"""node {{ name: "x" op: "Placeholder" attr {{ key: "dtype" value {{ {_FLOAT} }} }}
      attr {{ key: "shape" value {{ shape {{ }} }} }} }}
      node {{ name: "f" op: "square" input: "x" }}"""
    pair = 'gradient { function_name: "square" gradient_func: "back" }'
    text = f"{nodes} library {{ {' '.join(functions)} {pair} {more} }}"
    text_format.Parse(text, proto)
    return from_pb(proto.SerializeToString(), "g.pb")


def _slope(document: Document) -> float:
    functions, _ = functions_of(document.code.values(), trusted=True)
    made = differentiate(document.graph, GradientRequest.to("f", "x"), functions)
    return float(Session(made.graph).run([made.gradients[TensorRef("x")]], {"x": 3})[0])


def test_a_function_that_is_the_gradient_of_another_one_is_used() -> None:
    document = _document(_forward(), _back(_node("mul", "Mul", "a", "dy"), "mul:z:0"))
    assert [*document.code] == ["back"]
    assert Session(document.graph).run(["f"], {"x": np.float32(3)})[0] == 9
    assert _slope(document) == 3, "which is not 2 x"


def test_a_gradient_that_calls_a_function_is_one_text() -> None:
    inner = _node("c", "square", "dy") + _node("mul", "Mul", "a", "c:y:0")
    document = _document(_forward(), _back(inner, "mul:z:0"))
    assert _slope(document) == 3


@pytest.mark.parametrize(
    ("functions", "why"),
    [
        ([], "its function 'back' is not in the file"),
        ([_back(_node("c", "Whatever", "dy"), "c:z:0")], "there is the operation Whatever in it"),
        (
            [_back(_node("c", "Switch", "dy", "dy"), "c:output_true:0")],
            "there is a branch or a loop in it",
        ),
        (
            [_back("", "dy", _argument("input_arg", "more"))],
            "it takes or gives other tensors than what it is the gradient of",
        ),
    ],
)
def test_what_cannot_be_python_is_said(functions: list[str], why: str) -> None:
    document = _document(_forward(), *functions)
    assert not document.code
    said = "back, a gradient of its own, is saved as a function and not here: "
    assert document.note.startswith(f"{said}{why}")
    assert "\n" not in document.note


def test_what_a_gradient_takes_from_where_it_cannot_be_reached_is_said() -> None:
    """A rule of an operation, whose further arguments no saved object names."""
    proto: Any = message("GraphDef")()
    text = f"""node {{ name: "x" op: "Placeholder" attr {{ key: "dtype" value {{ {_FLOAT} }} }} }}
      node {{ name: "f" op: "IdentityN" input: "x"
        attr {{ key: "T" value {{ list {{ {_FLOAT} }} }} }}
        attr {{ key: "_gradient_op_type" value {{ s: "CustomGradient-1" }} }} }}
      library {{ {_back("", "dy")} registered_gradients {{
        gradient_func: "back" registered_op_type: "CustomGradient-1" }} }}"""
    text_format.Parse(text, proto)
    document = from_pb(proto.SerializeToString(), "g.pb")
    assert "CustomGradient-1, a gradient of its own," in document.note
    assert "it takes what is computed where it cannot be reached" in document.note
