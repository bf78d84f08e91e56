"""Names in a sentence: the first few, and how many more there are."""

from __future__ import annotations

from collections.abc import Iterable


def name_list(names: Iterable[str], most: int) -> str:
    """ "a", "a and b", "a, b and c"; of more than `most` (at least one) "a, b, c and 2 more"."""
    found = [*names]
    more = len(found) - most
    if more > 0:
        found[most:] = [f"{more} more"]
    return " and ".join(filter(None, (", ".join(found[:-1]), found[-1])))
