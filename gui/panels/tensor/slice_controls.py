"""The slice in NumPy's syntax, and which axes are rows, columns and channels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton, QWidget

from gradstep.core.errors import GradstepError
from gradstep.core.host.tensors.axis_layout import Layout
from gradstep.core.host.tensors.slice_syntax import parse_slice
from gradstep.gui.look.colour_maps import MAPS, RANGES, MapName, RangeName
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import mono
from gradstep.gui.model.view_choice import View

_INTEGER = re.compile(r"-?\d+")


class SliceField(QLineEdit):
    """stepped(): Up or Down changed the number under the text cursor."""

    stepped = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()))
        if steps is None:
            super().keyPressEvent(event)
        else:
            self.step(steps)

    def step(self, steps: int) -> None:
        """Change the number at the text cursor, or the first one."""
        found = [*_INTEGER.finditer(self.text())]
        here = [m for m in found if m.start() <= self.cursorPosition() <= m.end()]
        if not found:
            return
        match = (here or found)[0]
        number = max(0, int(match.group()) + steps)
        text = self.text()
        self.setText(f"{text[: match.start()]}{number}{text[match.end() :]}")
        self.setCursorPosition(match.start() + len(str(number)))
        self.stepped.emit()


class SliceControls(QObject):
    """changed(View): the user chose another slice, axes or colours. failed(text): what they typed
    is no slice; "" once it is."""

    changed = Signal(object)
    failed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._view: View | None = None
        self.field = SliceField()
        self.field.setObjectName("tensor.slice")
        self.field.setAccessibleName(self.tr("Slice"))
        self.field.setFont(mono(12))
        self.field.setFixedWidth(144)
        self.field.setToolTip(
            plain(self.tr("A slice as in NumPy: [0, :, 3:10, ::2]. Up and Down step a number."))
        )
        self.field.returnPressed.connect(self._read)
        self.field.stepped.connect(self._read)
        self.rows = self._axis("rows", self.tr("Axis of the rows"))
        self.columns = self._axis("columns", self.tr("Axis of the columns"))
        self.channels = self._axis("channels", self.tr("Axis of the channels"))
        self.swap = QPushButton("⇄")
        self.swap.setObjectName("tensor.swap")
        self.swap.setAccessibleName(self.tr("Swap rows and columns"))
        self.swap.setToolTip(plain(self.tr("Swap rows and columns")))
        self.swap.clicked.connect(self._swap)
        self.map = QComboBox()
        self.map.setObjectName("tensor.colours")
        self.map.setAccessibleName(self.tr("Colours"))
        self.map.addItem(self.tr("Colours: suited"), "")
        for name, title in MAPS.items():
            self.map.addItem(title, name)
        self.map.activated.connect(self._choose_map)
        self.range = QComboBox()
        self.range.setObjectName("tensor.range")
        self.range.setAccessibleName(self.tr("Black and white"))
        self.range.setToolTip(plain(self.tr("What black and white stand for")))
        self.range.addItem(self.tr("Range: suited"), "")
        for span, title in RANGES.items():
            self.range.addItem(title, span)
        self.range.activated.connect(self._choose_range)
        self.widgets: tuple[QWidget, ...] = (
            self.field, self.rows, self.columns, self.swap, self.channels, self.map, self.range,
        )  # fmt: skip

    def _axis(self, what: str, title: str) -> QComboBox:
        box = QComboBox()
        box.setObjectName(f"tensor.{what}")
        box.setAccessibleName(title)
        box.setToolTip(plain(title))
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        box.activated.connect(lambda _: self._choose_axis(what, box.currentData()))
        return box

    def show_view(self, view: View, numbers: bool) -> None:
        """numbers: whether it can be shown as anything but a table."""
        self._view = view
        if not self.field.hasFocus() or parse_or_none(self.field.text(), view) != view.picks:
            self.field.setText(view.picks.text if view.picks.shape else "[]")
        arranged, kept, image = view.arranged, view.picks.kept, view.kind == "image"
        spread = [axis for axis in kept if axis != arranged.channels]
        self._offer(self.rows, self.tr("rows"), spread, arranged.rows, view)
        self._offer(self.columns, self.tr("columns"), spread, arranged.columns, view)
        self._offer(self.channels, self.tr("channels"), [-1, *kept], arranged.channels, view)
        plane = len(spread) > 1 and view.kind not in ("histogram", "history")
        for widget in (self.rows, self.columns):
            widget.setVisible(plane and len(spread) > 2)
        self.swap.setVisible(plane)
        self.channels.setVisible(image and len(kept) > 2)
        self.map.setVisible(
            numbers
            and view.kind in ("heat_map", "image")
            and not (image and arranged.channels >= 0 and view.sizes[-1] > 1)
        )
        self.map.setCurrentIndex(max(self.map.findData(view.colours), 0))
        self.range.setVisible(image and view.colours in ("", "grey"))
        self.range.setCurrentIndex(max(self.range.findData(view.range), 0))
        self.field.setVisible(bool(view.picks.shape))

    def _offer(
        self, box: QComboBox, what: str, axes: Sequence[int], chosen: int, view: View
    ) -> None:
        box.clear()
        for axis in axes:
            size = "none" if axis < 0 else axis
            box.addItem(f"{what}: {size}", axis)
        box.setCurrentIndex(max(box.findData(chosen), 0))

    def _read(self) -> None:
        if self._view is None:
            return
        try:
            picks = parse_slice(self.field.text(), self._view.picks.shape)
        except GradstepError as error:
            self.failed.emit(f"{error.message}; {error.hint}")
            return
        self.failed.emit("")
        self.changed.emit(replace(self._view, picks=picks))

    def _swap(self) -> None:
        if self._view is not None:
            now = self._view.arranged
            self._choose(Layout(now.columns, now.rows, now.channels))

    def _choose_axis(self, what: str, axis: int) -> None:
        """One that is another's already takes that one's place: the two are exchanged."""
        if self._view is None:
            return
        now = self._view.arranged
        axes = {"rows": now.rows, "columns": now.columns, "channels": now.channels}
        other = next((name for name, held in axes.items() if held == axis and name != what), "")
        if other:
            axes[other] = axes[what]
        axes[what] = axis
        self._choose(Layout(**axes))

    def _choose(self, layout: Layout) -> None:
        if self._view is not None:
            self.changed.emit(replace(self._view, layout=layout))

    def _choose_map(self) -> None:
        name: MapName = self.map.currentData()
        if self._view is not None:
            self.changed.emit(replace(self._view, colours=name))

    def _choose_range(self) -> None:
        name: RangeName = self.range.currentData()
        if self._view is not None:
            self.changed.emit(replace(self._view, range=name))


def parse_or_none(text: str, view: View) -> object:
    """What is typed, if it is a slice."""
    try:
        return parse_slice(text, view.picks.shape)
    except GradstepError:
        return None
