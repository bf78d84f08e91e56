"""The engine against hand-written NumPy and against the peers, workload by workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from tests.bench.agreement import disagreement
from tests.bench.choices import Choices, say
from tests.bench.contestant import Contestant, ContestantError
from tests.bench.environments import NotAvailableError
from tests.bench.interleaving import interleave
from tests.bench.program import Numbers
from tests.bench.rows import Row
from tests.bench.spread import Spread, ratio
from tests.bench.targets import QUICK, RATIOS, TITLES, Ratio

DIFFERS = "does not compute"
_CHECKED_STEPS = 3
_OURS = ("fast", "recorded", "native", "kernels", "raw")
_OPTIONAL = ("native", "kernels")


@dataclass
class Race:
    """One workload. seconds: program -> CPU seconds per step, round by round; absent: why not."""

    seconds: Mapping[str, Sequence[float]] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Mapping[str, str]] = field(default_factory=dict)


def races(choices: Choices) -> dict[str, Race]:
    """Every workload that was chosen, run."""
    chosen = choices.only or (QUICK if choices.quick else TITLES)
    return {name: race(name, choices) for name in chosen}


def race(workload: str, choices: Choices) -> Race:
    """All that rows compare on `workload`, checked against each other and then timed in turns."""
    wanted = [r for r in RATIOS if r.workload == workload]
    names = dict.fromkeys(name for r in wanted for name in (r.ours, r.peer))
    result = Race()
    with ExitStack() as stack:
        running: dict[str, Contestant] = {}
        numbers: dict[str, Sequence[Numbers]] = {}
        for name in names:
            say(f"{workload} {name}")
            try:
                one = Contestant(workload, name, may_install=not choices.quick)
                running[name] = stack.enter_context(one)
                numbers[name] = one.check(_CHECKED_STEPS)
            except (NotAvailableError, ContestantError) as error:
                result.absent[name] = str(error)
        result.absent.update(_outvoted(numbers))
        timers = {n: running[n].seconds for n in numbers if n not in result.absent}
        if timers:
            result.seconds = interleave(timers, choices.rounds, choices.seconds)
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


def rows(found: Mapping[str, Race]) -> list[Row]:
    return [_row(r, found[r.workload]) for r in RATIOS if r.workload in found]


def _row(wanted: Ratio, race: Race) -> Row:
    for name in (wanted.ours, wanted.peer):
        if name in race.absent:
            why = race.absent[name]
            fault = DIFFERS in why or (name in _OURS and name not in _OPTIONAL)
            return Row(wanted.name, wanted.target, "ratio", None, f"{name}: {why}", fault)
    measured = ratio(race.seconds[wanted.ours], race.seconds[wanted.peer])
    return Row(wanted.name, wanted.target, "ratio", measured)


def step_times(found: Mapping[str, Race]) -> dict[str, dict[str, Spread]]:
    """Workload -> program -> CPU seconds of a step."""
    return {
        workload: {name: Spread.of(times) for name, times in race.seconds.items()}
        for workload, race in found.items()
    }
