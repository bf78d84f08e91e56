"""Mappings with other keys in the places of some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from gradstep.core.spliced_mapping import spliced

K = TypeVar("K")
V = TypeVar("V")
_FEW = 16  # keys, each of which is looked for


def with_other_keys(mapping: Mapping[K, V], names: Mapping[K, K]) -> dict[K, V]:
    """names: old key -> new key, which may be the old one of another. All values, in the same
    order."""
    if len(names) > _FEW or not names.keys().isdisjoint(names.values()):
        found = (names.get(key, key) for key in mapping)
        return dict(zip(found, mapping.values(), strict=True))
    keys = [*mapping]
    places = sorted((keys.index(old), old) for old in names)
    return spliced(mapping, names, [(place, names[old], mapping[old]) for place, old in places])
