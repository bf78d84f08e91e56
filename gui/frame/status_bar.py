"""The status bar: where the debugger stands, on what, with how much recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QElapsedTimer, QSize, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QStatusBar, QWidget

from gradstep.core.program.trust.permission_levels import Permission
from gradstep.core.visible_text import visible
from gradstep.gui.look.count_text import count_of
from gradstep.gui.look.device_text import device_words
from gradstep.gui.look.plain_text import Label, plain
from gradstep.gui.look.theme import SMALL, sans
from gradstep.gui.model.once_told import OnceTold

if TYPE_CHECKING:
    from gradstep.core.protocol.messages import DeviceInfo, Stopped
    from gradstep.gui.model.workspace import Workspace

REASONS = {
    "entry": "Ready",
    "step": "Stopped after step",
    "breakpoint": "Stopped at breakpoint",
    "exception": "Stopped at an error",
    "blocked": "Blocked",
    "pause": "Paused",
    "goto": "Stopped",
    "end": "Run finished",
}
ENGINE = {"starting": "Engine starts", "dead": "Engine stopped"}
RIGHTS = {
    Permission.REFUSED: "restricted: Python does not run",
    Permission.CONFINED: "sandbox: Python has no network and no files",
    Permission.FULL: "document trusted",
}
NO_GPU = "no GPU: what to do"
MESSAGE_TIME = 6000  # milliseconds that a remark stays
SAME = 300  # milliseconds after a remark in which nobody has begun something else


class StatusBar(QStatusBar):
    """Coloured while the debugger is stopped inside a run. It stands there before there is a
    workspace to follow."""

    _workspace: Workspace

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("status_bar")
        self.setSizeGripEnabled(False)
        self._row = _Row()
        self.addWidget(self._row, 1)
        self._remark_until = QTimer(self, singleShot=True, interval=MESSAGE_TIME)
        self._remark_until.timeout.connect(self._show_place)
        self._said = QElapsedTimer()
        self._is_training = False
        self._outlasts = False  # whether the next stop is that of what was remarked on
        self.state = self._label("state", strong=True)
        self.place = self._add(ElidedLabel(), "place")
        self.device = self._label("device")
        self.advice = self._button("advice", NO_GPU)
        self.recording = self._label("recording")
        self.zoom = self._label("zoom", right=True)
        self.trust = self._label("trust", right=True)
        # Qt shows the hint of a button in place of all but permanent widgets.
        self.beside = self._dress(ElidedLabel(), "beside")
        self.beside.hide()
        self.addPermanentWidget(self.beside)
        self.messageChanged.connect(lambda hint: self.beside.setVisible(bool(hint)))
        self.state.setText(ENGINE["starting"])

    def follow(self, workspace: Workspace) -> None:
        """Say where this workspace's debugger stands, from now on."""
        self._workspace = workspace
        workspace.document_opened.connect(lambda: self.remark(""))
        workspace.document_changed.connect(self._go_on)
        workspace.stopped.connect(self._go_on)
        workspace.training.changed.connect(self._note_training)
        news = OnceTold(workspace.debugger, self.refresh, self)
        for signal in (workspace.stopped, workspace.engine_changed, workspace.program_changed,
                       workspace.file_changed, workspace.devices_changed,
                       workspace.reader.changed):  # fmt: skip
            signal.connect(news.hear)
        workspace.bridge.event_received.connect(self._note_progress)
        self.refresh()

    def refresh(self) -> None:
        """Say everything anew."""
        workspace, stop = self._workspace, self._workspace.stop
        self.state.setText(self._state())
        self._show_place()
        self.device.setText(self._device() if workspace.is_open else "")
        self.advice.setVisible(workspace.is_open and self._lacks_gpu())
        self.recording.setText("" if stop is None else recording_words(stop))
        self.trust.setText(self._trust())
        inside = stop is not None and stop.reason != "entry"
        self._color(inside and workspace.engine_state == "ready")

    def remark(self, text: str) -> None:
        """Say something that goes away by itself, with the next, or once the user does something
        else; "" takes it away."""
        self._remark_until.start() if text else self._remark_until.stop()
        self._said.start()
        self._outlasts = bool(text) and not self._workspace.debugger.is_idle
        self.place.setText(text)
        self._show_place()

    def _go_on(self) -> None:
        """What was remarked on is over: there is an edit, or a run. What the remark was about may
        itself end so, soon after it or when the engine has done it."""
        if self._outlasts:
            self._outlasts = False
        elif self._remark_until.isActive() and self._said.hasExpired(SAME):
            self.remark("")

    def _note_training(self) -> None:
        """It may begin; how far it is takes nothing away."""
        was_training, self._is_training = self._is_training, self._workspace.training.busy
        if self._is_training and not was_training:
            self._go_on()

    def show_zoom(self, scale: float) -> None:
        percent = 100 * scale
        self.zoom.setText(f"zoom {percent:.0f} %" if percent >= 1 else f"zoom {percent:.1g} %")

    def _state(self) -> str:
        workspace, stop = self._workspace, self._workspace.stop
        if workspace.reader.name:
            return f"Opening {workspace.reader.name}"
        if workspace.engine_state == "busy":
            return workspace.engine_doing
        if workspace.engine_state == "starting" and workspace.bridge.machine:
            return f"Connecting to {workspace.bridge.machine}"
        if workspace.engine_state in ENGINE:
            return ENGINE[workspace.engine_state]
        if not workspace.is_open:
            return "Ready"
        return "Ready" if stop is None else REASONS.get(stop.reason, "Stopped")

    def _note_progress(self, event: object) -> None:
        """How far the engine is with what it is at, until something else is said."""
        from gradstep.core.protocol.messages import Progress  # not before the first paint

        if isinstance(event, Progress) and self._workspace.engine_state == "busy" and event.total:
            self.state.setText(f"{event.text}: {100 * event.done // event.total} %")

    def _show_place(self) -> None:
        stop, program = self._workspace.stop, self._workspace.program
        steps = len(program.steps) if program is not None else 0
        where = "" if stop is None else place_words(stop, steps)
        self.beside.setText(where)
        if self._remark_until.isActive():
            return
        if stop is None:
            self.place.setText(self._size())
        else:
            self.place.setText(where + self._left_undone(stop, steps))

    def _left_undone(self, stop: Stopped, steps: int) -> str:
        """What a run that ends early, or has nothing to do, waits for."""
        waits = next(iter(self._workspace.waits.values()), None)
        if waits is None:
            return ""
        if not steps:
            return f": waits for {waits}"
        ends_early = stop.reason == "end" and self._workspace.gradients_wait
        return f"; the rest waits for {waits}" if ends_early else ""

    def _size(self) -> str:
        """How much there is to prepare before a first step can be shown."""
        waits = self._workspace.is_open and self._workspace.engine_state == "busy"
        return count_of(len(self._workspace.shown), "operation") if waits else ""

    def _device(self) -> str:
        program = self._workspace.program
        name = program.device if program is not None else self._workspace.device
        emulated = program is not None and not program.measured
        words = device_words(name) + (" (NumPy)" if name == "cpu" else "")
        others = sorted({*self._workspace.placements.values()})
        if emulated and "emulated" not in words and not others:
            words += " (emulated)"
        words = " + ".join((words, *map(device_words, others)))
        machine = self._workspace.bridge.machine
        return f"{words} on {machine}" if machine else words

    def _lacks_gpu(self) -> bool:
        devices = self._workspace.devices
        return bool(devices) and not any(d.available and _is_gpu(d) for d in devices)

    def _trust(self) -> str:
        if not self._workspace.is_open or not self._workspace.document.code:
            return ""
        return RIGHTS[self._workspace.permission]

    def _color(self, stopped: bool) -> None:
        if self.property("stopped") != stopped:
            self.setProperty("stopped", stopped)
            for widget in (self, self.advice, *self.findChildren(QLabel)):
                widget.style().unpolish(widget)
                widget.style().polish(widget)

    def _button(self, name: str, text: str) -> QPushButton:
        """Words that lead to where more is said."""
        button = QPushButton(text)
        button.setObjectName(f"status.{name}")
        button.setAccessibleName(text)
        button.setFont(sans(SMALL + 1))
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setToolTip("What this machine has, and how to get what is missing")
        button.clicked.connect(self._show_machine)
        button.hide()
        self._row.add(button)
        return button

    def _show_machine(self) -> None:
        from gradstep.gui.actions.dialog_table import DOCTOR, open_dialog

        open_dialog(self._workspace, DOCTOR)

    def _label(self, name: str, strong: bool = False, right: bool = False) -> QLabel:
        return self._add(Label(), name, strong, right)

    def _add(self, label: QLabel, name: str, strong: bool = False, right: bool = False) -> QLabel:
        self._row.add(self._dress(label, name, strong), right)
        return label

    def _dress(self, label: QLabel, name: str, strong: bool = False) -> QLabel:
        label.setObjectName(f"status.{name}")
        label.setFont(sans(SMALL + 1, strong))
        label.setContentsMargins(8, 0, 8, 0)
        return label


