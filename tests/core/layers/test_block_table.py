"""Blocks: every one of them expands into sound operations inside a scope of its own."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.check.check_result import Verdict
from gradstep.core.autodiff.check.gradcheck import check_gradients
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.document.block_insertion import add_block, shareable
from gradstep.core.document.document import Document
from gradstep.core.document.document_edits import remove_operations
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.graph.scopes import is_inside
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.tensorflow.graphdef_export import to_pb
from gradstep.core.io.tensorflow.graphdef_import import from_pb
from gradstep.core.layers import block_table
from gradstep.core.layers.block_expansion import expand
from gradstep.core.layers.block_table import all_blocks, find_block
from gradstep.core.ops.build.builder import GraphBuilder, call
from gradstep.core.ops.build.collections import GraphKeys, is_in
from gradstep.core.ops.build.variable import is_trainable
from gradstep.core.ops.typing.inference import infer
from gradstep.core.ops.typing.static_values import all_axes
from tests.core.layers.samples import NETWORKS, drawn

NAMES = [b.name for b in all_blocks()]


def test_blocks_come_in_one_order_whichever_module_was_imported_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    later = [b for b in all_blocks() if b.family != "attention"]
    first = [b for b in all_blocks() if b.family == "attention"]
    monkeypatch.setattr(block_table, "_BLOCKS", {b.name: b for b in (*later, *first)})
    assert [b.name for b in all_blocks()] == NAMES


def feeds_of(document: Document) -> dict[str, np.ndarray]:
    return {name: value.array for name, value in document.feeds.items()}


@pytest.mark.parametrize("name", NAMES)
def test_a_block_alone_is_sound_and_runs(name: str) -> None:
    """On placeholders of its own, with the values that a new document gives them and what its
    variables start with."""
    found = drawn(find_block(name))
    document, scope = found.document, found.scope
    assert not infer(document.graph).problems
    own = [op for op in document.graph if not is_inside(op.name, NETWORKS.get(name, "-"))]
    assert all(op.name.startswith(f"{scope}/") for op in own)
    assert scope in document.view.collapsed
    initial = {name: value.array for name, value in document.initial.items()}
    session = Session(document.graph, initial=initial)
    for _ in range(2):  # updates have moved averages along
        values = session.run(found.outputs, feeds_of(document), document.targets)
        assert all(np.isfinite(value).all() for value in values)


# Settings that change what a block is made of, besides the defaults.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("policy_gradient", {"form": "ratio"}),
    ("policy_gradient_surrogate", {"clip": 0.2}),
    ("dqn_loss", {"loss": "squared", "stop_target": False}),
    ("center_loss", {"form": "facenet"}),
    ("batch_norm", {"is_training": False, "scale": False}),
    ("dynamic_rnn", {"cell": "lstm"}),
    ("towers", {"combine": "mean"}),
    ("perceptual_loss", {"distance": "absolute", "stop_target": False}),
]


@pytest.mark.parametrize(("name", "settings"), [*((name, {}) for name in NAMES), *VARIANTS])
def test_gradients_agree_with_differences_in_float64(name: str, settings: dict[str, Any]) -> None:
    """To its inputs and its variables, through its outputs, weighted."""
    found = drawn(find_block(name), settings)
    builder = GraphBuilder(found.document.graph)
    ends = [builder.get(ref) for ref in found.outputs]
    rng = np.random.default_rng(7)
    parts = [
        call("Sum", y * rng.normal(size=y.shape.static()).astype(np.float32), all_axes(y))
        for y in ends
    ]
    loss = call("AddN", *parts)
    wrt = tuple(ref for ref, value in found.point.items() if value.dtype.kind == "f")
    request = GradientRequest((loss.ref,), wrt)
    check = check_gradients(Evaluator({}), builder.build(), request, found.point, {})
    verdicts = {str(ref): f.verdict for ref, f in check.findings.items()}
    assert set(verdicts.values()) <= {Verdict.OK, Verdict.FLOAT32}, verdicts
    reached = any(g is not None and np.any(g) for g in check.in_force.values())
    assert reached is (name != "bernoulli")  # which is there to have none


def test_every_block_says_where_it_comes_from() -> None:
    assert [b.name for b in all_blocks() if "Source: " not in b.doc] == []


def test_twice_is_two_scopes_and_two_sets_of_variables() -> None:
    once, first = add_block(Document(), "dense", (0.0, 0.0))
    twice, second = add_block(once, "dense", (0.0, 200.0))
    assert (first, second) == ("dense", "dense_1")
    assert len(list(twice.graph)) == 2 * len(list(once.graph))
    assert [*twice.initial] == ["dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"]
    kernels = [twice.initial[f"{scope}/kernel"].array for scope in (first, second)]
    assert not np.array_equal(*kernels)
    again, _ = add_block(Document(), "dense", (0.0, 0.0))
    np.testing.assert_array_equal(again.initial["dense/kernel"].array, kernels[0])


def test_a_block_can_be_drawn_with_the_variables_of_another() -> None:
    once, first = add_block(Document(), "dense", (0.0, 0.0))
    shared, second = add_block(once, "dense", (0.0, 200.0), reuse=first)
    assert shareable(shared.graph) == ["dense"]
    assert [*shared.initial] == ["dense/kernel", "dense/bias"]
    initial = {name: value.array for name, value in shared.initial.items()}
    feeds = {f"{scope}/inputs:0": np.eye(2, 4, dtype=np.float32) for scope in (first, second)}
    fetches = [f"{scope}/BiasAdd:0" for scope in (first, second)]
    one, other = Session(shared.graph, initial=initial).run(fetches, feeds)
    np.testing.assert_array_equal(one, other)
    alone = remove_operations(shared, [n for n in shared.graph.operations if n.startswith(second)])
    assert [*alone.initial] == ["dense/kernel", "dense/bias"]


def test_what_cannot_be_shared_is_refused_in_tensorflows_words() -> None:
    document, scope = add_block(Document(), "dense", (0.0, 0.0))
    with pytest.raises(GradstepError) as caught:
        add_block(document, "dense", (0, 0), settings={"units": 5}, reuse=scope)
    assert caught.value.message == (
        "Trying to share variable dense/kernel, but specified shape (4, 5) and found shape (4, 3)."
    )
    with pytest.raises(GradstepError, match="Variable dense/gates/kernel does not exist, or was"):
        add_block(document, "gru_cell", (0, 0), reuse=scope)


@pytest.mark.parametrize("run_updates", [True, False])
def test_updates_are_run_or_forgotten(run_updates: bool) -> None:
    document, _ = add_block(Document(), "batch_norm", (0, 0), run_updates=run_updates)
    updates = ("batch_norm/AssignMovingAvg", "batch_norm/AssignMovingAvg_1")
    assert document.targets == (updates if run_updates else ())
    initial = {name: value.array for name, value in document.initial.items()}
    session = Session(document.graph, initial=initial)
    feeds = {"batch_norm/inputs:0": np.full((4, 3), 10, np.float32)}
    session.run([], feeds, document.targets)
    moved = np.full(3, 0.1 if run_updates else 0.0)
    np.testing.assert_allclose(session.store["batch_norm/moving_mean"], moved, rtol=1e-6)


def test_a_loss_takes_weights_if_they_are_wired() -> None:
    """As tf.losses: divided by how many weights are not zero, unless something else is chosen."""
    shapes = {"predictions": (3, 2), "labels": (3, 2), "weights": (3, 1)}
    rng = np.random.default_rng(0)
    feeds = {f"{n}:0": rng.normal(size=s).astype(np.float32) for n, s in shapes.items()}
    feeds["weights:0"][:] = [[1], [0], [2]]
    reads = [
        Operation(n, "Placeholder", attrs={"dtype": DType.FLOAT32, "shape": Shape(s)})
        for n, s in shapes.items()
    ]
    squares = (feeds["predictions:0"] - feeds["labels:0"]) ** 2 * feeds["weights:0"]
    for reduction, expected in (
        ("weighted_sum_by_nonzero_weights", squares.sum() / 4),
        ("weighted_mean", squares.sum() / 6),
        ("none", squares),
    ):
        sources, found = [op.output() for op in reads], find_block("mean_squared_error")
        made = expand(Graph.of(reads), found, sources, settings={"reduction": reduction})
        (loss,) = Session(made.graph).run(made.outputs, feeds)
        np.testing.assert_allclose(loss, expected, rtol=1e-6)


def test_whether_it_trains_can_be_decided_when_it_runs() -> None:
    flags = Operation("flag", "Placeholder", attrs={"dtype": DType.BOOL, "shape": Shape.of()})
    x = Operation("x", "Placeholder", attrs={"dtype": DType.FLOAT32, "shape": Shape.of(4, 3)})
    sources = [x.output(), flags.output()]
    made = expand(Graph.of([x, flags]), find_block("batch_norm"), sources)
    session = Session(made.graph, initial=made.initial)
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    for training in (False, True):
        feeds = {"x:0": rows, "flag:0": np.array(training)}
        (y,) = session.run(made.outputs, feeds, made.updates)
        expected = (rows - rows.mean(axis=0)) / rows.std(axis=0) if training else rows
        np.testing.assert_allclose(y, expected, rtol=1e-3, atol=1e-5)
        assert bool(session.store["batch_norm/moving_mean"].all()) is training


def test_files_know_what_is_trained_and_what_updates() -> None:
    document, _ = add_block(Document(), "batch_norm", (0, 0))
    saved = gradstep_file.from_bytes(gradstep_file.to_bytes(document))
    for again in (saved.graph, from_pb(to_pb(document)).graph):
        trained = [op.name for op in again if is_trainable(op)]
        assert sorted(trained) == ["batch_norm/beta", "batch_norm/gamma"]
        updates = [op.name for op in again if is_in(op, GraphKeys.UPDATE_OPS)]
        assert updates == ["batch_norm/AssignMovingAvg", "batch_norm/AssignMovingAvg_1"]


@pytest.mark.parametrize(("block", "shape"), [("dense", (4, 4)), ("dynamic_rnn", (4, 3, 2))])
def test_towers_share_weights_and_give_what_the_network_gives(
    block: str, shape: tuple[int, ...]
) -> None:
    """A network with a loop as well, whose names in it are the document's."""
    document, scope = add_block(Document(), block, (0, 0))
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    reads = Operation("x", "Placeholder", attrs={"dtype": DType.FLOAT32, "shape": Shape(shape)})
    graph = Graph.of([*document.graph, reads])
    settings = {"network": scope, "towers": 2}
    made = expand(graph, find_block("towers"), [reads.output()], settings=settings)
    assert not [op for op in made.graph if op.type == "VariableV2" and op.name.startswith("towers")]
    initial = {name: value.array for name, value in document.initial.items()}
    session = Session(made.graph, initial=initial)
    parts = session.run(made.outputs, {"x:0": x})
    given = expand(Graph(), find_block(block)).outputs
    halves = [session.run(given, {f"{block}/inputs:0": half}) for half in (x[:2], x[2:])]
    wholes = {np.concatenate(pair).tobytes() for pair in zip(*halves, strict=True)}
    assert {part.tobytes() for part in parts} == wholes


