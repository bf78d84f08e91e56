"""The curves by name, with what each is at the step that is looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from gradstep.core.debug.breaks.missing_number import is_not_there
from gradstep.gui.look.icons import icon
from gradstep.gui.look.theme import GRID, mono
from gradstep.gui.model.number_text import scalar
from gradstep.gui.model.training_curve import Curve
from gradstep.gui.panels.widgets.small_labels import Link, Text, ThemeSource, Wrapped


class CurveList(QWidget):
    """dropped(curve): the user does not want to follow it; found(curve): to see where it is."""

    dropped = Signal(object)
    found = Signal(object)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("training.curves")
        self._theme = theme
        self._rows: list[_Row] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 0, 0, GRID)
        self._column.setSpacing(2)
        self.place = Text(theme, "muted")
        self.place.setObjectName("training.place")
        self._column.addWidget(self.place)
        self._column.addStretch(1)

    def add_below(self, widget: QWidget) -> None:
        """Something that stands under the curves."""
        self._column.insertWidget(self._column.count() - 1, widget)

    def show_curves(self, curves: Sequence[Curve], colors: Sequence[QColor]) -> None:
        """A row for each, which says what is wrong with it as it is now."""
        for row in self._rows:
            row.hide()
            row.deleteLater()
        self._rows = [_Row(self, c, color) for c, color in zip(curves, colors, strict=True)]
        for number, row in enumerate(self._rows):
            self._column.insertWidget(1 + number, row)

    def show_step(self, step: int, words: str) -> None:
        """What each curve is at a step. words: which step that is."""
        self.place.setVisible(step >= 0)
        self.place.set_text(words.format(f"{step + 1:,}"))
        for row in self._rows:
            row.show_step(step)


class _Row(QWidget):
    def __init__(self, owner: CurveList, curve: Curve, color: QColor) -> None:
        super().__init__()
        self._curve = curve
        theme = owner._theme
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        row = QHBoxLayout()
        row.setSpacing(GRID)
        column.addLayout(row)
        if curve.problem:
            problem = Wrapped(theme, f"training.problem.{curve.text}", "problem")
            problem.setContentsMargins(12 + GRID, 0, 0, 0)
            problem.setText(curve.problem)
            column.addWidget(problem)
        row.addWidget(Swatch(color, dashed=bool(curve.validates)))
        row.addWidget(_name(owner, curve))
        self.number = Text(theme, "text", mono(12))
        self.number.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        row.addWidget(self.number)
        row.addStretch(1)
        drop = QToolButton()
        drop.setObjectName(f"training.drop.{curve.text}")
        drop.setAutoRaise(True)
        drop.setAccessibleName(owner.tr("Do not follow {}").format(curve.title))
        drop.setToolTip(owner.tr("Do not follow it any more"))
        drop.setIcon(icon("close", theme(), theme().muted))
        drop.clicked.connect(lambda: owner.dropped.emit(curve))
        row.addWidget(drop)

    def show_step(self, step: int) -> None:
        points = self._curve.points
        number = points.at(step) if points.first <= step < points.stop else None
        known = number is not None and not is_not_there(np.array([number]))[0]
        self.number.set_text(scalar(number) if known else "")


def _name(owner: CurveList, curve: Curve) -> QWidget:
    """What leads to where it is on the canvas, if it is there."""
    title = f"training.curve.{curve.text}"
    if curve.op:
        link = Link(owner._theme, curve.title, title, "text")
        link.clicked.connect(lambda: owner.found.emit(curve))
        return link
    text = Text(owner._theme)
    text.setObjectName(title)
    text.set_text(curve.title)
    text.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    return text


class Swatch(QWidget):
    """A short line in a curve's colour, dashed as the curve is."""

    def __init__(self, color: QColor, dashed: bool) -> None:
        super().__init__()
        self._color, self._pieces = color, ((0, 5), (7, 5)) if dashed else ((0, 12),)
        self.setFixedSize(12, 12)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        for left, width in self._pieces:
            painter.fillRect(left, 5, width, 3, self._color)
