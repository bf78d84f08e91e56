"""The gradient of a picture or a matrix beside it, element by element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.gui.canvas.paint.picture_cards import images
from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel


def document(*shape: int) -> Document:
    """loss = sum(x * weights), so that the gradient is the weights: -1, 0 or 1."""
    builder, random = GraphBuilder(), np.random.default_rng(1)
    weights = random.integers(-1, 2, shape).astype(np.float32)
    with builder.as_default():
        x = builder.placeholder("x", shape=shape)
        loss = tf.reduce_sum(x * weights)
    feeds = {"x:0": Constant(random.uniform(size=shape).astype(np.float32))}
    request = GradientRequest(of=(loss.ref,), wrt=(x.ref,))
    return Document(graph=builder.build(), request=request, feeds=feeds)


def opened(bench: Any, show: Callable[..., Any], given: Document) -> Any:
    bench.space.open_document(given)
    bench.space.debugger.flush()
    bench.space.select(["x"])
    panel = show(InspectorPanel(bench.space), 340, 1600)
    bench.run("continue_")
    panel.refresh()
    return panel


def test_a_matrix_stands_beside_its_gradient(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, document(6, 5))
    qtbot.waitUntil(lambda: panel.saliency.isVisible())
    value, gradient = panel.saliency.pairs._pair
    weights = panel.workspace.document.graph
    assert value.values.shape == gradient.values.shape == (1, 6, 5)
    assert (gradient.least, gradient.most) == (-1, 1)
    assert "Mul" in {op.type for op in weights}
    assert panel.saliency.pairs.count == 1
    assert panel.saliency.header.remark.text() == "x, and its gradient"
    known = bench.space.gradient("x:0").array
    assert np.array_equal(gradient.values[0], known)


def test_of_a_batch_of_images_the_first_few_are_shown(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, document(9, 8, 8, 1))
    qtbot.waitUntil(lambda: panel.saliency.isVisible())
    pairs = panel.saliency.pairs
    assert pairs.count == 4
    assert [len(images(picture, bench.space.theme)) for picture in pairs._pair] == [8, 8]
    assert pairs._area(3, 1).bottom() <= pairs.height()
    assert pairs._area(0, 1).left() > pairs._area(0, 0).right()
    pairs.grab()


def test_where_there_is_no_gradient_or_no_picture_nothing_is_shown(
    bench: Any, show: Callable[..., Any]
) -> None:
    given = document(6, 5)
    panel = opened(bench, show, replace(given, request=GradientRequest()))
    assert not panel.saliency.isVisible()
    bench.space.open_document(document(3))
    bench.space.debugger.flush()
    bench.space.select(["x"])
    bench.run("continue_")
    panel.refresh()
    assert not panel.saliency.isVisible(), "three numbers say it as well"
