"""Blocks: every one of them expands into sound operations inside a scope of its own."""

from __future__ import annotations

import numpy as np
import pytest

from core.engine.session import Session
from core.errors import GradstepError
from core.graph.dtypes import DType, Shape, TensorType
from core.graph.model import Graph, Operation, TensorRef
from core.io.blocks import add_block
from core.io.document import Document
from core.layers.block import all_blocks, expand, find_block
from core.ops.infer import infer

BLOCKS = list(all_blocks())


def feeds_of(document: Document) -> dict[str, np.ndarray]:
    return {name: value.array for name, value in document.feeds.items()}


@pytest.mark.parametrize("name", [b.name for b in BLOCKS])
def test_a_block_alone_is_sound_and_runs(name: str) -> None:
    """On placeholders of its own, with the values that a new document gives them."""
    document, scope = add_block(Document(), name, (40.0, -8.0))
    assert not infer(document.graph).problems
    assert all(op.name.startswith(f"{scope}/") for op in document.graph)
    assert scope in document.view.collapsed
    places = np.array([document.view.positions[op.name] for op in document.graph])
    np.testing.assert_allclose(places.mean(axis=0), [40, -8])
    last = document.graph.order[-1]
    values = Session(document.graph).run([f"{last}:0"], feeds_of(document))
    assert np.isfinite(values[0]).all()


@pytest.mark.parametrize("name", [b.name for b in BLOCKS])
def test_twice_is_two_scopes(name: str) -> None:
    once, first = add_block(Document(), name, (0.0, 0.0))
    twice, second = add_block(once, name, (0.0, 200.0))
    assert (first, second) == (name, f"{name}_1")
    assert len(list(twice.graph)) == 2 * len(list(once.graph))


def test_it_reads_what_it_is_given_in_a_graph_that_need_not_be_sound() -> None:
    x = Operation("x", "Placeholder", attrs={"dtype": DType.FLOAT64, "shape": Shape.of(3)})
    open_ended = Operation("later", "Neg", (None,))
    types = {TensorRef("x"): TensorType(DType.FLOAT64, Shape.of(3))}
    made = expand(Graph.of([x, open_ended]), find_block("clip_by_value"), [x.output()], types)
    session = Session(Graph.of(op for op in made.graph if op.name != "later"))
    (y,) = session.run([f"{made.operations[-1]}:0"], {"x:0": np.array([-2, 0.5, 9.0])})
    np.testing.assert_array_equal(y, [-1, 0.5, 1])
    assert y.dtype == np.float64


def test_settings_are_taken() -> None:
    at = {"clip_value_min": 0.0, "clip_value_max": 0.25}
    document, _ = add_block(Document(), "clip_by_value", (0, 0), settings=at)
    last = document.graph.order[-1]
    (y,) = Session(document.graph).run([f"{last}:0"], feeds_of(document))
    assert y.max() == 0.25


def test_an_unknown_block_is_refused_with_what_there_is() -> None:
    with pytest.raises(GradstepError, match="no block 'clip_by_valeu'") as caught:
        add_block(Document(), "clip_by_valeu", (0, 0))
    assert "clip_by_value" in caught.value.hint
