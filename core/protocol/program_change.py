"""What an edit changed of a program, as the window is told: only that crosses the pipe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import compress, count
from operator import attrgetter, itemgetter
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import structs

from gradstep.core.persistent.joined_sequence import arranged, in_parts
from gradstep.core.persistent.sequence_places import changed_places, common_ends
from gradstep.core.persistent.spliced_mapping import spliced
from gradstep.core.protocol.message_parts import (
    BlockedEdge,
    DataInfo,
    EdgeGradient,
    LoopInfo,
    LossInfo,
    ProblemInfo,
    ProgramInfo,
    StepInfo,
)

T = TypeVar("T")
Entry = tuple[str, str]
_FEW = 64  # runs, of which each is cut out of a long list by itself
_SHORT = 1024  # entries of a run that are copied
HELD = 2  # so many of the programs that were told last may be the base of a change


class Rearranged(msgspec.Struct, Generic[T], frozen=True, array_like=True):
    """A list, made of an earlier one. runs: (start, kept, added): so many of the earlier list from
    `start` on, and behind them so many of those in `new` that are left."""

    runs: list[tuple[int, int, int]]
    new: list[T]


class LossChange(msgspec.Struct, frozen=True, kw_only=True):
    """One of several losses, made of the earlier one of that name, or of nothing."""

    of: str
    gradients: Rearranged[Entry] | None = None
    edges: Rearranged[EdgeGradient] | None = None


class ProgramChange(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fields of a ProgramInfo that differ from those of the one with number `base`; None for
    those that do not. Of a mapping the entries, in their order."""

    base: int
    number: int
    steps: Rearranged[StepInfo] | None = None
    gradients: Rearranged[Entry] | None = None
    rows: Rearranged[str] | None = None
    edges: Rearranged[EdgeGradient] | None = None
    waiting: Rearranged[Entry] | None = None
    waiting_edges: Rearranged[BlockedEdge] | None = None
    blocked: Rearranged[BlockedEdge] | None = None
    custom: Rearranged[Entry] | None = None
    slots: Rearranged[tuple[str, list[str]]] | None = None
    problems: list[ProblemInfo] | None = None
    device: str | None = None
    measured: bool | None = None
    source: str | None = None
    loops: Rearranged[LoopInfo] | None = None
    branches: Rearranged[str] | None = None
    rates: Rearranged[str] | None = None
    losses: list[LossChange] | None = None
    data: DataInfo | None = None


class OtherProgramError(Exception):
    """A change is about a program that is not at hand."""


_EDGE = attrgetter("op", "index")
_LISTS: Mapping[str, Callable[[Any], object]] = {  # by what an entry is known in them
    "steps": attrgetter("op"),
    "rows": str,
    "edges": _EDGE,
    "waiting_edges": _EDGE,
    "blocked": _EDGE,
    "loops": attrgetter("loop"),
    "branches": str,
    "rates": str,
}
_MAPPINGS = ("gradients", "waiting", "custom", "slots")
_VALUES = ("problems", "device", "measured", "source", "data")


def compare_programs(before: ProgramInfo, after: ProgramInfo) -> ProgramChange:
    """What makes `after` of `before`. What they share is found to be the same by its identity."""
    changes: dict[str, Any] = {
        name: _rearranged(getattr(before, name), getattr(after, name), key)
        for name, key in _LISTS.items()
    }
    for name in _MAPPINGS:
        changes[name] = _remapped(getattr(before, name), getattr(after, name))
    for name in _VALUES:
        old, new = getattr(before, name), getattr(after, name)
        changes[name] = None if old == new else new
    losses = _compare_losses(before.losses, after.losses)
    same_names = [one.of for one in before.losses] == [one.of for one in losses]
    if not same_names or any(one.gradients or one.edges for one in losses):
        changes["losses"] = losses
    return ProgramChange(base=before.number, number=after.number, **changes)


def held_program(program: ProgramInfo) -> ProgramInfo:
    """The same, for who is told of changes of it, of which each then costs what it changes."""
    steps, edges = in_parts(program.steps), in_parts(program.edges)
    return structs.replace(program, steps=steps, edges=edges)


def apply_change(program: ProgramInfo, change: ProgramChange) -> ProgramInfo:
    """What `compare_programs(program, after)` was made of. Raises OtherProgramError where that was
    another program."""
    if program.number != change.base:
        raise OtherProgramError
    changes: dict[str, Any] = {"number": change.number}
    for name in (*_LISTS, *_MAPPINGS, *_VALUES):
        changed, old = getattr(change, name), getattr(program, name)
        if changed is None:
            continue
        if name in _LISTS:
            changed = _arrange(old, changed)
        elif name in _MAPPINGS:
            changed = _arrange_entries(old, changed)
        changes[name] = changed
    if change.losses is not None:
        earlier = {one.of: one for one in program.losses}
        changes["losses"] = [_apply_loss(earlier.get(one.of), one) for one in change.losses]
    return structs.replace(program, **changes)


def _compare_losses(before: Sequence[LossInfo], after: Sequence[LossInfo]) -> list[LossChange]:
    earlier = {one.of: one for one in before}
    found = []
    for one in after:
        old = earlier.get(one.of, LossInfo(of=one.of, gradients={}, edges=[]))
        gradients = _remapped(old.gradients, one.gradients)
        edges = _rearranged(old.edges, one.edges, _EDGE)
        found.append(LossChange(of=one.of, gradients=gradients, edges=edges))
    return found


