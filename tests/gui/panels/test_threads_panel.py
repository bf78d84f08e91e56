"""The threads panel: which thread is moved, what each waits for, adding and deleting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import Qt

from gradstep.gui import commands
from gradstep.gui.panels.threads_panel import ThreadsPanel
from tests.support.queueing import queue_document


def rows(panel: ThreadsPanel) -> list[list[str]]:
    columns = range(panel.model.columnCount())
    found = range(panel.model.count())
    return [[panel.model.cell(row, column).text.strip() for column in columns] for row in found]


def click(qtbot: Any, panel: ThreadsPanel, row: int) -> None:
    place = panel.table.visualRect(panel.model.index(row, 0)).center()
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_threads_are_seen_moved_added_and_deleted(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    space = bench.space
    space.open_document(queue_document(1, 2).with_(threads=()), None)
    space.debugger.flush()
    panel = show(ThreadsPanel(space), 640, 240)
    assert not rows(panel)
    for _ in range(2):
        panel.add.menu().actions()[0].trigger()
        space.debugger.flush()
    assert not panel.add.isEnabled()
    assert not panel.delete.isEnabled()
    bench.run("continue_")  # capacity 1, and the feeders put in pairs: one waits half done
    assert [row[:3] for row in rows(panel)] == [
        ["▸ main", "ready", "run 1 · done"],
        ["one_put", "ready", "run 1 · done"],
        ["two_put", "blocked", "run 1 · step 8 / 8"],
    ]
    assert rows(panel)[2][4] == "queue 'q' is full (1 of 1), 1 of 2 are still to be put in"
    assert space.stop.program is None
    click(qtbot, panel, 2)
    assert [step.op for step in space.program.steps][-1] == "two_put"
    bench.run("step")
    assert rows(panel)[2][0] == "▸ two_put"
    assert space.stop.reason == "blocked"
    assert space.value("q:0").head.tolist() == ["1 of 1: [21.0]"]
    panel.table.setCurrentIndex(panel.model.index(0, 0))
    qtbot.keyClick(panel.table, Qt.Key.Key_Return)
    assert rows(panel)[0][0] == "▸ main"
    click(qtbot, panel, 2)
    panel.delete.click()
    space.debugger.flush()
    assert [thread.name for thread in space.document.threads] == ["one_put"]
    assert [row[0] for row in rows(panel)] == ["▸ main", "one_put"]


def test_a_deadlock_is_said_to_be_one(bench: Any, show: Callable[..., Any]) -> None:
    document = queue_document(1, 2)
    lonely = document.with_(fetches=(), targets=("one_put",), threads=document.threads[1:])
    bench.space.open_document(lonely, None)
    bench.space.debugger.flush()
    panel = show(ThreadsPanel(bench.space), 640, 240)
    assert not panel.stuck.isVisible()
    bench.run("continue_")
    assert panel.stuck.isVisible()
    assert [row[1] for row in rows(panel)] == ["deadlock", "deadlock"]
    assert bench.space.stop.error.message.startswith("deadlock: main waits to enqueue: queue 'q'")


def test_a_branch_is_of_all_threads(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    """A value is given in one of them; what all of them did before is the same on both."""
    space = bench.space
    space.open_document(queue_document(4, 2), None)
    space.debugger.flush()
    panel = show(ThreadsPanel(space), 640, 240)
    for _ in range(2):
        bench.run("continue_")
    click(qtbot, panel, 1)
    told = rows(panel)
    space.sessions.inject("one_count", np.array(50, np.float32))
    space.debugger.flush()
    assert rows(panel) == told
    assert [(b.name, b.parent, b.current) for b in space.stop.branches] == [
        ("main", "", False),
        ("b1", "main", True),
    ]
    assert space.stop.branches[1].text == "one_count = 50 in one"
    taken: list[float] = []
    for _ in range(6):
        bench.run("continue_")
        taken += space.value("batch:0").head.tolist()
    assert any(51 <= x < 60 for x in taken), taken
    there = rows(panel)
    commands.switch_branch(space, "main")
    space.debugger.flush()
    assert rows(panel) == told
    assert space.value("one_count:0").head.tolist() != 50
    bench.run("restart")
    assert rows(panel)[0][2] == "run 1 · step 1 / 4"
    commands.switch_branch(space, "b1")
    space.debugger.flush()
    assert rows(panel) == there
    commands.drop_branch(space, "b1")
    space.debugger.flush()
    assert space.stop.branches == []
