"""Where the time goes: measured in the engine process, seen in a table, an icicle and on nodes."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradstep.gui.panels.profile.profile_model import NAME

pytestmark = pytest.mark.xvfb


@pytest.fixture
def tutorial(user, examples):
    user.open(examples / "tutorial.gradstep")
    user.menu("View", "Profile")
    return user


def measure(user) -> None:
    user.click("profile.measure")
    user.wait(lambda: user.workspace.profiler.measured is not None, "the profile")
    user.settle()


def labels(user) -> list[str]:
    return [cost.label for cost, _ in user.find("profile.table").costs.indexes()]


def test_recorded_runs_are_measured_and_a_row_leads_to_its_node(tutorial) -> None:
    user = tutorial
    assert "Measure runs the document" in user.text("profile.hint")
    user.key("Ctrl+T")
    assert " a run, " in user.text("profile.summary")
    assert user.text("profile.summary").endswith("runs · CPU")
    assert user.workspace.stop.step == 0, "the debugger stays where it was"
    assert {"c", "k", "d", "e", "a", "loss", "∂ Mul_1"} <= set(labels(user))

    table = user.find("profile.table")
    index = next(i for cost, i in table.costs.indexes() if cost.label == "∂ Mul_1")
    table.scrollTo(index)
    user.click_at(table.viewport(), table.visualRect(index).center())
    user.settle()
    assert user.workspace.selection in {("a",), ("loss",)}
    user.select("e")
    assert table.costs.cost_at(table.currentIndex()).names == ("e",)
    assert table.currentIndex().column() == NAME


def test_the_icicle_is_walked_by_keys(tutorial) -> None:
    user = tutorial
    measure(user)
    icicle = user.find("profile.icicle")
    phases = [tile for tile in icicle.tiles if tile.level == 1 and tile.cost is not None]
    assert [tile.cost.label for tile in phases] == ["forward", "backward", "update"]
    user.click_at(icicle, icicle.rect_of(phases[2]).center().toPoint())
    for _ in range(2):
        QTest.keyClick(icicle, Qt.Key.Key_Down)
    user.settle()
    assert set(user.workspace.selection) <= {"c", "k"}
    for _ in range(2):
        QTest.keyClick(icicle, Qt.Key.Key_Up)
    QTest.keyClick(icicle, Qt.Key.Key_Return)
    assert icicle.whole.label == "update"
    QTest.keyClick(icicle, Qt.Key.Key_Escape)
    assert icicle.whole.phase == ""


def test_a_pass_left_out_leaves_its_steps_in(tutorial) -> None:
    user = tutorial
    user.click("profile.mode.fast")
    measure(user)
    user.click("profile.side.ran")
    every = {row[0]: row[1] for row in user.table("profile.passes.table")}
    assert all("→" in steps for steps in every.values())
    name, number = next(
        (name, n) for n, (name, steps) in enumerate(every.items()) if len(set(steps.split())) == 3
    )
    table = user.find("profile.passes.table")
    table.setCurrentIndex(table.model().index(number, 0))
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Space)
    assert user.text("profile.summary").startswith("out of date")
    measure(user)
    assert dict(row[:2] for row in user.table("profile.passes.table"))[name] == "did not run"
    (left_out,) = user.workspace.profiler.measured.wish.without
    assert left_out == name


def test_the_canvas_is_coloured_by_time(tutorial) -> None:
    user = tutorial
    user.click_canvas(user.node("a"))
    user.key("T")
    user.wait(lambda: user.workspace.profiler.measured is not None, "the profile")
    user.settle()
    assert user.sees("canvas.legend")
    assert "of the time" in user.says("loss")
    user.take_picture("profile")
    user.click_canvas(user.node("a"))
    user.key("T")
    assert not user.sees("canvas.legend")
    assert "of the time" not in user.says("loss")
