"""The legend in a corner of the canvas: what the colours of the nodes say, while they do."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QLinearGradient, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from gradstep.gui.canvas.scene.box_differences import DIFFERENCE, LEAST
from gradstep.gui.canvas.scene.box_shares import percent
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.look import heat_colours
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import SMALL, fade, mono, sans
from gradstep.gui.model.workspace import Workspace

SIZE = QSize(288, 48)
EDGE, PADDING = 12, 12  # pixels to the canvas's corner, and inside
BAR = 8
SOME = 0.01  # less is not worth saying


class Legend(QWidget):
    """Lies over its parent's lower left corner; lets the mouse through."""

    def __init__(self, workspace: Workspace, stage: SceneModel, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("canvas.legend")
        self._workspace = workspace
        self._stage = stage
        self._parent = parent
        self.setFixedSize(SIZE)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        stage.facts_changed.connect(self.refresh)
        stage.changed.connect(self.refresh)
        workspace.profiler.changed.connect(self.refresh)
        workspace.compared.connect(self.refresh)
        workspace.theme_changed.connect(self.update)
        parent.installEventFilter(self)
        self._place()
        self.refresh()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize:
            self._place()
        return super().eventFilter(watched, event)

    def refresh(self) -> None:
        """Show what is coloured by; nothing while nothing is."""
        coloured = bool(self._workspace.profiler.colouring)
        self.setVisible(coloured)
        if not coloured:
            return
        self.setAccessibleName(f"{self.title()}: {self.remark()}")
        self.setToolTip(plain(self.remark()))
        self.update()

    def title(self) -> str:
        """What the colours stand for."""
        profiler = self._workspace.profiler
        what = {
            "time": self.tr("Share of time"),
            "bytes": self.tr("Share of bytes"),
            DIFFERENCE: self.tr("Difference (relative)"),
        }
        return what.get(profiler.colouring, "")

    def remark(self) -> str:
        """Which runs they are about, whether that is still so, and what part of them belongs to no
        node, as what an optimizer keeps for itself."""
        profiler, program = self._workspace.profiler, self._workspace.program
        if profiler.colouring == DIFFERENCE:
            names = [c.right.removeprefix("emulate:") for c in self._workspace.comparisons]
            return ", ".join(names) or self.tr("not compared yet")
        if program is not None and not program.measured:
            return self.tr("an emulated device has none")
        if profiler.busy:
            return self.tr("measuring…")
        if profiler.measured is None:
            return self.tr("not measured yet")
        runs = self.tr("fast runs") if profiler.mode == "fast" else self.tr("recorded runs")
        shares = self._stage.facts.shares
        elsewhere = 1 - float(shares.values.sum()) if shares is not None else 0.0
        if profiler.is_stale:
            return self.tr("{}, out of date").format(runs)
        if elsewhere > SOME:
            return self.tr("{}, {} elsewhere").format(runs, percent(elsewhere))
        return runs

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = self._workspace.theme, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.line, 1))
        painter.setBrush(fade(theme.panel, 0.92))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        room = QRectF(self.rect()).adjusted(PADDING, 8, -PADDING, -8)
        line = QRectF(room.x(), room.y(), room.width(), 16)
        painter.setFont(sans(SMALL, strong=True))
        painter.setPen(theme.text)
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, self.title())
        taken = painter.fontMetrics().horizontalAdvance(self.title()) + 8
        painter.setFont(sans(SMALL))
        painter.setPen(theme.muted)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        left, elided = int(room.width() - taken), Qt.TextElideMode.ElideRight
        painter.drawText(line, right, painter.fontMetrics().elidedText(self.remark(), elided, left))
        self._paint_scale(painter, QRectF(room.x(), room.bottom() - 14, room.width(), 16))

    def _paint_scale(self, painter: QPainter, room: QRectF) -> None:
        shares = self._stage.facts.shares
        theme = self._workspace.theme
        painter.setFont(mono(SMALL))
        ends = ("0 %", percent(shares.largest) if shares is not None else "")
        if self._workspace.profiler.colouring == DIFFERENCE:
            ends = (f"1e{LEAST}", "1")
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, ends[0])
        painter.drawText(room, right, ends[1])
        taken = painter.fontMetrics().horizontalAdvance("100 %") + 8
        bar = QRectF(room.x() + taken, room.center().y() - BAR / 2, room.width() - 2 * taken, BAR)
        colors = QLinearGradient(bar.topLeft(), QPointF(bar.right(), bar.top()))
        colors.setColorAt(0, heat_colours.color(theme, 0, 1))
        colors.setColorAt(1, heat_colours.color(theme, 1, 1))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors)
        painter.drawRoundedRect(bar, 2, 2)

    def _place(self) -> None:
        self.move(EDGE, self._parent.height() - self.height() - EDGE)