def test_towers_of_a_network_that_ends_in_a_loss() -> None:
    """Inputs and labels are both split; the tensor that it ends in says where it begins."""
    document, _ = add_block(Document(), "dense", (0, 0))
    source = TensorRef("dense/BiasAdd")
    document, _ = add_block(document, "mean_squared_error", (0, 0), [source])
    loss = document.graph.order[-1]
    rng = np.random.default_rng(1)
    x, y = (rng.normal(size=(4, n)).astype(np.float32) for n in (4, 3))
    reads = [
        Operation(n, "Placeholder", attrs={"dtype": DType.FLOAT32, "shape": Shape(a.shape)})
        for n, a in (("x", x), ("y", y))
    ]
    graph, settings = Graph.of([*document.graph, *reads]), {"network": loss, "combine": "mean"}
    sources = [op.output() for op in reads]
    made = expand(graph, find_block("towers"), sources, settings=settings)
    initial = {name: value.array for name, value in document.initial.items()}
    (mean,) = Session(made.graph, initial=initial).run(made.outputs, {"x:0": x, "y:0": y})
    predicted = x @ initial["dense/kernel"]
    np.testing.assert_allclose(mean, np.mean((predicted - y) ** 2), rtol=1e-6)


def test_it_reads_what_it_is_given_in_a_graph_that_need_not_be_sound() -> None:
    x = Operation("x", "Placeholder", attrs={"dtype": DType.FLOAT64, "shape": Shape.of(3)})
    open_ended = Operation("later", "Neg", (None,))
    types = {TensorRef("x"): TensorType(DType.FLOAT64, Shape.of(3))}
    made = expand(Graph.of([x, open_ended]), find_block("clip_by_value"), [x.output()], types)
    session = Session(Graph.of(op for op in made.graph if op.name != "later"))
    (y,) = session.run(made.outputs, {"x:0": np.array([-2, 0.5, 9.0])})
    np.testing.assert_array_equal(y, [-1, 0.5, 1])
    assert y.dtype == np.float64


