"""The panels' docks: where they stand at first, made when first seen, and named by their tabs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from types import ModuleType

from PySide6.QtCore import QByteArray, QObject, QPoint, QSize, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QMainWindow,
    QMenu,
    QTabBar,
    QTabWidget,
    QWidget,
)

from gradstep.gui.look.plain_text import Label
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.layout_rest import at_rest
from gradstep.gui.panels.widgets.panel_base import Panel

LEFT = Qt.DockWidgetArea.LeftDockWidgetArea
RIGHT = Qt.DockWidgetArea.RightDockWidgetArea
BOTTOM = Qt.DockWidgetArea.BottomDockWidgetArea
STATE_VERSION = 2  # of the saved layout; another one is not restored
PLACES = {LEFT: "left", RIGHT: "right", BOTTOM: "bottom"}


SIZES = {LEFT: (220, 400), RIGHT: (344, 400), BOTTOM: (600, 264)}  # at most at first, in pixels
SHARES = {LEFT: 0.14, RIGHT: 0.236, BOTTOM: 0.3}  # of the window at first, so that most is canvas
LEAST = {LEFT: 168, RIGHT: 240, BOTTOM: 120}  # pixels; narrower, and nothing can be read
CANVAS = 0.3  # of the window at least, each way, where docks come back as they stood elsewhere
HEIGHTS = (384, 520)  # at first, of a dock that stands apart and of the tabs below


@dataclass(frozen=True)
class Place:
    """Where a panel is found and where its dock stands at first: a tab among those of its area, or
    `apart`, over them. asked: it is hidden until somebody asks for it, so that tabs have room."""

    id: str
    title: str
    area: Qt.DockWidgetArea
    module: str
    panel: str
    apart: bool = False
    asked: bool = False


PANELS = (
    Place("outline", "Outline", LEFT, "gradstep.gui.panels.outline.outline_panel", "OutlinePanel"),
    Place("palette", "Palette", LEFT, "gradstep.gui.panels.palette_panel", "PalettePanel"),
    Place("note", "Note", RIGHT, "gradstep.gui.panels.note_panel", "NotePanel", apart=True),
    Place(
        "inspector",
        "Inspector",
        RIGHT,
        "gradstep.gui.panels.inspector.inspector_panel",
        "InspectorPanel",
    ),
    Place(
        "gradients",
        "Gradients",
        RIGHT,
        "gradstep.gui.panels.gradients.gradients_panel",
        "GradientsPanel",
    ),
    Place(
        "problems",
        "Problems",
        RIGHT,
        "gradstep.gui.panels.problems.problems_panel",
        "ProblemsPanel",
    ),
    Place("classes", "Classes", RIGHT, "gradstep.gui.panels.classes.classes_panel", "ClassesPanel"),
    Place(
        "timeline",
        "Timeline",
        BOTTOM,
        "gradstep.gui.panels.timeline.timeline_panel",
        "TimelinePanel",
    ),
    Place(
        "training",
        "Training",
        BOTTOM,
        "gradstep.gui.panels.training.training_panel",
        "TrainingPanel",
    ),
    Place("data", "Data", BOTTOM, "gradstep.gui.panels.data.data_panel", "DataPanel"),
    Place(
        "sweep",
        "Sweep",
        BOTTOM,
        "gradstep.gui.panels.sweep.sweep_panel",
        "SweepPanel",
        asked=True,
    ),
    Place("tensor", "Tensor", BOTTOM, "gradstep.gui.panels.tensor.tensor_panel", "TensorPanel"),
    Place(
        "device_diff",
        "Device diff",
        BOTTOM,
        "gradstep.gui.panels.device_diff.device_diff_panel",
        "DeviceDiffPanel",
    ),
    Place(
        "precision",
        "Precision",
        BOTTOM,
        "gradstep.gui.panels.precision.precision_panel",
        "PrecisionPanel",
        asked=True,
    ),
    Place(
        "breakpoints",
        "Breakpoints",
        BOTTOM,
        "gradstep.gui.panels.breakpoints_panel",
        "BreakpointsPanel",
    ),
    Place(
        "watches", "Watches", BOTTOM, "gradstep.gui.panels.watches.watches_panel", "WatchesPanel"
    ),
    Place(
        "queries", "Queries", BOTTOM, "gradstep.gui.panels.queries.queries_panel", "QueriesPanel"
    ),
    Place("threads", "Threads", BOTTOM, "gradstep.gui.panels.threads_panel", "ThreadsPanel"),
    Place(
        "profile", "Profile", BOTTOM, "gradstep.gui.panels.profile.profile_panel", "ProfilePanel"
    ),
    Place("sessions", "Sessions", BOTTOM, "gradstep.gui.panels.sessions_panel", "SessionsPanel"),
    Place("console", "Console", BOTTOM, "gradstep.gui.panels.console_panel", "ConsolePanel"),
    Place("output", "Output", BOTTOM, "gradstep.gui.panels.output_panel", "OutputPanel"),
)


class Dock(QDockWidget):
    """One panel's dock; the panel itself is imported and made when it first shows."""

    def __init__(self, place: Place, workspace: Workspace, window: QMainWindow) -> None:
        super().__init__(place.title, window)
        self.setObjectName(place.id)
        self.place = place
        self._workspace = workspace
        self._frame = _Frame(workspace, QSize(*SIZES[place.area]), LEAST[place.area])
        self.setWidget(self._frame)
        self._title = Label(place.title)
        self._title.setContentsMargins(12, 6, 12, 6)
        self._nothing = QWidget()
        self._is_front = self._is_held = False
        self.visibilityChanged.connect(self._note_front)
        self.topLevelChanged.connect(lambda _: self.fit_title())

    @property
    def is_made(self) -> bool:
        return self._frame.panel is not None

    @property
    def panel(self) -> Panel:
        """The panel, made now if it was not yet."""
        if self._frame.panel is None:
            kind = getattr(self.load(), self.place.panel)
            made = kind(self._workspace)
            made.cover(not self._is_front)  # before it shows, or it looks at all that there is
            self._frame.put(made)
        assert self._frame.panel is not None
        return self._frame.panel

    @property
    def is_loaded(self) -> bool:
        return self.place.module in sys.modules

    def load(self) -> ModuleType:
        """The module that the panel is made of."""
        return import_module(self.place.module)

    def say(self, title: str) -> None:
        """Change what the tab says."""
        self.setWindowTitle(title)
        self._title.setText(title)

    def fit_title(self) -> None:
        """A title bar only where there is no tab that says the same."""
        window = self.parent()
        assert isinstance(window, QMainWindow)
        wanted: QWidget | None = None
        if not self.isFloating():
            beside = any(not dock.isHidden() for dock in window.tabifiedDockWidgets(self))
            wanted = self._nothing if beside else self._title
        if self.titleBarWidget() is not wanted:
            self.setTitleBarWidget(wanted)  # type: ignore[arg-type]

    def take_keyboard(self) -> None:
        """Give it to the field that the panel is for, if there is one and it is in front."""
        if self._is_front and (field := self.panel.typed_into) is not None and field.isVisible():
            field.setFocus(Qt.FocusReason.MouseFocusReason)

    def hold(self) -> None:
        """Whether it lies in front is not settled until `release`: nothing is made for that."""
        self._is_held = True

    def release(self) -> None:
        self._is_held = False
        self._fill()

    def set_blank(self, blank: bool) -> None:
        """Whether nothing of its panel is seen."""
        self._frame.set_blank(blank)

    def _note_front(self, front: bool) -> None:
        self._is_front = front
        if not self._is_held:
            self._fill()

    def _fill(self) -> None:
        if self._is_front:
            _ = self.panel
        if self._frame.panel is not None:
            self._frame.panel.cover(not self._is_front)


