"""The NaN of step 137: from the alert to the row, a fix that is tried, taken, and trained with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.model import Constant
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder

pytestmark = pytest.mark.xvfb
ZERO = Constant(np.float32(0))
BATCH, STEPS, RUN, BAD = 8, 200, 137, 1090  # the row is the third of that run's batch


def write_flats(path: Path) -> None:
    """Rents of flats by their area; in one row somebody wrote -1 for what was not known."""
    rng = np.random.default_rng(3)
    area = rng.uniform(25, 140, BATCH * STEPS)
    rent = 90 * np.log(area) + rng.normal(0, 6, BATCH * STEPS)
    area[BAD] = -1
    lines = [f"{a:.1f},{r / 100:.2f}" for a, r in zip(area, rent, strict=True)]
    path.write_text("\n".join(["area,rent", *lines]) + "\n")


def document(table: Path) -> Document:
    builder = GraphBuilder()
    with builder.as_default():
        area = builder.placeholder("area", shape=[None])
        rent = builder.placeholder("rent", shape=[None])
        with builder.scope("model"):
            slope = builder.variable("slope", shape=[])
            offset = builder.variable("offset", shape=[])
            size = tf.log(area, name="size")
            guess = tf.add(tf.multiply(size, slope, name="scaled"), offset, name="guess")
        tf.reduce_mean(tf.squared_difference(guess, rent, name="squared"), name="loss")
    columns = {f"{name}:0": f"@{table.as_posix()}:{name}" for name in ("area", "rent")}
    return Document(
        builder.build(),
        request=GradientRequest.to("loss", "model/slope", "model/offset"),
        initial={"model/slope": ZERO, "model/offset": ZERO},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.02}),),
        data=Dataset(columns, BATCH),
    )


def train(user) -> None:
    user.key("Ctrl+F5")
    user.wait(lambda: not user.workspace.training.busy, "training to end")
    user.settle()


def take_by_menu(user) -> None:
    """The menu of the branch that is shown, by the right button."""
    tree = user.find("timeline.branches")
    user.click_at(tree, QPoint(40, 38), button=Qt.MouseButton.RightButton)
    user.pick("Make its edits in the document")


def open_and_train(user, folder: Path) -> None:
    table, path = folder / "flats.csv", folder / "rents.gradstep"
    write_flats(table)
    gradstep_file.save(path, document(table))
    user.open(path)
    train(user)
    user.wait(lambda: user.workspace.clicked.weighed is not None, "the rows")
    user.settle()


def see_the_row(user) -> None:
    """What the alert says, and the row of that run, which is looked for unasked."""
    assert user.text("training.said") == f"Stopped after {RUN} steps: loss is NaN"
    assert user.find("training.step.card").accessibleName() == f"Row {BAD:,} is not finite"
    user.take_picture("nan-137-alert")
    user.click("training.step.see")
    assert [str(BAD), "-1"] == [cell.replace(",", "") for cell in marked_row(user)[:2]]
    user.take_picture("nan-137-row")


def marked_row(user) -> list[str]:
    table = user.find("data.rows")
    return user.table("data.rows")[table.currentIndex().row()]


def check_the_trial(user) -> None:
    """A fix, with what comes of loss and gradient."""
    user.wait(lambda: None not in user.workspace.repairs.found, "the trials")
    user.settle()
    (tried,) = user.workspace.repairs.found
    rows = {row.what: (row.before, row.after) for row in tried.rows}
    assert rows["NaN or infinite in model/size"] == ("1 of 8", "0 of 8")
    assert rows["NaN or infinite"] == ("2 of 2", "0 of 2")
    assert rows["loss"][0] == "NaN"
    assert float(rows["loss"][1]) > 1, "a flat of -1 m² is no flat, whatever its logarithm"
    assert tried.mends
    user.take_picture("nan-137-tried")


def check_trained(user) -> None:
    """Without NaN, on to the last row."""
    training = user.workspace.training
    assert (training.made, training.ended) == (STEPS, "")
    assert len(training.curves[0].points.numbers) >= STEPS
    assert np.isfinite(training.curves[0].points.numbers[-STEPS:]).all()
    assert not user.sees("training.why")


def test_from_the_alert_to_the_row_and_to_a_training_without_nan(user, tmp_path) -> None:
    open_and_train(user, tmp_path)
    see_the_row(user)
    user.show_tab("Training")
    user.click("training.why")
    assert user.text("banner.message.text").startswith(
        "loss is NaN: model/size (Log) makes the first NaN at index [2], from area = -1"
    )
    user.take_picture("nan-137-why")
    user.click("banner.message.first")
    stop = user.workspace.stop
    assert (stop.run, user.workspace.selection) == (RUN - 1, ("model/size",))
    user.take_picture("nan-137-node")

    user.click("inspector.why_value.try")
    check_the_trial(user)
    before = user.workspace.document
    user.click("repairs_dialog.branch.0")
    user.key("F5")
    user.show_tab("Timeline")
    assert user.workspace.document is before, "nothing is edited"
    assert np.isfinite(user.value("loss"))
    assert np.isfinite(user.gradient("model/slope"))
    user.take_picture("nan-137-branch")

    take_by_menu(user)
    assert [str(ref) for ref in user.workspace.document.graph["model/size"].inputs] == [
        "model/size_bounded:0"
    ]
    assert "model/size_bounded_1" not in user.workspace.shown, "it is made once"
    assert "model" in [frame.title for frame in user.canvas.arrays.frames], "it keeps its frame"
    user.menu("Run", "Restart")
    train(user)
    check_trained(user)
    user.take_picture("nan-137-trained")
