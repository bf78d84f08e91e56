"""The window with its engine on another machine: led there, told where it is, and brought back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication, QLabel

from gradstep.core.document import document_edits
from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.remote_engine import read_address
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program import sandbox
from gradstep.core.protocol.messages import FileWanted
from gradstep.gui.app import engine_at
from gradstep.gui.automation.driver import Driver
from gradstep.gui.dialogs.engine_dialog import THIS, EngineDialog
from gradstep.gui.dialogs.trust_dialog import TrustDialog
from gradstep.gui.frame.main_window import MainWindow
from gradstep.gui.model.settings import settings
from tests.support.forked_engine import Server, fork_engines
from tests.support.ssh_stand_in import OtherMachine

pytestmark = pytest.mark.slow


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OtherMachine:
    return OtherMachine(tmp_path / "elsewhere", monkeypatch)


@pytest.fixture
def forking_machine(
    machine: OtherMachine, engine_server: Server, monkeypatch: pytest.MonkeyPatch
) -> OtherMachine:
    """One whose engine is forked, and not started through `ssh`: for what is not about that."""
    argv = read_address(machine.address).argv
    fork_engines(engine_server, monkeypatch, argv, machine.home)
    return machine


def dialog_of(driver: Driver) -> EngineDialog:
    driver.window.actions_.run("run.engine")
    driver.settle()
    [dialog] = [each for each in driver.window.findChildren(EngineDialog) if each.isVisible()]
    return dialog


def choose(driver: Driver, where: str) -> str:
    """Type it and press the button; what is wrong."""
    dialog = dialog_of(driver)
    dialog.where.setCurrentText(where)
    dialog.finish()
    wrong = dialog._wrong.text()
    if wrong:
        dialog.reject()
    driver.settle()
    return wrong


def place(driver: Driver) -> tuple[int, int, list[float]]:
    stop, value = driver.workspace.stop, driver.workspace.value("d")
    assert stop is not None
    assert value is not None
    return stop.run, stop.step, value.head.tolist()


def test_the_debugger_goes_on_there_at_the_same_step_and_comes_back(
    tutorial: Driver, machine: OtherMachine
) -> None:
    for _ in range(9):
        tutorial.key("F10")
    before = place(tutorial)
    assert choose(tutorial, machine.address) == ""
    bar = tutorial.window.status
    assert tutorial.workspace.engine_state == "ready"
    assert len(machine.said) == 1
    assert place(tutorial) == before
    assert bar.device.text() == "CPU (NumPy) on box"
    tutorial.key("F10")
    assert place(tutorial)[1] > before[1]
    assert settings().engine == machine.address
    assert choose(tutorial, THIS) == ""
    assert bar.device.text() == "CPU (NumPy)"
    assert settings().engine == ""
    assert settings().engines == [machine.address]
    assert dialog_of(tutorial).where.itemText(1) == machine.address


def test_a_window_beside_begins_there_too(tutorial: Driver, forking_machine: OtherMachine) -> None:
    choose(tutorial, forking_machine.address)
    tutorial.window.actions_.run("file.new_window")
    tutorial.settle()
    beside = [w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow)]
    assert len(beside) == 2
    assert [each.workspace.bridge.machine for each in beside] == ["box", "box"]
    for each in beside:
        if each is not tutorial.window:
            each.close()
    tutorial.settle()


def test_a_lost_connection_is_said_and_one_click_comes_back(
    tutorial: Driver, machine: OtherMachine
) -> None:
    choose(tutorial, machine.address)
    for _ in range(3):
        tutorial.key("F10")
    before = tutorial.workspace.stop
    machine.cut()
    tutorial.wait(lambda: tutorial.workspace.engine_state == "dead", "the connection to go")
    banner = tutorial.window.banners.engine
    assert banner.label.text() == (
        "The connection to box was lost: Timeout, server box not responding. "
        "Restarting comes back to the same step. Nothing in the document is lost."
    )
    machine.mend()
    tutorial.click("banner.engine.restart")
    tutorial.settle()
    assert not banner.isVisible()
    after = tutorial.workspace.stop
    assert before is not None
    assert after is not None
    assert (after.run, after.step) == (before.run, before.step)


def test_a_host_that_cannot_be_reached_leaves_a_way_back(
    tutorial: Driver, machine: OtherMachine
) -> None:
    assert choose(tutorial, "ssh://unreachable") == ""
    tutorial.wait(lambda: tutorial.workspace.engine_state == "dead", "ssh to give up")
    banner = tutorial.window.banners.engine
    assert banner.label.text().startswith("unreachable cannot be reached: ssh: connect to host")
    tutorial.click("banner.engine.where")
    tutorial.settle()
    [dialog] = [each for each in tutorial.window.findChildren(EngineDialog) if each.isVisible()]
    assert dialog.where.currentText() == "ssh://unreachable"
    dialog.where.setCurrentText(THIS)
    dialog.finish()
    tutorial.settle()
    assert tutorial.workspace.engine_state == "ready"
    tutorial.key("F10")
    assert tutorial.workspace.stop is not None
    assert tutorial.workspace.stop.step > 0


def test_a_window_whose_engine_cannot_be_reached_shows_a_document_all_the_same(
    driver: Driver, forking_machine: OtherMachine, examples: Path
) -> None:
    choose(driver, "ssh://unreachable")
    driver.wait(lambda: driver.workspace.engine_state == "dead", "ssh to give up")
    driver.workspace.open_document(gradstep_file.load(examples / "tutorial.gradstep"))
    driver.wait(driver.window.banners.engine.isVisible, "the banner")
    assert "loss" in driver.workspace.document.graph
    assert driver.window.status.state.text() == "Engine stopped"
    choose(driver, forking_machine.address)
    driver.key("F10")
    assert driver.workspace.stop is not None
    assert driver.workspace.stop.step > 0


@pytest.mark.skipif(bool(sandbox.why_not()), reason=sandbox.why_not())
def test_python_runs_there_as_it_was_allowed(
    driver: Driver, forking_machine: OtherMachine, examples: Path
) -> None:
    """It is said where; the sandbox is that of the other machine."""
    choose(driver, forking_machine.address)
    document = gradstep_file.load(examples / "override_add.gradstep")
    for item in document.code.values():
        changed = replace(item, source=item.source + "# from afar\n")
        document = document_edits.set_code(document, changed)
    driver.workspace.open_document(document)
    driver.settle()
    driver.click("banner.restricted.review")
    [dialog] = driver.window.findChildren(TrustDialog)
    said = " ".join(label.text() for label in dialog.findChildren(QLabel))
    assert "whatever you can on box, where the engine runs" in said
    driver.click("trust_dialog.apply")
    driver.key("F5")
    assert forking_machine.said[-1][-1] == "--sandbox"
    assert driver.workspace.stop is not None
    assert driver.workspace.stop.reason == "end"


def test_what_is_no_address_is_said_in_the_dialog(tutorial: Driver, machine: OtherMachine) -> None:
    assert "no name of a host" in choose(tutorial, "ssh://-oProxyCommand=x")
    assert tutorial.workspace.bridge.machine == ""
    assert settings().engine == ""


def test_rows_of_a_file_here_feed_a_run_there(
    driver: Driver, forking_machine: OtherMachine, tmp_path: Path
) -> None:
    """The other machine has the same disk in this test, so what is asked of the window counts."""
    np.save(tmp_path / "rows.npy", np.array([[1, 2], [3, 4]], np.float32))
    graph = GraphBuilder()
    graph.one("Tanh", graph.placeholder("x", shape=(None, 2)), name="y")
    document = Document(graph.build(), fetches=(TensorRef("y", 0),))
    document = document.with_(data=Dataset({"x:0": f"@{tmp_path}/rows.npy"}, batch=1))
    choose(driver, forking_machine.address)
    lent: list[str] = []
    answer = driver.workspace.bridge._client.files.answer
    driver.workspace.bridge._client.files.answer = (  # type: ignore[method-assign]
        lambda wanted: (lent.append(wanted.place), answer(wanted))[1]
    )
    driver.workspace.open_document(document)
    driver.settle()
    driver.key("F5")
    assert {*lent} == {f"@{tmp_path}/rows.npy"}
    value = driver.workspace.value("x")
    assert value is not None
    assert value.head.tolist() == [1.0, 2.0]


def test_a_value_of_a_file_here_is_given_there(
    tutorial: Driver, forking_machine: OtherMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line names it from where the window runs; there is no such file where the engine does."""
    (tmp_path / "row.csv").write_text("3,4\n")
    np.save(tmp_path / "d.npy", np.array([10, 20], np.float32))
    monkeypatch.chdir(tmp_path)
    choose(tutorial, forking_machine.address)
    tutorial.key("F5")
    lines, said = tutorial.workspace.console, list[str]()
    lines.said.connect(lambda text, tone: said.append(text))
    for line in ("set c @row.csv | scale(2)", "inject d = @d.npy", "inject d = @none.npy"):
        lines.run(line)
        tutorial.wait(lambda: not lines.is_busy, "the line")
    assert said[1] == "c  float32[2] [6., 8.]"
    assert tutorial.workspace.value("d").head.tolist() == [10, 20]  # type: ignore[union-attr]
    assert said[-1].startswith("error: cannot open none.npy: there is no such file")
    files = tutorial.workspace.bridge._client.files
    later = files.answer(FileWanted(number=1, place="@d.npy", is_value=True))[0]
    assert later.error is not None  # the line is over
    assert "is not lent" in later.error.message


def test_the_settings_say_where_a_window_begins_unless_it_is_told() -> None:
    assert engine_at("") is None
    settings().engine = "ssh://gpubox"
    there = engine_at("")
    assert there is not None
    assert not isinstance(there, list)
    assert there == engine_at("ssh://gpubox")
    assert engine_at("here") is None
    settings().engine = "gpubox; rm -r x"
    assert engine_at("") is None
