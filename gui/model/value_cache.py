"""Values and gradients as of the step the debugger stands at, fetched ahead and kept."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    Failed,
    Message,
    Read,
    Stats,
    TensorPart,
    Values,
)
from gradstep.core.protocol.tensor_bytes import unpack, unpack_before
from gradstep.core.protocol.vocabulary import ValueState
from gradstep.gui.model.program_index import ProgramIndex

HEAD = 64  # elements of each tensor that are kept
CHUNK = 400  # tensors asked for at a time, so that the nearest ones come first
ALL = 96  # so many are fetched ahead; of more only those that somebody looks at

Answer = Callable[[Message, tuple[Buffer, ...]], None]
Request = Callable[[Message, Sequence[Buffer], Answer], None]
Later = Callable[[Callable[[], None]], None]


class Words(str):
    """What is said of a value that is no tensor: a queue, a tensor array."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False)
class Update:
    """The last write to a variable in a run. step: the plan step that wrote; before: the elements
    that the head has, until then; None where there were none, or of another shape; delta: of the
    differences of all elements; changed: how many differ."""

    step: int
    before: np.ndarray[Any, Any] | None
    delta: Stats | None
    changed: int

    @classmethod
    def of(cls, part: TensorPart, buffers: tuple[Buffer, ...]) -> Update | None:
        """The value in a part of the engine's reply, if it has one."""
        if (told := part.update) is None:
            return None
        return cls(told.step, unpack_before(part, buffers), told.delta, told.changed)

    def says_the_same_as(self, other: Update | None) -> bool:
        """Whether nobody can tell the two apart."""
        if other is None or (self.step, self.changed) != (other.step, other.changed):
            return False
        mine, theirs = (None if u.before is None else u.before.tobytes() for u in (self, other))
        return mine == theirs and repr(self.delta) == repr(other.delta)


@dataclass(frozen=True, slots=True, eq=False)
class TensorValue:
    """why: it is not there, where there is more to say; shape and stats: of the whole tensor; head:
    its first elements, flat, row-major; update: of a variable that the run has written."""

    ref: str
    state: ValueState
    dtype: str = ""
    shape: tuple[int, ...] = ()
    head: np.ndarray[Any, Any] = field(default_factory=lambda: np.empty(0, np.float32))
    stats: Stats | None = None
    why: str = ""
    update: Update | None = None

    @property
    def size(self) -> int:
        """Number of elements of the whole tensor."""
        return prod(self.shape)

    @property
    def array(self) -> np.ndarray[Any, Any] | None:
        """The whole tensor in its shape, if all of it is here."""
        if self.state != "known" or self.size != self.head.size:
            return None
        return self.head.reshape(self.shape)

    @property
    def absence(self) -> str:
        """What became of a value that was, or would have been, computed; "" where it is there, or
        is still to come, or never was."""
        words = {"dead": "dead", "dropped": "not kept"}.get(self.state)
        return "" if words is None else f"{words}: {self.why}"

    @classmethod
    def of(cls, part: TensorPart, buffers: tuple[Buffer, ...]) -> TensorValue:
        """A value from the engine's reply."""
        head = unpack(part, buffers)
        if part.dtype == DType.RESOURCE:
            head = np.array([Words(text.decode()) for text in head], object)
        shape = tuple(part.shape)
        update = Update.of(part, buffers)
        return cls(part.ref, part.state, part.dtype, shape, head, part.stats, part.why, update)

    @property
    def _facts(self) -> tuple[object, ...]:
        return self.ref, self.state, self.why, self.dtype, self.shape, self.head.tobytes()

    def says_the_same_as(self, other: TensorValue) -> bool:
        """Whether nobody can tell the two apart."""
        if self._facts != other._facts or repr(self.stats) != repr(other.stats):
            return False
        if self.update is None:
            return other.update is None
        return self.update.says_the_same_as(other.update)


class _Made(Container[str]):
    """All tensors that are made or fed in a run, without a list of them, and those of operations of
    the document that no run needs: what is to be said of them comes with the stop as well."""

    def __init__(self, index: ProgramIndex, document: Document) -> None:
        self._steps, self._feeds = index.steps, {*document.feeds, *document.columns}
        self._drawn = document.graph.operations

    def __contains__(self, ref: object) -> bool:
        op = str(ref).rpartition(":")[0]
        step = self._steps.get(op)
        if step is None:
            return op in self._drawn or ref in self._feeds
        return ref in step.outputs or ref in self._feeds


Refs = Sequence[str] | _Made


def tensors_of(index: ProgramIndex, document: Document) -> Refs:
    """What of a program is read at every stop: the document's tensors, and then their gradients; of
    a large one, whatever it makes."""
    program = index.program
    if program is None or len(program.steps) > 2 * ALL:
        return _Made(index, document)
    own = [step for step in program.steps if step.op in document.graph]
    refs = [*document.feeds, *document.columns, *(ref for step in own for ref in step.outputs)]
    held = [g for r in refs if (g := program.gradients.get(r)) is not None]
    carried = [edge.gradient for edge in program.edges]
    return list(dict.fromkeys([*refs, *held, *carried]))


