"""Which wires fit: what an op can take is never refused, and what it never can always is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph import edits as graph_edits
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.table import OpDef, all_ops
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.ops.typing.input_fit import cast_that_fits, misfit, why_not
from tests.support.each_case import on_each_op
from tests.support.op_cases import Case, cases

SAMPLED = [d for d in all_ops() if d.samples is not None and d.inputs]
Kinds = list[TensorType | None]


def kinds_of(case: Case) -> Kinds:
    """Of the case's inputs, all of them variables: those are taken by every input."""
    types = infer_declared(case.graph).types
    return [replace(types[tensor.ref], ref=True) for tensor in case.tensors]


def half_drawn(kinds: Kinds, index: int) -> Iterator[Kinds]:
    """As it may be when input `index` is wired: all others there, none of them, one of them."""
    yield kinds
    yield [kind if i == index else None for i, kind in enumerate(kinds)]
    for other in range(len(kinds)):
        yield [kind if i in (index, other) else None for i, kind in enumerate(kinds)]


@on_each_op(SAMPLED)
def test_what_an_op_takes_fits_whatever_is_wired_already(definition: OpDef) -> None:
    for case in cases(definition, np.float32):
        kinds = kinds_of(case)
        for index in range(len(kinds)):
            for some in half_drawn(kinds, index):
                refused = misfit(case.operation, index, some)
                assert refused is None, f"{refused.message}: input {index} of {some}"


@on_each_op(SAMPLED)
def test_sizes_never_refuse_a_wire(definition: OpDef) -> None:
    case = next(cases(definition, np.float32))
    kinds = kinds_of(case)
    for index, kind in enumerate(kinds):
        assert kind is not None
        odd = replace(kind, shape=Shape(tuple(97 + i for i in range(kind.shape.rank or 0))))
        others = [*kinds[:index], odd, *kinds[index + 1 :]]
        assert misfit(case.operation, index, others) is None


@on_each_op(SAMPLED)
def test_what_is_refused_could_never_be_typed(definition: OpDef) -> None:
    """And so no wire is refused that the finished operation would take."""
    case = next(cases(definition, np.float32))
    kinds = kinds_of(case)
    for index in range(len(kinds)):
        for dtype in (DType.FLOAT64, DType.INT32, DType.BOOL, DType.STRING, DType.COMPLEX64):
            other = [*kinds[:index], TensorType(dtype, UNKNOWN, ref=True), *kinds[index + 1 :]]
            refused = misfit(case.operation, index, other)
            filled = replace(
                case.operation, inputs=tuple(TensorRef(f"{i}") for i in range(len(kinds)))
            )
            assert (refused is None) == types_without_error(definition, filled, other)


def types_without_error(definition: OpDef, op: Operation, kinds: Kinds) -> bool:
    from gradstep.core.ops.declare.table import InferContext

    ranks = [
        replace(k, shape=Shape((None,) * k.shape.rank) if k.shape.rank is not None else UNKNOWN)
        for k in kinds
        if k is not None
    ]
    try:
        definition.infer(InferContext(definition, op, ranks))
    except GradstepError:
        return False
    except Exception:
        return True
    return True


def small() -> tuple[Graph, dict[str, TensorRef]]:
    builder = GraphBuilder()
    made = {
        "x": builder.placeholder("x", "float32", (2, 3)),
        "half": builder.constant(np.float32(0.5), name="half"),
        "axis": builder.constant(np.int32(0), name="axis"),
        "flag": builder.constant(np.array(True), name="flag"),
    }
    made["mean"] = builder.one("Mean", made["x"], made["axis"], name="mean")
    return builder.build(), {name: tensor.ref for name, tensor in made.items()}


def test_the_sentence_names_tensor_type_input_and_what_to_do() -> None:
    graph, refs = small()
    error = why_not(graph, infer_declared(graph).types, refs["half"], Edge("mean", 1))
    assert error is not None
    assert error.message == (
        "'half', float32[], does not fit input 'reduction_indices' of 'mean': Value for attr "
        "'Tidx' of float is not in the list of allowed values: int32, int64"
    )
    assert "Cast" in error.hint
    assert error.node == "mean"


def test_a_wire_that_cannot_fit_is_not_drawn_and_nothing_changes() -> None:
    graph, refs = small()
    with pytest.raises(GradstepError, match="does not fit input 'reduction_indices'"):
        document_edits.connect(Document(graph=graph), refs["half"], Edge("mean", 1))
    assert document_edits.connect(Document(graph=graph), refs["half"], Edge("mean", 0))


def test_a_file_with_such_a_wire_opens_with_a_problem() -> None:
    graph, refs = small()
    graph = graph_edits.connect(graph, refs["half"], Edge("mean", 1))
    (problem,) = infer_declared(graph).problems
    assert problem.node == "mean"
    assert "'Tidx' of float" in problem.text


def test_nothing_is_refused_for_what_somebody_else_has_done() -> None:
    """An input that could not be right whatever came is not the new wire's fault."""
    graph, refs = small()
    graph = graph_edits.connect(graph, refs["half"], Edge("mean", 1))
    types = infer_declared(graph).types
    assert why_not(graph, types, refs["x"], Edge("mean", 0)) is None
    assert why_not(graph, types, refs["axis"], Edge("mean", 1)) is None


def test_what_has_no_type_yet_is_never_refused() -> None:
    graph, _ = small()
    graph, name = graph_edits.add(graph, "Neg", "open", (None,))
    assert why_not(graph, infer_declared(graph).types, TensorRef(name), Edge("mean", 1)) is None


def test_which_cast_would_mend_it() -> None:
    graph, refs = small()
    types = infer_declared(graph).types
    assert cast_that_fits(graph, types, refs["half"], Edge("mean", 1)) is DType.INT32
    assert cast_that_fits(graph, types, refs["flag"], Edge("mean", 0)) is DType.FLOAT32


def test_what_is_remembered_of_a_refusal_holds_no_frames() -> None:
    """Frames hold all that was at hand where it was raised: documents, for as long as the program
    runs."""
    relu = Operation("relu", "Relu", (TensorRef("x"),))
    for _ in range(2):
        refused = misfit(relu, 0, [TensorType(DType.STRING, UNKNOWN)])
        assert refused is not None
        assert (refused.__traceback__, refused.__context__, refused.__cause__) == (None, None, None)
