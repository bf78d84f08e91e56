"""Following a training in the window: without a document, and on to the trace that it saved."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradstep.gui.automation.driver import Driver
from gradstep.gui.model import training_search
from tests.support.fake_training import FakeTraining, socket_folder, step

TRACE = Path(__file__).parents[2] / "data" / "traces" / "nan_at_137.gstrace"


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeTraining]:
    monkeypatch.setattr(training_search, "PATIENCE", 60_000)
    with tempfile.TemporaryDirectory(prefix="gs") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        monkeypatch.setattr(tempfile, "tempdir", runtime)
        made = FakeTraining(socket_folder(Path(runtime)), lines=[step(1, 2.0), step(2, 1.0)])
        yield made
        made.end()


@pytest.mark.slow
def test_it_needs_no_document_and_leads_to_one(driver: Driver, training: FakeTraining) -> None:
    window, followed = driver.window, driver.workspace.followed
    docks = window.docks.by_id
    layout = window.docks.current_layout()
    driver.window.actions_.run("run.follow_training")
    driver.wait(lambda: followed.step == 2, "the second step")
    driver.settle()
    assert docks["training"].panel.is_seen
    assert [id for id, dock in docks.items() if not dock.isHidden()] == ["training"]
    assert docks["training"].height() > 0.35 * window.height()
    assert not window.welcome.isHidden()
    assert window.docks.current_layout() == layout, "so the next start has the usual layout"
    driver.click("training.followed.stop")
    driver.click("training.followed.stop")
    assert all(dock.isHidden() for dock in docks.values())

    driver.window.actions_.run("run.follow_training")
    driver.wait(lambda: followed.step == 2, "the second step")
    training.say({"saved": str(TRACE), "step": 137, "why": "isnan(loss)"})
    driver.wait(lambda: bool(followed.saved), "the file")
    driver.settle()
    assert window.banners.message.isVisible()
    assert "train.py saved step 137, where isnan(loss)" in window.banners.message.label.text()
    driver.click("banner.message.fix")
    driver.wait(lambda: driver.workspace.is_open, "the trace")
    driver.settle()
    assert driver.workspace.name == TRACE.name
    assert not docks["outline"].isHidden()
    assert followed.live
    assert followed.step == 2

    driver.workspace.give_up_changes()
    driver.window.actions_.run("file.welcome")
    driver.settle()
    assert [id for id, dock in docks.items() if not dock.isHidden()] == ["training"]
    followed.close()
    driver.settle()
    assert all(dock.isHidden() for dock in docks.values())
