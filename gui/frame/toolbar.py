"""The toolbar: the debugger's buttons, the phase, stops and overrides, the comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QSize, Qt, QTimer
from PySide6.QtGui import QAction, QActionEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QToolBar, QToolButton, QWidget

from gradstep.core.autodiff.reverse.gradient_request import Override
from gradstep.core.protocol.vocabulary import PhaseName
from gradstep.gui import commands
from gradstep.gui.actions.action_record import shown_key
from gradstep.gui.actions.action_set import ActionSet
from gradstep.gui.look.device_text import device_words
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.pill import Pill

PHASES: tuple[PhaseName, ...] = ("forward", "backward", "update")
_LACKING: Mapping[PhaseName, str] = {  # why a phase may have no steps
    "forward": "there is nothing to compute",
    "backward": "nothing is differentiated (Graph > Differentiate)",
    "update": "no optimizer changes a variable (Graph > Optimizers)",
}
_OWN = Qt.FindChildOption.FindDirectChildrenOnly
OVERRIDES = 3  # pills; more are in the Gradients panel


class ToolBar(QToolBar):
    """As drawn, from left to right."""

    def __init__(self, workspace: Workspace, actions: ActionSet) -> None:
        super().__init__("Toolbar")
        self.setObjectName("toolbar")
        self.setMovable(False)
        self.setIconSize(QSize(16, 16))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._workspace, self._actions = workspace, actions
        self._first_steps: Mapping[PhaseName, int] = {}  # phase -> its first step
        self._told: set[PhaseName] | None = None  # the phases that tool tips say to have steps
        self._overrides: list[Pill] = []
        self._override_slots: list[QAction] = []
        self._fitted: tuple[object, ...] = ()  # what the words were chosen for
        self._fit_soon = QTimer(self, singleShot=True, interval=0)
        self._fit_soon.timeout.connect(self.refresh)
        self._add_buttons()
        self._phases = {phase: self._add_phase(phase) for phase in PHASES}
        self.addSeparator()
        self._stop = self._add_stop()
        self._after_overrides = self.addSeparator()
        self._compare = self._add_compare()
        self._add_palette()
        workspace.program_changed.connect(self._note_phases)
        actions.refreshed.connect(self.refresh)
        workspace.devices_changed.connect(self.refresh)
        self._note_phases()
        self.refresh()

    def refresh(self) -> None:
        """Show the phase and what is in force."""
        stop = self._workspace.stop
        for phase, pill in self._phases.items():
            pill.setEnabled(phase in self._first_steps)
            pill.setChecked(stop is not None and stop.phase == phase)
        action = self._actions["graph.stop_gradient"]
        self._stop.setEnabled(action.isEnabled() or bool(self._stopped_edges()))
        self._stop.setChecked(bool(self._stopped_edges()))
        self._compare.setEnabled(self._workspace.is_open)
        self._show_overrides()
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_soon.start()  # the layout must not change while it is at work

    def showEvent(self, event: QShowEvent) -> None:
        """Qt lays out the toolbar, and with it the window, at whatever changes of an action, unless
        its button is of one size."""
        super().showEvent(event)
        for button in self.findChildren(QToolButton, options=_OWN):
            if button.defaultAction() is not None:
                button.setFixedSize(button.sizeHint())

    def actionEvent(self, event: QActionEvent) -> None:
        """The same again: only whether there is a button for the action takes room."""
        action, changed = event.action(), event.type() is QEvent.Type.ActionChanged
        button = self.widgetForAction(action)
        if not changed or button is None or button.isHidden() == action.isVisible():
            super().actionEvent(event)

    def _fit(self) -> None:
        """Say less where there is no room for everything."""
        buttons = [action.isVisible() for action in self.actions()]
        fitted = self.width(), buttons, self._compare_text(), [*self._shown_overrides()]
        if fitted == self._fitted:
            return
        self._fitted = fitted
        for compare, override in (
            (self._compare_text(), "override: {0.target} → {0.gradient}"),
            ("Compare", "override: {0.target} → {0.gradient}"),
            ("Compare", "→ {0.gradient}"),
        ):
            self._compare.setText(compare)
            for pill, shown in zip(self._overrides, self._shown_overrides(), strict=True):
                pill.setText(override.format(shown))
                pill.updateGeometry()
            if self._needed() <= self.width():
                return

    def _needed(self) -> int:
        """Pixels that everything takes."""
        layout = self.layout()
        assert layout is not None
        shown = [self.widgetForAction(action).sizeHint().width() for action in self.actions()]
        return sum(shown) + len(shown) * layout.spacing() + 2 * GRID

    def _add_buttons(self) -> None:
        for row, action in self._actions:
            if row.toolbar:
                self.addAction(action)
                button = self.widgetForAction(action)
                assert isinstance(button, QToolButton)
                button.setObjectName(f"toolbar.{row.id}")
                button.setAccessibleName(row.title)
                if row.id == "run.step":
                    button.setProperty("primary", True)
                    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.addSeparator()

    def _add_phase(self, phase: PhaseName) -> Pill:
        pill = Pill(self._workspace, phase, f"toolbar.{phase}", phase, filled=True)
        pill.clicked.connect(lambda: self._run_to_phase(phase))
        self.addWidget(pill)
        return pill

    def _add_stop(self) -> Pill:
        pill = Pill(self._workspace, "stop_gradient  S", "toolbar.stop_gradient", "backward")
        pill.setToolTip("Stop the gradient on the selected wire, or let it through again  (S)")
        pill.clicked.connect(self._toggle_stop)
        self.addWidget(pill)
        return pill

    def _add_compare(self) -> Pill:
        pill = Pill(self._workspace, "", "toolbar.compare")
        pill.setCheckable(False)
        pill.setToolTip(plain(f"{self._actions['devices.compare'].toolTip()}"))
        pill.clicked.connect(self._actions["devices.compare"].trigger)
        self.addWidget(pill)
        return pill

    def _add_palette(self) -> None:
        space = QWidget()
        space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(space)
        pill = Pill(self._workspace, shown_key("Ctrl+Shift+P"), "toolbar.palette")
        pill.setCheckable(False)
        pill.setToolTip("Find and run any action")
        pill.setAccessibleName("Command palette")
        pill.clicked.connect(self._actions["view.palette"].trigger)
        self.addWidget(pill)

    def _note_phases(self) -> None:
        self._first_steps = self._workspace.debugger.index.first_steps
        told, self._told = self._told, {*self._first_steps}
        if told == self._told:
            return
        for phase, pill in self._phases.items():
            tip = f"Run to the first step of the {phase} phase"
            lacks = "" if phase in self._first_steps else f"\nNot now: {_LACKING[phase]}"
            pill.setToolTip(plain(f"{tip}{lacks}"))

    def _run_to_phase(self, phase: PhaseName) -> None:
        first, stop = self._first_steps.get(phase), self._workspace.stop
        if first is not None and stop is not None:
            commands.run_to(self._workspace, f"{stop.run}:{first}")
        self.refresh()

    def _stopped_edges(self) -> frozenset[object]:
        return frozenset(self._workspace.document.request.stopped_edges)

    def _toggle_stop(self) -> None:
        self._actions.run("graph.stop_gradient")
        self.refresh()

    def _compare_text(self) -> str:
        left, right = self._workspace.device, commands.device_to_compare_with(self._workspace)
        return f"Compare: {device_words(left)} ↔ {device_words(right)}"

    def _shown_overrides(self) -> Sequence[Override]:
        return self._workspace.document.request.overrides[:OVERRIDES]

    def _show_overrides(self) -> None:
        overrides = self._shown_overrides()
        while len(self._overrides) > len(overrides):
            self.removeAction(self._override_slots.pop())
            self._overrides.pop().deleteLater()
        while len(self._overrides) < len(overrides):
            self._overrides.append(self._add_override(len(self._overrides)))
        for pill, override in zip(self._overrides, overrides, strict=True):
            name = f"override: {override.target} → {override.gradient}"
            pill.setAccessibleName(name)
            pill.setToolTip(plain(f"{name}. Click to switch it off, or on again"))
            pill.setChecked(override.enabled)

    def _add_override(self, index: int) -> Pill:
        pill = Pill(self._workspace, "", f"toolbar.override.{index}", "override")
        pill.clicked.connect(lambda: commands.toggle_override(self._workspace, index))
        self._override_slots.append(self.insertWidget(self._after_overrides, pill))
        return pill
