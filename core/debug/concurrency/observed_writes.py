"""Variables that other threads changed, as one thread saw them: which value at which step.

With it earlier steps go on showing what was there then, and a run can be repeated. It cannot be
computed again, so it takes memory as long as its run is to be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gradstep.core.ops.state.opaque_state import OpaqueState

_BEFORE = -1  # the step of what was there before anything was taken over


@dataclass
class _OfRun:
    """values: value -> from which step on it was seen to be what."""

    values: dict[int, list[tuple[int, Any]]] = field(default_factory=dict)
    nbytes: int = 0

    def note(self, index: int, step: int, value: Any) -> None:
        found = self.values.setdefault(index, [])
        if found and found[-1][0] == step:
            _, gone = found.pop()
            self.nbytes -= _grown(gone, found[-1][1] if found else None)
        self.nbytes += _grown(value, found[-1][1] if found else None)
        found.append((step, value))


class ObservedWrites:
    """Values are numbered as in the thread's plan."""

    def __init__(self) -> None:
        self.nbytes = 0
        self._of: dict[int, _OfRun] = {}

    def note(self, run: int, done: int, index: int, before: Callable[[], Any], now: Any) -> None:
        """Once `done` steps of `run` were done, value `index` was `now`, and not any more what
        `before` gives a copy of."""
        there = self._of.setdefault(run, _OfRun())
        held = there.nbytes
        if done and index not in there.values:
            there.note(index, _BEFORE, before())
        there.note(index, done, now)
        self.nbytes += there.nbytes - held

    def at(self, run: int, index: int, done: int, otherwise: Any) -> Any:
        """What value `index` was once `done` steps of `run` were done; `otherwise` where nobody
        else had to do with it."""
        there = self._of.get(run)
        found = () if there is None else there.values.get(index, ())
        return next((value for step, value in reversed(found) if step <= done), otherwise)

    def has(self, run: int, index: int) -> bool:
        """Whether somebody else had to do with value `index` in `run`."""
        there = self._of.get(run)
        return there is not None and index in there.values

    def of(self, run: int) -> Iterator[tuple[int, Mapping[int, Any]]]:
        """What was taken over in `run`, in order: before which step, and what."""
        by_step: dict[int, dict[int, Any]] = {}
        there = self._of.get(run, _OfRun())
        for index, found in there.values.items():
            for step, value in found:
                by_step.setdefault(max(step, 0), {})[index] = value
        yield from sorted(by_step.items())

    def after(self, run: int, done: int) -> int | None:
        """Before which step of `run`, behind the first `done`, something was taken over next."""
        there = self._of.get(run, _OfRun())
        steps = (step for found in there.values.values() for step, _ in found if step > done)
        return min(steps, default=None)

    def until(self, run: int, done: int) -> ObservedWrites:
        """What was taken over until so many steps of `run` were done."""
        other = ObservedWrites()
        other._of = {number: there for number, there in self._of.items() if number < run}
        if run in self._of:
            cut = other._of[run] = _OfRun()
            for index, found in self._of[run].values.items():
                for step, value in found:
                    if step <= done and any(_BEFORE < each <= done for each, _ in found):
                        cut.note(index, step, value)
        other.nbytes = sum(there.nbytes for there in other._of.values())
        return other

    def forget(self, before: int) -> None:
        """Nobody looks at runs before that one any more."""
        self._of = {run: there for run, there in self._of.items() if run >= before}
        self.nbytes = sum(there.nbytes for there in self._of.values())


def _grown(value: Any, before: Any) -> int:
    """The bytes of `value` that are not those of `before`."""
    if value is None:
        return 0
    if isinstance(value, OpaqueState):
        return value.beyond(before)
    return int(value.nbytes)
