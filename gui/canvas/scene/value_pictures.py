"""Small pictures of values that are in view: asked for once for each value, and kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Operation
from gradstep.core.host.tensors.aggregate import FINITE, NAN
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import DrawTensor, ReadTable, Table, TensorPicture
from gradstep.core.protocol.tensor_bytes import elements
from gradstep.gui.canvas.scene.picture_choice import PIXELS, PictureWish, wish_for
from gradstep.gui.model.engine_questions import Questions
from gradstep.gui.model.live_output import live_value
from gradstep.gui.model.settings import settings
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.workspace import Workspace

KEPT = 192  # pictures
AT_ONCE = 32  # questions that wait for the engine; what is in view after that is asked for later


@dataclass(frozen=True, slots=True, eq=False)
class ValuePicture:
    """values: float64[planes, rows, columns(, channels)]; kinds: uint8, as of TensorPicture; least,
    most: the colours' range; is_image: pixels, of a tensor of `dtype`."""

    values: np.ndarray
    kinds: np.ndarray
    least: float
    most: float
    is_image: bool
    dtype: str


class ValuePictures(QObject):
    """changed: one has come. A value is known by its object: the same one is not asked for twice.
    Nothing is asked for while they are switched off."""

    changed = Signal()

    def __init__(self, workspace: Workspace, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._questions = Questions(workspace.request, lambda error: None)
        self.are_shown = settings().pictures
        self.awaited = 0  # how often one was looked for that is still to come
        self._kept: OrderedDict[TensorValue, ValuePicture] = OrderedDict()
        self._newest: dict[str, TensorValue] = {}  # of each tensor, what there is a picture of
        self._wanted: OrderedDict[TensorValue, PictureWish] = OrderedDict()
        self._asked: dict[str, TensorValue] = {}  # of each tensor, the last that was asked for
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._ask)
        workspace.document_opened.connect(self._forget)
        workspace.bridge.state_changed.connect(self._engine_is)

    def toggle(self) -> None:
        """Show them, or not, here and in windows to come."""
        settings().pictures = self.are_shown = not self.are_shown
        self.changed.emit()

    def of(self, op: Operation) -> ValuePicture | None:
        """The picture of an operation's value as of now: until it has come, the one before it."""
        value = live_value(self._workspace, op) if self.are_shown else None
        return None if value is None else self.picture(value, partial(wish_for, op, value))

    def picture(
        self, value: TensorValue, wished: Callable[[], PictureWish | None]
    ) -> ValuePicture | None:
        """The same of a value. wished: tells what is to be drawn of it, if anything."""
        found = self._kept.get(value)
        if found is not None:
            self._kept.move_to_end(value)
            return found
        wish = wished()
        if wish is None:
            return None
        if self._asked.get(value.ref) is not value and len(self._wanted) < AT_ONCE:
            self._wanted[value] = wish
            self._later.start()
        self.awaited += 1
        before = self._newest.get(value.ref)
        return None if before is None or before.shape != value.shape else self._kept.get(before)

    def _ask(self) -> None:
        """What was wanted while the canvas was painted."""
        for value, wish in self._wanted.items():
            self._asked[value.ref] = value
            if wish.square:
                rows = ReadTable(of=wish.part, rows=wish.planes, columns=wish.rows * wish.columns)
                self._questions.ask(value.ref, rows, partial(self._read, value, wish))
                continue
            draw = DrawTensor(
                of=wish.part,
                planes=wish.planes,
                height=min(wish.rows, PIXELS),
                width=min(wish.columns, PIXELS),
                channels=wish.channels,
                mean=wish.is_image,
            )
            self._questions.ask(value.ref, draw, partial(self._drawn, value, wish))
        self._wanted.clear()

    def _read(
        self, value: TensorValue, wish: PictureWish, reply: Table, buffers: tuple[Buffer, ...]
    ) -> None:
        """Rows that are images."""
        read = elements(buffers[0], DType(reply.dtype).numpy)
        values = read.astype(np.float64).reshape(-1, wish.rows, wish.columns)
        kinds = np.where(np.isfinite(values), FINITE, NAN).astype(np.uint8)
        finite = values[np.isfinite(values)]
        ends = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        self._keep(value, ValuePicture(values, kinds, *ends, wish.is_image, value.dtype))

    def _drawn(
        self,
        value: TensorValue,
        wish: PictureWish,
        reply: TensorPicture,
        buffers: tuple[Buffer, ...],
    ) -> None:
        values = np.frombuffer(buffers[0], np.float64).reshape(reply.shape)
        kinds = np.frombuffer(buffers[1], np.uint8).reshape(reply.shape)
        if values.ndim == 4 and values.shape[-1] not in (3, 4):
            values, kinds = values.mean(-1), kinds.max(-1)
        ends = reply.least or 0.0, reply.most or 0.0
        self._keep(value, ValuePicture(values, kinds, *ends, wish.is_image, value.dtype))

    def _keep(self, value: TensorValue, picture: ValuePicture) -> None:
        if self._asked.get(value.ref) is value:
            del self._asked[value.ref]
        self._kept[value] = picture
        self._newest[value.ref] = value
        while len(self._kept) > KEPT:
            gone, _ = self._kept.popitem(last=False)
            if self._newest.get(gone.ref) is gone:
                del self._newest[gone.ref]
        self.changed.emit()

    def _engine_is(self, state: str) -> None:
        """A new one was asked nothing."""
        if state in ("starting", "dead"):
            self._questions.give_up()
            self._asked.clear()

    def _forget(self) -> None:
        """Another document has other values."""
        self._questions.forget()
        self._kept.clear()
        self._newest.clear()
        self._wanted.clear()
        self._asked.clear()
