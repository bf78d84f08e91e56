"""A shorter walk that breaks the same: the moves that are enough, found by leaving out others."""

from __future__ import annotations

import time
from collections.abc import Callable

from gradstep.core.errors import GradstepError
from tests.soak.engines import ServiceEngine
from tests.soak.faults import BrokenError, Counts, OverError
from tests.soak.user import ProtocolUser
from tests.soak.walk import Walk

Fails = Callable[[list[int]], bool]


def shrunk(moves: list[int], fails: Fails, seconds: float = 20.0) -> list[int]:
    """A part of `moves` that still fails, by delta debugging (Zeller and Hildebrandt, 2002), and
    none of which can be left out if there was time for that; [] where they do not fail again."""
    end = time.monotonic() + seconds
    if not fails(moves):
        return []
    size = max(1, len(moves) // 2)
    while moves and time.monotonic() < end:
        shorter = _without_a_part(moves, size, fails, end)
        if len(shorter) == len(moves):
            if size == 1:
                break
            size = max(1, size // 2)
        moves = shorter
    return moves


def _without_a_part(moves: list[int], size: int, fails: Fails, end: float) -> list[int]:
    """`moves` without each part of so many, from the last to the first, that it fails without."""
    for start in range((len(moves) - 1) // size * size, -1, -size):
        fewer = moves[:start] + moves[start + size :]
        if time.monotonic() < end and fails(fewer):
            moves = fewer
    return moves


def breaks_again(seed: int, document: str, kind: str) -> Fails:
    """Whether the walk of `seed` breaks in the same way when it makes these moves alone."""

    def fails(moves: list[int]) -> bool:
        counts = Counts()
        engine = ServiceEngine(counts)
        looks = kind == "revisit"  # else the moves are enough, which is much sooner done
        walk = Walk(seed, ProtocolUser(engine, counts), counts, document, looks)
        try:
            walk.go(max(moves, default=0), set(moves))
        except BrokenError as error:
            return error.kind == kind
        except (OverError, GradstepError):
            return False
        finally:
            engine.close()
        return False

    return fails
