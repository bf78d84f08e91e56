"""The window in front of a recording: it shows what was recorded, and no engine runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from gradstep.gui.automation.driver import Driver
from tests.gui.recorded_walk import RECORDING, open_window, walk
from tests.support.deleting import delete
from tests.support.recorded_engine import engine_of


@pytest.fixture
def replayed(qtbot: Any, qapp: Any) -> Iterator[Driver]:
    driver = open_window(engine_of(RECORDING))
    yield driver
    driver.window.discard()
    delete(driver.window)


@pytest.mark.slow
def test_the_walk_again(replayed: Driver) -> None:
    failures: list[str] = []
    replayed.workspace.message.connect(lambda level, text: failures.append(text))
    walk(replayed)
    space = replayed.workspace
    assert space.stop is not None
    assert (space.stop.reason, space.stop.step, space.stop.phase) == ("breakpoint", 6, "backward")
    loss = space.value("loss")
    assert loss is not None
    assert loss.array is not None
    assert loss.array.item() == pytest.approx(0.66369414)
    assert not failures
    assert space.failure is None
