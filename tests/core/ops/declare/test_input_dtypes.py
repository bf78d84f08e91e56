"""Which element types inputs take: those that TensorFlow's registry allows, said before a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gradstep.core.graph import edits
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Edge, Graph, TensorRef
from gradstep.core.graph.problems import Problem
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.input_dtypes import as_declared
from gradstep.core.ops.declare.table import OpDef, all_ops, lookup
from gradstep.core.ops.typing.inference import infer
from tests.core.ops.catalogue.record_input_types import RECORDED
from tests.support.each_case import on_each_op
from tests.support.op_cases import Case, cases

RECORD: dict[str, dict[str, str]] = json.loads(RECORDED.read_text())
TRIED = (DType.FLOAT32, DType.FLOAT64, DType.INT16, DType.INT64, DType.BOOL, DType.STRING)


def allowed(definition: OpDef, case: Case, name: str) -> set[str]:
    """What TensorFlow's op takes as input `name`, with the other inputs as they are."""
    said = RECORD[definition.type][name.partition("[")[0]]
    if not said.startswith(":"):
        return set(said.split())
    names = definition.arity(len(case.inputs))
    other = next(i for i, n in enumerate(names) if n.partition("[")[0] == said[1:])
    return {DType.of(case.inputs[other].dtype).value}


def with_input(case: Case, index: int, dtype: DType) -> Graph:
    """The case's graph, input `index` of the op another tensor of the same shape."""
    shape = case.builder.type_of(case.tensors[index].ref).shape
    attrs = {"dtype": dtype, "shape": shape}
    graph, other = edits.add(case.graph, "VariableV2", "other", (), attrs)  # a ref fits anywhere
    return edits.connect(graph, TensorRef(other), Edge("it", index))


def refusals(definition: OpDef) -> Iterator[tuple[str, DType, list[Problem]]]:
    """Each input in each element type that TensorFlow would not take -> what is said of it."""
    met = set()
    for case in cases(definition, np.float32):
        for index, name in enumerate(definition.arity(len(case.inputs))):
            kind = name, case.tensors[index].dtype
            if kind in met or name.partition("[")[0] not in RECORD[definition.type]:
                continue
            met.add(kind)
            for dtype in TRIED:
                if dtype.value not in allowed(definition, case, name):
                    found = infer(with_input(case, index, dtype)).problems
                    yield name, dtype, [p for p in found if p.node == "it"]


SAMPLED = [d for d in all_ops() if d.samples is not None and d.type in RECORD]


@on_each_op(SAMPLED)
def test_what_tensorflow_refuses_is_a_problem_before_the_run(definition: OpDef) -> None:
    for name, dtype, problems in refusals(definition):
        assert problems, f"{name} takes {dtype}"
        assert "cannot be typed" not in problems[0].text, f"Python's words on {name}, {dtype}"


@on_each_op(all_ops())
def test_what_is_declared_is_what_tensorflow_allows(definition: OpDef) -> None:
    for spec in definition.inputs:
        recorded = RECORD.get(definition.type, {}).get(spec.name, "")
        if spec.takes and not any(kind.is_floating for kind in spec.takes):
            assert {kind.value for kind in spec.takes} == set(recorded.split()), spec.name
        if spec.like:
            assert recorded == f":{spec.like}", spec.name


def test_axes_of_floats_are_refused_in_tensorflows_words() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", (2, 3))
    mean = builder.one("Mean", x, np.int32(1), name="m")
    graph, other = edits.add(builder.build(), "Placeholder", "f", (), {"dtype": DType.FLOAT32})
    (problem,) = infer(edits.connect(graph, TensorRef(other), Edge(mean.op.name, 1))).problems
    assert problem.node == "m"
    assert problem.text == (
        "Value for attr 'Tidx' of float is not in the list of allowed values: int32, int64"
    )
    assert problem.fix == (
        "'reduction_indices' takes int32 or int64: set the dtype of its Const, or put a Cast "
        "before it"
    )


def test_an_input_like_another_one_is_refused_in_tensorflows_words() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", "float32", (4,))
    at = [np.array([i], np.int32) for i in (0, 2, 1)]
    builder.one("StridedSlice", x, *at, name="s")
    graph, other = edits.add(builder.build(), "Placeholder", "f", (), {"dtype": DType.INT64})
    (problem,) = infer(edits.connect(graph, TensorRef(other), Edge("s", 2))).problems
    assert problem.text == (
        "Input 'end' of 'StridedSlice' Op has type int64 that does not match type int32 of "
        "argument 'begin'."
    )


def test_an_op_that_declares_nothing_pays_nothing() -> None:
    definition = lookup("Mul")
    assert as_declared(definition.infer, definition.inputs, {}) is definition.infer
    assert replace(definition).infer is definition.infer
