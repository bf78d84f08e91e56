"""What the VJPs of a backward pass come to together; after an edit, of those that differ."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, compress, dropwhile, filterfalse, islice
from operator import attrgetter, ne
from typing import Any, TypeVar

from gradstep.core.autodiff.reverse.vjp_result import VjpResult
from gradstep.core.graph.other_keys import with_other_keys
from gradstep.core.spliced_mapping import spliced

Vjps = Mapping[str, VjpResult]
Changed = Mapping[str, VjpResult | None]  # operation -> its VJP before
_K = TypeVar("_K")
_V = TypeVar("_V")
_CUSTOM = attrgetter("custom")
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
    ) -> dict[_K, _V]:
        entries: dict[_K, _V] = {}
        deque(map(entries.update, filter(None, map(part, vjps))), maxlen=0)  # in C
        return entries

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
        entries, gone, renamed = dict[_K, _V](), list[_K](), dict[_K, _K]()
        grown: dict[str, list[_K]] = {}  # what comes
        for name, vjp in changed.items():
            old = {} if vjp is None else part(vjp)
            new = part(self._vjps[name])
            if len(old) == len(new):
                named = {b: a for a, b in zip(old, new, strict=True) if a != b}
                renamed.update((a, b) for b, a in named.items())
                entries.update((key, new[key]) for key in named)
            elif [*filter(new.__contains__, old)] == [*new]:
                gone += filterfalse(new.__contains__, old)
            elif [*filter(old.__contains__, new)] == [*old] and len(grown) < _FEW:
                grown[name] = [*filterfalse(old.__contains__, new)]
            else:
                return None
            entries.update((key, value) for key, value in new.items() if old.get(key) != value)
        if renamed:
            before = with_other_keys(before, renamed)
        elif not entries and not gone:
            return before
        found = spliced(before, gone, [*self._places(part, before, grown)] if grown else [])
        found.update(entries)
        return found

    def _places(
        self,
        part: Callable[[VjpResult], Mapping[_K, _V]],
        before: Mapping[_K, _V],
        grown: Mapping[str, Sequence[_K]],
    ) -> Iterator[tuple[int, _K, _V]]:
        """Before which place of `before` each entry of a VJP comes that has more than it had;
        ascending, as the VJPs are in their order, so that each is looked for behind the last."""
        keys, names, start, place = [*before], [*self._vjps], 0, 0
        for name, new in grown.items():
            own, start = part(self._vjps[name]), names.index(name, start) + 1
            for key in new:
                later = map(self._vjps.__getitem__, islice(names, start, None))
                following = chain(
                    dropwhile(partial(ne, key), own), chain.from_iterable(map(part, later))
                )
                beyond = next(filter(before.__contains__, following), None)
                place = len(keys) if beyond is None else keys.index(beyond, place)
                yield place, key, own[key]


def _with_inside(vjps: Vjps) -> Iterator[tuple[str, VjpResult]]:
    """The VJPs, each before those inside its operation, if that is a loop."""
    for name, vjp in vjps.items():
        yield name, vjp
        yield from _with_inside(vjp.inside)
