"""Names that somebody may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_LISTED = 5  # names, where none is near


def near(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The known names most like `name`, capitals aside; the likest first."""
    by_lower: dict[str, list[str]] = {}
    for word in sorted(set(known)):
        by_lower.setdefault(word.lower(), []).append(word)
    found = get_close_matches(name.lower(), list(by_lower), most, 0.6)
    return [word for lower in found for word in by_lower[lower]][:most]


def did_you_mean(words: Iterable[str]) -> str:
    """`did you mean MatMul or Mul?`; "" without words."""
    found = " or ".join(words)
    return f"did you mean {found}?" if found else ""


def instead(name: str, known: Iterable[str]) -> str:
    """What to write in place of `name`: the names most like it, or else what there is."""
    names = [*known]
    return did_you_mean(near(name, names)) or listed(names)


def listed(names: Iterable[str]) -> str:
    """`there are a, b, c and 9 more`; "" without names."""
    every = [*names]
    more = f" and {len(every) - _LISTED} more" if len(every) > _LISTED else ""
    there = "there is" if len(every) == 1 else "there are"
    return f"{there} {', '.join(every[:_LISTED])}{more}" if every else ""
