"""Positions in runs as text, "run:step/iteration:step", counted from 0, as `run_to` takes them."""

from __future__ import annotations

from collections.abc import Iterable

# Run and step, then of each loop, from the outermost, iteration and step.
Positions = Iterable[tuple[int, int]]


def position_text(place: Positions) -> str:
    """`0:4`; in a loop `0:4/1:8`."""
    return "/".join(f"{number}:{step}" for number, step in place)
