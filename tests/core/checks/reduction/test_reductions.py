"""Of a large graph with one cause planted, the few operations that show it.

Five graphs as a rule, of 150 to 300 operations. Fifty, of up to 2,000, in about a minute:

    HYPOTHESIS_PROFILE=thorough ./dev test tests/core/checks/reduction
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.host.explained_runs import explainer_of_runs
from gradstep.core.host.reductions import reduced
from gradstep.core.io.open_document import read
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.core.progress import progress_to
from gradstep.core.protocol.messages import Explanation
from tests.support.planted_blocks import BROKEN, ENDED, SIZE, STOPPED, Plant, large_around

MOST = 10  # operations
COUNT, is_thorough = 50, settings.default.max_examples > 500
LARGEST = 2000 if is_thorough else 300
FAINT = "product"  # whose infinity some blocks behind it make finite again
PLANTS = [(n, p) for n, p in {**BROKEN, **STOPPED, **ENDED}.items() if n != FAINT]
LOSS, X = TensorRef("loss"), TensorRef("x")


def large(seed: int) -> tuple[Document, str, Plant]:
    name, plant = PLANTS[seed % len(PLANTS)]
    at = int(np.random.default_rng(seed).integers(SIZE))
    return large_around(seed, lambda y: plant.block(y, at), LARGEST), name, plant


def why(document: Document, of: TensorRef, wrt: TensorRef | None) -> Explanation:
    loaded = Loaded(document, {})
    explainer = explainer_of_runs(loaded, derive(document, {}), NumpyBackend(), [of])
    return explainer.value(str(of)) if wrt is None else explainer.gradient(str(of), str(wrt))


def smallest(
    document: Document, found: Explanation, of: TensorRef, wrt: TensorRef | None
) -> Document:
    return reduced(Loaded(document, {}), NumpyBackend(), found, of, wrt)


def of_what(document: Document, plant: Plant) -> TensorRef | None:
    """The gradient, unless a value is wrong."""
    return None if why(document, LOSS, None).state in ("nan", "inf") else X


def check(seed: int) -> None:
    document, name, plant = large(seed)
    wrt = of_what(document, plant)
    found = why(document, LOSS, wrt)
    small = smallest(document, found, LOSS, wrt)
    assert len(small.graph) <= MOST, (name, small.graph.order)
    of, ends = (
        (small.fetches[0], (None,)) if wrt is None else (small.request.of[0], small.request.wrt)
    )
    again = [why(small, of, end) for end in ends]
    states = {"nan", "inf"} if found.state in ("nan", "inf") else {found.state}
    same = [each.cause == found.cause or each.node == found.node for each in again]
    assert any(s and each.state in states for s, each in zip(same, again, strict=True)), name


@pytest.mark.parametrize("seed", range(0, COUNT, 1 if is_thorough else 10))
def test_few_operations_show_what_was_planted(seed: int) -> None:
    check(seed)


def test_never_more_than_all_of_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradstep.core.checks.reduction.reduction_search._ROUNDS", 1)
    told: list[tuple[int, int]] = []
    with progress_to(lambda _, done, total: told.append((done, total))):
        check(0)
    assert [done for done, _ in told] == [*range(1, len(told) + 1)]
    assert len(told) > 1
    assert all(done <= total for done, total in told)


def test_a_healthy_one_is_not_made_smaller() -> None:
    document = read(EXAMPLES / "tutorial.gradstep")
    with pytest.raises(GradstepError, match="nothing wrong to be made smaller"):
        smallest(document, why(document, LOSS, None), LOSS, None)


def test_a_gradient_that_ends_behind_integers_is_asked_for_before_them() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=[3])
        whole = tf.cast(tf.cast(x * 0.9, "int32"), "int64") * np.int64(2)
        tf.reduce_sum(tf.cast(whole, "float32") * 0.5, name="loss")
    feed = Constant(np.array([1, 2, 3], np.float32))
    document = Document(
        builder.build(), GradientRequest.to("loss", "x"), feeds={"x:0": feed}, fetches=(LOSS,)
    )
    found = why(document, LOSS, X)
    small = smallest(document, found, LOSS, X)
    assert found.state == "none"
    assert [why(small, small.request.of[0], wrt).state for wrt in small.request.wrt] == ["none"]
    assert len(small.graph) <= 4


def in_a_loop(iteration: int) -> Document:
    """A logarithm that meets 0 in one iteration."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=[3])
        _, y = tf.while_loop(
            lambda i, a: i < 5,
            lambda i, a: (
                i + 1,
                a + tf.log(tf.abs(tf.cast(i, "float32") - float(iteration)), name="planted") * 0.1,
            ),
            (0, x),
        )
        tf.reduce_sum(y, name="loss")
    feed = Constant(np.array([1, 2, 3], np.float32))
    return Document(
        builder.build(), GradientRequest.to("loss", "x"), feeds={"x:0": feed}, fetches=(LOSS,)
    )


@pytest.mark.parametrize("iteration", [0, 3])
def test_in_a_loop_it_is_the_operation_in_its_iteration(iteration: int) -> None:
    document = in_a_loop(iteration)
    found = why(document, LOSS, None)
    small = smallest(document, found, LOSS, None)
    assert [op.type for op in small.graph] == ["Const", "Log"]
    assert float(small.graph[next(iter(small.graph)).name].attrs["value"].array) == 0.0


def test_of_a_later_run_it_has_the_numbers_of_that_run() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        w = builder.variable("w", "float32", [2])
        tf.reduce_sum(tf.sqrt(w, name="planted"), name="loss")
        builder.one("AssignSub", w, np.array([0.4, 0.1], np.float32), name="fall")
    document = Document(
        builder.build(),
        initial={"w": Constant(np.array([1, 1], np.float32))},
        fetches=(LOSS,),
        targets=("fall",),
    )
    loaded, backend = Loaded(document, {}), NumpyBackend()
    program = derive(document, {})
    found = explainer_of_runs(loaded, program, backend, [LOSS], 6).value("loss")
    small = reduced(loaded, backend, found, LOSS, None, runs=6)
    (held,) = [op.attrs["value"].array for op in small.graph if op.type == "Const"]
    np.testing.assert_allclose(held, [1 - 5 * 0.4], rtol=1e-5)
