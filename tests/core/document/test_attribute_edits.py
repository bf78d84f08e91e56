"""No edit of an attribute leaves attributes that disagree: every op type, every attribute, values
that the inspector admits and awkward ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.graph.opaque_attributes import Unread
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.tensorflow import graphdef_import
from gradstep.core.io.tensorflow.graphdef_export import write_graph
from gradstep.core.ops.declare.table import OpDef, all_ops, lookup
from gradstep.core.ops.typing.inference import Inference, infer_declared
from tests.support.each_case import on_each_op
from tests.support.op_cases import cases

# Attributes that name the element type of an output.
OF_OUTPUT = frozenset(
    "dtype DstT Tout out_type out_idx output_type output_dtype type index_type Targmax".split()
)
ARRAYS = (
    np.float32(0.5),
    np.int32([1, 2]),
    np.zeros((0, 2), np.int64),
    np.array([True]),
    np.array([np.nan, np.inf]),
    np.array(1j),
    np.array([b"text", b""], object),
)
AWKWARD: dict[type, tuple[Any, ...]] = {
    bool: (True, False, 1, "x"),
    int: (0, 1, -1, 7, 2**31, 2**63, -(2**63), 1.5, True, "x"),
    float: (0.0, -1.5, 1e40, np.nan, np.inf, 3, "x"),
    str: ("", "text", "Größe 日本", "\ud800", "a\0b", 5),
    DType: (*DType, "float32", "float99", 1),
    Shape: (UNKNOWN, Shape(()), Shape.of(None), Shape.of(2, 3), Shape.of(2**63),
            Shape((10**5,) * 3)),
    tuple: ((), (1,), (1, 2, 2, 1), (1, "a"), (True,), (0.5, 1.5), (DType.INT32,), ("float32",),
            (Shape.of(2), UNKNOWN), (2**63,), [1, 1], "x"),
    Constant: tuple(map(Constant, ARRAYS)),
}  # fmt: skip


def documents() -> Iterator[tuple[OpDef, Document]]:
    """Each op type on the first of its samples, or else as it is drawn; called "it"."""
    for definition in all_ops():
        if definition.samples is not None:
            case = next(cases(definition, np.float32))
            yield definition, Document(graph=case.graph)
        elif "loop" not in definition.attrs:
            document, _ = document_edits.add_operation(Document(), definition.type, (0, 0), "it")
            yield definition, document


EVERY = {definition.type: document for definition, document in documents()}


@pytest.mark.slow
@on_each_op(map(lookup, EVERY))
def test_attributes_agree_after_every_edit_or_nothing_changes(definition: OpDef) -> None:
    before = EVERY[definition.type]
    for name in (*definition.attrs, *definition.type_attrs):
        like = definition.attrs.get(name, DType)
        for value in (None, *AWKWARD[like if isinstance(like, type) else type(like)]):
            after = edited(before, name, value)
            if isinstance(after, Document):
                require_agreement(after, name)
            else:
                assert after.startswith("it: ")


def edited(document: Document, name: str, value: Any) -> Document | str:
    """The document after the edit, or why it is refused."""
    try:
        return document_edits.set_attr(document, "it", name, value)
    except GradstepError as error:
        return f"{error.node}: {error.message}"


def require_agreement(document: Document, name: str) -> None:
    op, inference = document.graph["it"], infer_declared(document.graph)
    problems = [p for p in inference.problems if p.node == "it"]
    for problem in problems:
        assert "cannot be typed" not in problem.text, f"{name}: {problem.text}"
    require_values_fit(document, op)
    kept = gradstep_file.to_bytes(document, readable=False)
    again = gradstep_file.from_bytes(kept)
    assert same_attrs(again.graph["it"], op)
    assert gradstep_file.to_bytes(again, readable=False) == kept
    if not inference.problems:
        require_outputs_say_it(op, inference, name)
        require_graphdef_says_it(document.graph, op, inference)


def require_values_fit(document: Document, op: Operation) -> None:
    """What it is fed, or starts with, is of its type."""
    for value in (document.feeds.get("it:0"), document.initial.get("it")):
        if value is not None:
            assert value.array.dtype == DType(op.attrs["dtype"]).numpy
            assert op.attrs.get("shape", UNKNOWN).accepts(value.array.shape)
    if op.type == "Const":
        assert DType.of(op.attrs["value"].array.dtype) == op.attrs["dtype"]


def require_outputs_say_it(op: Operation, inference: Inference, name: str) -> None:
    said = op.attrs.get(name)
    outputs = inference.types.of[op.name]
    handles = any(kind is not None and kind.dtype is DType.RESOURCE for kind in outputs)
    if name in OF_OUTPUT and isinstance(said, DType) and not handles:
        assert not outputs or said in [kind.dtype for kind in outputs if kind is not None]


def require_graphdef_says_it(graph: Graph, op: Operation, inference: Inference) -> None:
    again = graphdef_import.to_graph(write_graph(graph))
    assert infer_declared(again).types.of["it"] == inference.types.of["it"]
    # Without a name of its own, all handles would be one variable in TensorFlow.
    unnamed = op.type == "VarHandleOp" and not op.attrs.get("shared_name")
    compared = op.attrs.keys() - ({"shared_name"} if unnamed else set())
    assert all(same(again["it"].attrs[key], op.attrs[key]) for key in compared)


def same_attrs(one: Operation, other: Operation) -> bool:
    return one.attrs.keys() == other.attrs.keys() and all(
        same(value, other.attrs[key]) for key, value in one.attrs.items()
    )


def same(a: Any, b: Any) -> bool:
    if isinstance(a, float | int) and isinstance(b, float | int):
        with np.errstate(over="ignore"):
            return a == b or np.float32(a).tobytes() == np.float32(b).tobytes()
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    return isinstance(a, Unread) or a == b


def drawn(op_type: str, **attrs: Any) -> Document:
    document, _ = document_edits.add_operation(Document(), op_type, (0, 0), "it", attrs)
    return document


def test_a_constant_takes_its_value_into_another_dtype() -> None:
    document = document_edits.set_attr(drawn("Const"), "it", "dtype", DType.INT32)
    op = document.graph["it"]
    assert op.attrs["dtype"] == DType.INT32
    assert op.attrs["value"] == Constant(np.int32(1))
    assert str(infer_declared(document.graph).types.of["it"][0]) == "int32[]"


def test_a_value_of_another_dtype_brings_it_along() -> None:
    document = document_edits.set_attr(drawn("Const"), "it", "value", Constant(np.int64([1, 2])))
    assert document.graph["it"].attrs["dtype"] == DType.INT64


def test_half_a_number_does_not_become_an_integer() -> None:
    document = drawn("Const", value=Constant(np.float32([1, 0.5])))
    with pytest.raises(GradstepError, match="is not a whole number") as caught:
        document_edits.set_attr(document, "it", "dtype", DType.INT32)
    assert "0.5 at index [1]" in caught.value.message
    assert "Cast" in caught.value.hint


@pytest.mark.parametrize(("op_type", "kept"), [("VariableV2", "initial"), ("Placeholder", "feeds")])
def test_what_is_fed_or_begun_with_is_converted_or_the_edit_refused(
    op_type: str, kept: str
) -> None:
    document = drawn(op_type, shape=Shape.of(2))
    change = document_edits.set_feed if kept == "feeds" else document_edits.set_initial
    name = "it:0" if kept == "feeds" else "it"
    whole = document_edits.set_attr(
        change(document, name, np.float32([3, 4])), "it", "dtype", DType.INT32
    )
    assert getattr(whole, kept)[name] == Constant(np.int32([3, 4]))
    with pytest.raises(GradstepError, match=r"0\.25 at index"):
        document_edits.set_attr(
            change(document, name, np.float32([3, 0.25])), "it", "dtype", DType.INT32
        )


@pytest.mark.parametrize(
    ("old", "shape", "new", "said"),
    [
        ([3, 4], (3,), [3, 4, 1], "is kept, and the rest of [3] was filled in"),
        ([3, 4, 5], (2,), [3, 4], "was cut to [2]: undo brings it back"),
        ([[3, 4], [5, 6]], (1, 3), [[3, 4, 1]], "was cut to [1, 3]: undo brings it back"),
        ([3, 4, 5, 6], (2, 2), [[3, 4], [5, 6]], ""),
        ([3, 4], (None, 2), [[3, 4]], ""),
        ([[3, 4], [5, 6]], (None, 3), [[3, 4, 1], [5, 6, 1]], "is kept, and the rest of [2, 3]"),
        ([7, 7], (3,), [7, 7, 7], ""),
        ([3, 4], (), 1, "cannot be [] and was replaced: undo brings it back"),
    ],
)
def test_of_a_value_stays_what_fits_another_shape(
    old: list[float], shape: tuple[int | None, ...], new: Any, said: str
) -> None:
    wide = document_edits.set_attr(drawn("Placeholder"), "it", "shape", Shape(np.shape(old)))
    given = document_edits.set_feed(wide, "it:0", np.float32(old))
    made = document_edits.set_attr(given, "it", "shape", Shape(shape))
    np.testing.assert_array_equal(made.feeds["it:0"].array, np.float32(new))
    text = document_edits.kept_of_value(given, made, "it")
    assert said in text if said else text == ""


def test_a_new_node_with_attributes_of_ones_own_agrees_with_itself() -> None:
    assert drawn("Const", dtype=DType.INT64).graph["it"].attrs["value"] == Constant(np.int64(1))


def test_a_value_too_large_to_write_down_is_refused() -> None:
    with pytest.raises(GradstepError, match=r"would take 37252\.9 GiB"):
        document_edits.set_attr(drawn("VariableV2"), "it", "shape", Shape.of(10**6, 10**7))


def test_a_file_whose_constant_disagrees_says_so_at_the_node() -> None:
    attrs = {"dtype": DType.INT32, "value": Constant(np.float32(1))}
    graph = Graph.of([Operation("c", "Const", attrs=attrs)])
    (problem,) = infer_declared(graph).problems
    assert (problem.node, problem.text) == (
        "c",
        "attribute 'dtype' is int32, but the value is of float32",
    )
    assert problem.fix == "write the value again, or choose another dtype"
    mended = document_edits.set_attr(Document(graph=graph), "c", "value", Constant(np.float32(1)))
    assert not infer_declared(mended.graph).problems


def test_export_says_the_types_there_are_and_not_those_of_the_file_it_came_from() -> None:
    attrs = {"T": DType.FLOAT32, "Tidx": DType.INT64}
    mean = Operation("m", "Mean", (TensorRef("x"), TensorRef("axis")), attrs=attrs)
    axis = {"dtype": DType.INT32, "value": Constant(np.int32(0))}
    x = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}
    graph = Graph.of(
        [Operation("x", "Placeholder", attrs=x), Operation("axis", "Const", attrs=axis), mean]
    )
    again = graphdef_import.to_graph(write_graph(graph))
    assert again["m"].attrs["Tidx"] == DType.INT32
