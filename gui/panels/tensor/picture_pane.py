"""Heat maps and images with their legend: asks for as many cells as there are pixels."""

from __future__ import annotations

from math import prod

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstep.core.host.tensors.aggregate import FINITE, NAN, ZERO
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import DrawTensor, TensorPicture
from gradstep.gui.look.colour_maps import (
    MapName,
    Range,
    colour_channels,
    colourise,
    image_range,
    map_range,
    suited_map,
)
from gradstep.gui.model.engine_questions import Questions
from gradstep.gui.model.view_choice import View
from gradstep.gui.panels.tensor.picture_fit import Picture, fit
from gradstep.gui.panels.tensor.picture_legend import PictureLegend
from gradstep.gui.panels.tensor.picture_view import PictureView
from gradstep.gui.panels.widgets.small_labels import ThemeSource

_STRETCH = 12.0  # times as wide as high, at most


class PicturePane(QWidget):
    """chosen(position, opened): a cell was clicked, or clicked twice; its place in what is shown,
    without that of a channel."""

    chosen = Signal(object, bool)

    def __init__(self, theme: ThemeSource, questions: Questions) -> None:
        super().__init__()
        self._theme, self._questions = theme, questions
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.picture = PictureView(theme, "tensor.picture")
        self.picture.setAccessibleName(self.tr("Picture"))
        self.legend = PictureLegend(theme)
        column.addWidget(self.picture, 1)
        column.addWidget(self.legend)
        self.picture.wanted.connect(self._ask)
        self.picture.paged.connect(self._turn)
        self.picture.pointed.connect(self.legend.show_pointed)
        self.picture.chosen.connect(self.chosen)
        self._view: View | None = None
        self._ref = self._dtype = ""
        self._first = 0
        self._reply: tuple[TensorPicture, tuple[Buffer, ...]] | None = None
        self._marked: tuple[int, ...] | None = None

    # -- what is shown -----------------------------------------------------------------------------

    def show_view(self, ref: str, dtype: str, view: View) -> None:
        """A slice; the page stays where it is the same one at another step."""
        if self._view is None or (self._view.picks, self._view.layout) != (view.picks, view.layout):
            self._first, self._marked = 0, None
        self._ref, self._dtype, self._view = ref, dtype, view
        self._ask()

    def clear(self) -> None:
        """Nothing is known of what is to be shown."""
        self._reply = None
        self.picture.show_picture(Picture())
        self.legend.show_map(None, (0.0, 0.0), frozenset(), "…")

    def forget(self) -> None:
        """Another tensor is looked at: of this one nothing is asked any more, whatever happens."""
        self._view = None
        self.clear()

    @property
    def _plane(self) -> tuple[tuple[int, ...], tuple[int, int], bool]:
        """Lengths of the axes that planes are counted along, rows and columns of each, and whether
        these have channels."""
        assert self._view is not None
        sizes, channels = self._view.sizes, self._view.arranged.channels >= 0
        spread = sizes[:-1] if channels else sizes
        if len(spread) < 2:
            return (), (1, spread[0] if spread else 1), channels
        return spread[:-2], (spread[-2], spread[-1]), channels

    @property
    def _stretch(self) -> float:
        """Pixels are square; the cells of a matrix need not be."""
        return 1.0 if self._view is None or self._view.kind == "image" else _STRETCH

    def _ask(self) -> None:
        if self._view is None or not self.isVisible():
            return
        outer, (rows, columns), channels = self._plane
        room = fit(self.picture.room, (rows, columns), prod(outer), self._stretch)
        ratio = self.devicePixelRatioF()
        message = DrawTensor(
            of=self._view.part(self._ref),
            first=self._first,
            planes=room.planes,
            height=max(1, min(rows, int(room.height * ratio))),
            width=max(1, min(columns, int(room.width * ratio))),
            channels=channels,
            mean=self._view.kind == "image",
        )
        self._questions.ask("picture", message, self._keep)

    def _keep(self, reply: TensorPicture, buffers: tuple[Buffer, ...]) -> None:
        self._reply = reply, buffers
        self._first = reply.first
        self.paint_again()

    def paint_again(self) -> None:
        """In other colours, perhaps."""
        if self._reply is None or self._view is None:
            return
        reply, buffers = self._reply
        values = np.frombuffer(buffers[0], np.float64).reshape(reply.shape)
        kinds = np.frombuffer(buffers[1], np.uint8).reshape(reply.shape)
        if self._view.kind == "image":  # a pixel that is zero is black, and no finding
            kinds = np.where(kinds == ZERO, FINITE, kinds)
        if values.ndim == 4 and values.shape[-1] not in (3, 4):
            values, kinds = values.mean(-1), kinds.max(-1)  # grey, of one channel or of many
        least, most = reply.least or 0.0, reply.most or 0.0
        name, span = self._colours(values.ndim == 4, least, most)
        zeros, theme = self._view.kind != "image", self._theme()
        if name is None:
            pixels = colour_channels(values, kinds, span, theme)
        else:
            pixels = colourise(values, kinds, name, span, theme, zeros)
        self.picture.show_picture(
            Picture(
                pixels=pixels,
                values=values,
                kinds=kinds,
                first=reply.first,
                total=reply.total,
                block=reply.block,
                outer=self._plane[0],
                stretch=self._stretch,
            )
        )
        seen = frozenset(int(kind) for kind in np.unique(kinds) if kind >= NAN)
        self.legend.show_map(name, span, seen, self._remark(reply))
        self._frame()

    def _colours(self, mixed: bool, least: float, most: float) -> tuple[MapName | None, Range]:
        """The map, and what its ends stand for. mixed: channels are the colours, and none is."""
        assert self._view is not None
        image = self._view.kind == "image"
        name = None if mixed else self._view.colours or suited_map(least, image)
        if image and name in (None, "grey"):
            return name, image_range(self._dtype, least, most, self._view.range)
        return name, (least, most) if name is None else map_range(name, least, most)

    def _remark(self, reply: TensorPicture) -> str:
        """How much of it is seen."""
        if 0 in reply.shape:
            return "empty: it has no elements"
        parts = []
        if reply.total > reply.shape[0]:
            last = reply.first + reply.shape[0] - 1
            parts.append(f"{reply.first:,} to {last:,} of {reply.total:,}; Page Down for more")
        if reply.block != (1, 1):
            down, across = reply.block
            how = "the mean" if self._view and self._view.kind == "image" else "the largest"
            parts.append(f"each cell is {how} of {down}×{across} elements")
        return "  ".join(parts)

    # -- moving ------------------------------------------------------------------------------------

    def _turn(self, steps: int) -> None:
        if self._reply is None:
            return
        reply = self._reply[0]
        shown = max(reply.shape[0], 1)
        last = max(reply.total - 1, 0) // shown * shown
        first = max(0, min(self._first + steps * shown, last))
        if first != self._first:
            self._first = first
            self._ask()

    def with_channel(self, position: tuple[int, ...]) -> tuple[int, ...]:
        """Of an element in what is shown, from a cell's place: a vector is one row, and of a pixel
        it is the first channel."""
        assert self._view is not None
        rank, channels = len(self._view.sizes), self._plane[2]
        return (*position, 0)[-rank:] if channels else position[-rank:] if rank else ()

    def go_to(self, position: tuple[int, ...]) -> None:
        """Frame a cell, on its page. position: of an element in what is shown."""
        outer, _, channels = self._plane
        self._marked = position = position[:-1] if channels else position
        plane = int(np.ravel_multi_index(position[: len(outer)], outer)) if outer else 0
        shown = max(self._reply[0].shape[0], 1) if self._reply is not None else 1
        if not self._first <= plane < self._first + shown:
            self._first = plane // shown * shown
            self._ask()
        else:
            self._frame()

    def _frame(self) -> None:
        if self._marked is None or self._reply is None:
            return
        reply, outer = self._reply[0], self._plane[0]
        plane = int(np.ravel_multi_index(self._marked[: len(outer)], outer)) if outer else 0
        row, column = (0, 0, *self._marked)[-2:]
        plane -= reply.first
        if 0 <= plane < reply.shape[0]:
            self.picture.mark(plane, row // reply.block[0], column // reply.block[1])
