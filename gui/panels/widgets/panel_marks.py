"""Marks that every panel draws alike: row backgrounds, fold arrows, problem signs, hatching."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractScrollArea, QStyle

from gradstep.core.graph.problems import Severity
from gradstep.gui.look.theme import Theme, mix

# As numbers: a flag's own `&` makes another flag of Python's, for each of what is painted.
_SELECTED, _POINTED_AT, _FOCUSED = (
    flag.value
    for flag in (
        QStyle.StateFlag.State_Selected,
        QStyle.StateFlag.State_MouseOver,
        QStyle.StateFlag.State_HasFocus,
    )
)
_FOLDED = ((-1.5, -3), (1.5, 0), (-1.5, 3))
_OPEN = ((-3, -1.5), (0, 1.5), (3, -1.5))
_CHEVRONS = [QPolygonF([QPointF(x, y) for x, y in steps]) for steps in (_FOLDED, _OPEN)]


def own_ground(view: QAbstractScrollArea) -> None:
    """Have a view that fills its ground by itself move what it shows when it is scrolled, and paint
    what comes into view; Qt would paint all of it, and what lies below."""
    view.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)


def fill_ground(view: QAbstractScrollArea, event: QPaintEvent, theme: Theme) -> None:
    """Below all that such a view paints."""
    QPainter(view.viewport()).fillRect(event.rect(), theme.panel)


def is_selected(state: QStyle.StateFlag) -> bool:
    """Whether what is painted in this state is selected."""
    return bool(state.value & _SELECTED)


def row_state(
    painter: QPainter, rect: QRect, state: QStyle.StateFlag, theme: Theme, focus: bool = True
) -> None:
    """Background of a selected row, or of the row under the pointer."""
    flags = state.value
    if flags & _SELECTED:
        painter.fillRect(rect, theme.selected_row)
    elif flags & _POINTED_AT:
        painter.fillRect(rect, theme.hover)
    if focus and flags & _FOCUSED:
        painter.fillRect(QRect(rect.x(), rect.y(), 2, rect.height()), theme.selection)


def fold_arrow(painter: QPainter, place: QRect, open: bool, theme: Theme) -> None:
    """A small chevron: right when folded, down when open."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.muted, 1.3))
    painter.drawPolyline(_CHEVRONS[open].translated(QRectF(place).center()))


def problem_sign(
    painter: QPainter, place: QRect, theme: Theme, severity: Severity = "error"
) -> None:
    """A triangle with a bar, or a ring where nothing is wrong: a shape, so that it does not rest on
    colour alone."""
    color = {"error": theme.problem, "warning": theme.current}.get(severity, theme.selection)
    center = QRectF(place).center()
    if severity == "info":
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(color, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(center, 4.5, 4.5)
        return
    corners = [QPointF(0, -5.5), QPointF(6, 5), QPointF(-6, 5)]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawPolygon(QPolygonF([center + corner for corner in corners]))
    painter.setPen(QPen(theme.panel, 1.4))
    painter.drawLine(center + QPointF(0, -1.5), center + QPointF(0, 1.5))
    painter.drawPoint(center + QPointF(0, 3.6))


def check_box(painter: QPainter, room: QRect, checked: bool, theme: Theme) -> None:
    """A 14-pixel box at the left of `room`."""
    box = QRectF(room.x() + 0.5, room.center().y() - 6.5, 14, 14)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.selection if checked else theme.muted, 1))
    painter.setBrush(theme.selection if checked else Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box, 2, 2)
    if checked:
        painter.setPen(QPen(QColor("#FFFFFF"), 1.6))
        ticks = [QPointF(3, 7), QPointF(6, 10), QPointF(11, 4)]
        painter.drawPolyline(QPolygonF([box.topLeft() + tick for tick in ticks]))


def hatch(painter: QPainter, rect: QRect, theme: Theme, origin: QPoint) -> None:
    """Diagonal lines behind a result that was emulated, not measured. origin: what they stay in
    line with when a view is scrolled, such as its first cell."""
    painter.setBrushOrigin(QPointF(origin) * painter.device().devicePixelRatioF())  # Qt's are dots
    painter.fillRect(rect, QBrush(mix(theme.panel, theme.line, 0.8), Qt.BrushStyle.BDiagPattern))
