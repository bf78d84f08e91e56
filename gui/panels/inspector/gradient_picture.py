"""The gradient by each element of a picture or a matrix, beside that: where the loss looks."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from gradstep.core.graph.model import Operation
from gradstep.gui.canvas.paint.picture_cards import images
from gradstep.gui.canvas.scene.picture_choice import gradient_wish, input_wish
from gradstep.gui.canvas.scene.value_pictures import ValuePicture, ValuePictures
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.small_labels import SectionHeader

MOST = 4  # pairs, of the first pictures of a batch
_TALL, _SHORT = 132, 72  # pixels of one picture, and of each of several
_GAP = 8


class GradientPicture(QWidget):
    """Hidden where the value is no picture, or no gradient is there."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setObjectName("inspector.saliency")
        self._workspace = workspace
        self._op: Operation | None = None
        self._pictures = ValuePictures(workspace, self)
        self._pictures.changed.connect(self._refresh)
        self.header = SectionHeader(lambda: workspace.theme, self.tr("By element"))
        self.pairs = PicturePairs(workspace)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(self.header)
        column.addWidget(self.pairs)

    def show_node(self, op: Operation) -> None:
        """Of output 0 of an operation, as of now."""
        self._op = op
        self._refresh()

    def _refresh(self) -> None:
        found = None if self._op is None else self._pair(self._op)
        self.setVisible(found is not None)
        if found is not None and self._op is not None:
            name = self._op.name.rpartition("/")[2]
            self.header.set_texts(
                self.tr("By element"), self.tr("{}, and its gradient").format(name)
            )
            self.pairs.show_pair(*found)

    def _pair(self, op: Operation) -> tuple[ValuePicture, ValuePicture] | None:
        """Both, once they are here."""
        ref = str(op.output())
        value, gradient = self._workspace.value(ref), self._workspace.gradient(ref)
        if value is None or gradient is None or gradient.state != "known":
            return None
        shown = self._pictures.picture(value, partial(input_wish, op, value))
        beside = self._pictures.picture(gradient, partial(gradient_wish, op, value, gradient))
        return None if shown is None or beside is None else (shown, beside)


class PicturePairs(QWidget):
    """Pictures beside the pictures of their gradients, one pair below the other."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setObjectName("inspector.saliency.pairs")
        self._workspace = workspace
        self._pair: tuple[ValuePicture, ValuePicture] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    @property
    def count(self) -> int:
        """How many pairs are shown."""
        return 0 if self._pair is None else min(len(self._pair[0].values), MOST)

    def show_pair(self, value: ValuePicture, gradient: ValuePicture) -> None:
        self._pair = value, gradient
        words = self.tr("{} pictures of the value, each beside its gradient, from {:.3g} to {:.3g}")
        text = words.format(self.count, gradient.least, gradient.most)
        self.setAccessibleName(text)
        self._fit()
        self.update()

    def sizeHint(self) -> QSize:
        each = _TALL if self.count == 1 else _SHORT
        return QSize(2 * each + _GAP, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """As high as the pairs are in the room there is."""
        if self.count:
            self.setFixedHeight(int(self._area(self.count - 1, 0).bottom()) + 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._pair is None:
            return
        painter, theme = QPainter(self), self._workspace.theme
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        columns = [images(picture, theme) for picture in self._pair]
        for row in range(self.count):
            for column, pictures in enumerate(columns):
                area = self._area(row, column)
                painter.drawImage(area, pictures[row])
                painter.setPen(QPen(theme.line, 1))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(area.adjusted(-0.5, -0.5, 0.5, 0.5))

    def _area(self, row: int, column: int) -> QRectF:
        """As large as there is room, in the picture's own proportions."""
        assert self._pair is not None  # asked before
        rows, columns = self._pair[0].values.shape[1:3]
        tall = float(_TALL if self.count == 1 else _SHORT)
        room = (self.width() - _GAP) / 2
        wide = tall * columns / rows
        if wide > room:
            tall, wide = tall * room / wide, room
        return QRectF(1 + column * (wide + _GAP), 1 + row * (tall + _GAP), wide - 2, tall - 2)
