"""Timing several programs in turns, one active at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

# Runs so many steps; gives the CPU seconds that they took.
Timer = Callable[[int], float]
_MOST_STEPS = 100_000


def calibrate(timer: Timer, seconds: float) -> int:
    """How many steps take about `seconds`. The first ones, which may compile, do not count."""
    timer(1)
    steps, taken = 1, timer(1)
    while taken < seconds / 4 and steps < _MOST_STEPS:
        steps = min(steps * 4, _MOST_STEPS)
        taken = timer(steps)
    return max(1, min(round(steps * seconds / max(taken, 1e-9)), _MOST_STEPS))


def interleave(timers: Mapping[str, Timer], rounds: int, seconds: float) -> dict[str, list[float]]:
    """Of each program, CPU seconds per step in every round. Each round begins with another one,
    so that nobody always follows the same neighbour."""
    steps = {name: calibrate(timer, seconds) for name, timer in timers.items()}
    names = list(timers)
    found: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            found[name].append(timers[name](steps[name]) / steps[name])
    return found
