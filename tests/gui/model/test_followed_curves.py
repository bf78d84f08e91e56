"""Curves of a training elsewhere, whatever numbers its steps have."""

from __future__ import annotations

from gradstep.core.capture.training_lines import MOST_STEP, TrainedStep
from gradstep.gui.model.curve_points import MOST
from gradstep.gui.model.followed_curves import FollowedCurves


def test_steps_far_apart_take_no_memory() -> None:
    curves = FollowedCurves()
    curves.take([TrainedStep(1 + (n << 20), float(n)) for n in range(4000)])
    curves.take([TrainedStep(MOST_STEP, 7.0, {"w": 1.0})])
    loss, gradient = curves.drawn
    assert loss.points.at(MOST_STEP - 1) == 7.0
    assert gradient.points.at(MOST_STEP - 1) == 1.0
    assert len(loss.points) <= MOST


def test_steps_that_were_left_out_are_not_there() -> None:
    curves = FollowedCurves()
    curves.take([TrainedStep(3, 1.0), TrainedStep(6, 4.0)])
    (loss,) = curves.drawn
    assert loss.points.steps.tolist() == [2, 3, 4, 5]
    assert [loss.points.at(step) for step in (2, 5)] == [1.0, 4.0]
