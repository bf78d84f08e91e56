"""Mappings with other keys in the places of some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

V = TypeVar("V")
_FEW = 16  # keys, each of which is looked for


def with_other_keys(mapping: Mapping[str, V], names: Mapping[str, str]) -> dict[str, V]:
    """names: old key -> new key, which may be the old one of another. All values, in the same
    order."""
    keys = [*mapping]
    if len(names) > _FEW:
        keys = [names.get(key, key) for key in keys]
    else:
        places = {keys.index(old): new for old, new in names.items()}  # all, before any is changed
        for place, new in places.items():
            keys[place] = new
    return dict(zip(keys, mapping.values(), strict=True))