class _Row(QWidget):
    """What the bar says, in a row. It has its size from the bar, and no layout of its own: other
    words lay out the row, and not the window around it."""

    def __init__(self) -> None:
        super().__init__()
        self._inside = QWidget(self)
        self._layout = QHBoxLayout(self._inside)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(6)
        self._layout.addStretch(1)
        self._left = 0  # how many are left of the gap

    def add(self, widget: QWidget, right: bool = False) -> None:
        """Put it behind the others, on the left or on the right."""
        self._layout.insertWidget(self._layout.count() if right else self._left, widget)
        self._left += not right

    def sizeHint(self) -> QSize:
        said = self._inside.findChildren(QWidget)  # what is hidden now needs room, too
        return QSize(0, max((widget.sizeHint().height() for widget in said), default=0))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._inside.resize(event.size())


class ElidedLabel(Label):
    """Gives way where there is no room for all of it: no remark may widen the window."""

    _whole = ""

    def text(self) -> str:
        return self._whole

    def setText(self, text: str) -> None:
        self._whole = text
        self._fit()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        margins, metrics = self.contentsMargins(), QFontMetrics(self.font())
        width = metrics.horizontalAdvance(self._whole) + margins.left() + margins.right() + 1
        return QSize(width, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(min(48, self.sizeHint().width()), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = self.contentsRect().width()
        text = QFontMetrics(self.font()).elidedText(self._whole, Qt.TextElideMode.ElideRight, room)
        super().setText(text)
        self.setToolTip(plain("" if text == self._whole else self._whole))


def place_words(stop: Stopped, steps: int) -> str:
    """ "next step 13 / 22 · backward ↑": the number that the timeline gives the step which runs
    next. With the branch and the run once there are several, in a loop with the iteration, and with
    the batch that the run is fed."""
    from gradstep.core.protocol.branch_queries import current_branch  # not at the first paint

    arrow = {"forward": " ↓", "backward": " ↑"}.get(stop.phase, "")
    run = f"run {stop.run + 1} · " if stop.runs > 1 or stop.run else ""
    branch = current_branch(stop.branches)
    run = f"{visible(branch)} · {run}" if branch else run
    batch = f" · {stop.batch}" if stop.batch else ""
    phase = (f" · {stop.phase}{arrow}" if stop.phase else "") + batch
    if not steps:
        return "nothing to run yet"
    if stop.inside:
        place = stop.inside[-1]
        there = f"next step {place.step + 1} / {place.length}"
        ended = "end of the iteration" if place.step == place.length else there
        return f"{run}in {place.text} · {ended}{phase}"
    if stop.step >= steps:
        return f"{run}{'all ' if steps > 1 else ''}{count_of(steps, 'step')} done{batch}"
    return f"{run}next step {stop.step + 1} / {steps}{phase}"


def recording_words(stop: Stopped) -> str:
    """ "recording 3.1 KB of 2 GB"."""
    return f"recording {size_words(stop.recorded_bytes)} of {size_words(stop.recorded_limit)}"


def size_words(count: int) -> str:
    """Bytes in the unit that keeps the number short: 3.1 KB, 2 GB."""
    size = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1024 or unit == "GB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if size >= 100 or size == int(size) else f"{size:.1f} {unit}"


def _is_gpu(device: DeviceInfo) -> bool:
    return device.kind == "gpu" or (
        device.kind == "torch" and not device.name.startswith("torch:cpu")
    )
