"""The engine against hand-written NumPy and against the peers, workload by workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.bench.agreement import disagreement
from tests.bench.choices import Choices, say
from tests.bench.contestant import Contestant, ContestantError
from tests.bench.environments import NotAvailableError
from tests.bench.implementations import Threads
from tests.bench.interleaving import interleave
from tests.bench.program import Numbers
from tests.bench.rows import Row
from tests.bench.spread import Spread, ratio
from tests.bench.targets import QUICK, RATIOS, THREADS, TITLES, Ratio

DIFFERS = "does not compute"
_CHECKED_STEPS = 3
_OURS = ("fast", "recorded", "native", "kernels", "session", "raw")
_OPTIONAL = ("native", "kernels")


class Heat(NamedTuple):
    """Which programs race together: those of one workload with one way to take threads."""

    workload: str
    threads: Threads = "one"

    @property
    def title(self) -> str:
        return TITLES[self.workload] + THREADS[self.threads]


@dataclass
class Race:
    """What came of a heat. seconds: program -> seconds per step, round by round; absent: why not;
    waited: the clock's time over CPU time, of the program for which that is most. It is 1 where
    nothing else was on the core."""

    seconds: Mapping[str, Sequence[float]] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Mapping[str, str]] = field(default_factory=dict)
    waited: float = 1.0


Races = Mapping[Heat, Race]


def races(choices: Choices) -> dict[Heat, Race]:
    """Every heat of the workloads that were chosen, run. In a hurry there is one thread only."""
    chosen = choices.only or (QUICK if choices.quick else TITLES)
    heats = dict.fromkeys(Heat(r.workload, r.threads) for r in RATIOS if r.workload in chosen)
    return {
        heat: race(heat, choices) for heat in heats if heat.threads == "one" or not choices.quick
    }


def race(heat: Heat, choices: Choices) -> Race:
    """All that rows compare in a heat, checked against each other and then timed in turns."""
    workload, threads = heat
    wanted = [r for r in RATIOS if (r.workload, r.threads) == heat]
    names = dict.fromkeys(name for r in wanted for name in (r.ours, r.peer))
    result = Race()
    with ExitStack() as stack:
        running: dict[str, Contestant] = {}
        numbers: dict[str, Sequence[Numbers]] = {}
        for name in names:
            say(f"{workload}{THREADS[threads]} {name}")
            try:
                one = Contestant(workload, name, not choices.quick, threads)
                running[name] = stack.enter_context(one)
                numbers[name] = one.check(_CHECKED_STEPS)
            except (NotAvailableError, ContestantError) as error:
                result.absent[name] = str(error)
        result.absent.update(_outvoted(numbers))
        timers = {n: running[n].seconds for n in numbers if n not in result.absent}
        if timers:
            result.seconds = interleave(timers, choices.rounds, choices.seconds)
            if threads == "one":
                result.waited = max(running[n].passed / running[n].busy for n in timers)
        result.facts = {name: running[name].facts for name in timers}
    return result


def _outvoted(numbers: Mapping[str, Sequence[Numbers]]) -> dict[str, str]:
    """Who does not compute the same as the others, and in what. The first peer is right: it is
    somebody else's."""
    if not numbers:
        return {}
    peers = [name for name in numbers if name not in _OURS]
    judge = (peers or list(numbers))[0]
    found = {n: disagreement(numbers[judge], x) for n, x in numbers.items()}
    return {n: f"{DIFFERS} what {judge} does: {text}" for n, text in found.items() if text}


def rows(found: Races) -> list[Row]:
    raced = ((r, found.get(Heat(r.workload, r.threads))) for r in RATIOS)
    return [_row(wanted, race) for wanted, race in raced if race is not None]


def _row(wanted: Ratio, race: Race) -> Row:
    for name in (wanted.ours, wanted.peer):
        if name in race.absent:
            why = race.absent[name]
            fault = DIFFERS in why or (name in _OURS and name not in _OPTIONAL)
            return Row(wanted.name, wanted.target, "ratio", None, f"{name}: {why}", fault)
    measured = ratio(race.seconds[wanted.ours], race.seconds[wanted.peer])
    return Row(wanted.name, wanted.target, "ratio", measured)


def step_times(found: Races) -> dict[Heat, dict[str, Spread]]:
    """Heat -> program -> seconds of a step."""
    return {
        heat: {name: Spread.of(times) for name, times in race.seconds.items()}
        for heat, race in found.items()
    }