class _Frame(QWidget):
    """Holds the panel under a one-pixel line; has a size before there is a panel, and the same one
    with it. So it needs no layout, which would lay out the window anew with each word in a panel.
    """

    def __init__(self, workspace: Workspace, size: QSize, least: int) -> None:
        super().__init__()
        self.panel: Panel | None = None
        self._workspace, self._size = workspace, size
        self._is_blank = False
        self.setMinimumSize(least, 80)

    def put(self, panel: Panel) -> None:
        self.panel = panel
        panel.setParent(self)
        self._fit()
        panel.setVisible(not self._is_blank)

    def set_blank(self, blank: bool) -> None:
        self._is_blank = blank
        if self.panel is not None:
            self.panel.setVisible(not blank)

    def sizeHint(self) -> QSize:
        return self._size

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self.panel is not None:
            self.panel.setGeometry(self.rect().adjusted(0, 1, 0, 0))

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, 0, self.width(), 1, self._workspace.theme.line)


class Docks(QObject):
    """All docks of one window."""

    def __init__(self, workspace: Workspace, window: QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.by_id = {place.id: Dock(place, workspace, window) for place in PANELS}
        window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        window.setCorner(Qt.Corner.BottomRightCorner, RIGHT)
        window.setCorner(Qt.Corner.BottomLeftCorner, BOTTOM)
        self.layout: QByteArray | None = None  # to come back to when the docks show again
        self._shown = False
        self._withdrawn: set[str] = set()  # hidden for want of content, not by the user
        self._tidying = QTimer(self, singleShot=True, interval=0)
        self._tidying.timeout.connect(self.tidy)
        for dock in self.by_id.values():
            dock.hide()
            for moved in (dock.dockLocationChanged, dock.topLevelChanged, dock.visibilityChanged):
                moved.connect(self.tidy_soon)

    def set_shown(self, shown: bool) -> None:
        """Show the docks as they were, or hide them all while there is nothing to show in them."""
        if shown == self._shown:
            return
        if not shown:
            self.layout = self.current_layout()
        self._shown = shown
        self._withdrawn.clear()
        with at_rest(self._window):
            for dock in self.by_id.values():
                dock.hold()  # each shows for a moment before others lie in front
                if self.layout or not shown:  # placed anew, each is shown where it goes
                    dock.setVisible(shown)
        if shown and self.layout and self._window.restoreState(self.layout, STATE_VERSION):
            self._leave_room()
        elif shown:
            self._place()
        self.tidy()  # each title that comes or goes lays all of them out, which is long once filled
        for dock in self.by_id.values():
            dock.release()

    def set_blank(self, blank: bool) -> None:
        """Whether nothing is seen in them, where they stand. To hide them for a moment would lay
        out the window twice, which takes longer than most of what happens meanwhile."""
        for dock in self.by_id.values():
            dock.set_blank(blank)

    def offer(self, id: str, there: bool) -> None:
        """Show a dock that has something to show again, or take it away while it has nothing. One
        that the user closed stays closed. The dock's action tells that only once the window shows.
        """
        dock = self.by_id[id]
        if there and id in self._withdrawn:
            self._withdrawn.discard(id)
            dock.show()
        elif not there and self._shown and not dock.isHidden():
            self._withdrawn.add(id)
            dock.hide()

    def prepare_one(self) -> bool:
        """Load, and then make, one panel that is not made yet; whether there was one."""
        dock = next((dock for dock in self.by_id.values() if not dock.is_made), None)
        if dock is not None:
            _ = dock.panel if dock.is_loaded else dock.load()
        return dock is not None

    def current_layout(self) -> QByteArray | None:
        """Where everything stands, to be restored at the next start; what has nothing to show now
        stands where it would."""
        if not self._shown:
            return self.layout
        withdrawn = [self.by_id[id] for id in self._withdrawn]
        for dock in withdrawn:
            dock.show()
        state = self._window.saveState(STATE_VERSION)
        for dock in withdrawn:
            dock.hide()
        return state

    def reset(self) -> None:
        """Every dock where it stood at first."""
        if self._shown:
            self._place()
        else:
            self.layout = None

    def _place(self) -> None:
        """The first dock of each area on top."""
        self._withdrawn.clear()
        for dock in self.by_id.values():
            if dock.isFloating():  # of others Qt makes a window, and none again
                dock.setFloating(False)
            self._window.removeDockWidget(dock)
        self._lay_out()  # or a bar of tabs that is used no more stays in view
        with at_rest(self._window):
            first = self._fill_areas()
            self.tidy()  # each title that comes or goes would lay all of them out
        self._lay_out()  # what is resized has a size
        self._share_heights(first)
        for dock in first.values():
            dock.raise_()
        width, height = self._room()
        self._window.resizeDocks(
            [first[LEFT], first[RIGHT]],
            [_share(LEFT, width, SIZES[LEFT][0]), _share(RIGHT, width, SIZES[RIGHT][0])],
            Qt.Orientation.Horizontal,
        )
        for dock in self.by_id.values():
            if dock.place.asked:
                dock.hide()
        bottom = _share(BOTTOM, height, SIZES[BOTTOM][1])
        self._window.resizeDocks([first[BOTTOM]], [bottom], Qt.Orientation.Vertical)
        self.tidy()

    def _leave_room(self) -> None:
        """For the canvas: pixels that docks took of a large screen may be all of a small one."""
        self._lay_out()
        canvas, room = self._window.centralWidget(), self._room()
        assert canvas is not None  # a main window has one
        middle = canvas.size()
        for there, whole, areas, way in (
            (middle.height(), room[1], (BOTTOM,), Qt.Orientation.Vertical),
            (middle.width(), room[0], (LEFT, RIGHT), Qt.Orientation.Horizontal),
        ):
            if there >= CANVAS * whole:
                continue
            for area in areas:
                docks = [dock for dock in self.by_id.values() if self._stands_in(dock, area)]
                size = _share(area, whole, SIZES[area][way is Qt.Orientation.Vertical])
                self._window.resizeDocks(docks[:1], [size] * len(docks[:1]), way)

    def _stands_in(self, dock: Dock, area: Qt.DockWidgetArea) -> bool:
        there = not dock.isHidden() and not dock.isFloating()
        return there and self._window.dockWidgetArea(dock) is area

    def _room(self) -> tuple[int, int]:
        """Pixels of the window, as it will be where it does not show yet."""
        window = self._window
        size = window.size()
        if window.isMaximized() and not window.isVisible():
            size = window.screen().availableSize()
        return size.width(), size.height()

    def _fill_areas(self) -> dict[Qt.DockWidgetArea, Dock]:
        """Every dock into its area; the first tab of each."""
        first: dict[Qt.DockWidgetArea, Dock] = {}
        apart: dict[Qt.DockWidgetArea, Dock] = {}
        for dock in self.by_id.values():
            area = dock.place.area
            if area in first:
                self._window.addDockWidget(area, dock)
                self._window.tabifyDockWidget(first[area], dock)
            elif area in apart:
                self._window.splitDockWidget(apart[area], dock, Qt.Orientation.Vertical)
                first[area] = dock
            else:
                self._window.addDockWidget(area, dock)
                (apart if dock.place.apart else first)[area] = dock
            dock.show()
        return first

    def _share_heights(self, first: Mapping[Qt.DockWidgetArea, Dock]) -> None:
        """Between docks that stand apart and the tabs below them."""
        for dock in self.by_id.values():
            if dock.place.apart:
                both = [dock, first[dock.place.area]]
                self._window.resizeDocks(both, list(HEIGHTS), Qt.Orientation.Vertical)

    def _lay_out(self) -> None:
        layout = self._window.layout()
        assert layout is not None  # a main window has one
        layout.activate()

    def show(self, id: str) -> None:
        """Bring a panel to the front; by itself, while the others have nothing to show."""
        dock = self.by_id[id]
        if not self._shown and dock.isHidden():
            self._place_alone(dock)
        self._withdrawn.discard(id)
        dock.show()
        dock.raise_()
        dock.fit_title()  # what was hidden was beside nobody

    def hide_alone(self, id: str) -> None:
        """Take one away that shows by itself and has nothing to show any more."""
        if not self._shown:
            self.by_id[id].hide()

    def _place_alone(self, dock: Dock) -> None:
        dock.setFloating(False)
        self._window.addDockWidget(dock.place.area, dock)
        half = round(0.45 * self._room()[1])
        self._window.resizeDocks([dock], [half], Qt.Orientation.Vertical)
        self.tidy()

    def tidy_soon(self) -> None:
        """Once for all docks that come, go or move together."""
        self._tidying.start()

    def tidy(self) -> None:
        """Dress the tab bars that Qt has made, and fit the docks' titles to them."""
        for dock in self.by_id.values():
            if self._shown or not dock.isHidden():  # of those that come back together most stay
                dock.fit_title()
        mine = Qt.FindChildOption.FindDirectChildrenOnly
        for bar in self._window.findChildren(QTabBar, options=mine):
            bar.setDrawBase(False)
            bar.setExpanding(False)
            bar.setElideMode(Qt.TextElideMode.ElideNone)
            away = not self._window.rect().intersects(bar.geometry())  # Qt's place for unused ones
            bar.setFocusPolicy(Qt.FocusPolicy.NoFocus if away else Qt.FocusPolicy.TabFocus)
            bar.setAccessibleName("Panels")
            if bar.contextMenuPolicy() is not Qt.ContextMenuPolicy.CustomContextMenu:
                bar.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
                bar.customContextMenuRequested.connect(self._menu_opener(bar))
                bar.tabBarClicked.connect(partial(self._clicked, bar))

    def _clicked(self, bar: QTabBar, index: int) -> None:
        """The user clicked a tab: what one types now is for its panel, once that is in front."""
        dock = self._dock_of(bar, index)
        if dock is not None:
            QTimer.singleShot(0, dock, dock.take_keyboard)

    def _dock_of(self, bar: QTabBar, index: int) -> Dock | None:
        title = bar.tabText(index)
        return next((dock for dock in self.by_id.values() if dock.windowTitle() == title), None)

    def _menu_opener(self, bar: QTabBar) -> Callable[[QPoint], None]:
        def open_menu(at: QPoint) -> None:
            dock = self._dock_of(bar, bar.tabAt(at))
            if dock is not None:
                self.menu_for(dock).popup(bar.mapToGlobal(at))

        return open_menu

    def menu_for(self, dock: Dock) -> QMenu:
        """What can be done with a dock without dragging it."""
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Float", lambda: dock.setFloating(True))
        for area, name in PLACES.items():
            menu.addAction(f"Move to the {name}", partial(self._move, dock, area))
        menu.addAction("Hide", dock.hide)
        return menu

    def _move(self, dock: Dock, area: Qt.DockWidgetArea) -> None:
        dock.setFloating(False)
        place_of = self._window.dockWidgetArea
        others = [d for d in self.by_id.values() if d is not dock and place_of(d) == area]
        self._window.addDockWidget(area, dock)
        if others:
            self._window.tabifyDockWidget(others[0], dock)
        dock.raise_()
        self.tidy()


def _share(area: Qt.DockWidgetArea, whole: int, most: int) -> int:
    """Pixels that the docks of an area take at first, of a window that is `whole` pixels wide or
    high."""
    return min(most, max(LEAST[area], round(SHARES[area] * whole)))
