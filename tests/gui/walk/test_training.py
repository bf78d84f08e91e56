"""Training by hand: two gestures for 200 steps, a pause, a click on a curve, a copy."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtWidgets import QWidget

from gradstep.core.document.request_edits import toggle_stop
from gradstep.core.graph.model import Edge

pytestmark = pytest.mark.xvfb


@pytest.fixture
def digits(user, examples):
    user.open(examples / "softmax_digits.gradstep")
    return user


def trained(user) -> None:
    user.wait(lambda: not user.workspace.training.busy, "training to end")
    user.settle()


def loss(user) -> np.ndarray:
    return user.workspace.training.curves[0].points.numbers


def point_on(user, step: int):
    """Where a step is on the first plot, on the screen's widget."""
    plot = user.window.findChild(QWidget, "training.plot")
    view = next(iter(plot._plots.values())).item.vb
    low, high = view.viewRange()[1]
    scene = view.mapViewToScene(QPointF(step + 1, (low + high) / 2))
    return plot._box.viewport(), plot._box.mapFromScene(scene)


def test_200_steps_are_two_gestures_and_any_of_them_one_more(digits) -> None:
    user = digits
    user.key("Ctrl+F5")
    trained(user)
    assert len(loss(user)) == 200
    assert user.workspace.stop.run == 199
    assert user.workspace.stop.op == ""
    assert user.value("loss:0") == np.float32(loss(user)[-1])
    user.click_at(*point_on(user, 120))
    user.settle()
    assert abs(user.workspace.stop.run - 120) <= 1, "within a pixel"
    run = user.workspace.stop.run
    assert user.value("loss:0") == np.float32(loss(user)[run])
    user.key("Shift+F10")
    assert user.workspace.stop.run == run
    assert user.workspace.stop.phase == "update"


def begin(user, steps: int) -> None:
    """Start it, and wait until there are points."""
    training = user.workspace.training
    training.steps = steps
    user.press("Ctrl+F5")
    user.wait(lambda: training.busy and training.made > 0, "the first points")


def test_a_pause_is_at_the_end_of_a_step_and_an_edit_pauses(digits) -> None:
    user, training = digits, digits.workspace.training
    begin(user, 10**8)
    assert user.text("training.train") == "Pause"
    user.press("F6")
    trained(user)
    stop = user.workspace.stop
    assert (stop.reason, stop.op) == ("pause", "")
    assert stop.run == len(loss(user)) - 1
    assert user.value("loss:0") == np.float32(loss(user)[-1])

    assert user.gradient("softmax/bias:0") is not None
    begin(user, 10**8)
    document = user.workspace.document
    user.workspace.edit("stop", toggle_stop(document, Edge("softmax/logits", 1)))
    trained(user)
    assert user.gradient("softmax/bias:0") is None
    assert training.last == -1, "what was drawn is of before the edit"
    (before,) = training.earlier
    assert user.workspace.stop.run == before.last, "at the same step of what it is now"


def test_a_click_while_it_trains_pauses_and_goes_there(digits) -> None:
    user, training = digits, digits.workspace.training
    begin(user, 10**8)
    user.wait(lambda: training.last > 100, "a middle that is not the first step")
    user.click_at(*point_on(user, training.last // 2))
    trained(user)
    stop = user.workspace.stop
    assert 0 < stop.run < training.last
    assert user.value("loss:0") == np.float32(loss(user)[stop.run])


def test_a_click_says_what_made_the_step_different_and_what_it_is_without_a_row(
    user, examples
) -> None:
    user.open(examples / "digits_in_batches.gradstep")
    user.workspace.training.by_epochs = False
    user.key("Ctrl+F5")
    trained(user)
    user.click_at(*point_on(user, 120))
    clicked = user.workspace.clicked
    user.wait(lambda: clicked.weighed is not None, "the rows to be looked at")
    user.settle()
    run = user.workspace.stop.run
    assert clicked.step == clicked.compared.run == run
    assert abs(clicked.compared.loss.here - loss(user)[run]) < 1e-6
    assert clicked.weighed.adds_up
    assert clicked.weighed.size == 32
    user.click("training.step.leave_out")
    user.wait(lambda: clicked.left is not None, "the step without that row")
    assert clicked.left.real.loss == loss(user)[run]
    assert clicked.left.without.loss < clicked.left.real.loss
    user.click("training.step.see")
    user.settle()
    table = user.window.findChild(QWidget, "data.rows")
    (row,) = table.selectionModel().selectedRows()
    assert row.row() == clicked.weighed.rows[0].place
    assert user.workspace.stop.run == run


def test_histograms_are_bands_on_which_a_click_stands_at_a_step(digits) -> None:
    user, training = digits, digits.workspace.training
    user.menu("Run", "Train")
    trained(user)
    for kind in ("variable", "gradient"):
        user.click("training.follow")
        user.pick(f"Histogram of each {kind}")
    user.key("Ctrl+F5")
    trained(user)
    spread = user.window.findChild(QWidget, "training.histograms")
    assert spread.isVisible()
    bands = training.histograms.followed
    assert [band.title for band in bands][::2] == ["softmax/weights", "∂ softmax/weights"]
    assert all(band.points.steps.tolist() == [*range(200, 400)] for band in bands)
    user.take_picture("histograms")
    body = spread.body
    user.click_at(spread, QPoint(body.x() + body.width() // 4, body.y() + 10))
    user.settle()
    assert abs(user.workspace.stop.run - 250) <= 1, "within a pixel"
    row = bands[0].points.rows[user.workspace.stop.run - 200]
    assert row[0] < 0 < row[1]
    assert row[3:].sum() == 640
