"""The icicle: the run above its phases, their scopes and operations, each as wide as its share."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from gradstep.core.visible_text import visible
from gradstep.gui.look.contrast import ink_on
from gradstep.gui.look.plain_text import show_tip
from gradstep.gui.look.theme import GRID, SMALL, mix, sans
from gradstep.gui.model.cost_tree import Cost, total
from gradstep.gui.model.number_text import byte_size, duration
from gradstep.gui.panels.profile.icicle_layout import Tile, lay_out, path_to
from gradstep.gui.panels.widgets.small_labels import ThemeSource

ROW = 24
_MARGIN = GRID
_READABLE = 28.0  # pixels; of a name on less nothing could be read
_Key = Qt.Key


class Icicle(QWidget):
    """chosen(Cost): a click, or a key that goes to it. Double click or Enter zooms in, Escape,
    Backspace or the mouse's back button out; arrows go up, down and aside."""

    chosen = Signal(object)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("profile.icicle")
        self.setAccessibleName(self.tr("Icicle of the run: phases, scopes, operations"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self._theme = theme
        self._run = total("", ())
        self._whole = self._run  # what is zoomed into
        self._by, self._faded = "time", False
        self._current = ""  # key
        self._names: frozenset[str] = frozenset()  # selected operations
        self._hovered: Tile | None = None
        self.tiles: list[Tile] = []

    # -- what is shown -------------------------------------------------------------------------

    def show_costs(self, run: Cost, by: str) -> None:
        """Another run, or measure; the zoom and the current tile stay where there is the same."""
        zoomed, self._run, self._by = self._whole.key, run, by
        self._whole = next(iter(path_to(run, zoomed)[-1:]), run)
        self._lay_out()

    def fade(self, faded: bool) -> None:
        """Say, or no longer, that it is out of date."""
        self._faded = faded
        self.update()

    def show_names(self, names: frozenset[str]) -> None:
        """Mark the tiles of forward operations."""
        self._names = names
        self.update()

    @property
    def whole(self) -> Cost:
        """What is zoomed into: the run, a phase, a scope or an operation."""
        return self._whole

    @property
    def current(self) -> Tile | None:
        """The tile that keys start from."""
        return next((t for t in self.tiles if t.cost and t.cost.key == self._current), None)

    def tile_at(self, point: QPoint) -> Tile | None:
        level, x = (point.y() - _MARGIN) // ROW, point.x() - _MARGIN
        return next((tile for tile in self.tiles if tile.holds(x, level)), None)

    def rect_of(self, tile: Tile) -> QRectF:
        """Pixels of a tile; one to the right and one below stay free."""
        top = _MARGIN + tile.level * ROW
        return QRectF(_MARGIN + tile.x, top, max(tile.width - 1, 1), ROW - 1)

    def describe(self, tile: Tile) -> str:
        """Name, amount and share of a tile."""
        if tile.cost is None:
            return self.tr("{} more, each too small to be drawn").format(tile.rest)
        cost, whole = tile.cost, self._run.amount(self._by)
        share = f"{100 * cost.amount(self._by) / whole:.1f} %" if whole else ""
        what = duration(cost.seconds) if self._by == "time" else byte_size(cost.made)
        kind = " · ".join(filter(None, (cost.type, cost.phase)))
        return "\n".join(filter(None, (cost.name, kind, f"{what} · {share}")))

    def zoom(self, cost: Cost) -> None:
        """Make one part as wide as there is room."""
        self._whole = cost
        self._lay_out()

    def zoom_out(self) -> None:
        """One level up."""
        way = path_to(self._run, self._whole.key)
        if len(way) > 1:
            self.zoom(way[-2])

    def _lay_out(self) -> None:
        levels = max((self.height() - 2 * _MARGIN) // ROW, 1)
        self.tiles = lay_out(self._whole, self._by, float(self.width() - 2 * _MARGIN), levels)
        self._hovered = None
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(400, 2 * _MARGIN + 5 * ROW)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 2 * _MARGIN + 2 * ROW)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._lay_out()

    # -- painting --------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setFont(sans(SMALL + 1))
        metrics = QFontMetrics(painter.font())
        for number, tile in enumerate(self.tiles):
            self._paint_tile(painter, metrics, tile, self._shade(tile, number))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for tile in self.tiles:
            if tile.cost is not None and self._is_marked(tile.cost):
                self._outline(painter, tile, 2.0)
        if self.hasFocus() and self.tiles:
            self._outline(painter, self.current or self.tiles[0], 2.0)

    def _is_marked(self, cost: Cost) -> bool:
        names = cost.names
        return len(names) == 1 and names[0] in self._names

    def _outline(self, painter: QPainter, tile: Tile, width: float) -> None:
        painter.setPen(QPen(self._theme().selection, width))
        painter.drawRect(self.rect_of(tile).adjusted(1, 1, -1, -1))

    def _paint_tile(
        self, painter: QPainter, metrics: QFontMetrics, tile: Tile, color: QColor
    ) -> None:
        rect = self.rect_of(tile)
        painter.fillRect(rect, color)
        room = rect.adjusted(6, 0, -4, 0)
        if room.width() < _READABLE:
            return
        painter.setPen(self._theme().muted if tile.cost is None else ink_on(color))
        text = metrics.elidedText(
            visible(self._label(tile)), Qt.TextElideMode.ElideRight, int(room.width())
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)

    def _label(self, tile: Tile) -> str:
        if tile.cost is None:
            return f"+{tile.rest}"
        if tile.level:
            return tile.cost.label
        what = duration(tile.cost.seconds) if self._by == "time" else byte_size(tile.cost.made)
        name = tile.cost.name if tile.cost is not self._run else self.tr("all operations")
        return f"{name} · {what}"

    def _shade(self, tile: Tile, number: int) -> QColor:
        theme, cost = self._theme(), tile.cost
        if cost is None:
            return theme.hover
        if not cost.phase:
            color = mix(theme.hover, theme.text, 0.12)
        else:
            paler = 0.08 if theme.is_dark else 0.22  # one ink reads on all of them
            deeper = paler + 0.08 * (tile.level % 3) + 0.06 * (number % 2)
            color = mix(theme.phase(cost.phase), theme.panel, deeper)
        if self._faded:
            color = mix(color, theme.panel, 0.55)
        return mix(color, theme.text, 0.14) if tile is self._hovered else color

    # -- the user --------------------------------------------------------------------------------

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            tile = self.tile_at(event.pos())
            show_tip(event.globalPos(), self.describe(tile) if tile else "", self)
            return True
        return super().event(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hover(self.tile_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(None)

    def _hover(self, tile: Tile | None) -> None:
        if tile is not self._hovered:
            self._hovered = tile
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        tile = self.tile_at(event.position().toPoint())
        if event.button() is Qt.MouseButton.BackButton:
            self.zoom_out()
        elif event.button() is Qt.MouseButton.LeftButton and tile is not None:
            self._go(tile)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        tile = self.tile_at(event.position().toPoint())
        if tile is not None and event.button() is Qt.MouseButton.LeftButton:
            self._open(tile)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, here = event.key(), self.current or self.tiles[0]
        if key in (_Key.Key_Return, _Key.Key_Enter):
            self._open(here)
        elif key in (_Key.Key_Escape, _Key.Key_Backspace) and self._whole is not self._run:
            self.zoom_out()
        elif key in (_Key.Key_Left, _Key.Key_Right, _Key.Key_Up, _Key.Key_Down):
            self._walk(here, _Key(key))
        else:
            super().keyPressEvent(event)

    def _open(self, tile: Tile) -> None:
        """Zoom into a tile; into the one that is as wide as there is room, out of it."""
        if tile.level == 0:
            self.zoom_out()
        elif tile.cost is not None and tile.cost.children:
            self.zoom(tile.cost)

    def _walk(self, here: Tile, key: _Key) -> None:
        number = self.tiles.index(here)
        named = [tile for tile in self.tiles if tile.cost is not None]
        if key == _Key.Key_Up:
            found = self.tiles[here.parent] if here.parent >= 0 else None
        elif key == _Key.Key_Down:
            found = next((tile for tile in named if tile.parent == number), None)
        else:
            row = [tile for tile in named if tile.level == here.level]
            place = row.index(here) + (1 if key == _Key.Key_Right else -1)
            found = row[place] if 0 <= place < len(row) else None
        if found is not None:
            self._go(found)

    def _go(self, tile: Tile) -> None:
        if tile.cost is None:
            return
        self._current = tile.cost.key
        said = self.describe(tile).replace("\n", ", ")
        self.setAccessibleDescription(said)
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, said))
        self.update()
        self.chosen.emit(tile.cost)
