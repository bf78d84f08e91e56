"""Variables that other threads changed, as one thread saw them: which value at which step.

With it earlier steps go on showing what was there then, and a run can be repeated. It cannot be
computed again, so it takes memory as long as its run is to be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradstep.core.engine.run.loop_places import Places
from gradstep.core.ops.state.opaque_state import OpaqueState

NOTHING_DONE = -1  # the step of what was there before anything was taken over


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
    """Values are numbered as in the thread's plan. Of a loop whose iterations were given values by
    hand it is the same: iterations for runs."""

    def __init__(self) -> None:
        self.own_bytes = 0
        self._of: dict[int, _OfRun] = {}
        self._inside: dict[int, dict[int, ObservedWrites]] = {}  # run -> step of a loop

    @property
    def nbytes(self) -> int:
        """Of what it keeps, in loops too."""
        loops = (each for there in self._inside.values() for each in there.values())
        return self.own_bytes + sum(each.nbytes for each in loops)

    def inside(self, run: int) -> Mapping[int, ObservedWrites]:
        """What was given by hand in the loops of `run`, by their steps."""
        return self._inside.get(run, {})

    def note_inside(self, run: int, step: int) -> ObservedWrites:
        """What is noted of the loop that is step number `step` of `run`."""
        there = self._inside.setdefault(run, {})
        return there.setdefault(step, ObservedWrites())

    def touches(self, run: int) -> bool:
        """Whether anything was taken over, or given, in `run`."""
        return run in self._of or run in self._inside

    def note(self, run: int, done: int, index: int, before: Callable[[], Any], now: Any) -> None:
        """Once `done` steps of `run` were done, value `index` was `now`, and not any more what
        `before` gives a copy of."""
        there = self._of.setdefault(run, _OfRun())
        held = there.nbytes
        if done and index not in there.values:
            there.note(index, NOTHING_DONE, before())
        there.note(index, done, now)
        self.own_bytes += there.nbytes - held

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

    def of(self, run: int) -> Sequence[tuple[int, Mapping[int, Any]]]:
        """What was taken over in `run`, in order: before which step, and what."""
        return sorted(self._by_step(run, NOTHING_DONE).items())

    def steps(self, run: int) -> Mapping[int, Mapping[int, Any]]:
        """The same by its steps, but for what was there before."""
        return self._by_step(run, 0)

    def _by_step(self, run: int, first: int) -> Mapping[int, Mapping[int, Any]]:
        by_step: dict[int, dict[int, Any]] = {}
        there = self._of.get(run, _OfRun())
        for index, found in there.values.items():
            for step, value in found:
                if step >= first:
                    by_step.setdefault(max(step, 0), {})[index] = value
        return by_step

    def has_after(self, run: int, done: int, inside: Places = ()) -> bool:
        """Whether something was taken over, or given, in `run` behind its first `done` steps, and
        behind the place in the loop that comes then."""
        there = self._of.get(run, _OfRun())
        if any(step > done for found in there.values.values() for step, _ in found):
            return True
        loops = self.inside(run)
        if any(step > done for step in loops):
            return True
        if done not in loops:
            return False
        return not inside or loops[done]._is_behind(inside)

    def _is_behind(self, place: Places) -> bool:
        (run, done), *rest = place
        later = any(number > run for number in (*self._of, *self._inside))
        return later or self.has_after(run, done, rest)

    def until(self, run: int, done: int, inside: Places = ()) -> ObservedWrites:
        """What was taken over until so many steps of `run` were done; and up to that place in the
        loop that comes then."""
        other = ObservedWrites()
        other._of = {number: there for number, there in self._of.items() if number < run}
        other._inside = {number: there for number, there in self._inside.items() if number < run}
        loops = self.inside(run)
        kept = {step: there for step, there in loops.items() if step < done}
        if inside and done in loops:
            (iteration, step), *rest = inside
            kept[done] = loops[done].until(iteration, step, rest)
        if kept:
            other._inside[run] = kept
        if run in self._of:
            cut = _OfRun()
            for index, found in self._of[run].values.items():
                for step, value in found:
                    if step <= done and any(NOTHING_DONE < each <= done for each, _ in found):
                        cut.note(index, step, value)
            if cut.values:
                other._of[run] = cut
        other.own_bytes = sum(there.nbytes for there in other._of.values())
        return other

    def forget(self, before: int) -> None:
        """Nobody looks at runs before that one any more."""
        self._of = {run: there for run, there in self._of.items() if run >= before}
        self._inside = {run: there for run, there in self._inside.items() if run >= before}
        self.own_bytes = sum(there.nbytes for there in self._of.values())


def _grown(value: Any, before: Any) -> int:
    """The bytes of `value` that are not those of `before`."""
    if value is None:
        return 0
    if isinstance(value, OpaqueState):
        return value.beyond(before)
    return int(value.nbytes)
