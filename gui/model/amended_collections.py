"""Sets and mappings as edits made them of others: what an edit did not touch is not copied."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Set
from itertools import chain, filterfalse
from typing import Any, TypeVar

from gradstep.core.persistent.overlaid_mapping import OverlaidMapping

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
FEW = 8  # of so many entries one may differ before all are put together anew


class AmendedSet(Set[K]):
    """The members of one set, but for a few that came or went. Never changed."""

    __slots__ = ("_base", "_flipped", "_size")

    def __init__(self, base: Iterable[K] = (), flipped: frozenset[K] = frozenset()) -> None:
        """flipped: what only one of `base` and this has."""
        whole = base if isinstance(base, frozenset) else frozenset(base)
        if len(flipped) * FEW > len(whole):
            whole, flipped = whole ^ flipped, frozenset()
        self._base: frozenset[K] = whole
        self._flipped = flipped
        self._size = len(whole) + len(flipped) - 2 * len(whole & flipped)

    def flip(self, members: Collection[K]) -> AmendedSet[K]:
        """Without those that are among them, and with those that are not; this where there are
        none."""
        return (
            AmendedSet(self._base, self._flipped.symmetric_difference(members)) if members else self
        )

    def differing(self, other: AmendedSet[K]) -> frozenset[K]:
        """What only one of the two has."""
        if self._base is other._base:
            return self._flipped ^ other._flipped
        return frozenset(self) ^ frozenset(other)

    @property
    def has(self) -> Callable[[K], bool]:
        """Whether something is a member: in C, where that can be; for who asks often."""
        return self.__contains__ if self._flipped else self._base.__contains__

    def __contains__(self, member: object) -> bool:
        return (member in self._base) is not (member in self._flipped)

    def __iter__(self) -> Iterator[K]:
        if not self._flipped:
            return iter(self._base)
        stay = filterfalse(self._flipped.__contains__, self._base)
        return chain(stay, self._flipped - self._base)

    def __len__(self) -> int:
        return self._size

    def __eq__(self, other: object) -> bool:
        if isinstance(other, AmendedSet):
            return self is other or (len(self) == len(other) and not self.differing(other))
        return super().__eq__(other)

    __hash__ = Set._hash  # as of a frozenset


class AmendedDict(OverlaidMapping[K, V]):
    """The entries of one dictionary, but for a few that came or went. Never changed: an edit makes
    another one of it."""

    __slots__ = ()

    def __init__(self, base: dict[K, V], other: dict[K, V] | None = None) -> None:
        """other: what some keys have instead of what they have in `base`."""
        super().__init__(base, {} if other is None else other)

    def amended(self, gone: Iterable[K], come: Mapping[K, V]) -> AmendedDict[K, V]:
        """Without some keys, and with other entries, which may be of the same keys."""
        found = AmendedDict(self.below, self.own.copy())
        for key in gone:
            found.pop(key, None)
        found.update(come)
        are_few = len(found.own) * FEW <= len(found.below)
        return found if are_few else AmendedDict(found.copy())

    def differing(self, other: AmendedDict[K, V]) -> Set[K]:
        """The keys that only one of the two has, and maybe some that both have."""
        if self.below is other.below:
            return self.own.keys() | other.own.keys()
        return frozenset(self) ^ frozenset(other)

    def among(self, keys: Collection[K]) -> list[K]:
        """Those of some keys that it has; in C, where none of them was amended."""
        as_before = self.own.keys().isdisjoint(keys)
        return [*filter(self.below.__contains__ if as_before else self.__contains__, keys)]

    @property
    def getter(self) -> Callable[..., Any]:
        """As `get`; in C, where that can be: for who asks often."""
        return self.get if self.own else self.below.get
