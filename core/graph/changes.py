"""The difference between two graphs: what an edit changed, so that no more is done anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, compress, filterfalse
from operator import is_not

from gradstep.core.graph.model import Graph, Operation
from gradstep.core.persistent.sequence_places import common_ends


@dataclass(frozen=True, slots=True)
class Changes:
    """Operation names. `changed`: there before and after, and not the same."""

    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.size)

    @property
    def names(self) -> Iterator[str]:
        """Of all operations that are concerned."""
        return chain(self.added, self.removed, self.changed)

    @property
    def undone(self) -> Changes:
        """The changes that lead back."""
        return Changes(added=self.removed, removed=self.added, changed=self.changed)

    @property
    def size(self) -> int:
        """How many operations are concerned."""
        return len(self.added) + len(self.removed) + len(self.changed)


def are_related(old: Graph, new: Graph) -> bool:
    """Whether one graph came from the other by an edit."""
    return any(new.operations.get(name) is op for name, op in old.operations.items())


def find_others(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[str]:
    """The names in `new` that stand for something else than in `old`, or are not there. In C, by
    identity."""
    return compress(new, map(is_not, map(old.get, new), new.values()))


def keep_sequence(then: Iterable[str], now: Iterable[str]) -> bool:
    """Whether what both have comes in the same order; neither has anything twice. In C, and only of
    what lies between the first and the last that differ it is looked at who has what."""
    a, b = [*then], [*now]
    first, last = common_ends(a, b)
    a, b = a[first : len(a) - last], b[first : len(b) - last]
    return [*filter({*b}.__contains__, a)] == [*filter({*a}.__contains__, b)]


def diff(before: Graph, after: Graph) -> Changes:
    """The difference between two graphs; cheap where they share their operations."""
    old, new = before.operations, after.operations
    common = old.keys() & new.keys()
    return Changes(
        added=frozenset(new.keys() - old.keys()),
        removed=frozenset(old.keys() - new.keys()),
        changed=frozenset(n for n in common if old[n] is not new[n] and old[n] != new[n]),
    )


def alike(a: Operation, b: Operation) -> bool:
    """Whether nobody can tell the two apart; 1, 1.0 and True are equal, but another attribute."""
    if a is b:
        return True
    return a == b and all(repr(value) == repr(b.attrs[key]) for key, value in a.attrs.items())


def _find_differing(
    old: Mapping[str, Operation], new: Mapping[str, Operation]
) -> tuple[list[str], list[str]]:
    """The names in `old` alone, and those in `new` of other operations, or not in `old`. In C, by
    identity; looked up is what stands elsewhere in `new`, counted from both ends."""
    a, b = [*old], [*new]
    first, last = (len(a), 0) if a == b else common_ends(a, b)
    then: list[Operation | None] = [*old.values()]
    if first < len(b):
        then[first : len(a) - last] = [None] * (len(b) - first - last)
    elsewhere = [*compress(b, map(is_not, then, new.values()))]
    both = map(old.get, elsewhere), map(new.get, elsewhere)
    gone = [*filterfalse(new.__contains__, a[first : len(a) - last])]
    return gone, [*compress(elsewhere, map(is_not, *both))]


def share_operations(graph: Graph, before: Graph) -> Graph:
    """`graph`, with the operations of `before` where they are alike; `before` where all are."""
    return share_and_diff(graph, before)[0]


def share_and_diff(graph: Graph, before: Graph) -> tuple[Graph, Changes]:
    """The same, and what else there is to the difference. In C but for what differs."""
    old, new = before.operations, graph.operations
    if new is old:
        return before, Changes()
    gone, differing = _find_differing(old, new)
    shared = {n: old[n] for n in differing if n in old and alike(new[n], old[n])}
    left = [name for name in differing if name not in shared]
    changes = Changes(
        added=frozenset(name for name in left if name not in old),
        removed=frozenset(gone),
        changed=frozenset(name for name in left if name in old),
    )
    if not changes and list(new) == list(old):
        return before, changes
    return (Graph({**new, **shared}) if shared else graph), changes
