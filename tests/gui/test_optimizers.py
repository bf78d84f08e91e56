"""The dialog of optimizers: several, each with its kind, rate and variables, as one edit."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from gradstep.core.document.document import Optimizer
from gradstep.core.graph.model import TensorRef
from gradstep.gui import commands
from gradstep.gui.automation.driver import Driver
from gradstep.gui.dialogs.optimizers_dialog import OptimizersDialog


def typed(dialog: OptimizersDialog, name: str, text: str) -> None:
    field = {**dialog.form.fields, **dialog.form.hyper}[name]
    field.clear()
    QTest.keyClicks(field, text)


@pytest.mark.slow
def test_add_edit_remove_and_undo(tutorial: Driver) -> None:
    space = tutorial.workspace
    before = space.document.optimizers
    tutorial.window.views.run("optimizers", "")
    (dialog,) = tutorial.window.findChildren(OptimizersDialog)
    typed(dialog, "wrt", "c")
    tutorial.click("optimizers_dialog.add")
    form = dialog.form
    form.type.setCurrentText("Momentum")
    form.type.activated.emit(form.type.currentIndex())
    assert form.hyper["learning_rate"].text() == "0.001"  # of the Adam that it was
    assert form.hyper["momentum"].text() == "0.9"
    form.hyper["use_nesterov"].click()
    typed(dialog, "wrt", "k")
    typed(dialog, "scales", "k=0.5")
    typed(dialog, "learning_rate", "fast")
    dialog.finish()
    assert dialog.isVisible()
    assert space.document.optimizers == before
    typed(dialog, "learning_rate", "0.1")
    dialog.finish()
    momentum = {"learning_rate": 0.1, "momentum": 0.9, "use_nesterov": 1.0}
    first, second = space.document.optimizers
    assert (first.type, first.wrt) == ("Adam", (TensorRef("c"),))
    assert second == Optimizer("Momentum", momentum, (), (TensorRef("k"),), {"k": 0.5})
    tutorial.settle()
    assert space.program is not None
    assert set(space.program.slots) == {"c", "k"}
    tutorial.window.views.run("optimizers", "")
    (again,) = [d for d in tutorial.window.findChildren(OptimizersDialog) if d.isVisible()]
    tutorial.click("optimizers_dialog.remove")
    again.finish()
    assert space.document.optimizers == (second,)
    space.undo_stack.undo()
    space.undo_stack.undo()
    assert space.document.optimizers == before


@pytest.mark.slow
def test_schedule_clipping_and_decay_are_chosen_undone_and_said_to_be_wrong(
    tutorial: Driver,
) -> None:
    space = tutorial.workspace
    (before,) = space.document.optimizers
    tutorial.window.views.run("optimizers", "")
    (dialog,) = tutorial.window.findChildren(OptimizersDialog)
    typed(dialog, "schedule", "cosine_decay(0)")
    dialog.finish()
    assert dialog.isVisible()
    assert "decay_steps is above 0" in dialog._wrong.text()
    button = dialog.findChild(QToolButton, "optimizer.schedule.choices")
    row = next(r for r in button.menu().actions() if r.text().startswith("warmup(100) *"))
    row.trigger()
    typed(dialog, "clip", "global_norm(1)")
    typed(dialog, "decay", "decoupled(0.01)")
    dialog.finish()
    (bent,) = space.document.optimizers
    schedule = "warmup(100) * cosine_decay(decay_steps=10000)"
    assert (bent.schedule, bent.clip, bent.decay) == (schedule, "global_norm(1)", "decoupled(0.01)")
    tutorial.settle()
    assert not space.program.problems
    steps = {step.op: step.type for step in space.program.steps}
    assert steps["train"] == "AssignAdd", "it counts the step"
    assert "Cos" in steps.values()
    space.undo_stack.undo()
    assert space.document.optimizers == (before,)


@pytest.mark.slow
def test_settings_are_tried_on_a_branch(tutorial: Driver) -> None:
    space = tutorial.workspace
    tutorial.key("F5")
    tutorial.settle()
    before = space.document
    tutorial.window.views.run("optimizers", "")
    (dialog,) = tutorial.window.findChildren(OptimizersDialog)
    tutorial.click("optimizers_dialog.branch")
    assert dialog.isVisible()
    assert "Nothing was set" in dialog._wrong.text()
    typed(dialog, "wrt", "c")
    tutorial.click("optimizers_dialog.branch")
    assert dialog.isVisible()
    assert "its settings can be others" in dialog._wrong.text()
    typed(dialog, "wrt", "")
    typed(dialog, "learning_rate", "0.5")
    typed(dialog, "clip", "norm(1)")
    tutorial.click("optimizers_dialog.branch")
    assert tutorial.window.findChildren(OptimizersDialog) == []
    assert space.document is before
    (branch,) = [b for b in space.stop.branches if b.current]
    assert branch.edits == [("hyper", ["train", "learning_rate", "0.5", "clip", "norm(1)"])]
    assert branch.text == "train.learning_rate = 0.5, train.clip = norm(1)"
    commands.take_edits(space, branch.name)
    assert space.document.optimizers[0].hyper["learning_rate"] == 0.5
    assert space.document.optimizers[0].clip == "norm(1)"
