"""What the VJPs of a backward pass come to together; after an edit, of those that differ."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, compress, dropwhile, filterfalse, islice
from operator import attrgetter, itemgetter, ne
from typing import Any, TypeVar

from gradstep.core.autodiff.reverse.vjp_result import VjpResult
from gradstep.core.persistent.edited_columns import Table

Vjps = Mapping[str, VjpResult]
Changed = Mapping[str, VjpResult | None]  # operation -> its VJP before
_K = TypeVar("_K")
_V = TypeVar("_V")
_CUSTOM = attrgetter("custom")
_PLACE = itemgetter(0)
_FEW = 64  # VJPs that have more than before, whose entries are put in one by one


class MergedVjps:
    """vjps: in their order. loops: whether some of them, or of those before, are of loops. changed:
    of these, and there is no other, the VJPs that are not what they were, in their order, each in
    the place of the one that it was; None where that is not known."""

    def __init__(self, vjps: Vjps, loops: bool, changed: Changed | None = None) -> None:
        self._vjps = dict(_with_inside(vjps)) if loops else vjps
        self._changed = None if loops else changed

    def merged(
        self, part: Callable[[VjpResult], Mapping[_K, _V]], before: Mapping[_K, _V] | None = None
    ) -> Mapping[_K, _V]:
        """All entries that they have for a part, in order. before: what they came to before the
        edit, which is itself given back where nothing is other than it was."""
        if before is not None and self._changed is not None:
            found = self._patched(part, before, self._changed)
            if found is not None:
                return found
        return self._entries(part, self._vjps.values())

    def _entries(
        self, part: Callable[[VjpResult], Mapping[_K, _V]], vjps: Iterable[VjpResult]
    ) -> Mapping[_K, _V]:
        entries: dict[_K, _V] = {}
        deque(map(entries.update, filter(None, map(part, vjps))), maxlen=0)  # in C
        return Table.of(entries)

    def custom(self, before: Mapping[str, str] | None = None) -> Mapping[str, str]:
        """The names of the gradients that are not the operations' own. before: see `merged`."""
        if before is not None and self._changed is not None:
            there = (vjp for vjp in self._changed.values() if vjp is not None)
            now = map(self._vjps.__getitem__, self._changed)
            if not any(map(_CUSTOM, chain(there, now))):
                return before
        custom = [*map(_CUSTOM, self._vjps.values())]
        return dict(compress(zip(self._vjps, custom, strict=True), custom))

    def _patched(
        self,
        part: Callable[[VjpResult], Mapping[Any, Any]],
        before: Mapping[_K, _V],
        changed: Changed,
    ) -> Mapping[_K, _V] | None:
        """None where that would take longer. One for another key is in the place of the one that
        it is instead of; one that comes among others stands before what comes next."""
        if not before:
            return self._entries(part, map(self._vjps.__getitem__, changed)) or before
        table = before if isinstance(before, Table) else Table.of(dict(before))
        others, gone = dict[_K, _V](), set[_K]()
        called = dict[_K, tuple[_K, _V]]()  # instead of which key another stands in its place
        grown: dict[str, list[_K]] = {}  # what comes
        for name, vjp in changed.items():
            old = {} if vjp is None else part(vjp)
            new = part(self._vjps[name])
            if len(old) == len(new):
                called.update((a, (b, new[b])) for a, b in zip(old, new, strict=True) if a != b)
            elif [*filter(new.__contains__, old)] == [*new]:
                gone.update(filterfalse(new.__contains__, old))
            elif [*filter(old.__contains__, new)] == [*old] and len(grown) < _FEW:
                grown[name] = [*filterfalse(old.__contains__, new)]
            else:
                return None
            there = ((key, value) for key, value in new.items() if key in old)
            others.update((key, value) for key, value in there if old[key] != value)
        if not (others or gone or called or grown):
            return before
        come = [*self._places(part, table, called, grown)] if grown else []
        places = table.order.places
        come += [(places[old], *row) for old, row in called.items()]
        others = {key: value for key, value in others.items() if key not in called}
        table.held.number()  # who tells of the gradients asks where some are held
        return table.edited({*gone, *called}, sorted(come, key=_PLACE), others)

    def _places(
        self,
        part: Callable[[VjpResult], Mapping[_K, _V]],
        before: Table[_K, _V],
        called: Mapping[_K, tuple[_K, _V]],
        grown: Mapping[str, Sequence[_K]],
    ) -> Iterator[tuple[int, _K, _V]]:
        """Before which place of `before` each entry of a VJP comes that has more than it had: that
        of the entry that comes next, of those that were there. called: see `_patched`."""
        names, start, places = [*self._vjps], 0, before.order.places
        earlier = {new: old for old, (new, _) in called.items()}
        for name, new in grown.items():
            own, start = part(self._vjps[name]), names.index(name, start) + 1
            for key in new:
                later = map(self._vjps.__getitem__, islice(names, start, None))
                following = chain(
                    dropwhile(partial(ne, key), own), chain.from_iterable(map(part, later))
                )
                stood = (earlier.get(other, other) for other in following)
                beyond = next(filter(places.__contains__, stood), None)
                yield len(before) if beyond is None else places[beyond], key, own[key]


def _with_inside(vjps: Vjps) -> Iterator[tuple[str, VjpResult]]:
    """The VJPs, each before those inside its operation, if that is a loop."""
    for name, vjp in vjps.items():
        yield name, vjp
        yield from _with_inside(vjp.inside)