class ValueCache:
    """What is known of the tensors at one stop. `arrived` is called after each reply. `later` makes
    a call once the views have said what they look at."""

    def __init__(
        self,
        request: Request,
        arrived: Callable[[], None],
        later: Later,
    ) -> None:
        self._request = request
        self._arrived = arrived
        self._later = later
        self._values: dict[str, TensorValue] = {}
        self._earlier: dict[str, TensorValue] = {}  # as of the last stop
        self._asked: set[str] = set()
        self._missing: list[str] = []  # looked at, and not asked for yet
        self._looked_at: set[str] = set()  # since the last move,
        self._before: set[str] = set()  # and before it
        self._stop = 0
        self.is_current = True  # whether no value is of an earlier stop
        self.lacked = 0  # how often a value was looked at that was not here

    def leave(self) -> None:
        """The debugger stands elsewhere: what is known is of an earlier stop until `refresh`."""
        self.is_current = False

    def get(self, ref: str) -> TensorValue | None:
        """The value, or None while it is on its way; asks for it if nobody has."""
        known = self._values.get(ref)
        name = ref if known is not None else str(TensorRef.parse(ref))
        self._looked_at.add(name)
        if known is None and name not in self._values and name not in self._asked:
            self._asked.add(name)
            self._missing.append(name)
            if len(self._missing) == 1:
                self._later(self._read_missing)
        found = known or self._values.get(name)
        if found is None:
            self.lacked += 1
        return found

    def get_all(self, refs: Sequence[str]) -> list[TensorValue | None]:
        """What `get` gives, of many, each named in full ("a:0")."""
        found = [*map(self._values.get, refs)]
        self._looked_at.update(refs)
        if None in found:
            for ref, value in zip(refs, found, strict=True):
                if value is None:
                    self.get(ref)
        return found

    def wanted(self, refs: Refs) -> list[str]:
        """Of `refs` (in full, "a:0"; each once) those that are to be read when the debugger moves:
        all, or where they are many, those that are looked at. What nobody has asked for yet as
        well, for an edit may have made it."""
        seen = self._looked_at or self._before
        if isinstance(refs, Sequence):
            found = [ref for ref in refs if ref in seen] if len(refs) > ALL else [*refs]
        else:
            found = [ref for ref in seen if ref in refs]
        return [*found, *(ref for ref in self._missing if ref not in refs)]

    def refresh(
        self,
        refs: Refs,
        parts: Sequence[TensorPart] = (),
        buffers: tuple[Buffer, ...] = (),
    ) -> None:
        """The debugger moved: read what is wanted of `refs` again, but for the parts that came with
        the stop. Old values stay until the first new ones are here, so that nothing flickers."""
        self._stop += 1
        self._missing = []
        names = self.wanted(refs)
        if self._looked_at:
            self._before, self._looked_at = self._looked_at, set()
        self.is_current = not names
        if not names:
            self._values = {}
        self._asked = {*names, *(part.ref for part in parts)}
        if parts:
            self._keep([], Values(parts=[*parts]), buffers, fresh=True)
            names = [name for name in names if name not in self._values]
        for start in range(0, len(names), CHUNK):
            fresh = start == 0 and not parts
            self._read(names[start : start + CHUNK], self._stop, fresh)

    def clear(self) -> None:
        """Forget everything; replies still on their way are ignored."""
        self._stop += 1
        self._values, self._earlier, self._asked, self._missing = {}, {}, set(), []

    def _read_missing(self) -> None:
        names, self._missing = self._missing, []
        for start in range(0, len(names), CHUNK):
            self._read(names[start : start + CHUNK], self._stop, fresh=False)

    def _read(self, names: list[str], stop: int, fresh: bool) -> None:
        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if stop == self._stop:
                self._keep(names, reply, buffers, fresh)

        self._request(Read(refs=names, limit=HEAD), (), answered)

    def _keep(
        self, names: list[str], reply: Message, buffers: tuple[Buffer, ...], fresh: bool
    ) -> None:
        if fresh:
            self._values, self._earlier, self.is_current = {}, self._values, True
        if isinstance(reply, Values):
            self._values.update((p.ref, self._kept(p, buffers)) for p in reply.parts)
        elif isinstance(reply, Failed):  # not in this program: the same as not computed
            self._values.update((name, TensorValue(name, "waiting")) for name in names)
        self._arrived()

    def _kept(self, part: TensorPart, buffers: tuple[Buffer, ...]) -> TensorValue:
        """A value; where the last stop had the same, that one: views know by it that what they
        made of it still holds."""
        value, before = TensorValue.of(part, buffers), self._earlier.get(part.ref)
        return before if before is not None and value.says_the_same_as(before) else value
