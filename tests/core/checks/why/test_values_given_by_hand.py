"""Why a value is as it is that somebody gave, or that is made of one: who gave it is to blame, and
not the operation that made another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gradstep
from gradstep.core.document.document import Document
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.native.gradstep_file import save
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder

EXAMPLES = Path(__file__).parents[4] / "assets" / "examples"
NAN = float("nan")
BY_HAND = "it was given it between two steps."


@pytest.fixture
def tutorial() -> gradstep.Debugger:
    debugger = gradstep.debug(EXAMPLES / "tutorial.gradstep")
    debugger.run_to("a")
    debugger.step()
    return debugger


@pytest.fixture
def in_loop() -> gradstep.Debugger:
    """Behind the product in the first of three iterations, of a power and its gradient."""
    debugger = gradstep.open(EXAMPLES / "while_loop.gradstep").debug("y", "x")
    debugger.run_to("while/While")
    debugger.step_into()
    while debugger.stop.node != "while/NextIteration_1":
        debugger.step_into()
    return debugger


def test_a_tensor_that_was_given_is_where_it_begins(tutorial: gradstep.Debugger) -> None:
    tutorial.inject("a", [1.0, NAN])
    assert str(tutorial.why("a")).startswith(f"a is NaN: a holds NaN at index [1]: {BY_HAND}")
    tutorial.continue_()
    found = tutorial.why("loss")
    assert (found.state, found.cause, found.node, found.index) == ("nan", "changed", "a", (1,))


def test_of_an_element_that_was_not_given_the_operation_is_to_blame(tmp_path: Path) -> None:
    b = GraphBuilder()
    with b.as_default():
        x = tf.constant([-1.0, 4.0, 9.0])
        tf.identity(tf.sqrt(x, name="root"), name="y")
    save(tmp_path / "root.gradstep", Document(graph=b.build(), fetches=(TensorRef("y"),)))
    debugger = gradstep.debug(tmp_path / "root.gradstep")
    debugger.run_to("y")
    debugger.inject("root", 7.0, at="[1]")
    debugger.continue_()
    assert debugger["y"].tolist()[1:] == [7.0, 3.0]
    found = debugger.why("y")
    assert (found.node, found.index) == ("root", (0,))
    assert "root (Sqrt) makes the first NaN at index [0]" in found.text


def test_a_zero_that_was_given_is_not_followed_further(tutorial: gradstep.Debugger) -> None:
    tutorial.inject("a", [0.0, 0.0])
    found = tutorial.why("a")
    assert (found.state, found.cause, found.node) == ("zero", "changed", "a")
    assert found.text.startswith(f"a is zero: a holds 0 at index [0]: {BY_HAND}")


def test_what_was_given_in_a_loop_is_told_with_its_iteration(in_loop: gradstep.Debugger) -> None:
    in_loop.inject("while/Mul", NAN)
    in_loop.continue_()
    assert np.isnan(in_loop["y"])
    where = "while/Mul holds NaN, in iteration 1 of while/While"
    for question in (("y",), ("while/Mul",), ("y", "x")):
        assert f"{where}: {BY_HAND}" in in_loop.why(*question).text, question


def test_amid_the_loop_no_other_value_than_the_shown_one_is_explained(
    in_loop: gradstep.Debugger,
) -> None:
    in_loop.inject("while/Mul", NAN)
    found = in_loop.why("while/Mul")
    assert (found.state, found.cause) == ("nan", "changed")
    assert "Step out of the loop, and ask again." in found.text
    assert in_loop.why("while/Identity_1").state == "ok", "that came before"
    in_loop.step()
    in_loop.step()
    assert in_loop["while/Mul"] is None
    found = in_loop.why("while/Mul")
    assert (found.state, found.cause) == ("none", "waiting")


@pytest.mark.parametrize(("value", "state"), [(0.0, "zero"), (NAN, "nan")])
def test_so_it_is_of_what_comes_back(tutorial: gradstep.Debugger, value: float, state: str) -> None:
    gradient = "gradients/a_grad/Mul"
    while tutorial[gradient] is None:
        tutorial.step_into()
    tutorial.inject(gradient, [value, value])
    tutorial.continue_()
    found = tutorial.why("loss", "d")
    assert (found.state, found.cause) == (state, "changed")
    assert "was given it between two steps" in found.text
    assert tutorial.why("loss", "e").state == "ok"
