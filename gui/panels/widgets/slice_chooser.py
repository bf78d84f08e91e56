"""The row of spin boxes that chooses which table of a tensor of rank 3 or more is shown."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QSpinBox, QWidget

from gradstep.gui.look.plain_text import Label, plain
from gradstep.gui.look.theme import GRID, mono
from gradstep.gui.panels.widgets.tensor_slices import Slice


class Slicer(QWidget):
    """changed(Slice): the user chose another one."""

    changed = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("tensor.slicer")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(12, 0, 12, GRID // 2)
        self._row.setSpacing(GRID // 2)
        self._slice = Slice((0,))
        self.boxes: list[QSpinBox] = []
        self.hide()

    def show_slice(self, part: Slice) -> None:
        """A box for each leading axis; none for tables and vectors."""
        if part.shape != self._slice.shape:
            self._build(part)
        self._slice = part
        for box, index in zip(self.boxes, part.lead, strict=True):
            box.blockSignals(True)
            box.setValue(index)
            box.blockSignals(False)
        self.setVisible(bool(self.boxes))

    def _build(self, part: Slice) -> None:
        while (item := self._row.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.boxes = [self._box(axis, part.shape[axis]) for axis in range(len(part.lead))]
        if not self.boxes:
            return
        self._word("[")
        for box in self.boxes:
            self._row.addWidget(box)
            self._word(",")
        self._word(f": {part.rows}, : {part.columns} ]")
        self._row.addStretch(1)

    def _box(self, axis: int, size: int) -> QSpinBox:
        box = QSpinBox()
        box.setObjectName(f"tensor.axis.{axis}")
        box.setAccessibleName(self.tr("Index on axis {}").format(axis))
        box.setToolTip(plain(self.tr("axis {}, of size {}").format(axis, size)))
        box.setFont(mono(12))
        box.setRange(0, max(size - 1, 0))
        box.setKeyboardTracking(False)
        box.valueChanged.connect(lambda index: self._choose(axis, index))
        return box

    def _word(self, text: str) -> None:
        label = Label(text)
        label.setFont(mono(12))
        self._row.addWidget(label)

    def _choose(self, axis: int, index: int) -> None:
        self._slice = self._slice.at(axis, index)
        self.changed.emit(self._slice)
