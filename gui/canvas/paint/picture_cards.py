"""Small pictures of values, on a card beside their node, where no other node stands."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPen

from gradstep.core.host.tensors.aggregate import FINITE, ZERO
from gradstep.gui.canvas.paint.variable_drawers import is_free
from gradstep.gui.canvas.scene.level_of_detail import Detail
from gradstep.gui.canvas.scene.overlay_state import OverlayState
from gradstep.gui.canvas.scene.scene_arrays import WIDTH, SceneArrays
from gradstep.gui.canvas.scene.value_pictures import ValuePicture, ValuePictures
from gradstep.gui.look.colour_maps import (
    colour_channels,
    colourise,
    image_range,
    map_range,
    suited_map,
)
from gradstep.gui.look.theme import Theme

HEIGHTS = (48.0, 36.0, 24.0)  # of a picture, scene units; the largest for which there is room
REACH = HEIGHTS[0] + 16.0  # scene units over and under a node that its card takes at most
AWAY = WIDTH  # and on its left
_PADDING = 3.0
_GAP = 3.0  # between two pictures, and to the node
_MARGIN = 6.0  # that a card is narrower than its node, on each side
_NARROWEST = 0.5  # of the height: what is narrower is drawn so wide


Place = tuple[float, float, float, float]
Side = Literal["below", "above", "left"]


class PicturePainter:
    """Where `pictures` is None, as in an overview, there are none."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self.pictures: ValuePictures | None = None
        self._cards: dict[Hashable, QRectF | None] = {}  # in `_arrays`
        self._arrays: SceneArrays | None = None

    def of(self, facts: OverlayState, box: int, scale: float) -> ValuePicture | None:
        """The picture of a box, at a scale at which it can be read."""
        if self.pictures is None or Detail.at(scale) < Detail.FULL or facts.is_scope(box):
            return None
        return facts.picture(box, self.pictures)

    def places(
        self, arrays: SceneArrays, facts: OverlayState, boxes: Iterable[int], scale: float
    ) -> dict[int, tuple[ValuePicture, Place | None]]:
        """The pictures of boxes, and where each stands."""
        found = {box: picture for box in boxes if (picture := self.of(facts, box, scale))}
        return {
            box: (picture, _numbers(self._card(arrays, facts, box, picture)))
            for box, picture in found.items()
        }

    def draw(
        self, painter: QPainter, arrays: SceneArrays, facts: OverlayState, box: int, scale: float
    ) -> None:
        """The picture of a box, if it has one and there is room."""
        picture = self.of(facts, box, scale)
        if picture is None:
            return
        card = self._card(arrays, facts, box, picture)
        if card is None:
            return
        theme = self.theme
        painter.setBrush(theme.raised if theme.is_dark else theme.panel)
        painter.setPen(QPen(theme.line, 1))
        painter.drawRoundedRect(card, 4, 4)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        smooth = QPainter.RenderHint.SmoothPixmapTransform
        painter.setRenderHint(smooth, False)
        height = card.height() - 2 * _PADDING
        width = _width(picture, height)
        for number, image in enumerate(images(picture, theme)):
            left = card.x() + _PADDING + number * (width + _GAP)
            if left + width > card.right():
                break
            painter.drawImage(QRectF(left, card.y() + _PADDING, width, height), image)

    def _card(
        self, arrays: SceneArrays, facts: OverlayState, box: int, picture: ValuePicture
    ) -> QRectF | None:
        """Found once, as long as nothing moves."""
        if arrays is not self._arrays:
            self._arrays, self._cards = arrays, {}
        sides = sides_of(facts, box)
        key = box, picture.values.shape, sides
        if key not in self._cards:
            self._cards[key] = place(arrays, box, picture, sides)
        return self._cards[key]


def _numbers(card: QRectF | None) -> Place | None:
    return None if card is None else (card.x(), card.y(), card.width(), card.height())


def sides_of(facts: OverlayState, box: int) -> tuple[Side, ...]:
    """Where the picture of a box may stand, the best first: not where is said what an update
    changed, nor where wires come from."""
    below: tuple[Side, ...] = () if facts.update(box) is not None else ("below",)
    left: tuple[Side, ...] = () if facts.operation(box).inputs else ("left",)
    return (*below, "above", *left)


def place(
    arrays: SceneArrays, box: int, picture: ValuePicture, sides: Sequence[Side]
) -> QRectF | None:
    """Where a picture's card stands, scene units: as large as there is room on one of the sides.
    None where there is none."""
    node = QRectF(*arrays.rects[box].tolist())
    for height in HEIGHTS:
        for side in sides:
            card = _card(node, height, picture, side)
            if card is not None and is_free(card, arrays.occupied):
                return card
    return None


def _card(node: QRectF, height: float, picture: ValuePicture, side: Side) -> QRectF | None:
    """As many pictures as fit beside each other, one at least."""
    room = node.width() - 2 * _MARGIN - 2 * _PADDING
    width = _width(picture, height)
    count = min(len(picture.values), int((room + _GAP) / (width + _GAP)))
    if count < 1:
        return None
    card = QRectF(0, 0, count * (width + _GAP) - _GAP + 2 * _PADDING, height + 2 * _PADDING)
    if side == "left":
        card.moveTopRight(node.topLeft() - QPointF(_MARGIN, 0))
    elif side == "above":
        card.moveBottomLeft(node.topLeft() + QPointF(_MARGIN, -_GAP))
    else:
        card.moveTopLeft(node.bottomLeft() + QPointF(_MARGIN, _GAP))
    return card


def _width(picture: ValuePicture, height: float) -> float:
    rows, columns = picture.values.shape[1:3]
    return height * max(float(columns / rows), _NARROWEST)


@lru_cache(maxsize=256)  # what is in view is painted again and again
def images(picture: ValuePicture, theme: Theme) -> list[QImage]:
    """One for each plane, in the colours of the Tensor panel."""
    ends = picture.least, picture.most
    kinds = np.where(picture.kinds == ZERO, FINITE, picture.kinds)
    if picture.values.ndim == 4:
        span = image_range(picture.dtype, *ends, "")
        pixels = colour_channels(picture.values, kinds, span, theme)
    else:
        name = suited_map(picture.least, picture.is_image)
        span = map_range(name, *ends)
        span = image_range(picture.dtype, *ends, "") if picture.is_image else span
        pixels = colourise(picture.values, kinds, name, span, theme, zeros=False)
    return [_image(plane) for plane in pixels]


def _image(plane: np.ndarray) -> QImage:
    """uint8[rows, columns, 4] as an image that holds its own pixels."""
    rows, columns = plane.shape[:2]
    data = np.ascontiguousarray(plane).tobytes()
    return QImage(data, columns, rows, 4 * columns, QImage.Format.Format_RGBA8888).copy()
