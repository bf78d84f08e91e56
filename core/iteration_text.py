"""Iterations of loops in words, for people, who count them from 1."""

from __future__ import annotations


def iteration_text(number: int, count: int | None, begun: int | None = None) -> str:
    """`iteration 2 of 3`, of a number from 0 on; behind the last `after its 3 iterations`. count:
    how many take place; None while that is not known: then of how many that have `begun` so far."""
    if count == 0:
        return "no iteration took place"
    if number == count:
        return f"after its {count} {'iteration' if count == 1 else 'iterations'}"
    so_far = "" if begun is None else f" of {begun} so far"
    return f"iteration {number + 1}{so_far if count is None else f' of {count}'}"
