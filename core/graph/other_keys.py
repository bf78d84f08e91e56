"""Mappings with other keys in the places of some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

V = TypeVar("V")
_FEW = 16  # keys, each of which is looked for


def with_other_keys(mapping: Mapping[str, V], names: Mapping[str, str]) -> dict[str, V]:
    """names: old key -> new key. All values, in the same order."""
    keys = [*mapping]
    if len(names) > _FEW:
        keys = [names.get(key, key) for key in keys]
    else:
        for old, new in names.items():
            keys[keys.index(old)] = new
    return dict(zip(keys, mapping.values(), strict=True))