def _apply_loss(before: LossInfo | None, change: LossChange) -> LossInfo:
    loss = before or LossInfo(of=change.of, gradients={}, edges=[])
    gradients, edges = loss.gradients, loss.edges
    if change.gradients is not None:
        gradients = _arrange_entries(gradients, change.gradients)
    if change.edges is not None:
        edges = _arrange(edges, change.edges)
    return LossInfo(of=change.of, gradients=gradients, edges=edges)


def _remapped(old: Mapping[str, Any], new: Mapping[str, Any]) -> Rearranged[Any] | None:
    if old is new:
        return None
    if not new:
        return Rearranged([], []) if old else None
    then, now, there, here = [*old], [*new], [*old.values()], [*new.values()]
    named, few = changed_places(then, now), changed_places(there, here)
    if few is not None and not named and named is not None:
        return _put([(place, (now[place], here[place])) for place in few], len(now))
    if few is not None and named is not None:
        places = sorted({*named, *few})
        before = {place: (then[place], there[place]) for place in places}
        after = {place: (now[place], here[place]) for place in places}
        return _exchanged(before, after, itemgetter(0), places, len(now))
    return _rearranged([*old.items()], [*new.items()], itemgetter(0))


def _put(entries: Sequence[tuple[int, T]], length: int) -> Rearranged[T] | None:
    """Of lists of that length that differ in these places alone: what is there instead."""
    if not entries:
        return None
    runs, done = [], 0
    for place, _ in entries:
        runs.append((done, place - done, 1))
        done = place + 1
    runs.append((done, length - done, 0))
    return Rearranged([run for run in runs if run[1] or run[2]], [entry for _, entry in entries])


def _rearranged(
    old: Sequence[T], new: Sequence[T], key: Callable[[T], object]
) -> Rearranged[T] | None:
    """None where the two are equal. key: finds the place that an entry had."""
    if old is new:
        return None
    if not new:
        return Rearranged([], []) if old else None
    few = changed_places(old, new)
    if few is not None:
        return _exchanged(old, new, key, few, len(old))
    first, last = common_ends(old, new)
    if first == len(old) == len(new):
        return None
    there, here = (tuple(each[first : len(each) - last]) for each in (old, new))
    runs = [[0, first, 0]]
    wanted, keys = {*map(key, here)}, [*map(key, there)]  # who has lost many keeps few
    kept = map(wanted.__contains__, keys)
    places = dict(compress(zip(keys, count(), strict=False), kept))
    added = []
    for entry, found in zip(here, map(places.get, map(key, here)), strict=True):
        place = None if found is None or not _alike(there[found], entry) else first + found
        if place is None:
            runs[-1][2] += 1
            added.append(entry)
        elif not runs[-1][2] and place == runs[-1][0] + runs[-1][1]:
            runs[-1][1] += 1
        else:
            runs.append([place, 1, 0])
    runs.append([len(old) - last, last, 0])
    return Rearranged([(start, kept, more) for start, kept, more in runs if kept or more], added)


def _exchanged(
    old: Sequence[T] | Mapping[int, T],
    new: Sequence[T] | Mapping[int, T],
    key: Callable[[T], object],
    places: Sequence[int],
    length: int,
) -> Rearranged[T] | None:
    """Of lists of that length that differ in these places alone; of which no other is asked."""
    if not places:
        return None
    there = {key(old[place]): place for place in places}
    runs, added, done = [], [], 0
    for place in places:
        at = there.get(key(new[place]))
        moved = at is not None and _alike(old[at], new[place])
        runs.append((done, place - done, 0 if moved else 1))
        if at is not None and moved:
            runs.append((at, 1, 0))
        else:
            added.append(new[place])
        done = place + 1
    runs.append((done, length - done, 0))
    return Rearranged([run for run in runs if run[1] or run[2]], added)


def _arrange(old: Sequence[T], change: Rearranged[T]) -> Sequence[T]:
    """Of a long list long runs are shared; short ones, of which there may be thousands, are copied
    one behind the other."""
    flat = tuple(old) if len(change.runs) > _FEW else None
    stretches, near, taken = list[Sequence[T]](), list[T](), 0
    for start, kept, added in change.runs:
        if flat is None or kept > _SHORT:
            stretches += near, old[start : start + kept]
            near = []
        else:
            near += flat[start : start + kept]
        near += change.new[taken : taken + added]
        taken += added
    return arranged([*stretches, near])


def _arrange_entries(old: dict[str, T], change: Rearranged[tuple[str, T]]) -> dict[str, T]:
    """The same of the entries of a dictionary. It is copied as it lies where all that stays is in
    the order in which it was."""
    if not change.runs:
        return {}
    gone, come, done, taken = list[int](), list[tuple[int, str, T]](), 0, 0
    for start, kept, added in change.runs:
        if start < done:
            return dict(_arrange([*old.items()], change))
        gone += range(done, start)
        done = start + kept
        come += ((done, *entry) for entry in change.new[taken : taken + added])
        taken += added
    gone += range(done, len(old))
    names = [*old] if gone else []
    left = [names[place] for place in gone]
    if [(at, name) for at, name, _ in come] == [*zip(gone, left, strict=True)]:
        return old | {name: value for _, name, value in come}  # other values in the same places
    if {*left}.isdisjoint(name for _, name, _ in come):
        return spliced(old, left, come)
    return dict(_arrange([*old.items()], change))


def _alike(a: object, b: object) -> bool:
    return a is b or a == b
