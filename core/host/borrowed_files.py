"""Files of the window's machine, as an engine on another one reads them: it asks, and waits."""

from __future__ import annotations

import itertools
import queue
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType, array_bytes
from gradstep.core.json_text import UNREADABLE
from gradstep.core.protocol.error_records import error_of
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import FileRows, FileWanted
from gradstep.core.protocol.tensor_bytes import elements

_BLINK = 0.05  # seconds between two looks at whether anybody still waits

Supplied = tuple[FileRows, Sequence[Buffer]]


class BorrowedFiles:
    """A FileOwner that asks one question at a time. ask: sends an event; is_over: whether what
    waits for the answer has been given up. `supply` is called on another thread."""

    def __init__(self, ask: Callable[[FileWanted], None], is_over: Callable[[], bool]) -> None:
        self._ask, self._is_over = ask, is_over
        self._numbers = itertools.count(1)
        self._answers: queue.SimpleQueue[Supplied] = queue.SimpleQueue()

    def stamp(self, place: str) -> tuple[int, ...] | None:
        """See FileOwner."""
        number = next(self._numbers)
        reply, _ = self._answer(FileWanted(number=number, place=place, only_stamp=True))
        return None if reply.stamp is None else tuple(reply.stamp)

    def rows(self, place: str, kind: TensorType) -> np.ndarray:
        """See FileOwner."""
        return self._array_of(place, kind, is_value=False)[0]

    def value(self, place: str, kind: TensorType) -> tuple[np.ndarray, bool]:
        """See FileOwner."""
        return self._array_of(place, kind, is_value=True)

    def _array_of(self, place: str, kind: TensorType, is_value: bool) -> tuple[np.ndarray, bool]:
        wanted = FileWanted(
            number=next(self._numbers),
            place=place,
            dtype=kind.dtype.value,
            dims=_dims(kind.shape),
            is_value=is_value,
        )
        reply, buffers = self._answer(wanted)
        if reply.error is not None:
            raise error_of(reply.error)
        try:
            return _array(reply, buffers), reply.is_table
        except (*UNREADABLE, ValueError, TypeError, IndexError) as error:
            raise GradstepError(
                f"what the window sent of {place} is no array: {error}",
                kind="ProtocolError",
                hint="Restart engine",
            ) from None

    def supply(self, reply: FileRows, buffers: Sequence[Buffer]) -> None:
        """An answer is here."""
        self._answers.put((reply, buffers))

    def _answer(self, wanted: FileWanted) -> Supplied:
        self._ask(wanted)
        while not self._is_over():
            try:
                reply, buffers = self._answers.get(timeout=_BLINK)
            except queue.Empty:
                continue
            if reply.number == wanted.number:  # another one was given up
                return reply, buffers
        raise GradstepError(
            f"{wanted.place[1:]} was not waited for any more",
            kind="CancelledError",
            hint="ask for it again",
        )


def _dims(shape: Shape) -> list[int] | None:
    return None if shape.dims is None else [-1 if size is None else size for size in shape.dims]


def _array(reply: FileRows, buffers: Sequence[Buffer]) -> np.ndarray:
    kind = DType(reply.dtype).numpy
    if kind.hasobject:
        found = np.array([*msgspec.msgpack.decode(buffers[0], type=list), None], object)[:-1]
    else:
        array_bytes(reply.shape, kind.itemsize)
        found = elements(buffers[0], kind)
    found = found.reshape(reply.shape)
    found.setflags(write=False)
    return found
