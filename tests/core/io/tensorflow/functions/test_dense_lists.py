"""Lists that are tensors, and what is said of those that are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.io.tensorflow.graphdef_import import from_pb
from gradstep.core.io.tensorflow.graphdef_proto import message


def _const(name: str, *values: int) -> str:
    size = f"dim {{ size: {len(values)} }}" if values else "dim { size: 0 }"
    held = " ".join(f"int_val: {value}" for value in values)
    value = f"dtype: DT_INT32 tensor_shape {{ {size} }} {held}"
    return f"""node {{ name: "{name}" op: "Const" attr {{ key: "dtype" value {{ type: DT_INT32 }} }}
      attr {{ key: "value" value {{ tensor {{ {value} }} }} }} }}"""


def _scalar(name: str, value: int) -> str:
    return _const(name, value).replace("dim { size: 1 }", "")


def _list(name: str, op: str, *inputs: str, of: str = "DT_FLOAT") -> str:
    given = " ".join(f'input: "{each}"' for each in inputs)
    return f"""node {{ name: "{name}" op: "{op}" {given}
      attr {{ key: "element_dtype" value {{ type: {of} }} }} }}"""


def _document(*nodes: str) -> Document:
    proto: Any = message("GraphDef")()
    fed = """node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "shape" value { shape { dim { size: 2 } } } } }"""
    text_format.Parse(" ".join([fed, *nodes]), proto)
    return from_pb(proto.SerializeToString(), "g.pb")


STACK = (
    _const("two", 2),
    _const("any"),
    _scalar("most", -1),
    _list("a0", "EmptyTensorList", "two", "most"),
    _list("a1", "TensorListPushBack", "a0", "x"),
    _list("b0", "EmptyTensorList", "two", "most"),
    _list("o0", "EmptyTensorList", "any", "most", of="DT_VARIANT"),
)


def test_stacks_of_stacks_may_be_of_any_height() -> None:
    """One of one element, then one of none: each comes back with what was put into it on top."""
    document = _document(
        *STACK,
        _list("o1", "TensorListPushBack", "o0", "a1", of="DT_VARIANT"),
        _list("o2", "TensorListPushBack", "o1", "b0", of="DT_VARIANT"),
        _list("p1", "TensorListPopBack", "o2", "any", of="DT_VARIANT"),
        _list("p2", "TensorListPopBack", "p1:0", "any", of="DT_VARIANT"),
        _list("last", "TensorListPopBack", "p2:1", "two"),
    )
    assert not document.note
    found = Session(document.graph).run(["last:1"], {"x": np.float32([3, 4])})[0]
    np.testing.assert_array_equal(found, [3, 4])


def test_three_levels_of_stacks() -> None:
    outer = (
        _list("o1", "TensorListPushBack", "o0", "b0", of="DT_VARIANT"),
        _list("o2", "TensorListPushBack", "o1", "a1", of="DT_VARIANT"),
        _list("t0", "EmptyTensorList", "any", "most", of="DT_VARIANT"),
        _list("t1", "TensorListPushBack", "t0", "o2", of="DT_VARIANT"),
        _list("e", "EmptyTensorList", "any", "most", of="DT_VARIANT"),
        _list("t2", "TensorListPushBack", "t1", "e", of="DT_VARIANT"),
        _list("q1", "TensorListPopBack", "t2", "any", of="DT_VARIANT"),
        _list("q2", "TensorListPopBack", "q1:0", "any", of="DT_VARIANT"),
        _list("p", "TensorListPopBack", "q2:1", "any", of="DT_VARIANT"),
        _list("last", "TensorListPopBack", "p:1", "two"),
    )
    document = _document(*STACK, *outer)
    found = Session(document.graph).run(["last:1"], {"x": np.float32([3, 4])})[0]
    np.testing.assert_array_equal(found, [3, 4])


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        (
            [_scalar("any", -1), _list("l", "EmptyTensorList", "any", "any")],
            "nothing says how many axes its elements have",
        ),
        (
            [_const("any"), _list("l", "EmptyTensorList", "any", "any", of="DT_VARIANT")],
            "nothing says of what type its elements are",
        ),
        (
            [*STACK[:5], _list("l", "TensorListResize", "a1", "most")],
            "there is nothing like it for tensors",
        ),
    ],
)
def test_a_list_that_is_no_tensor_is_said_in_one_line(nodes: list[str], why: str) -> None:
    document = _document(*nodes)
    assert f"the first is l ({document.graph['l'].type}): {why}" in document.note
    assert "\n" not in document.note
