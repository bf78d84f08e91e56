"""How long a step takes: by a card's events, by the clock, and with its inputs from the host."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from tests.bench.program import Program
from tests.card.speed.clocks import Clock

_FEWEST, _MOST = 10, 1000  # steps that are timed
_SLOW, _FEW = 0.1, 3  # seconds of a step of which fewer are
_BEFORE = 3  # not timed: what compiles, allocates and chooses is done then
Step = Callable[[], object]


def timed(program: Program, clock: Clock, seconds: float) -> dict[str, Any]:
    """wall: from asking for a step until it is done, each waited for. device: from event to event,
    one step behind the other, none waited for; absent where there are no events. through: a step of
    many that nobody waits for, by the clock. fed: as wall, with the inputs copied there before.
    Each in seconds, median and 95th percentile; steps: how many of each. `seconds` in all, about.
    """
    for _ in range(_BEFORE):
        program.step()
        clock.wait()
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        steps = _count(program.step, clock, seconds / 3)
        found: dict[str, Any] = {
            "steps": steps,
            "wall": _spread(_walls(program.step, clock, steps)),
        }
        found |= _together(program.step, clock, steps)
        if program.feed is not None:
            found["fed"] = _fed(program.step, program.feed, clock, steps)
    finally:
        if enabled:
            gc.enable()
    return found


def _count(step: Step, clock: Clock, seconds: float) -> int:
    """How many steps take about so long."""
    took = min(_walls(step, clock, _BEFORE))
    fewest = _FEW if took > _SLOW else _FEWEST
    return max(fewest, min(_MOST, int(seconds / max(took, 1e-7))))


def _walls(step: Step, clock: Clock, steps: int) -> list[float]:
    found = []
    for _ in range(steps):
        began = time.perf_counter()
        step()
        clock.wait()
        found.append(time.perf_counter() - began)
    return found


def _together(step: Step, clock: Clock, steps: int) -> dict[str, Any]:
    began = time.perf_counter()
    for _ in range(steps):
        step()
    clock.wait()
    found: dict[str, Any] = {"through": _short((time.perf_counter() - began) / steps)}
    if clock.event is None or clock.mark is None or clock.between is None:
        return found
    events = [clock.event() for _ in range(steps + 1)]
    for event in events[:-1]:
        clock.mark(event)
        step()
    clock.mark(events[-1])
    clock.wait()
    found["device"] = _spread([clock.between(*pair) for pair in pairwise(events)])
    return found


def _fed(step: Step, feed: Step, clock: Clock, steps: int) -> dict[str, float]:
    def both() -> None:
        feed()
        step()

    both()
    clock.wait()
    return _spread(_walls(both, clock, min(steps, _count(both, clock, 0.1))))


def _spread(values: Sequence[float]) -> dict[str, float]:
    ordered = sorted(values)
    late = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return {"median": _short(statistics.median(ordered)), "p95": _short(late)}


def _short(value: float) -> float:
    return float(f"{value:.4g}")
