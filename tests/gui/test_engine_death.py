"""The engine process may die, or hang: the window lives, and one click brings the session back."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QWidget

from gradstep.core.document import document_edits
from gradstep.core.document.document import CodeItem, CodeKind
from gradstep.core.io.native import gradstep_file
from gradstep.gui import commands
from gradstep.gui.automation.driver import Driver


def place(driver: Driver) -> tuple[int, int, list[float]]:
    stop, value = driver.workspace.stop, driver.workspace.value("d")
    assert stop is not None
    assert value is not None
    return stop.run, stop.step, value.head.tolist()


def kill(driver: Driver) -> None:
    driver.workspace.bridge.kill()
    driver.wait(lambda: driver.workspace.engine_state == "dead", "the engine to die")


@pytest.mark.slow
def test_one_click_comes_back_to_the_same_step_with_the_same_values(tutorial: Driver) -> None:
    for _ in range(9):
        tutorial.key("F10")
    before = place(tutorial)
    pid = tutorial.workspace.bridge.pid
    kill(tutorial)
    assert tutorial.window.banners.engine.isVisible()
    step = tutorial.window.actions_["run.step"]
    tutorial.wait(lambda: not step.isEnabled(), "Step to be impossible")
    tutorial.click("banner.engine.restart")
    tutorial.settle()
    assert tutorial.workspace.bridge.pid != pid
    assert not tutorial.window.banners.engine.isVisible()
    assert place(tutorial) == before
    tutorial.key("F10")
    assert tutorial.workspace.stop is not None
    assert tutorial.workspace.stop.step > before[1]


@pytest.mark.slow
def test_the_second_run_comes_back_too(tutorial: Driver) -> None:
    tutorial.key("F5")
    for _ in range(4):
        tutorial.key("F10")
    before = place(tutorial)
    assert before[0] == 1
    kill(tutorial)
    tutorial.click("banner.engine.restart")
    tutorial.settle()
    assert place(tutorial) == before


@pytest.mark.slow
def test_edits_made_meanwhile_reach_the_new_engine(tutorial: Driver) -> None:
    for _ in range(3):
        tutorial.key("F10")
    kill(tutorial)
    commands.set_feed(tutorial.workspace, "data:0", np.array([5.0, 6.0], np.float32))
    commands.toggle_breakpoint(tutorial.workspace, "loss")
    time.sleep(0.2)
    tutorial.click("banner.engine.restart")
    tutorial.settle()
    value = tutorial.workspace.value("data")
    assert value is not None
    assert value.head.tolist() == [5.0, 6.0]
    tutorial.key("F5")
    assert tutorial.workspace.stop is not None
    assert tutorial.workspace.stop.node == "loss"


@pytest.mark.slow
def test_saving_works_without_an_engine(tutorial: Driver, tmp_path: Path) -> None:
    kill(tutorial)
    tutorial.workspace.path = tmp_path / "x.gradstep"
    assert tutorial.window.files.save()
    assert len(gradstep_file.load(tmp_path / "x.gradstep").graph) == 8


@pytest.mark.slow
def test_the_window_lives_while_a_function_sleeps(driver: Driver, examples: Path) -> None:
    document = gradstep_file.load(examples / "override_add.gradstep")
    sleeps = "import time\ndef forward(c, k, d):\n    time.sleep(20)\n    return c + k\n"
    name = str(document.graph["e"].attrs["token"])
    driver.workspace.open_document(
        document_edits.set_code(document, CodeItem(name, CodeKind.PYFUNC, sleeps))
    )
    driver.workspace.trust()
    driver.settle()
    driver.workspace.control("continue_")
    driver.wait(lambda: driver.workspace.engine_state == "busy", "the function to run")
    driver.wait(driver.window.actions_["run.pause"].isEnabled, "Pause to be possible")
    slow = driver.window.banners.engine
    driver.wait(slow.isVisible, "the way out to be shown")
    assert "restarting the engine" in slow.label.text()
    started = time.monotonic()
    commands.add_node(driver.workspace, "Tanh", (0.0, 0.0), "t")
    driver.workspace.select(["t"])
    driver.window.grab()
    assert time.monotonic() - started < 2
    driver.window.actions_.run("edit.undo")
    driver.window.actions_.run("run.restart_engine")
    driver.settle()
    assert time.monotonic() - started < 15
    assert driver.workspace.engine_state == "ready"
    assert not slow.isVisible()


@pytest.mark.slow
def test_values_of_an_engine_that_is_gone_are_not_offered_to_be_kept(tutorial: Driver) -> None:
    tutorial.window.actions_.run("run.train")
    tutorial.window.docks.show("training")
    tutorial.settle()
    keep = tutorial.window.findChild(QWidget, "training.keep")
    assert keep is not None
    assert keep.isVisible()
    kill(tutorial)
    tutorial.settle()
    assert not keep.isVisible()
    tutorial.click("banner.engine.restart")
    tutorial.settle()
    assert keep.isVisible()
