"""Functions inlined: what a call computes, what it waits for, and which functions have no end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.memory_budget import Budget, OverBudgetError
from gradstep.core.io.tensorflow.graphdef_import import from_pb
from gradstep.core.io.tensorflow.graphdef_proto import message

FLOAT = "type: DT_FLOAT"
X = """node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { } } } }"""


def _function(name: str, inputs: str, outputs: str, body: str, ret: str) -> str:
    """Of float32 arguments; ret: "y=node:out:0" for each output."""
    args = "".join(f'input_arg {{ name: "{each}" {FLOAT} }} ' for each in inputs.split())
    gives = "".join(f'output_arg {{ name: "{each}" {FLOAT} }} ' for each in outputs.split())
    pairs = (each.split("=") for each in ret.split())
    rets = "".join(f'ret {{ key: "{key}" value: "{value}" }} ' for key, value in pairs)
    return f'function {{ signature {{ name: "{name}" {args} {gives} }} {body} {rets} }}'


def _node(
    name: str, op: str, *inputs: str, attrs: str = "T=DT_FLOAT", kind: str = "node_def"
) -> str:
    given = "".join(f'input: "{each}" ' for each in inputs)
    pairs = (each.split("=") for each in attrs.split())
    said = "".join(f'attr {{ key: "{k}" value {{ type: {v} }} }} ' for k, v in pairs)
    return f'{kind} {{ name: "{name}" op: "{op}" {given} {said} }}'


def _call(name: str, function: str, *inputs: str, kind: str = "node", more: str = "") -> str:
    given = "".join(f'input: "{each}" ' for each in inputs)
    return (
        f'{kind} {{ name: "{name}" op: "PartitionedCall" {given} '
        f'attr {{ key: "f" value {{ func {{ name: "{function}" }} }} }} {more} }}'
    )


def _document(nodes: str, *functions: str, budget: Budget | None = None) -> Document:
    proto: Any = message("GraphDef")()
    text_format.Parse(f"{nodes} library {{ {' '.join(functions)} }}", proto)
    return from_pb(proto.SerializeToString(), "g.pb", budget)


SQUARE = _function("square", "a", "y", _node("mul", "Mul", "a", "a"), "y=mul:z:0")
TWICE = _function(
    "twice",
    "a",
    "y",
    _call("first", "square", "a", kind="node_def")
    + _call("second", "square", "first:output:0", kind="node_def"),
    "y=second:output:0",
)


def test_a_call_of_calls_stands_under_their_names() -> None:
    document = _document(X + _call("f", "twice", "x"), SQUARE, TWICE)
    names = [*document.graph.operations]
    assert names == ["x", "f/first/mul", "f/first", "f/second/mul", "f/second", "f"]
    assert Session(document.graph).run(["f"], {"x": np.float32(3)})[0] == 81
    assert not document.functions


def test_a_call_differentiates_as_what_it_does() -> None:
    graph = _document(X + _call("f", "twice", "x"), SQUARE, TWICE).graph
    derived = differentiate(graph, GradientRequest.to("f", "x"))
    slope = derived.gradients[derived.request.wrt[0]]
    assert Session(derived.graph).run([slope], {"x": np.float32(3)})[0] == 4 * 27


def test_the_gradient_that_a_call_asks_for_stays() -> None:
    def asking(name: str) -> str | None:
        mark = f'attr {{ key: "_gradient_op_type" value {{ s: "{name}" }} }}'
        graph = _document(X + _call("f", "square", "x", more=mark), SQUARE).graph
        return graph["f"].gradient_op_type

    assert asking("CustomGradient-12") == "CustomGradient-12"
    assert asking("PartitionedCall-12") is None  # of the program, which is gone
    assert asking("StatefulPartitionedCall-1") is None


def test_an_argument_may_come_back_as_it_is() -> None:
    swap = _function("swap", "a b", "p q", "", "p=b q=a")
    graph = _document(X + _call("f", "swap", "x", "g") + _call("g", "square", "x"), swap, SQUARE)
    assert graph.graph["f"].type == "IdentityN"
    values = Session(graph.graph).run(["f:0", "f:1"], {"x": np.float32(3)})
    assert [float(value) for value in values] == [9, 3]


def test_what_a_function_leaves_open_the_call_says() -> None:
    general = (
        'function { signature { name: "general" '
        'input_arg { name: "a" type_attr: "T" } output_arg { name: "y" type_attr: "T" } '
        'attr { name: "T" type: "type" } } '
        'node_def { name: "neg" op: "Neg" input: "a" attr { key: "T" value { placeholder: "T" } } }'
        'ret { key: "y" value: "neg:y:0" } }'
    )
    call = 'node { name: "f" op: "general" input: "x" attr { key: "T" value { type: DT_FLOAT } } }'
    graph = _document(X + call, general).graph
    assert graph["f/neg"].attrs["T"].value == "float32"
    assert Session(graph).run(["f"], {"x": np.float32(3)})[0] == -3


def test_what_waits_for_a_call_waits_for_what_it_does() -> None:
    waits = 'control_ret { key: "done" value: "side" } ret {'
    one = _function("one", "a", "y", _node("side", "Neg", "a"), "y=a").replace("ret {", waits, 1)
    after = _node("g", "Neg", "x", "^f", kind="node")
    graph = _document(X + _call("f", "one", "x") + after, one).graph
    assert graph["f"].control_inputs == ("f/side",)
    assert graph["g"].control_inputs == ("f",)


def test_what_is_in_a_call_waits_for_what_the_call_waits_for() -> None:
    first = _node("first", "Neg", "x", kind="node")
    graph = _document(X + first + _call("f", "twice", "x", "^first"), SQUARE, TWICE).graph
    assert graph["f/first/mul"].control_inputs == ("first",)
    assert not graph["f/second/mul"].control_inputs


@pytest.mark.parametrize(("number", "result"), [(0, 9), (1, -3), (2, 6), (7, 6), (-1, 6)])
def test_a_case_takes_the_last_branch_for_all_other_numbers(number: int, result: float) -> None:
    negated = _function("negated", "a", "y", _node("neg", "Neg", "a"), "y=neg:y:0")
    added = _function("added", "a", "y", _node("add", "AddV2", "a", "a"), "y=add:z:0")
    functions = "".join(f'func {{ name: "{each}" }} ' for each in ("square", "negated", "added"))
    case = f"""node {{ name: "f" op: "StatelessCase" input: "n" input: "x"
      attr {{ key: "Tin" value {{ list {{ type: DT_FLOAT }} }} }}
      attr {{ key: "Tout" value {{ list {{ type: DT_FLOAT }} }} }}
      attr {{ key: "branches" value {{ list {{ {functions} }} }} }} }}"""
    chooser = X.replace('"x"', '"n"').replace("DT_FLOAT", "DT_INT32")
    out = _node("out", "Identity", "f", kind="node")
    graph = _document(X + chooser + case + out, SQUARE, negated, added).graph
    feeds = {"x": np.float32(3), "n": np.int32(number)}
    assert Session(graph).run(["out"], feeds)[0] == result


def test_a_captured_variable_is_one_that_a_value_is_asked_for() -> None:
    held = """node { name: "w" op: "Placeholder" attr { key: "dtype" value { type: DT_RESOURCE } } }
      node { name: "other" op: "Placeholder" attr { key: "dtype" value { type: DT_RESOURCE } } }"""
    read = _node("read", "ReadVariableOp", "a", attrs="dtype=DT_FLOAT")
    twice = _node("twice", "AddV2", "read:value:0", "read:value:0")
    function = _function("f", "a", "y", read + twice, "y=twice:z:0")
    function = function.replace(f'"a" {FLOAT}', '"a" type: DT_RESOURCE')
    graph = _document(held + _call("g", "f", "w"), function).graph
    assert graph["w"].type == "VarHandleOp"
    assert graph["other"].type == "Placeholder", "nobody reads it"
    session = Session(graph, initial={"w": np.array([1, 2], np.float32)})
    np.testing.assert_array_equal(session.run(["g"])[0], [2, 4])


# -- what has no end, or is not there --------------------------------------------------------------


def _refused(nodes: str, *functions: str) -> GradstepError:
    with pytest.raises(GradstepError) as caught:
        _document(nodes, *functions)
    assert caught.value.kind == "FileError"
    assert caught.value.hint
    assert caught.value.message.startswith("g.pb: ")
    return caught.value


def test_functions_that_call_each_other_have_no_end() -> None:
    one = _function("one", "a", "y", _call("c", "two", "a", kind="node_def"), "y=c:output:0")
    two = _function("two", "a", "y", _call("c", "one", "a", kind="node_def"), "y=c:output:0")
    error = _refused(X + _call("f", "one", "x"), one, two)
    assert "'one' calls itself (one → two → one)" in error.message
    assert "tf.while_loop" in error.hint


def test_functions_that_grow_beyond_all_memory_are_refused() -> None:
    """Each calls the one before it ten times."""
    functions = [SQUARE]
    for number in range(8):
        before = "square" if number == 0 else f"f{number - 1}"
        body = "".join(
            _call(f"c{i}", before, f"c{i - 1}:output:0" if i else "a", kind="node_def")
            for i in range(10)
        )
        functions.append(_function(f"f{number}", "a", "y", body, "y=c9:output:0"))
    with pytest.raises(OverBudgetError, match="its functions, inlined"):
        _document(X + _call("f", "f7", "x"), *functions, budget=Budget(20 << 20))


def test_what_is_not_there_is_named() -> None:
    lost = _function("lost", "a", "y", _node("mul", "Mul", "a", "b"), "y=mul:z:0")
    assert "function 'lost' takes 'b'" in _refused(X + _call("f", "lost", "x"), lost).message
    error = _refused(X + _call("f", "square", "x", "x"), SQUARE)
    assert "gives the function 'square' 2 tensors, and that takes 1" in error.message


def test_a_call_of_what_is_not_in_the_file_is_kept() -> None:
    document = _document(X + _call("f", "elsewhere", "x"), SQUARE)
    assert document.graph["f"].type == "PartitionedCall"
    assert document.functions
