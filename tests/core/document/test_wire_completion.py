"""A node that is added to a wire dropped in the air: of a type and value that fit there."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.document.wire_completion import add_reader, add_source, first_fit
from gradstep.core.graph import edits as graph_edits
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.graph.problems import UNFINISHED
from gradstep.core.ops.declare.table import OpDef, all_ops, lookup
from gradstep.core.ops.typing.inference import infer_declared
from tests.support.each_case import on_each_op
from tests.support.op_cases import cases

SAMPLED = [d for d in all_ops() if d.samples is not None and d.inputs]


def unplugged(definition: OpDef) -> list[tuple[Document, Edge]]:
    """The op on its first sample, one input open."""
    case = next(cases(definition, np.float32))
    found = []
    for index, name in enumerate(definition.arity(len(case.inputs))):
        spec = next(s for s in definition.inputs if s.name == name.partition("[")[0])
        if spec.ref or spec.name == "resource":
            continue  # for a variable
        graph = graph_edits.disconnect(case.graph, Edge("it", index))
        found.append((Document(graph=graph), Edge("it", index)))
    return found


@on_each_op(SAMPLED)
def test_what_is_added_fits_every_input(definition: OpDef) -> None:
    """A constant, or one of the others in turn."""
    number = SAMPLED.index(definition)
    source = ("Const", "Const", "Placeholder", "Const", "VariableV2")[number % 5]
    for document, edge in unplugged(definition):
        made, name = add_source(document, source, (0, 0), edge)
        assert made.graph["it"].inputs[edge.index] == TensorRef(name)
        own = [p for p in infer_declared(made.graph).problems if p.node == name]
        assert not own


@pytest.mark.parametrize(
    ("reader", "index", "dtype", "value"),
    [
        ("Mean", 1, DType.INT32, 0),
        ("Reshape", 1, DType.INT32, [-1]),
        ("GatherV2", 1, DType.INT32, 0),
        ("GatherV2", 2, DType.INT32, 0),
        ("Transpose", 1, DType.INT32, [0, 1]),
        ("Tile", 1, DType.INT32, [1, 1]),
        ("Pad", 1, DType.INT32, [[0, 0], [0, 0]]),
        ("Slice", 1, DType.INT32, [0, 0]),
        ("Slice", 2, DType.INT32, [-1, -1]),
        ("StridedSlice", 3, DType.INT32, [1, 1]),
        ("Split", 0, DType.INT32, 0),
        ("Select", 0, DType.BOOL, True),
        ("Add", 1, DType.FLOAT32, 1),
        ("MatMul", 1, DType.FLOAT32, [[1, 1], [1, 1], [1, 1]]),
    ],
)
def test_a_constant_that_changes_little(
    reader: str, index: int, dtype: DType, value: object
) -> None:
    document, x = document_edits.add_operation(
        Document(), "Placeholder", (0, 0), attrs={"shape": Shape.of(2, 3)}
    )
    document, name = document_edits.add_operation(document, reader, (0, 0))
    first = 0 if index else 1
    document = document_edits.connect(document, TensorRef(x), Edge(name, first))
    document, made = add_source(document, "Const", (0, 0), Edge(name, index))
    op = document.graph[made]
    assert op.attrs["dtype"] == dtype
    assert op.attrs["value"].array.tolist() == value
    wrong = [p for p in infer_declared(document.graph).problems if p.code not in UNFINISHED]
    assert not wrong


def test_another_op_is_given_the_type_that_is_wanted() -> None:
    document, mean = document_edits.add_operation(Document(), "Mean", (0, 0))
    document, cast = add_source(document, "Cast", (0, 0), Edge(mean, 1))
    assert document.graph[cast].attrs["DstT"] == DType.INT32


def test_a_reader_takes_a_wire_where_it_can() -> None:
    document, flag = document_edits.add_operation(
        Document(), "Const", (0, 0), attrs={"dtype": DType.BOOL}
    )
    document, select = add_reader(document, "Select", (0, 0), TensorRef(flag))
    assert document.graph[select].inputs == (TensorRef(flag), None, None)
    kind = infer_declared(document.graph).types[TensorRef(flag)]
    assert first_fit(lookup("Mean"), kind) is None
    assert first_fit(lookup("Cast"), kind) == 0
