"""A training run that ends in NaN: seen, explained, and gone back to, with the mouse."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtTest import QTest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document, Optimizer, View
from gradstep.core.graph.model import Constant
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.controls import LEFT

pytestmark = pytest.mark.xvfb


def document() -> Document:
    """Descent on the sum of w log w, too fast: w is negative after the first run. The logarithm is
    in a closed scope."""
    builder = GraphBuilder()
    with builder.as_default():
        w = builder.variable("w", shape=[2])
        with builder.scope("net"):
            product = tf.multiply(tf.log(w, name="log"), w, name="product")
        tf.reduce_sum(product, name="loss")
    return Document(
        builder.build(),
        request=GradientRequest.to("loss", "w"),
        initial={"w": Constant(np.array([3, 1], np.float32))},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 2.0}),),
        view=View(collapsed=frozenset({"net"})),
    )


def click_link(user) -> None:
    panel = user.find("problems.list").parentWidget()
    while not hasattr(panel, "links"):
        panel = panel.parentWidget()
    place = panel.links(panel.model.index(0))[0].place.center()
    QTest.mouseClick(panel.list.viewport(), LEFT, pos=place)
    user.settle()


def rows(user) -> list[str]:
    return [row.text for row in user.find("problems.list").model().rows]


def test_nan_is_seen_explained_and_gone_back_to(user, tmp_path) -> None:
    path = tmp_path / "diverging.gradstep"
    gradstep_file.save(path, document())
    user.open(path)
    user.show_tab("Problems")
    for _ in range(4):
        user.key("F5")
    user.settle()
    (said,) = rows(user)
    assert said.startswith("NaN in w, there when run 4 began")
    user.take_picture("first-nan-problems")

    click_link(user)
    stop = user.workspace.stop
    assert (stop.run, stop.reason) == (1, "goto")
    assert user.workspace.selection == ("net/log",), "its scope was opened"
    assert np.isnan(user.value("net/log")).any()
    assert rows(user)[0].startswith("NaN in net/log, first at step")
    assert "problem: makes the first NaN of this run" in user.says("net/log")
    user.take_picture("first-nan-made")

    user.show_tab("Inspector")
    card = user.find("inspector.why_value.text")
    user.wait(lambda: "makes the first NaN at index [0], from w = -1.19" in card.text(), "why")
    user.take_picture("first-nan-why")

    for _ in range(6):
        user.key("F5")
    user.show_tab("Gradients")
    user.click("gradients.why.w")
    assert "in run 2: a negative number has no logarithm" in user.text("gradients.reason.w")
    assert "then wrote it to w" in user.text("gradients.reason.w")
    user.click("gradients.first.w")
    assert user.workspace.stop.run == 1

    user.key("F5")
    user.menu("Run", "Go to the first NaN or infinity")
    assert (user.workspace.stop.run, user.workspace.selection) == (1, ("net/log",))

    for _ in range(3):
        user.key("F5")
    user.menu("View", "Collapse every scope")
    assert user.workspace.document.view.collapsed == {"net"}
    user.select("loss")
    user.menu("Run", "Why this value?")
    assert not user.workspace.document.view.collapsed
    assert user.text("banner.message.text").startswith("loss is NaN: net/log (Log) makes the first")
    user.take_picture("first-nan-said")
    user.click("banner.message.first")
    assert (user.workspace.stop.run, user.workspace.selection) == (1, ("net/log",))
    user.menu("Run", "Why this value?")
    assert user.sees("banner.message.text")
    assert not user.sees("banner.message.first"), "one stands there already"
