"""Values and gradients as of the step the debugger stands at, fetched ahead and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.graph.model import TensorRef
from core.host.messages import Failed, Message, Read, Stats, TensorPart, Values
from core.host.tensor_bytes import unpack
from core.host.wire import Buffer

HEAD = 64  # elements of each tensor that are kept
CHUNK = 400  # tensors asked for at a time, so that the nearest ones come first

Answer = Callable[[Message, tuple[Buffer, ...]], None]
Request = Callable[[Message, Sequence[Buffer], Answer], None]


@dataclass(frozen=True, slots=True, eq=False)
class TensorValue:
    """state: "known", "waiting" (not computed at this step) or "none" (a gradient that does not
    exist); shape and stats: of the whole tensor; head: its first elements, flat, row-major."""

    ref: str
    state: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    head: np.ndarray[Any, Any] = field(default_factory=lambda: np.empty(0, np.float32))
    stats: Stats | None = None

    @property
    def size(self) -> int:
        """Number of elements of the whole tensor."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def array(self) -> np.ndarray[Any, Any] | None:
        """The whole tensor in its shape, if all of it is here."""
        if self.state != "known" or self.size != self.head.size:
            return None
        return self.head.reshape(self.shape)

    @classmethod
    def of(cls, part: TensorPart, buffers: tuple[Buffer, ...]) -> TensorValue:
        """A value from the engine's reply."""
        head = unpack(part, buffers)
        return cls(part.ref, part.state, part.dtype, tuple(part.shape), head, part.stats)


class ValueCache:
    """What is known of the tensors at one stop. `arrived` is called after each reply."""

    def __init__(self, request: Request, arrived: Callable[[], None]) -> None:
        self._request = request
        self._arrived = arrived
        self._values: dict[str, TensorValue] = {}
        self._asked: set[str] = set()
        self._stop = 0

    def get(self, ref: str) -> TensorValue | None:
        """The value, or None while it is on its way; asks for it if nobody has."""
        known = self._values.get(ref)
        if known is not None:
            return known
        name = str(TensorRef.parse(ref))
        if name not in self._values and name not in self._asked:
            self._read([name], self._stop, fresh=False)
        return self._values.get(name)

    def refresh(self, refs: Iterable[str]) -> None:
        """The debugger moved: read all of `refs` again. Old values stay until the first new ones
        are here, so that nothing flickers."""
        self._stop += 1
        names = list(dict.fromkeys(str(TensorRef.parse(ref)) for ref in refs))
        self._asked = set(names)
        for start in range(0, len(names), CHUNK):
            self._read(names[start : start + CHUNK], self._stop, fresh=start == 0)

    def clear(self) -> None:
        """Forget everything; replies still on their way are ignored."""
        self._stop += 1
        self._values, self._asked = {}, set()

    def _read(self, names: list[str], stop: int, fresh: bool) -> None:
        self._asked.update(names)

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if stop == self._stop:
                self._keep(names, reply, buffers, fresh)

        self._request(Read(refs=names, limit=HEAD), (), answered)

    def _keep(
        self, names: list[str], reply: Message, buffers: tuple[Buffer, ...], fresh: bool
    ) -> None:
        if fresh:
            self._values = {}
        if isinstance(reply, Values):
            self._values.update((p.ref, TensorValue.of(p, buffers)) for p in reply.parts)
        elif isinstance(reply, Failed):  # not in this program: the same as not computed
            self._values.update((name, TensorValue(name, "waiting")) for name in names)
        self._arrived()
