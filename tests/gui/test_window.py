"""The main window: title, banners, docks, status bar, themes, and what a bug looks like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QStatusTipEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QMenu, QTabBar

from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.model import Edge
from gradstep.core.protocol.messages import Stopped
from gradstep.gui import commands, error_reporter
from gradstep.gui.automation.driver import Driver
from gradstep.gui.frame import status_bar
from gradstep.gui.frame.docks import PANELS
from gradstep.gui.frame.main_window import MainWindow
from gradstep.gui.frame.status_bar import place_words, size_words
from gradstep.gui.look import theme
from gradstep.gui.look.count_text import count_of
from gradstep.gui.look.device_text import device_words
from gradstep.gui.model.settings import settings
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.pill import Pill
from tests.support.deleting import end
from tests.traces.trace_archive import traces


def pill(driver: Driver, name: str) -> Pill:
    found = driver.window.findChild(Pill, f"toolbar.{name}")
    assert found is not None
    return found


@pytest.mark.slow
def test_the_start_page_gives_way_to_the_canvas_and_comes_back(tutorial: Driver) -> None:
    window = tutorial.window
    assert window.canvas.isVisible()
    assert not window.welcome.isVisible()
    assert all(window.docks.by_id[p.id].panel.isVisible() for p in (PANELS[0], PANELS[2]))
    tutorial.key("Ctrl+W")
    assert window.welcome.isVisible()
    assert not any(dock.isVisible() for dock in window.docks.by_id.values())


@pytest.mark.slow
def test_a_picture_on_the_start_page_opens_its_example(driver: Driver) -> None:
    driver.wait(lambda: driver.window.is_drawn, "the pictures")
    driver.click("welcome.example.gather")
    driver.wait(lambda: driver.workspace.is_open, "the example")
    assert driver.workspace.name == "gather.gradstep"


@pytest.mark.slow
def test_on_the_start_page_the_tab_key_goes_from_the_search_to_the_examples(driver: Driver) -> None:
    driver.key("Tab")
    focus = QApplication.focusWidget()
    assert focus is not None
    assert focus.objectName().startswith("welcome.")
    assert not focus.visibleRegion().isEmpty()


@pytest.mark.slow
def test_the_title_names_the_document_and_marks_edits(tutorial: Driver) -> None:
    assert tutorial.window.windowTitle() == "tutorial.gradstep[*] · Gradstep"
    commands.rename(tutorial.workspace, "d", "sum")
    assert tutorial.window.isWindowModified()
    assert tutorial.window.menu.name.text() == "tutorial.gradstep •"
    tutorial.key("Ctrl+Z")
    assert not tutorial.window.isWindowModified()


def test_the_cursor_is_put_where_one_writes(tutorial: Driver) -> None:
    for asked, field in (("query", "queries.expression"), ("console", "console.line")):
        tutorial.workspace.view_requested.emit(asked, "")
        focused = tutorial.window.focusWidget()
        assert focused is not None
        assert focused.objectName() == field


@pytest.mark.slow
def test_every_panel_can_be_shown(tutorial: Driver) -> None:
    for place in PANELS:
        dock = tutorial.window.docks.by_id[place.id]
        tutorial.workspace.view_requested.emit("show", place.id)
        tutorial.settle()
        assert dock.panel.isVisible(), place.id


@pytest.mark.parametrize(
    ("panel", "field"), [("Console", "console.line"), ("Queries", "queries.expression")]
)
def test_a_click_on_the_tab_of_what_is_typed_into_gives_it_the_keys(
    tutorial: Driver, panel: str, field: str
) -> None:
    window, before = tutorial.window, tutorial.workspace.document

    def click_tab(title: str) -> None:
        for bar in window.findChildren(QTabBar):
            for index in range(bar.count()):
                if bar.tabText(index) == title:
                    at = bar.tabRect(index).center()
                    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=at)
        tutorial.settle()

    window.canvas.setFocus()
    click_tab("Watches")
    assert window.focusWidget() is window.canvas
    tutorial.workspace.ask_window("show", panel.lower())
    tutorial.settle()
    assert window.focusWidget() is window.canvas, "it came by itself"
    click_tab("Watches")
    click_tab(panel)
    focused = window.focusWidget()
    assert focused.objectName() == field
    QTest.keyClicks(focused, "l")
    assert tutorial.workspace.document is before
    click_tab("Timeline")


@pytest.mark.slow
def test_tabs_are_flat_and_named(tutorial: Driver) -> None:
    tabs = [
        bar.tabText(i)
        for bar in tutorial.window.findChildren(QTabBar)
        if bar.count() > 1  # Qt keeps bars of one tab for later, unseen
        for i in range(bar.count())
    ]
    assert sorted(tabs) == sorted(p.title for p in PANELS if not p.apart and not p.asked)


@pytest.mark.slow
def test_the_note_comes_and_goes_with_what_it_has_to_say(driver: Driver, examples: Path) -> None:
    def stands_open() -> bool:
        return driver.window.docks.by_id["note"].toggleViewAction().isChecked()

    driver.open(examples / "tutorial.gradstep")
    assert driver.window.docks.by_id["note"].panel.isVisible()
    driver.workspace.open_document(Document())
    assert not stands_open()
    layout = driver.window.docks.current_layout()
    assert not stands_open()
    commands.set_note(driver.workspace, "", "Now it has one.", "", "")
    assert stands_open()
    commands.set_note(driver.workspace, "", "", "", "")
    assert not stands_open()
    driver.window.docks.layout = layout
    driver.window.files.close()
    driver.open(examples / "gather.gradstep")
    assert stands_open(), "the layout was saved while there was nothing to show"
    driver.window.docks.by_id["note"].hide()
    driver.open(examples / "tutorial.gradstep")
    assert not stands_open(), "the user closed it"


@pytest.mark.slow
def test_problems_are_counted_on_their_tab(tutorial: Driver) -> None:
    dock = tutorial.window.docks.by_id["problems"]
    assert dock.windowTitle() == "Problems"
    commands.add_node(tutorial.workspace, "Tanh", (0.0, 0.0))
    tutorial.settle()
    assert dock.windowTitle() == "Problems", "what is not finished yet is none"
    commands.set_attr(tutorial.workspace, "c", "shape", Shape.of(3))
    tutorial.settle()
    assert dock.windowTitle().startswith("Problems ")


@pytest.mark.slow
def test_menus_that_depend_on_the_machine(tutorial: Driver) -> None:
    """Each is filled when it opens, and its rows do what they say."""

    def rows(name: str) -> list[QAction]:
        submenu = tutorial.window.menu.findChild(QMenu, f"menu.{name}")
        assert submenu is not None
        submenu.aboutToShow.emit()
        return submenu.actions()

    for name, text in (
        ("devices.run on", "tf-gpu (emulated)"),
        ("devices.compare with", "cupy (emulated)"),
        ("run.keep recorded", "up to 1 GB"),
    ):
        (row,) = [action for action in rows(name) if action.text() == text]
        row.trigger()
        tutorial.settle()
    assert tutorial.workspace.device == "emulate:tf-gpu"
    assert "emulated" in tutorial.window.status.device.text()
    assert settings().compare_with == "emulate:cupy"
    assert settings().recording_limit == 1 << 30
    assert len(rows("view.panels")) == len(PANELS)
    assert not rows("file.open recent")[0].isEnabled()


@pytest.mark.slow
def test_reset_layout_brings_every_dock_back(tutorial: Driver) -> None:
    docks = tutorial.window.docks
    before = {id: tutorial.window.dockWidgetArea(dock) for id, dock in docks.by_id.items()}
    docks.by_id["timeline"].setFloating(True)
    docks.by_id["outline"].hide()
    docks._move(docks.by_id["inspector"], before["timeline"])
    tutorial.window.actions_.run("view.reset_layout")
    tutorial.settle()
    after = {id: tutorial.window.dockWidgetArea(dock) for id, dock in docks.by_id.items()}
    assert after == before
    assert not docks.by_id["timeline"].isFloating()
    assert docks.by_id["outline"].isVisible()


@pytest.mark.slow
def test_the_layout_is_remembered(tutorial: Driver, qtbot: Any, examples: Path) -> None:
    tutorial.window.docks.by_id["outline"].hide()
    tutorial.window.docks.by_id["palette"].hide()
    tutorial.window.discard()
    window = MainWindow(Workspace())
    again = Driver(window)
    window.workspace.start()
    again.open(examples / "tutorial.gradstep")
    hidden = {
        id for id, dock in window.docks.by_id.items() if not dock.toggleViewAction().isChecked()
    }
    end(window)
    asked = {place.id for place in PANELS if place.asked}
    assert hidden == {"outline", "palette", *asked}


@pytest.mark.slow
def test_a_layout_of_a_large_screen_leaves_room_for_the_canvas_on_a_small_one(
    tutorial: Driver, examples: Path
) -> None:
    window = tutorial.window
    window.resize(2400, 1500)
    docks = window.docks.by_id
    window.resizeDocks([docks["timeline"]], [900], Qt.Orientation.Vertical)
    window.resizeDocks(
        [docks["outline"], docks["inspector"]], [700, 700], Qt.Orientation.Horizontal
    )
    tutorial.settle()
    assert docks["timeline"].height() > 700
    window.discard()
    small = MainWindow(Workspace())
    small.resize(1366, 740)
    again = Driver(small)
    small.workspace.start()
    again.open(examples / "tutorial.gradstep")
    again.settle()
    canvas = small.centralWidget().size()
    end(small)
    assert canvas.width() > 1366 / 3
    assert canvas.height() > 740 / 3


@pytest.mark.slow
def test_a_window_that_opens_with_a_file_has_no_note_panel_for_none(tutorial: Driver) -> None:
    tutorial.window.discard()  # its layout has the note
    window = MainWindow(Workspace())
    window.workspace.start()
    window.workspace.open_document(Document())  # before the window shows
    Driver(window).settle()
    note = window.docks.by_id["note"]
    assert not note.isVisible()
    assert not note.toggleViewAction().isChecked()
    end(window)


def test_a_hint_leaves_the_place_in_view(tutorial: Driver) -> None:
    tutorial.key("F10")
    status = tutorial.window.status
    assert status.beside.isHidden()
    QApplication.sendEvent(tutorial.window, QStatusTipEvent("Runs the next step"))
    assert status.currentMessage() == "Runs the next step"
    before = status.beside.text()
    assert "next step" in before
    assert status.beside.isVisible()
    assert status.beside.width() >= status.beside.sizeHint().width()
    tutorial.key("F10")
    assert status.beside.text() != before
    QApplication.sendEvent(tutorial.window, QStatusTipEvent(""))
    assert status.beside.isHidden()


@pytest.mark.slow
def test_the_status_bar_says_where_and_changes_colour(tutorial: Driver) -> None:
    status = tutorial.window.status
    assert status.state.text() == "Ready"
    assert status.property("stopped") is False
    tutorial.key("F10")
    assert status.state.text() == "Stopped after step"
    assert status.property("stopped") is True
    assert "/" in status.place.text()
    assert "forward ↓" in status.place.text()
    assert "CPU (NumPy)" in status.device.text()
    assert "of 2 GB" in status.recording.text()
    assert status.zoom.text().startswith("zoom ")


@pytest.mark.slow
def test_the_recording_limit_reaches_the_engine(tutorial: Driver) -> None:
    commands.keep_recorded(tutorial.workspace, 256 << 20)
    tutorial.settle()
    assert tutorial.workspace.stop is not None
    assert tutorial.workspace.stop.recorded_limit == 256 << 20
    assert tutorial.window.status.recording.text().endswith("of 256 MB")


@pytest.mark.slow
def test_stopping_at_a_breakpoint_says_so(tutorial: Driver) -> None:
    tutorial.workspace.select(["e"])
    tutorial.key("F9")
    tutorial.key("F5")
    assert tutorial.window.status.state.text() == "Stopped at breakpoint"


@pytest.mark.slow
def test_the_phase_is_lit_and_its_pill_goes_there(tutorial: Driver) -> None:
    assert pill(tutorial, "forward").isChecked()
    tutorial.click("toolbar.backward")
    assert tutorial.workspace.stop is not None
    assert tutorial.workspace.stop.phase == "backward"
    assert pill(tutorial, "backward").isChecked()
    assert not pill(tutorial, "forward").isChecked()


@pytest.mark.slow
def test_a_phase_without_steps_says_what_it_lacks(tutorial: Driver) -> None:
    space = tutorial.workspace
    assert "Not now" not in pill(tutorial, "backward").toolTip()
    commands.set_request(space, [], [])
    commands.set_optimizers(space, [])
    tutorial.settle()
    assert "Not now: nothing is differentiated" in pill(tutorial, "backward").toolTip()
    assert "Not now: no optimizer" in pill(tutorial, "update").toolTip()


@pytest.mark.slow
def test_the_override_pill_switches_it(driver: Driver, examples: Path) -> None:
    driver.open(examples / "override_add.gradstep")
    override = pill(driver, "override.0")
    assert override.text() == "override: e → CustomAdd"
    assert override.isChecked()
    driver.click("toolbar.override.0")
    assert not driver.workspace.document.request.overrides[0].enabled
    assert not override.isChecked()
    driver.key("Ctrl+Z")
    assert override.isChecked()
    driver.window.resize(1000, 700)  # where not all words have room
    driver.settle()
    assert (override.text(), override.accessibleName()) == (
        "→ CustomAdd", "override: e → CustomAdd"
    )  # fmt: skip
    assert not pill(driver, "compare").visibleRegion().isEmpty()


@pytest.mark.slow
def test_s_stops_the_gradient_on_the_selected_wire(tutorial: Driver) -> None:
    tutorial.workspace.select([], Edge("e", 0))
    tutorial.window.canvas.setFocus()
    tutorial.key("S")
    assert Edge("e", 0) in tutorial.workspace.document.request.stopped_edges
    assert pill(tutorial, "stop_gradient").isChecked()
    gradient = tutorial.workspace.gradient("c")
    assert gradient is not None
    tutorial.key("S")
    assert not tutorial.workspace.document.request.stopped_edges


@pytest.mark.slow
def test_a_trace_is_compared_with_what_was_recorded(driver: Driver, tmp_path: Path) -> None:
    """Without a choice; the device of the settings is for other documents."""
    driver.open(traces() / "mlp.gstrace")
    assert pill(driver, "compare").text() == "Compare: CPU ↔ recorded"
    driver.click("toolbar.compare")
    driver.wait(lambda: bool(driver.workspace.comparisons), "the comparison")
    (comparison,) = driver.workspace.comparisons
    assert comparison.right == "recorded"
    assert settings().compare_with == "emulate:tf-gpu"


@pytest.mark.slow
def test_comparing_from_the_toolbar_shows_its_panel(driver: Driver, examples: Path) -> None:
    driver.open(examples / "gather.gradstep")
    assert pill(driver, "compare").text() == "Compare: CPU ↔ tf-gpu (emulated)"
    driver.click("toolbar.compare")
    driver.wait(lambda: bool(driver.workspace.comparisons), "the comparison")
    assert driver.window.docks.by_id["device_diff"].isVisible()


@pytest.mark.slow
def test_an_error_is_shown_until_something_works(tutorial: Driver) -> None:
    tutorial.workspace.message.emit("error", "It did not work")
    banner = tutorial.window.banners.message
    assert banner.isVisible()
    tutorial.key("F10")
    assert not banner.isVisible()
    tutorial.workspace.message.emit("error", "It did not work")
    tutorial.workspace.message.emit("info", "By the way")
    assert not banner.isVisible()
    assert tutorial.window.status.place.text() == "By the way"
    tutorial.workspace.message.emit("note", "What was asked for")
    tutorial.workspace.message.emit("info", "By the way")
    assert banner.isVisible()


@pytest.mark.slow
def test_what_an_edit_did_to_a_value_is_read_until_the_next_step(tutorial: Driver) -> None:
    banner = tutorial.window.banners.message
    commands.set_attr(tutorial.workspace, "data", "shape", Shape.of(3))
    tutorial.settle()
    assert banner.isVisible()
    assert "the rest of [3] was filled in" in banner.label.text()
    tutorial.key("F10")
    assert not banner.isVisible()


@pytest.mark.slow
def test_themes_dress_everything_and_are_remembered(tutorial: Driver) -> None:
    for choice in ("light", "dark"):
        tutorial.window.actions_.run(f"view.{choice}")
        tutorial.settle()
        assert settings().theme == choice
        wanted = theme.theme_for(choice)
        assert tutorial.workspace.theme is wanted
        image = tutorial.window.canvas.grab().toImage()
        found = image.pixelColor(2, 2).lightness()
        assert found == pytest.approx(wanted.background.lightness(), abs=8)


@pytest.mark.slow
def test_every_control_has_a_name_for_screen_readers(tutorial: Driver) -> None:
    silent = [
        button.objectName() or type(button).__name__
        for button in tutorial.window.findChildren(QAbstractButton)
        if not button.accessibleName()
        and not button.text()
        and not button.objectName().startswith("qt_")
        and not isinstance(button.parent(), QTabBar | QLineEdit)  # Qt's own
    ]
    assert silent == []


@pytest.mark.slow
def test_a_bug_goes_to_the_log_and_says_one_line(
    tutorial: Driver, caplog: pytest.LogCaptureFixture
) -> None:
    said: list[str] = []
    reporter = error_reporter.Reporter(said.append, tutorial.window)
    try:
        raise ZeroDivisionError("what a pity")
    except ZeroDivisionError as error:
        reporter.report(type(error), error, error.__traceback__)
    tutorial.settle()
    assert len(said) == 1
    assert "Open the log" in said[0]
    assert "what a pity" not in said[0]
    assert "\n" not in said[0]
    assert "ZeroDivisionError: what a pity" in caplog.text


@pytest.mark.slow
def test_a_long_remark_does_not_widen_the_window(tutorial: Driver) -> None:
    window, long = tutorial.window, "a remark with no end " * 40
    before = window.minimumSizeHint().width()
    window.status.remark(long)
    tutorial.settle()
    assert window.minimumSizeHint().width() <= max(before, 800)
    assert window.width() == 1600
    assert window.status.place.text() == long
    assert window.status.place.toolTip() == long
    assert QLabel.text(window.status.place).endswith("…")


def test_a_remark_goes_with_the_next_thing_that_is_done(
    tutorial: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    space, place = tutorial.workspace, tutorial.window.status.place
    monkeypatch.setattr(status_bar, "SAME", 0)  # milliseconds

    def said(text: str) -> bool:
        space.say(text)
        QTest.qWait(2)
        assert place.text() == text
        return True

    assert said("select a node first")
    tutorial.key("F10")
    tutorial.settle()
    assert "next step" in place.text()
    assert said("Saved")
    commands.toggle_breakpoint(space, "e")
    assert "next step" in place.text()
    assert said("Saved")
    space.training.train()
    tutorial.wait(lambda: "Saved" not in place.text(), "the training to begin")
    space.control("pause")
    tutorial.settle()
    assert said("Copied")
    monkeypatch.setattr(status_bar, "SAME", 60_000)
    commands.toggle_breakpoint(space, "e")
    assert place.text() == "Copied", "it may be what was remarked on"
    space.open_document(Document())
    assert place.text() != "Copied"


@pytest.mark.slow
def test_a_run_that_ends_early_says_what_it_waits_for(tutorial: Driver) -> None:
    space, place = tutorial.workspace, tutorial.window.status.place
    space.control("continue_")
    tutorial.settle()
    assert place.text() == "all 35 steps done"
    commands.disconnect(space, Edge("a", 1))
    tutorial.settle()
    assert place.text() == "all 4 steps done; the rest waits for input 'y' of a"
    space.control("step_back")
    tutorial.settle()
    assert place.text().startswith("next step 4 / 4")
    space.undo_stack.undo()
    tutorial.settle()
    assert "waits" not in place.text()


def test_words_of_the_status_bar() -> None:
    stop = Stopped(reason="step", run=1, step=12, runs=2, phase="backward")
    assert place_words(stop, 22) == "run 2 · next step 13 / 22 · backward ↑"
    assert place_words(Stopped(reason="end", run=0, step=1, runs=1, phase=""), 1) == "1 step done"
    assert (
        place_words(Stopped(reason="end", run=0, step=2, runs=1, phase=""), 2) == "all 2 steps done"
    )
    assert [count_of(n, "op") for n in (0, 1, 2)] == ["0 ops", "1 op", "2 ops"]
    assert [size_words(n) for n in (0, 1023, 3174, 2 << 30)] == ["0 B", "1023 B", "3.1 KB", "2 GB"]
    assert device_words("emulate:tf-gpu") == "tf-gpu (emulated)"
    assert device_words("gpu:native") == "GPU (native)"
    assert device_words("torch:cpu:native") == "torch:cpu:native"


@pytest.mark.slow
def test_the_status_bar_is_not_empty_of_names(tutorial: Driver) -> None:
    names = {label.objectName() for label in tutorial.window.status.findChildren(QLabel)}
    assert {"status.state", "status.place", "status.device", "status.recording"} <= names
