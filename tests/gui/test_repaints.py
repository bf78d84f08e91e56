"""What a window paints, and which panels look again, for one thing that is done in it.

Counted, not timed: each paint too many is felt at any size, and comes back unseen.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QPaintEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow

from gradstep.core.graph.model import Edge
from gradstep.gui import commands
from gradstep.gui.automation.driver import Driver
from gradstep.gui.canvas.paint.front_buffer import MARGIN, FrontBuffer
from gradstep.gui.canvas.paint.minimap import Minimap
from gradstep.gui.frame.toolbar import ToolBar
from gradstep.gui.model.debugger import TOGETHER
from gradstep.gui.model.explanations import PAUSE
from gradstep.gui.panels.device_diff.device_diff_model import DiffModel
from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel
from gradstep.gui.panels.outline.outline_panel import OutlinePanel
from gradstep.gui.panels.profile.profile_head import ProfileHead
from gradstep.gui.panels.timeline.timeline_model import TimelineModel
from gradstep.gui.panels.timeline.timeline_panel import TimelinePanel
from tests.bench import training_graph

NODES, LARGE = 120, 300  # of the graph; large: it goes on far beyond what is seen
LATE = 2 * PAUSE  # milliseconds in which all that was put off has come
REFRESHES = (
    (InspectorPanel, "refresh"),
    (OutlinePanel, "rebuild"),
    (TimelinePanel, "show_program"),
)
PARTS = (  # what each looks again by
    (ToolBar, "_fit"),
    (TimelineModel, "_find_current"),
    (Minimap, "_say"),
    (DiffModel, "show"),
    (ProfileHead, "refresh"),
)


class Watch(QObject):
    """Counts, while it is on: paints of the canvas, of the timeline and of the outline, layouts of
    the whole window, and refreshes of panels by the panel's name. wire: in the middle."""

    def __init__(self, driver: Driver, wire: Edge) -> None:
        super().__init__()
        self.driver, self.wire, self.is_on = driver, wire, False
        self.counts: Counter[str] = Counter()
        self.order: list[str] = []  # in which it came
        self.painted = 0  # pixels of the canvas, by the largest of its paints

    def of(self, action: Callable[[], object]) -> Counter[str]:
        """Those of an action, until nothing follows from it any more."""
        self.counts.clear()
        self.order.clear()
        self.painted = 0
        QApplication.instance().installEventFilter(self)
        self.is_on = True
        action()
        self.rest()
        self.is_on = False
        QApplication.instance().removeEventFilter(self)
        return self.counts.copy()

    def rest(self) -> None:
        self.driver.settle()
        QTest.qWait(LATE)
        self.driver.settle()

    def note(self, what: str) -> None:
        if self.is_on:
            self.counts[what] += 1
            self.order.append(what)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            name = watched.objectName()
            owner = watched.parent().objectName() if name in ("", "qt_scrollarea_viewport") else ""
            around = self.driver.window.canvas.minimap.geometry()
            if owner == "canvas" and around.contains(event.rect()):
                return False  # which lies over it
            if owner == "canvas":
                pixels = sum(part.width() * part.height() for part in event.region())
                self.painted = max(self.painted, pixels)
            if owner in ("canvas", "timeline.table", "outline.tree"):
                self.note(owner)
        elif event.type() is QEvent.Type.LayoutRequest and isinstance(watched, QMainWindow):
            self.note("window")
        return False


@pytest.fixture
def nodes() -> int:
    return NODES


