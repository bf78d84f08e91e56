"""Numbers of things in words."""

from __future__ import annotations


def count_of(count: int, noun: str) -> str:
    """ "1 op", "2 ops", "1,200 ops"."""
    return f"{count:,} {noun if count == 1 else f'{noun}s'}"
