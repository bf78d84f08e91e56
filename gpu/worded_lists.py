"""Names, counts and measures in the sentences of a comparison."""

from __future__ import annotations

from collections.abc import Iterable

from gradstep.core.name_list import name_list

_NAMED = 3  # of a list by name; of the others, how many


def some(names: Iterable[str]) -> str:
    """The first few by name: "a, b, c and 2 more"."""
    return name_list(names, _NAMED)


def nodes(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def size(number: float) -> str:
    """Two digits are enough to say how large a difference is."""
    return f"{number:.2g}"


def share(number: float) -> str:
    """A share of a tolerance: "45 % of its tolerance", "4.4 times its tolerance"."""
    if number < 0.01:
        return "less than 1 % of its tolerance"
    if number <= 1:
        return f"{100 * number:.0f} % of its tolerance"
    if number >= 1000:
        return "far beyond its tolerance"
    return f"{number:.{0 if number >= 10 else 1}f} times its tolerance"


def first_line(text: str) -> str:
    """Of what an error says, without runs of blanks."""
    return " ".join((text.splitlines() or [""])[0].split())