def test_an_unknown_block_is_refused_with_what_there_is() -> None:
    with pytest.raises(GradstepError, match="no block 'clip_by_valeu'") as caught:
        add_block(Document(), "clip_by_valeu", (0, 0))
    assert "clip_by_value" in caught.value.hint


@pytest.mark.parametrize(
    ("settings", "says", "hint"),
    [
        ({"units": 0}, "units cannot be 0", "it is a whole number of at least 1"),
        ({"units": 2.5}, "units cannot be 2.5", "it is a whole number of at least 1"),
        ({"activation": "rleu"}, "activation cannot be 'rleu'", "it is one of linear, relu"),
        ({"unit": 3}, "dense has no setting 'unit'", "it has units, activation"),
    ],
)
def test_a_wrong_setting_is_refused(settings: dict[str, object], says: str, hint: str) -> None:
    with pytest.raises(GradstepError) as caught:
        add_block(Document(), "dense", (0, 0), settings=settings)
    assert caught.value.message == says
    assert caught.value.hint.startswith(hint)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.BOOL, DType.STRING])
def test_what_no_block_can_read_is_refused_in_words(dtype: DType) -> None:
    """Whatever is selected when a block is added: it is added, or it is said why not."""
    shapes = [Shape.of(), Shape.of(3), Shape.of(2, 3, 4), Shape.of(2, 4, 4, 3), Shape(None)]
    builder = GraphBuilder()
    refs = [builder.placeholder("x", dtype, shape).ref for shape in shapes]
    document = Document(graph=builder.build())
    types = infer(document.graph).types
    for name in NAMES:
        for ref in refs:
            with suppress(GradstepError):
                add_block(document, name, (0, 0), [ref], types)


def test_a_network_of_more_inputs_than_are_given_is_refused() -> None:
    document, _ = add_block(Document(), "mean_squared_error", (0, 0))
    with pytest.raises(GradstepError) as caught:
        add_block(document, "towers", (0, 0), settings={"network": "mean_squared_error"})
    assert caught.value.hint == (
        "1 inputs are given, and the network reads mean_squared_error/predictions, "
        "mean_squared_error/labels"
    )
