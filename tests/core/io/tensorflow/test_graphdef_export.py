"""A GraphDef that goes out computes the same when it comes back, and is what TensorFlow takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.document.document import CodeKind, Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Edge, Graph, Operation, TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.io.tensorflow import graphdef_export, graphdef_import
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.typing.inference import infer
from gradstep.core.program.derive import derive
from gradstep.core.program.function_kinds import in_role
from gradstep.core.program.user_code import functions_of
from tests.examples.build import EXAMPLES, FOLDER

X = np.array([[0.5, -1.0, 2.0], [0.0, 3.0, 1.0]], np.float32)


def _again(document: Document) -> Document:
    return graphdef_import.from_pb(graphdef_export.to_pb(document), "again.pb")


@pytest.mark.parametrize("name", EXAMPLES)
def test_values_survive(name: str) -> None:
    """What a run gives, or how it fails, where the example is of a failure."""
    document = read(FOLDER / f"{name}.gradstep")
    functions, _ = functions_of(document.code.values(), trusted=True)
    own = in_role(document.code, functions, CodeKind.PYFUNC)
    feeds: dict[str, Any] = {ref: value.array for ref, value in document.feeds.items()}
    fetches = [str(ref) for ref in document.fetches]
    initial = {name: value.array for name, value in document.initial.items()}
    here = Session(document.graph, functions=own, initial=initial)
    again = _again(document)
    there = Session(again.graph, functions=own)
    for session, init in ((here, document.init), (there, again.init)):
        if init:
            session.run([], targets=[init])
    outcomes = [_outcome(session, fetches, feeds) for session in (here, there)]
    np.testing.assert_equal(*outcomes)
    assert bool(again.init) == bool(document.initial or document.init)


def _outcome(session: Session, fetches: list[str], feeds: dict[str, Any]) -> Any:
    try:
        return session.run(fetches, feeds)
    except GradstepError as error:
        return error.message, error.node


def test_a_derived_graph_trains_the_same() -> None:
    document = read(FOLDER / "tutorial.gradstep")
    program = derive(document)
    initial = {name: Constant(value) for name, value in program.initial.items()}
    proto = graphdef_export.to_graphdef(document, program.graph, initial)
    again = graphdef_import.to_document(proto, "again.pb")
    assert again.graph["gradients/a_grad/Mul"].origin == "a"
    here = Session(program.graph, initial=program.initial)
    there = Session(again.graph)
    there.run([], targets=[again.init])
    for _ in range(3):
        losses = [s.run(["loss"], program.feeds, program.targets)[0] for s in (here, there)]
        assert losses[0] == losses[1]
    np.testing.assert_array_equal(here.run(["c"])[0], there.run(["c"])[0])


def test_cross_entropy_is_put_on_matrices() -> None:
    again = _again(read(FOLDER / "tutorial.gradstep")).graph
    kinds = infer(again).types
    inner = next(op for op in again if op.type == "SoftmaxCrossEntropyWithLogits")
    assert [kinds[ref].shape.rank for ref in inner.inputs if ref] == [2, 2]
    assert kinds[TensorRef("loss")].shape.rank == 0


@pytest.mark.parametrize("shape", [(3,), (2, 3), (1, 2, 3), (None, 2, 3), (None,)])
def test_cross_entropy_of_any_rank(shape: tuple[int | None, ...]) -> None:
    g = GraphBuilder()
    logits, labels = g.placeholder("logits", shape=shape), g.placeholder("labels", shape=shape)
    _, backprop = g.op("SoftmaxCrossEntropyWithLogits", logits, labels, name="loss")
    g.one("Neg", backprop, name="minus")
    document = Document(graph=g.build())
    value = X.reshape((1,) * max(len(shape) - 2, 0) + X.shape) if len(shape) > 1 else X[0]
    feeds = {"logits": value, "labels": np.abs(value)}
    here = Session(document.graph).run(["loss", "minus"], feeds)
    there = Session(_again(document).graph).run(["loss", "minus"], feeds)
    for left, right in zip(here, there, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-6)
        assert left.shape == right.shape


def test_cross_entropy_of_too_many_unknown_sizes_is_refused() -> None:
    g = GraphBuilder()
    shape = (None, None, 3)
    pair = g.placeholder("a", shape=shape), g.placeholder("b", shape=shape)
    g.op("SoftmaxCrossEntropyWithLogits", *pair, name="loss")
    with pytest.raises(GradstepError, match="TensorFlow takes matrices") as caught:
        graphdef_export.to_pb(Document(graph=g.build()))
    assert caught.value.node == "loss"


def test_type_attributes_are_filled_in() -> None:
    g = GraphBuilder()
    x = g.placeholder("x", "float64", 2)
    g.one("Pack", x, x, x, name="p")
    g.one("Cast", x, DstT=DType.INT32, name="i")
    graph = _again(Document(graph=g.build())).graph
    assert graph["p"].attrs["T"] is DType.FLOAT64
    assert graph["p"].attrs["N"] == 3
    assert (graph["i"].attrs["SrcT"], graph["i"].attrs["DstT"]) == (DType.FLOAT64, DType.INT32)


def test_overrides_and_stopped_wires_go_along() -> None:
    g = GraphBuilder()
    x = g.placeholder("x", shape=2)
    floor = g.one("Floor", x, name="f")
    g.one("Mul", floor, x, name="m")
    overrides = (
        Override("Identity", "Floor"),
        Override("Neg", "f", OverrideKind.OP, enabled=False),
    )
    request = GradientRequest(stopped_edges=frozenset({Edge("m", 1)}), overrides=overrides)
    graph = _again(Document(graph=g.build(), request=request)).graph
    assert graph["f"].gradient_op_type == "Identity"
    assert graph["m"].gradient_op_type is None
    assert graph["m"].inputs == (TensorRef("f"), TensorRef("m/stop_gradient_1"))
    assert graph["m/stop_gradient_1"].type == "StopGradient"


def test_initial_values_on_top_of_an_init_that_is_there() -> None:
    first = _again(read(FOLDER / "tutorial.gradstep"))
    changed = first.with_(initial={"c": Constant(np.array([7, 8], np.float32))})
    again = _again(changed)
    session = Session(again.graph)
    session.run([], targets=["init_1"])
    np.testing.assert_array_equal(session.run(["c"])[0], [7, 8])


def test_an_open_input_is_refused() -> None:
    graph = Graph.of([Operation("a", "Neg", (None,))])
    with pytest.raises(GradstepError, match="not connected") as caught:
        graphdef_export.to_pb(Document(graph=graph))
    assert caught.value.node == "a"


def test_python_functions_keep_no_attribute_that_tensorflow_lacks() -> None:
    graph = _again(read(FOLDER / "override_add.gradstep")).graph
    assert "shapes" not in graph["e"].attrs
    assert "_output_shapes" in graph["e"].attrs
    assert graph["e"].gradient_op_type == "CustomAdd"


def test_two_resource_variables_stay_two() -> None:
    b = GraphBuilder()
    for name in ("a", "b"):
        b.one("VarHandleOp", name=name, dtype=DType.FLOAT32, shape=Shape(()))
    proto = graphdef_export.to_graphdef(Document(graph=b.build()))
    names = [node.attr["shared_name"].s for node in proto.node]
    assert names == [b"a", b"b"]  # TensorFlow takes all without a name for one variable


def test_an_attribute_of_the_wrong_kind_is_refused() -> None:
    for attrs, words in (({}, "'value' is missing"), ({"value": 3}, "must be a tensor, not 3")):
        graph = Graph.of([Operation("a", "Const", attrs=attrs)])
        with pytest.raises(GradstepError, match=words):
            graphdef_export.to_pb(Document(graph=graph))
