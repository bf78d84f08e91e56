"""Mappings with other keys in the places of some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from gradstep.core.persistent.spliced_mapping import spliced

K = TypeVar("K")
V = TypeVar("V")
_FEW = 16  # keys, each of which is looked for


def are_few(names: Mapping[K, K]) -> bool:
    """Whether each is looked for by itself: there are few, and none is the new one of another."""
    return len(names) <= _FEW and names.keys().isdisjoint(names.values())


def with_other_keys(
    mapping: Mapping[K, V], names: Mapping[K, K], places: Mapping[K, int] | None = None
) -> dict[K, V]:
    """names: old key -> new key, which may be the old one of another. All values, in the same
    order. places: those of all keys, where somebody has them."""
    if not are_few(names):
        found = (names.get(key, key) for key in mapping)
        return dict(zip(found, mapping.values(), strict=True))
    place_of = [*mapping].index if places is None else places.__getitem__
    rows = sorted((place_of(old), old) for old in names)
    return spliced(mapping, names, [(place, names[old], mapping[old]) for place, old in rows])
