"""The cross-entropy ops: labels that are no class, infinite logits, broadcasting, bad shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation
from gradstep.core.io.tensorflow.graphdef_export import to_graphdef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.system_rules import OutOfRange, Rules
from gradstep.core.ops.declare.table import lookup
from tests.support import oracle
from tests.support.derivatives import gradients
from tests.support.interpret import call_kernel, evaluate

INF = np.inf
LOGITS = np.array([[1.0, -2, 0.5], [0, 3, -1]])
LABELS = np.array([[0.2, 0.5, 0.3], [1, 0, 0]])


def run(type: str, *inputs: Any, rules: Rules | None = None) -> tuple[Any, ...]:
    given = {} if rules is None else {"rules": rules}
    with np.errstate(all="ignore"):
        arrays = [np.asarray(x) for x in inputs]
        return call_kernel(lookup(type), Operation("it", type), arrays, **given)


def test_a_label_that_is_no_class() -> None:
    recorded = oracle.case("gather_out_of_range_cpu")["sparse_softmax_xent_label_oor"]
    with pytest.raises(GradstepError) as caught:
        run("SparseSoftmaxCrossEntropyWithLogits", np.zeros((2, 3), np.float32), np.array([0, 3]))
    words = oracle.message(recorded)
    assert caught.value.message.split("Label values")[0] == words.split("Label values")[0]
    assert caught.value.kind == recorded["raised"]
    assert caught.value.index == (1,)
    assert "0 to 2" in caught.value.hint


def test_a_negative_label_is_named_before_a_large_one() -> None:
    with pytest.raises(GradstepError) as caught:
        run("SparseSoftmaxCrossEntropyWithLogits", np.zeros((4, 3)), np.array([1, 3, -1, 0]))
    assert caught.value.message == (  # TensorFlow 2.21's words
        "Received a label value of -1 which is outside the valid range of [0, 3).  "
        "Label values: 1 3 -1 0"
    )


def test_a_label_that_is_no_class_on_a_gpu() -> None:
    rules = Rules(name="gpu", gather=OutOfRange.ZERO, scatter=OutOfRange.ZERO)
    loss, backprop = run(
        "SparseSoftmaxCrossEntropyWithLogits", LOGITS, np.array([3, 1]), rules=rules
    )
    assert np.isnan(loss).tolist() == [True, False]
    assert np.isnan(backprop).tolist() == [[True] * 3, [False] * 3]
    inside, _ = run("SparseSoftmaxCrossEntropyWithLogits", LOGITS, np.array([0, 1]))
    assert loss[1] == inside[1]


SHAPES: list[tuple[tuple[int, ...], tuple[int, ...], str]] = [
    ((3,), (), r"logits must be 2-D, but got shape \[3\]"),
    ((2, 2, 3), (2, 2), r"logits must be 2-D, but got shape \[2,2,3\]"),
    ((2, 3), (2, 1), r"labels must be 1-D, but got shape \[2,1\]"),
    ((2, 3), (3,), r"same first dimension, got logits shape \[2,3\] and labels shape \[3\]"),
    ((2, 0), (2,), r"Must have at least one class, but got logits shape \[2,0\]"),
]


@pytest.mark.parametrize(("logits", "labels", "message"), SHAPES)
def test_shapes_that_do_not_fit(logits: Any, labels: Any, message: str) -> None:
    inputs = np.zeros(logits), np.zeros(labels, np.int32)
    with pytest.raises(GradstepError, match=message):
        run("SparseSoftmaxCrossEntropyWithLogits", *inputs)
    builder = GraphBuilder()
    with pytest.raises(GradstepError, match=message):
        builder.op("SparseSoftmaxCrossEntropyWithLogits", *map(builder.constant, inputs))


# TensorFlow 2.21 computed them: a label of 0 leaves its class out, whatever the logit.
def test_infinite_logits() -> None:
    logits = np.array([[-INF, 1, 2], [-INF, 1, 2], [INF, 1, 2], [1e30, 0, -1e30]])
    labels = np.array([[0, 1, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0]], float)
    loss, backprop = run("SoftmaxCrossEntropyWithLogits", logits, labels)
    np.testing.assert_allclose(loss, [1.3132616875182228, INF, np.nan, 0])
    np.testing.assert_allclose(backprop[0], [0, -0.7310585786300049, 0.7310585786300049])
    np.testing.assert_allclose(backprop[1], [-1, 0.2689414213699951, 0.7310585786300049])
    np.testing.assert_array_equal(backprop[3], [0, 0, 0])


# TensorFlow 2.21 computed them: logits, labels, loss.
BROADCAST: list[tuple[Any, Any, list[float]]] = [
    ([[1, 2, 3], [1, 1, 1]], [[1, 0, 0]], [2.4076059644443806, 1.0986122886681098]),
    ([[1, 2, 3], [1, 1, 1]], [1, 0, 0], [2.4076059644443806, 1.0986122886681098]),
    ([[1, 2, 3]], [[1, 0, 0], [0, 1, 0]], [2.4076059644443806, 1.4076059644443804]),
    ([[1], [2]], [[1, 0, 0], [0, 1, 0]], [1.0986122886681098, 1.0986122886681098]),
]


@pytest.mark.parametrize(("logits", "labels", "expected"), BROADCAST)
def test_logits_and_labels_broadcast(logits: Any, labels: Any, expected: list[float]) -> None:
    builder = GraphBuilder()
    pair = [builder.constant(np.array(x, float)) for x in (logits, labels)]
    loss, backprop = builder.op("SoftmaxCrossEntropyWithLogits", *pair, name="loss")
    value, back = evaluate(builder.build(), [loss.ref, backprop.ref])
    np.testing.assert_allclose(value, expected, rtol=1e-14)
    assert back.shape == backprop.shape.static() == (2, 3)
    written = to_graphdef(Document(graph=builder.build()))
    assert [node.op for node in written.node if node.op != "Const"] == [
        "SoftmaxCrossEntropyWithLogits"
    ]


def test_broadcast_labels_have_no_gradient_that_fits() -> None:
    with pytest.raises(GradstepError, match="Incompatible shapes between op input and calculated"):
        gradients(
            lambda x, z: tf.nn.softmax_cross_entropy_with_logits_v2(labels=z, logits=x),
            LOGITS,
            LABELS[:1],
        )


def test_broadcasting_beyond_matrices_is_not_exported() -> None:
    builder = GraphBuilder()
    pair = builder.constant(np.zeros((2, 2, 3))), builder.constant(np.zeros((2, 1, 3)))
    builder.op("SoftmaxCrossEntropyWithLogits", *pair, name="loss")
    with pytest.raises(GradstepError, match=r"broadcasts .* cannot be exported"):
        to_graphdef(Document(graph=builder.build()))
