"""Steps that are too long for the curvature: said where each goes up, on the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.diagnosing import drawn, findings

CURVATURES = np.array([4.0, 1.0], np.float32)
CODE = "overshooting-step"


def bowl(
    rate: float, optimizer: str = "GradientDescent", noisy: bool = False, **more: float
) -> Document:
    """loss = sum(curvature / 2 · w²) from [1, 1]: descends with rates below 2 / 4."""

    def draw(b: GraphBuilder) -> None:
        w = b.variable("w", shape=[2])
        bend = b.placeholder("bend", shape=[2])
        if noisy:
            with b.as_default():
                bend = bend * tf.random_uniform([2], minval=0.9, maxval=1.1, seed=1)
        tf.reduce_sum(tf.multiply(bend, tf.square(w)) * 0.5, name="loss")

    return drawn(
        draw,
        "loss",
        ["w"],
        initial={"w": [1.0, 1.0]},
        feeds={"bend": CURVATURES},
        optimizers=(Optimizer(optimizer, {"learning_rate": rate, **more}),),
    )


def test_it_says_how_far_the_steps_go_and_how_short_they_would_have_to_be() -> None:
    (found,) = findings(bowl(0.6), CODE, runs=4)
    assert found.node == "w"
    # w[0] is multiplied by 1 - 0.6 · 4 = -1.4 in each run, w[1] by 0.4.
    assert "the last 3 steps of w overshoot" in found.text
    assert "loss went from 7.696 to 15.06" in found.text  # 2 · 1.4⁴ + 0.4⁴ / 2, 2 · 1.4⁶ + …
    assert "steps of 0.8 of that length" in found.fix  # 2 / 2.4


@given(st.floats(0.02, 1.5))
def test_it_is_said_of_rates_beyond_two_by_the_curvature(rate: float) -> None:
    if abs(rate - 0.5) > 0.05:  # near it the other direction decides, which still descends
        assert bool(findings(bowl(rate), CODE, runs=6)) == (rate > 0.5)


def test_one_step_is_too_few() -> None:
    assert not findings(bowl(0.6), CODE, runs=2)
    assert findings(bowl(0.6), CODE, runs=3)


def test_of_other_numbers_it_says_nothing() -> None:
    assert not findings(bowl(0.6, noisy=True), CODE, runs=4)


@pytest.mark.parametrize(("rate", "is_said"), [(0.4, False), (0.6, True)])
def test_it_is_asked_of_whatever_moves_the_variable(rate: float, is_said: bool) -> None:
    document = bowl(rate, "Momentum", momentum=0.0)
    assert bool(findings(document, CODE, runs=3)) == is_said


def test_a_loss_that_is_no_number_any_more_is_another_matter() -> None:
    assert not findings(bowl(1e30), CODE, runs=4)
