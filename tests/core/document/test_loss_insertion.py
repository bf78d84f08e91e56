"""Losses for networks that came without one: those that fit, added with all that they need."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.document.loss_insertion import LossChoice, add_loss, loss_choices
from gradstep.core.document.value_edits import set_feed
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.typing.inference import infer
from gradstep.core.program.derive import derive
from gradstep.core.program.trust.example_index import EXAMPLES

FILES = Path(__file__).parents[2] / "data" / "traces" / "pt2"


def choices_of(document: Document) -> list[LossChoice]:
    return loss_choices(document, infer(document.graph).types)


@pytest.mark.parametrize("name", ["mlp", "resnet18", "gpt"])
def test_a_network_without_a_loss_is_offered_some(name: str) -> None:
    document = read(FILES / f"{name}.pt2")
    cross, squares = choices_of(document)
    assert cross.labels.dtype is DType.INT64
    assert cross.labels.shape.rank == (squares.labels.shape.rank or 0) - 1
    assert squares.labels == infer(document.graph).types[document.fetches[-1]]


@pytest.mark.parametrize("number", [0, 1])
def test_what_is_chosen_is_differentiated(number: int) -> None:
    document = read(FILES / "mlp.pt2")
    choice = choices_of(document)[number]
    made, scope = add_loss(document, choice, infer(document.graph).types)
    assert {ref.op for ref in made.request.wrt} == {"0/weight", "0/bias", "2/weight", "2/bias"}
    assert choices_of(made) == []
    (loss,) = made.request.of
    assert loss.op.startswith(f"{scope}/")
    rows = np.random.default_rng(3).normal(size=(3, 6)).astype(np.float32)
    program = derive(set_feed(made, "input", rows))
    feeds = {str(ref): array for ref, array in program.feeds.items()}
    assert program.problems == ()
    session = Session(program.graph, initial=program.initial)
    logits = session.run([choice.of], feeds)[0].astype(np.float64)
    found, gradient = session.run([loss, program.gradients[TensorRef("2/bias")]], feeds)
    labels = feeds["labels:0"]
    if number == 0:
        share = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        wanted = -np.log(share[range(3), labels]).mean()
        slopes = (share - np.eye(4)[labels]).mean(0)
    else:
        errors = logits - labels
        wanted, slopes = np.square(errors).mean(), errors.sum(0) * 2 / errors.size
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-4, atol=1e-6)


def test_buffers_are_not_trained() -> None:
    document = read(FILES / "resnet18.pt2")
    made, _ = add_loss(document, choices_of(document)[0], infer(document.graph).types)
    names = {ref.op for ref in made.request.wrt}
    assert "bn1/weight" in names
    assert not [name for name in names if "running" in name or "tracked" in name]


@pytest.mark.parametrize(
    ("shape", "blocks"),
    [
        ((2, 3), ["sparse_softmax_cross_entropy_loss", "mean_squared_error"]),
        ((2, 5, 3), ["sparse_softmax_cross_entropy_loss", "mean_squared_error"]),
        ((2, 1), ["mean_squared_error"]),  # a regression
        ((2, 4, 8, 8), ["mean_squared_error"]),  # pictures, whose classes may be an axis before
        ((2,), ["mean_squared_error"]),
        ((), ["mean_squared_error"]),
    ],
)
def test_only_what_fits_is_offered(shape: tuple[int, ...], blocks: list[str]) -> None:
    build = GraphBuilder()
    w = build.variable("w", shape=shape)
    y = build.one("Identity", w, name="y")
    document = Document(graph=build.build(), fetches=(y.ref,))
    assert [choice.block for choice in choices_of(document)] == blocks
    for choice in choices_of(document):
        made, _ = add_loss(document, choice, infer(document.graph).types)
        program = derive(made)
        feeds = {str(ref): array for ref, array in program.feeds.items()}
        initial = {"w": np.zeros(shape, np.float32)}
        (loss,) = Session(program.graph, initial=initial).run([*made.request.of], feeds)
        assert np.isfinite(loss)


def test_what_has_one_is_offered_none() -> None:
    assert choices_of(gradstep_file.load(EXAMPLES / "tutorial.gradstep")) == []
    assert choices_of(Document()) == []
