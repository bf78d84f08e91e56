"""Where the canvas looks: pan, zoom and framing of a QGraphicsView."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, QPointF, QRect, QRectF, QTimer, Signal
from PySide6.QtGui import QTransform
from PySide6.QtWidgets import QGraphicsView

from gradstep.gui.canvas.scene.level_of_detail import LARGEST_TEXT, TEXT
from gradstep.gui.canvas.scene.rect_sides import sides_of

SMALLEST, LARGEST = 0.02, 4.0  # pixels per scene unit; smaller where a graph would not fit
SPARE = 0.8  # of the scale at which a graph just fits: so far one can zoom out
EXTENT = 200_000.0  # scene units to each side of the origin over which one can pan at least
NOTCH = 1.15  # one notch of the wheel; a key is two
ROOM = 24  # pixels left free around what is framed
HEAD = 40  # and above it, where a strip may come that says something
EDGE = 0.1  # of the viewport, at each side: what is there is not plainly in view
LEGIBLE, READING = TEXT / LARGEST_TEXT, 0.75  # scales: the least to read at, a good one
SETTLE = 90  # milliseconds after the last change of scale until the picture is crisp


class Camera(QObject):
    """Wraps a view's transform. The scale is uniform; offsets are whole pixels.

    untouched: whether nothing has moved it since `rest`: then a view of another size may be framed
               anew.
    """

    moved = Signal()
    settled = Signal()  # the scale rests

    def __init__(self, view: QGraphicsView) -> None:
        super().__init__(view)
        self.untouched = False
        self._view = view
        self._whole = QRectF()
        self._extent = 0.0
        self.cover(QRectF())
        self._rest = QTimer(self, singleShot=True, interval=SETTLE)
        self._rest.timeout.connect(self.settled)

    @property
    def scale(self) -> float:
        return self._view.transform().m11()

    @property
    def zooming(self) -> bool:
        """Whether the scale changed just now."""
        return self._rest.isActive()

    @property
    def pixels(self) -> QRect:
        """The viewport, in pixels from the scene's origin at this scale."""
        corner = self._view.viewportTransform()
        origin = QPoint(-round(corner.dx()), -round(corner.dy()))
        return QRect(origin, self._view.viewport().size())

    @property
    def visible(self) -> QRectF:
        """What of the scene is visible, scene units."""
        pixels, scale = self.pixels, self.scale
        return QRectF(
            pixels.x() / scale, pixels.y() / scale, pixels.width() / scale, pixels.height() / scale
        )

    @property
    def middle(self) -> QPoint:
        """The pixel in the middle of the viewport."""
        return self._view.viewport().rect().center()

    def to_scene(self, pixel: QPoint) -> QPointF:
        """The point of the scene at a pixel of the viewport."""
        return self._view.mapToScene(pixel)

    def to_pixel(self, point: QPointF) -> QPoint:
        """The pixel of the viewport, or beyond it, at a point of the scene."""
        return self._view.mapFromScene(point)

    def rest(self) -> None:
        """What is seen now is nobody's choice, but follows from what there is to see."""
        self.untouched = True

    def pan(self, by: QPoint) -> None:
        """Move what is seen by so many pixels."""
        self.untouched = False
        across, down = self._view.horizontalScrollBar(), self._view.verticalScrollBar()
        across.setValue(across.value() - by.x())
        down.setValue(down.value() - by.y())
        self.moved.emit()

    def hold(self, by: QPoint) -> None:
        """Keep what is seen where it is on the screen: the view's upper left corner has moved by so
        many pixels. Nobody looks elsewhere by that."""
        untouched = self.untouched
        self.pan(-by)
        self.untouched = untouched

    def zoom(self, factor: float, at: QPoint | None = None) -> None:
        """Change the scale about a point of the viewport (its middle by default)."""
        self.untouched = False
        middle = self.middle if at is None else at
        before = self._view.mapToScene(middle)
        self._set_scale(self.scale * factor)
        self.pan(middle - self._view.mapFromScene(before) if at is not None else QPoint())
        if at is None:
            self._view.centerOn(before)
        self._rest.start()
        self.moved.emit()

    def zoom_to(self, scale: float) -> None:
        self.zoom(scale / self.scale)

    def zoom_in(self) -> None:
        self.zoom(NOTCH**2)

    def zoom_out(self) -> None:
        self.zoom(NOTCH**-2)

    def zoom_100(self) -> None:
        self.zoom_to(1.0)

    def cover(self, rect: QRectF) -> None:
        """Have room for a rectangle of the scene, wherever it lies and however large it is: to see
        it whole, and to pan well beyond it."""
        self._whole = rect
        farthest = max(map(abs, sides_of(rect))) + 2 * max(rect.width(), rect.height())
        extent = EXTENT
        while extent < farthest:
            extent *= 2
        if extent != self._extent:
            self._extent = extent
            self._view.scene().setSceneRect(-extent, -extent, 2 * extent, 2 * extent)

    def look_at(self, point: QPointF) -> None:
        """Bring a point of the scene into the middle."""
        self.untouched = False
        self._view.centerOn(point)
        self.moved.emit()

    def frame(self, rect: QRectF, largest: float = 1.0) -> None:
        """Show a rectangle of the scene whole, at no more than `largest`."""
        self._set_scale(min(self._fitting(rect), largest))
        above = (self._view.viewport().height() - rect.height() * self.scale) / 2
        self.look_at(rect.center() - QPointF(0.0, max(0.0, HEAD - above) / self.scale))

    def show(self, rect: QRectF) -> None:
        """Have a rectangle in view: by a pan if there is room for it at this scale."""
        seen = self.visible
        across, down = 2 * ROOM / self.scale, (HEAD + ROOM) / self.scale
        if rect.width() + across < seen.width() and rect.height() + down < seen.height():
            self.reveal(rect)
        else:
            self.frame(rect)

    def centre(self, rect: QRectF) -> None:
        """Have a rectangle plainly in view, large enough to be read: it comes to the middle, unless
        it is well inside already."""
        seen = self.visible
        across, down = seen.width() * EDGE, seen.height() * EDGE
        legible = self.scale >= LEGIBLE
        if not legible or not seen.adjusted(across, down, -across, -down).contains(rect):
            self.frame(rect, self.scale if legible else READING)

    def reveal(self, rect: QRectF) -> None:
        """Pan as little as needed to have a rectangle in view."""
        seen = self.visible
        margin = ROOM / self.scale
        wanted = rect.adjusted(-margin, -HEAD / self.scale, margin, margin)
        if not seen.contains(wanted):
            dx = min(0.0, wanted.left() - seen.left()) or max(0.0, wanted.right() - seen.right())
            dy = min(0.0, wanted.top() - seen.top()) or max(0.0, wanted.bottom() - seen.bottom())
            self.pan(QPoint(-round(dx * self.scale), -round(dy * self.scale)))

    def _fitting(self, rect: QRectF) -> float:
        """The largest scale at which a rectangle is seen whole."""
        size = self._view.viewport().size()
        across = max(size.width() - 2 * ROOM, 50) / max(rect.width(), 1.0)
        down = max(size.height() - HEAD - ROOM, 50) / max(rect.height(), 1.0)
        return min(across, down)

    def _set_scale(self, scale: float) -> None:
        smallest = min(SMALLEST, SPARE * self._fitting(self._whole))
        bounded = max(smallest, min(LARGEST, scale))
        self._view.setTransform(QTransform.fromScale(bounded, bounded))
