"""What a lint offers mends what it found, is tried first, and leaves the gradient that is right."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest

from gradstep.core.checks.doctor.lint import Finding
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.document.named_edits import edit_by_name
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.host.edit_trials import try_remedy
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from gradstep.core.protocol.messages import TryEdit
from tests.core.checks.doctor.test_idle_units import DEAD, network
from tests.support.diagnosing import drawn, findings

LABELS = [[1.0, 0.0], [0.0, 1.0]]


def _half() -> Document:
    def draw(b: GraphBuilder) -> None:
        a, c = b.constant(np.int32(1), name="a"), b.constant(np.int32(2), name="c")
        quotient = tf.cast(b.one("FloorDiv", a, c, name="q"), "float32")
        tf.multiply(b.variable("w"), quotient, name="loss")

    return drawn(draw, "loss", ["w"], initial={"w": 3.0})


def _softmaxes(by_hand: bool) -> Document:
    def draw(b: GraphBuilder) -> None:
        x, y = b.variable("w", shape=[2, 2]), b.placeholder("labels", shape=[2, 2])
        p = tf.nn.softmax(x, name="p")
        if by_hand:
            each = tf.multiply(tf.log(p, name="log"), tf.negative(y))
        else:
            each = b.op("SoftmaxCrossEntropyWithLogits", p, y, name="each")[0]
        tf.reduce_sum(each, name="loss")

    return drawn(draw, "loss", ["w"], initial={"w": [[200, 0], [0, 1]]}, feeds={"labels": LABELS})


def _dead() -> Document:
    return network("relu", DEAD)


def _column() -> Document:
    """Predictions [4, 1] against labels [4]."""

    def draw(b: GraphBuilder) -> None:
        x, labels = b.placeholder("x", shape=[4, 1]), b.placeholder("labels", shape=[4])
        error = tf.subtract(tf.multiply(x, b.variable("w"), name="y"), labels, name="error")
        tf.reduce_mean(tf.square(error, name="s"), name="loss")

    feeds = {"x": [[1.0], [2.0], [3.0], [4.0]], "labels": [2.0, 4.0, 6.0, 8.0]}
    return drawn(draw, "loss", ["w"], initial={"w": 1.0}, feeds=feeds)


CASES: dict[str, tuple[Callable[[], Document], int]] = {
    "integer-quotient": (_half, 0),
    "softmax-twice": (lambda: _softmaxes(False), 0),
    "log-by-hand": (lambda: _softmaxes(True), 0),
    "dead-units": (_dead, 1),
    "broadcast-by-accident": (_column, 0),
    "saturated-units": (lambda: network("tanh", [9.0, -9.0, 9.0, -9.0]), 1),
}


def _gradient(document: Document) -> np.ndarray:
    session = DebugSession(derive(document))
    session.continue_()
    found = session.frame().gradient(TensorRef("w"))
    assert found is not None
    return found


@pytest.mark.parametrize("code", CASES)
def test_it_mends_what_was_found(code: str) -> None:
    make, runs = CASES[code]
    document = make()
    found: Finding = findings(document, code, runs)[0]
    assert found.remedy is not None
    session = DebugSession(derive(document))
    session.continue_()
    request = TryEdit(kind=found.remedy.kind, names=[*found.remedy.names])
    tried = try_remedy(session, document, request)
    taken = edit_by_name(document, found.remedy.kind, found.remedy.names)
    assert not findings(taken, code, runs)
    rows = {row.what: (row.before, row.after) for row in tried.rows}
    before, after = rows["norm of the gradient"]
    assert before != after
    with suppress(GradstepError):  # what is made already is not made twice
        again = edit_by_name(taken, found.remedy.kind, found.remedy.names)
        assert again.graph.operations == taken.graph.operations
        assert again.initial == taken.initial
    assert "loss is" in tried.text
    if "w" in document.request.wrt[0].op and len(document.request.wrt) == 1:
        assert float(after) == pytest.approx(np.linalg.norm(_gradient(taken)), rel=1e-4)


def test_labels_become_a_column_and_each_meets_its_own_row() -> None:
    mended = edit_by_name(_column(), "expand", ("error<1", "1"))
    assert edit_by_name(mended, "expand", ("error<1", "1")) is mended
    assert edit_by_name(mended, "expand", ("error<1", "0")) is not mended, "another axis"
    x = np.arange(1, 5)
    assert _gradient(mended) == pytest.approx(np.mean(2 * (x - 2 * x) * x))
    assert _gradient(_column()) != pytest.approx(_gradient(mended))


def test_what_makes_units_saturated_is_scaled() -> None:
    """Biases here; in a network of large weights those."""
    (found,) = findings(network("tanh", [9.0, -9.0, 9.0, -9.0]), "saturated-units", 1)
    assert found.remedy is not None
    assert found.remedy.names[:2] == ("c", "0.1")
    wide = network("tanh", [0.0] * 4)
    weights = {**wide.initial, "w": Constant(np.full((2, 4), 90, np.float32))}
    (found,) = findings(wide.with_(initial=weights), "saturated-units", 1)
    assert found.remedy is not None
    assert found.remedy.names[:2] == ("w", "0.1")


def test_the_gradient_is_that_of_what_was_meant() -> None:
    """Half of w has the slope a half; both ways to a cross-entropy have softmax minus label."""
    half = edit_by_name(_half(), "cast_first", ("q", "Cast"))
    assert _gradient(half) == 0.5
    at = np.array([[200, 0], [0, 1]], np.float32)
    p = np.exp(at - at.max(1, keepdims=True))
    wanted = p / p.sum(1, keepdims=True) - np.array(LABELS, np.float32)
    twice = edit_by_name(_softmaxes(False), "rewire", ("each<0", "w"))
    by_hand = edit_by_name(_softmaxes(True), "log_softmax", ("log", "p"))
    for document in (twice, by_hand):
        np.testing.assert_allclose(_gradient(document), wanted, atol=1e-6)
