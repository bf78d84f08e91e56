"""The profile panel by clicks and keys: measuring, looking, selecting, leaving passes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QComboBox

from gradstep.core.protocol.messages import Profiled, ProfileRow, Progress
from gradstep.gui.actions import action_table
from gradstep.gui.model.cost_tree import BETWEEN
from gradstep.gui.panels.profile.profile_icicle import Icicle
from gradstep.gui.panels.profile.profile_model import KERNEL, MADE, NAME, SECONDS, SHARE, CostModel
from gradstep.gui.panels.profile.profile_panel import ProfilePanel
from tests.support.profiles import Measuring, failure

LEFT = Qt.MouseButton.LeftButton
CONTROLS = (QAbstractButton, QAbstractItemView, QComboBox, Icicle)


@pytest.fixture
def measuring(bench: Any) -> Measuring:
    """The tutorial network on an engine whose measurements are known."""
    made = Measuring(bench.bridge, lambda: bench.space.program.steps)
    bench.open("tutorial")
    return made


@pytest.fixture
def panel(measuring: Measuring, bench: Any, show: Callable[..., Any]) -> Any:
    return show(ProfilePanel(bench.space), 1270, 400)


@pytest.fixture
def click(panel: Any, qtbot: Any) -> Callable[[str], None]:
    """Click a control by its name."""

    def clicked(name: str) -> None:
        widget = panel.findChild(QAbstractButton, name)
        qtbot.mouseClick(widget, LEFT)

    return clicked


def names(panel: Any) -> list[str]:
    """What the first column says, the folded rows too."""
    return [cost.label for cost, _ in panel.model.indexes()]


def row_place(panel: Any, label: str) -> QPoint:
    index = next(i for cost, i in panel.model.indexes() if cost.label == label)
    panel.table.scrollTo(index)
    return panel.table.visualRect(index.siblingAtColumn(SECONDS)).center()


def current(panel: Any) -> str:
    return panel.model.cost_at(panel.table.currentIndex()).label


def text(panel: Any, label: str, column: int) -> str:
    cost = next(cost for cost, _ in panel.model.indexes() if cost.label == label)
    model: CostModel = panel.model
    return model.cell(cost, column).text


# -- measuring ------------------------------------------------------------------------------------


def test_before_measuring_it_says_what_will_appear(bench: Any, show: Callable[..., Any]) -> None:
    panel = show(ProfilePanel(bench.space))
    assert "Open a document first" in panel.empty_text
    bench.open("tutorial")
    assert panel.empty_text == ""
    assert "Measure runs the document" in panel.hint.text()
    assert panel.body.currentWidget() is panel.hint


def test_measure_asks_for_the_chosen_mode(panel: Any, measuring: Measuring, click: Any) -> None:
    click("profile.measure")
    click("profile.mode.fast")
    assert panel.body.currentWidget() is panel.hint, "fast runs were not measured"
    click("profile.measure")
    assert [m.mode for m in measuring.asked] == ["recorded", "fast"]
    assert panel.head.summary.text() == (
        "630 µs a run, 630 µs of it in operations · median of 7 runs · CPU"
    )


def test_parts_that_are_more_than_the_whole_are_no_part_of_it(
    panel: Any, measuring: Measuring, bench: Any, click: Any
) -> None:
    """A native table makes a run in a few calls; each operation by itself takes longer."""
    click("profile.measure")
    measured = bench.space.profiler.measured
    quick = structs.replace(measured.profile, seconds=measured.profile.seconds / 2)
    shown = panel.head._result(replace(measured, profile=quick))
    assert shown.startswith("315 µs a run, 630 µs where each operation is timed by itself")


def test_the_action_measures_and_brings_the_panel_forward(bench: Any, panel: Any) -> None:
    assert action_table.run("run.measure", bench.space)
    assert ("show", "profile") in bench.views
    assert bench.space.profiler.measured is not None


def test_while_measuring_the_button_cancels(
    panel: Any, measuring: Measuring, bench: Any, click: Any
) -> None:
    measuring.hold = True
    click("profile.measure")
    assert panel.head.measure.text() == "Cancel"
    assert not action_table.run("run.measure", bench.space), "one at a time"
    bench.bridge.event_received.emit(Progress(text="Measuring", done=30, total=100))
    assert panel.head.summary.text() == "measuring… 30 %"
    measuring.reply = failure("CancelledError", "it was cancelled")
    click("profile.measure")
    assert bench.bridge.controls()[-1].command == "pause"
    measuring.answer()
    assert panel.head.measure.text() == "Measure"


def test_a_cancelled_measurement_says_nothing(panel: Any, measuring: Measuring, click: Any) -> None:
    measuring.reply = failure("CancelledError", "it was cancelled")
    click("profile.measure")
    assert panel.head.summary.text() == ""


def test_a_failure_is_said_with_its_place(panel: Any, measuring: Measuring, click: Any) -> None:
    measuring.reply = failure("IndexError", "6 is not in [0, 5)", node="b", hint="feed less")
    click("profile.measure")
    assert panel.head.summary.text() == "b: 6 is not in [0, 5). Feed less"
    assert panel.hint.text().endswith(panel.head.summary.text()), "there it has room to be read"
    click("profile.mode.fast")
    assert panel.head.summary.text() == "", "nobody knows of these"


def test_a_new_engine_forgets_what_the_old_one_was_asked(
    panel: Any, measuring: Measuring, bench: Any, click: Any
) -> None:
    measuring.hold = True
    click("profile.measure")
    bench.bridge.state_changed.emit("starting")
    assert panel.head.measure.text() == "Measure"
    measuring.answer()
    assert bench.space.profiler.measured is None


def test_another_document_has_no_profile(
    panel: Any, measuring: Measuring, bench: Any, click: Any
) -> None:
    click("profile.measure")
    measuring.hold = True
    click("profile.measure")
    bench.open("gather")
    measuring.answer()
    assert bench.space.profiler.measured is None
    assert panel.body.currentWidget() is panel.hint


def test_an_edit_makes_it_out_of_date_and_undo_does_not(panel: Any, bench: Any, click: Any) -> None:
    click("profile.measure")
    action_table.run("graph.no_optimizer", bench.space)
    assert panel.head.summary.text().startswith("out of date, measure again · 630 µs")
    assert panel.model.cell(panel.model.cost_at(panel.model.index(0, 0)), NAME).tone == "muted"
    bench.space.undo_stack.undo()
    assert panel.head.summary.text().startswith("630 µs")


def test_an_emulated_device_has_no_times(panel: Any, bench: Any, measuring: Measuring) -> None:
    bench.space.debugger.use("emulate:tf-gpu")
    action_table.run("run.measure", bench.space)
    assert measuring.asked == []
    assert panel.empty_text.startswith("tf-gpu (emulated) is emulated here")


# -- the table ------------------------------------------------------------------------------------


def test_scopes_hold_operations_and_these_their_gradients(panel: Any, click: Any) -> None:
    click("profile.measure")
    a = next(cost for cost, _ in panel.model.indexes() if cost.label == "a")
    assert [c.label for c in a.children] == ["a", "∂ Mul", "∂ Mul_1"]
    # Steps 5, 11 and 12 of the plan, in microseconds counted from 1.
    assert text(panel, "a", SECONDS) == f"{5 + 11 + 12:.3f}"
    assert text(panel, "a", SHARE) == f"{100 * 28 / 630:.1f}"
    assert text(panel, "a", MADE) == "24 B "


@pytest.mark.parametrize(
    ("number", "expected"),
    [(1, "k · ApplyAdam"), (2, "update"), (3, "VariableV2")],
    ids=["flat", "phase", "type"],
)
def test_it_can_be_grouped_otherwise(
    panel: Any, click: Any, qtbot: Any, number: int, expected: str
) -> None:
    click("profile.measure")
    panel.head.grouping.setFocus()
    for _ in range(number):
        qtbot.keyClick(panel.head.grouping, Qt.Key.Key_Down)
    assert expected in names(panel)


def test_a_click_on_a_header_sorts(panel: Any, click: Any, qtbot: Any) -> None:
    click("profile.measure")
    panel.head.grouping.setCurrentIndex(1)
    header = panel.table.header()
    first = [panel.model.index(row, 0).data() for row in range(3)]
    assert first == ["beta1_power · train", "beta1_power · Assign_1", "beta1_power · mul_1"]
    place = QPoint(header.sectionPosition(NAME) + 20, 10)
    qtbot.mouseClick(header.viewport(), LEFT, pos=place)
    labels = [panel.model.index(row, 0).data() for row in range(panel.model.rowCount())]
    assert labels == sorted(labels, key=str.casefold, reverse=labels[0] > labels[-1])


def test_bytes_are_measured_by_bytes(panel: Any, click: Any) -> None:
    click("profile.measure")
    click("profile.by.bytes")
    assert panel.head.summary.text().startswith("280 B made a run")
    assert text(panel, "a", SHARE) == f"{100 * 3 / 35:.1f}"
    assert panel.table.header().sortIndicatorSection() == MADE


def test_a_row_selects_its_node_and_the_node_its_row(
    panel: Any, bench: Any, click: Any, qtbot: Any
) -> None:
    click("profile.measure")
    qtbot.mouseClick(panel.table.viewport(), LEFT, pos=row_place(panel, "∂ Mul_1"))
    assert bench.space.selection == ("a",), "a gradient belongs to its forward operation"
    assert current(panel) == "∂ Mul_1", "the row stays where it was clicked"
    bench.space.select(["e"])
    assert current(panel) == "e"
    qtbot.keyClick(panel.table, Qt.Key.Key_Up)
    assert bench.space.selection != ("e",)
    qtbot.keyClick(panel.table, Qt.Key.Key_Return)
    assert bench.views[-1] == ("reveal", bench.space.selection[0])


def test_an_arrow_folds_its_group_and_it_stays_folded(panel: Any, click: Any, qtbot: Any) -> None:
    click("profile.measure")
    index = next(i for cost, i in panel.model.indexes() if cost.label == "a")
    panel.table.scrollTo(index)
    arrow = panel.table.arrow_room(index, panel.table.visualRect(index)).center()
    assert panel.table.isExpanded(index)
    qtbot.mouseClick(panel.table.viewport(), LEFT, pos=arrow)
    assert not panel.table.isExpanded(index)
    click("profile.measure")
    again = next(i for cost, i in panel.model.indexes() if cost.label == "a")
    assert not panel.table.isExpanded(again)


def test_the_menu_sorts_without_a_mouse(panel: Any, click: Any) -> None:
    click("profile.measure")
    menu = panel.table.sort_menu()
    next(a for a in menu.actions() if a.text() == "Sort by operation").trigger()
    assert panel.table.header().sortIndicatorSection() == NAME
    assert panel.model.index(0, 0).data() == "a"
    menu.close()


def test_a_narrow_table_keeps_what_matters_most(panel: Any, click: Any) -> None:
    click("profile.measure")
    panel.resize(320, 500)
    assert not any(panel.table.isColumnHidden(c) for c in (NAME, SECONDS, SHARE))
    assert panel.table.horizontalScrollBar().maximum() == 0


# -- what ran -------------------------------------------------------------------------------------


def test_a_pass_is_left_out_of_the_next_run(
    panel: Any, measuring: Measuring, click: Any, qtbot: Any
) -> None:
    click("profile.mode.fast")
    click("profile.measure")
    click("profile.side.ran")
    table, model = panel.passes.table, panel.passes.model
    assert [model.cell(0, c).text for c in range(3)] == [
        "constant folding",
        "35 → 31",
        "= same bits",
    ]
    assert model.cell(1, 2).text == "≈ may differ"
    box = table.visualRect(model.index(0, 0)).topLeft() + QPoint(18, 12)
    qtbot.mouseClick(table.viewport(), LEFT, pos=box)
    assert panel.head.summary.text().startswith("out of date")
    click("profile.measure")
    assert measuring.asked[-1].without == ["constant folding"]
    assert model.cell(0, 1).text == "did not run"
    assert not panel.head.summary.text().startswith("out of date")
    qtbot.keyClick(table, Qt.Key.Key_Space)
    click("profile.measure")
    assert measuring.asked[-1].without == []


def test_other_libraries_compute_when_asked(panel: Any, measuring: Measuring, click: Any) -> None:
    click("profile.measure")
    click("profile.side.ran")
    click("profile.kernels")
    assert panel.head.summary.text().startswith("out of date")
    click("profile.measure")
    assert [m.kernels for m in measuring.asked] == [[], ["auto"]]
    assert panel.table.isColumnHidden(KERNEL), "NumPy computed all of it"
    measuring.kernel = "SciPy"
    click("profile.measure")
    assert not panel.table.isColumnHidden(KERNEL)
    assert text(panel, "a", KERNEL) == "SciPy"


def test_a_pass_tells_what_became_of_operations(
    panel: Any, bench: Any, click: Any, qtbot: Any
) -> None:
    click("profile.mode.fast")
    click("profile.measure")
    click("profile.side.ran")
    assert "Select a pass" in panel.passes.text.text()
    panel.passes.table.setFocus()
    panel.passes.table.selectRow(0)
    assert panel.passes.text.text() == (
        "constant folding does something. 2 operations more than are listed."
    )
    panel.passes.table.selectRow(1)
    assert "Rounding: the last digits." in panel.passes.text.text()
    panel.passes.table.selectRow(0)
    assert panel.passes.gone.rows == [("gradients/a_grad/Mul", "is a constant now")]
    place = panel.passes.fates.visualRect(panel.passes.gone.index(0, 1)).center()
    qtbot.mouseClick(panel.passes.fates.viewport(), LEFT, pos=place)
    assert bench.space.selection == ("a",)


def test_everything_is_named_and_reached_by_keys(panel: Any, click: Any) -> None:
    click("profile.mode.fast")
    click("profile.measure")
    for side in ("profile.side.ran", "profile.side.costs"):
        click(side)
        found = [w for kind in CONTROLS for w in panel.findChildren(kind) if w.isVisible()]
        mine = [w for w in found if w.objectName().startswith("profile.")]
        assert len(mine) > 8
        for control in mine:
            assert control.accessibleName(), control.objectName()
            assert control.focusPolicy() & Qt.FocusPolicy.TabFocus or control.group(), control


def test_what_is_inside_a_loop_is_below_it_and_selects_its_node(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("while_loop")
    measuring = Measuring(bench.bridge, lambda: bench.space.program.steps)
    inside = [row("while/Mul", seconds=3e-6), row("while/AddV2", seconds=1e-6)]
    loop = row("while/While", seconds=9e-6, iterations=3, inside=inside)
    measuring.reply = Profiled(mode="recorded", runs=1, seconds=9e-6, rows=[loop], device="cpu")
    panel = show(ProfilePanel(bench.space), 1270, 400)
    bench.space.profiler.measure()
    assert {"while", "While", "Mul", "AddV2", BETWEEN} <= {*names(panel)}
    qtbot.mouseClick(panel.table.viewport(), LEFT, pos=row_place(panel, "Mul"))
    assert bench.space.selection == ("while/Mul",)
    shown = {tile.cost.label: tile.width for tile in panel.icicle.tiles if tile.cost is not None}
    assert shown["Mul"] == pytest.approx(3 * shown["AddV2"])
    assert shown["While"] == pytest.approx(shown["Mul"] + shown["AddV2"] + shown[BETWEEN])


def row(op: str, **parts: Any) -> ProfileRow:
    return ProfileRow(op=op, type=op.rpartition("/")[2], phase="forward", origin=op, **parts)
