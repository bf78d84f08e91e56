"""How much memory loops may take for what they keep of their iterations, in all recorded runs."""

from __future__ import annotations

from enum import IntEnum
from itertools import count
from typing import Protocol
from weakref import WeakValueDictionary, ref

LEAST_BYTES = 1 << 26  # that loops may take however little is left for them
_AHEAD = 32  # where there is no room, more is made than is asked for: this part of all there is


class Spare(IntEnum):
    """What can be computed again, in the order in which it is let go of."""

    RECORDS = 0  # whole iterations, for who looks at them
    VALUES = 1  # what the way back needs of iterations that were not read last
    LATEST = 2  # and of those that were


class Shrinking(Protocol):
    """Something that keeps what can be computed again."""

    def shrink(self, what: Spare) -> bool:
        """Let go of some of that; False where there is none left."""
        ...


class Recorder(Protocol):
    """Whoever keeps runs."""

    limit_bytes: int

    @property
    def nbytes_besides_loops(self) -> int: ...

    def drop_oldest(self) -> bool:
        """Let go of a run; False where there is none to be let go of."""
        ...


class LoopMemory:
    """Counts the bytes that loops keep (`used`), and makes room for more, up to `capacity`: what a
    recorder's limit leaves."""

    def __init__(self, recorder: Recorder) -> None:
        self.used = 0
        self.capacity = LEAST_BYTES
        self._recorder = ref(recorder)
        self._keepers: WeakValueDictionary[int, Shrinking] = WeakValueDictionary()
        self._numbers = count()

    @property
    def limit(self) -> int:
        """Bytes for all that is recorded."""
        recorder = self._recorder()
        return 0 if recorder is None else recorder.limit_bytes

    def reckon(self) -> None:
        """Find out again how much loops may take, as other things take more or less now."""
        recorder = self._recorder()
        others = 0 if recorder is None else recorder.nbytes_besides_loops
        self.capacity = max(self.limit - others, LEAST_BYTES)

    def enter(self, keeper: Shrinking) -> None:
        """Ask `keeper`, too, when there is no room."""
        self._keepers[next(self._numbers)] = keeper

    def has_room(self, nbytes: int, asking: Shrinking) -> bool:
        """Whether so many bytes more may be kept. For that others than `asking` let go of what can
        be computed again, then recorded runs are dropped, then it has to let go of some itself."""
        if self.used + nbytes > self.capacity:
            self._make_room(nbytes, asking)
        return self.used + nbytes <= self.capacity

    def shrunk_to(self, nbytes: int, asking: Shrinking | None = None) -> int:
        """What is used once loops have let go of what they can compute again, but for `asking`,
        until no more than so many bytes are left."""
        for what in Spare if self.used > nbytes else ():
            for keeper in self._keepers.values():
                if keeper is not asking:
                    while self.used > nbytes and keeper.shrink(what):
                        pass
        return self.used

    def _make_room(self, nbytes: int, asking: Shrinking) -> None:
        self.reckon()
        most = self.capacity - nbytes
        if self.shrunk_to(most - self.capacity // _AHEAD, asking) <= most:
            return
        recorder = self._recorder()
        while self.used + nbytes > self.capacity and recorder and recorder.drop_oldest():
            self.reckon()
        for what in Spare:
            while self.used + nbytes > self.capacity and asking.shrink(what):
                pass


class Charge:
    """Bytes that count as used in a memory (None: nobody counts), until this is gone."""

    __slots__ = ("_memory", "nbytes")

    def __init__(self, memory: LoopMemory | None, nbytes: int = 0) -> None:
        self._memory = memory
        self.nbytes = 0
        self.add(nbytes)

    def add(self, nbytes: int) -> None:
        """So many more; fewer, if negative."""
        self.nbytes += nbytes
        if self._memory is not None:
            self._memory.used += nbytes

    def __del__(self) -> None:
        self.add(-self.nbytes)
