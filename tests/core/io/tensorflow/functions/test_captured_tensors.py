"""What a gradient takes of the forward pass, put behind the inputs of its operation."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import text_format

from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.tensorflow.functions.captured_tensors import put_captures
from gradstep.core.io.tensorflow.functions.custom_gradients import Capture, GradientFunction
from gradstep.core.io.tensorflow.functions.flat_nodes import FlatNodes
from gradstep.core.io.tensorflow.functions.function_library import FunctionLibrary
from gradstep.core.io.tensorflow.graphdef_proto import message

TAKES_BOTH = GradientFunction("back", (Capture(1, constant="c"), Capture(2, constant="d")))


def inputs_after(gradient: GradientFunction, arguments: int) -> list[str]:
    """Those of an operation with input x, whose gradient in the library has so many arguments."""
    node, proto = message("NodeDef")(), message("FunctionDefLibrary")()
    text = (
        'name: "f" op: "IdentityN" input: "x" attr { key: "T" value { list { type: DT_FLOAT } } }'
    )
    text_format.Parse(text, node)
    signature: Any = proto.function.add().signature
    signature.name = "back"
    for number in range(arguments):
        signature.input_arg.add(name=f"a{number}", type=1)
    put_captures(FlatNodes((), Budget()), node, gradient, (), FunctionLibrary(proto))
    assert len(node.attr["T"].list.type) == len(node.input)
    return [*node.input]


def test_they_come_behind_the_inputs() -> None:
    assert inputs_after(TAKES_BOTH, arguments=3) == ["x", "c", "d"]


@pytest.mark.parametrize(
    ("gradient", "arguments"),
    [(TAKES_BOTH, 1), (TAKES_BOTH, 0), (GradientFunction("gone", TAKES_BOTH.captures), 3)],
    ids=["fewer arguments", "no argument", "not in the library"],
)
def test_of_a_damaged_file_none_is_put(gradient: GradientFunction, arguments: int) -> None:
    assert inputs_after(gradient, arguments) == ["x"]
