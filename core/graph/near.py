"""Names that somebody may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


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