@pytest.fixture
def watch(driver: Driver, tmp_path: Path, nodes: int, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """A window that looks closely at a node of a training graph in the middle of a run."""
    found = Watch(driver, training_graph.wire(nodes))
    for panel, method in REFRESHES:
        monkeypatch.setattr(panel, method, _counted(found, panel, getattr(panel, method)))
    space, view = driver.workspace, driver.window.canvas
    driver.open(training_graph.save(nodes, tmp_path))
    commands.set_feed(space, "x:0", training_graph.FEED)
    commands.set_request(space, [training_graph.LOSS], training_graph.variables(nodes))
    view.stage.open_scopes()
    driver.wait(lambda: not view.stage.laying_out, "the graph to be laid out")
    view.stage.move([0], 8.0, 0.0)
    name = found.wire.op
    view.camera.zoom_to(1.0)
    view.camera.look_at(view.box_rect(view.arrays.visible.box_of[name]).center())
    space.select([name])
    space.control("run_to", name)
    found.rest()
    return found


def _noted(watch: Watch, what: str, method: Callable[..., Any]) -> Callable[..., Any]:
    def called(*arguments: Any) -> Any:
        watch.note(what)
        return method(*arguments)

    return called


def _counted(watch: Watch, panel: type, method: Callable[..., Any]) -> Callable[..., Any]:
    def called(self: Any, *_: object) -> Any:
        watch.note(panel.title)  # type: ignore[attr-defined]
        return method(self)

    return called


@pytest.mark.parametrize("nodes", [LARGE])
@pytest.mark.slow
def test_an_edit_is_painted_once_and_its_answer_once(watch: Watch) -> None:
    """And once more the values that nobody had asked for before."""
    space, wire = watch.driver.workspace, watch.wire
    space.values_changed.connect(lambda: watch.note("values"))
    space.debugger._expected.setInterval(10 * TOGETHER)  # so that a busy machine is not in the way
    found = Counter[str]()
    for edit, is_seen in (
        (lambda: commands.toggle_stop(space, wire), True),
        (lambda: commands.set_attr(space, wire.op, "_note", "seen"), False),
        (lambda: commands.rename(space, wire.op, "renamed"), True),
    ):
        for action in (edit, space.undo_stack.undo):
            space.debugger._answered = 0.0  # seconds: it was quick until now
            counts = watch.of(action)
            assert counts["Timeline"] <= 1, "made anew for the answer"
            assert counts["Outline"] <= 2, "for the document, and for the program"
            # the answer's, where it is seen, and what was asked then
            assert counts["canvas"] <= is_seen + counts["values"]
            found += counts
    assert found["window"] == 0, "no word lays out the window"
    # Values come twice for each of the six, apart from each other where the machine is slow.
    assert found["canvas"] >= 4
    assert 6 <= found["timeline.table"] <= 18, found
    assert found["Inspector"] <= 16, "words that are as before the edit are no news"


@pytest.mark.slow
def test_what_an_edit_says_is_taken_in_once_and_before_it_is_painted(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what is around the panels, too; what is behind another dock is not asked."""
    space, wire = watch.driver.workspace, watch.wire
    for part, method in PARTS:
        monkeypatch.setattr(part, method, _noted(watch, part.__name__, getattr(part, method)))
    window = watch.driver.window
    window.actions_.refreshed.connect(lambda: watch.note("actions"))
    space.values_changed.connect(lambda: watch.note("values"))
    assert not any(window.docks.by_id[i].panel.is_seen for i in ("device_diff", "profile"))
    space.debugger._expected.setInterval(10 * TOGETHER)  # so that a busy machine is not in the way
    for edit, is_known in (
        (lambda: commands.toggle_stop(space, wire), True),
        (lambda: commands.rename(space, wire.op, "renamed"), False),
    ):
        for action in (edit, space.undo_stack.undo):
            space.debugger._answered = 0.0  # seconds: it was quick until now
            counts = watch.of(action)
            assert counts["actions"] == 1
            assert counts["ToolBar"] == 1
            assert counts["TimelineModel"] == 2, "the rows, and where it stands in them"
            assert counts["Minimap"] <= 1 + counts["values"]
            assert not counts["DiffModel"]
            assert not counts["ProfileHead"]
            assert watch.order.index("actions") < watch.order.index("canvas")
            if is_known:  # of a new name it waits for the values
                assert watch.order.index("Inspector") < watch.order.index("canvas")


@pytest.mark.slow
def test_of_what_is_renamed_the_inspector_says_nothing_that_it_takes_back(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name that is selected then is one of which the program does not know yet."""
    space, wire = watch.driver.workspace, watch.wire
    panel = watch.driver.window.findChild(InspectorPanel)
    notes: list[str] = []
    refresh = panel._refresh
    monkeypatch.setattr(
        panel, "_refresh", lambda: (refresh(), notes.append(panel.value.note.text()))
    )
    for action in (
        lambda: commands.rename(space, wire.op, "renamed"),
        space.undo_stack.undo,
    ):
        space.debugger._answered = 0.0  # seconds: it was quick until now
        watch.of(action)
    assert notes
    assert not [note for note in notes if note.startswith("None:")]


@pytest.mark.slow
def test_an_edit_is_painted_with_a_quick_answer_and_waits_for_no_slow_one(watch: Watch) -> None:
    """The canvas shows both in one paint; where the engine is slow, the edit by itself."""
    space, wire = watch.driver.workspace, watch.wire
    space.debugger._answered = 0.0  # seconds: it was quick until now
    space.debugger._expected.setInterval(10 * TOGETHER)  # so that a busy machine is not in the way
    os.killpg(space.bridge.pid, SIGSTOP)  # the engine, and the process that watches it
    try:
        QApplication.instance().installEventFilter(watch)
        watch.is_on = True
        commands.toggle_stop(space, wire)
        began = time.monotonic()
        while time.monotonic() - began < 2 * TOGETHER / 1000:
            QApplication.processEvents()
        assert not watch.counts["canvas"]
        watch.driver.wait(lambda: watch.counts["canvas"] > 0, "the edit to be painted")
        assert not space.is_idle, "the engine has not answered"
    finally:
        os.killpg(space.bridge.pid, SIGCONT)
        QApplication.instance().removeEventFilter(watch)
    watch.rest()


@pytest.mark.slow
def test_that_a_document_is_changed_lays_out_nothing(watch: Watch, tmp_path: Path) -> None:
    """Its name gets a mark at the first edit, and loses it when that is undone."""
    space, name = watch.driver.workspace, watch.driver.window.menu.name
    space.saved(tmp_path / "saved.gradstep")
    watch.rest()
    for action, mark in (
        (lambda: commands.toggle_stop(space, watch.wire), True),
        (space.undo_stack.undo, False),
    ):
        counts = watch.of(action)
        assert name.text().endswith("•") is mark
        assert counts["window"] == 0
        assert name.width() >= name.sizeHint().width()


@pytest.mark.slow
def test_what_comes_and_says_nothing_new_paints_nothing(watch: Watch) -> None:
    space = watch.driver.workspace
    for signal in (space.values_changed, space.soundness.changed):
        counts = watch.of(signal.emit)
        assert not counts & Counter(("canvas", "timeline.table", "outline.tree", "window"))


@pytest.mark.slow
def test_selecting_paints_what_was_selected_and_what_is(watch: Watch) -> None:
    space, name = watch.driver.workspace, watch.wire.op
    counts = watch.of(lambda: space.select([f"{name.rpartition('/')[0]}/MatMul"]))
    assert counts["canvas"] in (1, 2)
    assert not counts & Counter(("window", "Timeline", "Outline"))
    size = watch.driver.window.canvas.viewport().size()
    assert 0 < watch.painted < size.width() * size.height() / 4


@pytest.mark.slow
def test_a_step_lays_out_nothing(watch: Watch) -> None:
    space = watch.driver.workspace
    for command in ("step", "step_back"):
        counts = watch.of(lambda command=command: space.control(command))  # type: ignore[misc]
        assert not counts & Counter(("window", "Timeline", "Outline"))
        assert 1 <= counts["canvas"] <= 3


@pytest.mark.parametrize("nodes", [LARGE])
@pytest.mark.slow
def test_an_edit_paints_anew_what_it_changed_of_the_canvas(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pixels of both layers that are painted, and not those that are only shown again."""
    space, wire = watch.driver.workspace, watch.wire
    strips: list[int] = []
    paint = FrontBuffer._paint_strip

    def noted(self: FrontBuffer, painter: Any, strip: Any, *rest: Any) -> None:
        strips.append(strip.width() * strip.height())
        paint(self, painter, strip, *rest)

    monkeypatch.setattr(FrontBuffer, "_paint_strip", noted)
    size = watch.driver.window.canvas.viewport().size()
    seen = 2 * size.width() * size.height()
    whole = 2 * (size.width() + 2 * MARGIN) * (size.height() + 2 * MARGIN)
    for edit in (
        lambda: commands.rename(space, wire.op, f"{wire.op}_renamed"),
        lambda: commands.disconnect(space, wire),
    ):
        for action in (edit, space.undo_stack.undo):
            strips.clear()
            watch.of(action)
            assert 0 < sum(strips) < seen / 2, (sum(strips), seen)
    strips.clear()
    watch.driver.window.canvas.layers.refresh()
    watch.driver.window.canvas.viewport().update()
    watch.rest()
    assert seen <= sum(strips) <= whole, "all of it, where all may differ"
