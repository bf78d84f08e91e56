"""Fuzzy search: letters in order, best where they begin words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
FAR = 1_000  # rank of a match in the description only


def rank(text: str, name: str) -> int | None:
    """How well `text` matches `name`, 0 the best; None if it does not.

    The name itself, its beginning, the beginning of a word in it, a part of it, its letters in
    order; among equals the shorter name.
    """
    wanted, lower = text.lower(), name.lower()
    if not wanted:
        return 0
    if lower == wanted:
        return 0
    if lower.startswith(wanted):
        return 10 + len(name)
    starts = "".join(c for i, c in enumerate(name) if i == 0 or c.isupper() or name[i - 1] in "_/ ")
    if starts.lower().startswith(wanted) or any(
        lower[i:].startswith(wanted) for i, c in enumerate(name) if c.isupper()
    ):
        return 100 + len(name)
    if wanted in lower:
        return 200 + len(name)
    letters = iter(lower)
    return 300 + len(name) if all(c in letters for c in wanted) else None


def ranked(
    text: str, things: Iterable[T], texts: Callable[[T], tuple[str, str]], most: int = 200
) -> list[T]:
    """Those that match, the best first. `texts` gives a thing's name and its description."""
    found: list[tuple[int, int, T]] = []
    for order, thing in enumerate(things):
        name, description = texts(thing)
        score = rank(text.strip(), name)
        if score is None and text.strip().lower() in description.lower():
            score = FAR
        if score is not None:
            found.append((score, order, thing))
    return [thing for _, _, thing in sorted(found, key=lambda entry: entry[:2])[:most]]
