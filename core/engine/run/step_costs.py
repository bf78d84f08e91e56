"""What a plan's steps cost: time and bytes of each, measured over some runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.placed_backend import PlacedBackend
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import Step
from gradstep.core.engine.run.blocked_on_queue import stuck
from gradstep.core.engine.run.recording import Recording
from gradstep.core.engine.run.step_timer import Clock, Stopwatch
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.ops.state.queue import WouldBlockError

ENOUGH = 1.0  # seconds of measuring, where nobody says how many runs
LONG = 20.0  # seconds after which such a measurement ends, however few runs it has made
FEWEST, MOST = 3, 1000  # runs of it otherwise
LOOKS = 1000  # at the clock, to learn what one takes


@dataclass(frozen=True)
class Cost:
    """What one step takes in one run. seconds: the median over the runs; made, read: bytes of its
    results and its inputs; calls: bound calls; 0 where it has nothing to do, as a constant.

    Of a loop: iterations, how many there were; inside, what the steps of one take in all of them
    together, which is in the loop's own seconds and bytes, too."""

    step: Step
    seconds: float
    made: int
    read: int
    calls: int
    iterations: int = 0
    inside: tuple[Cost, ...] = ()


@dataclass(frozen=True)
class Profile:
    """seconds: the median of a whole run without a clock in it; costs: in the plan's order."""

    runs: int
    seconds: float
    costs: tuple[Cost, ...]


def measure(
    recording: Recording,
    store: VariableStore,
    runs: int = 0,
    before: Callable[[float], None] = lambda share: None,
    anew: Mapping[str, Any] = MappingProxyType({}),
) -> Profile:
    """Run the recording, which has been fed, on the variables of `store`, each run on what the one
    before left. Whole runs take turns with runs where the clock is read after every call, and, if
    there are loops, with such where it is read in their iterations, too.

    runs: how many of each; 0: as many as fit in about a second. before: gets what share of the
    work is done, from 0 to 1, before each round. anew: variables that each run starts with,
    whatever the one before left. Raises GradstepError, located, when a step fails or has to wait,
    and for a device that is imitated: it has no times; Cancelled where that is asked for.
    """
    require_times(recording.backend)
    clock = _clock(recording.backend)
    own = _own_cost(clock)
    trial = _Trial(recording, store, anew)
    trial.seconds(clock)  # binds the calls and touches the memory
    depths = range(1 + _depth(recording.plan))
    watches = [Stopwatch(recording.plan, clock, own, depth) for depth in depths]
    start = perf_counter()
    whole: list[float] = []
    while (share := _share(len(whole), perf_counter() - start, runs)) < 1:
        check_cancelled()
        before(share)
        whole.append(trial.seconds(clock) - own)
        for watch in watches:
            trial.watch(watch)
    return Profile(len(whole), max(float(np.median(whole)), 0.0), _costs(watches))


def require_times(backend: Backend) -> None:
    """Raises GradstepError for a device that is imitated."""
    every = backend.all if isinstance(backend, PlacedBackend) else (backend,)
    emulated = next((each.name for each in every if not each.measured), None)
    if emulated is not None:
        hint = "profile on cpu, or on a GPU of this machine"
        placed = f", and place nothing on {emulated}: Graph > Device…, --place NAME="
        raise GradstepError(
            f"'{emulated}' is emulated, and an emulated device has no times",
            kind="UnavailableError",
            hint=hint + (placed if len(every) > 1 else ""),
        )


def _share(made: int, seconds: float, runs: int) -> float:
    """How much of the measuring is done."""
    if runs:
        return made / runs
    if made and seconds > LONG:
        return 1.0
    return max(min(made / FEWEST, seconds / ENOUGH), made / MOST)


def _clock(backend: Backend) -> Clock:
    if backend.xp is np:
        return perf_counter

    def after_all_work() -> float:
        backend.sync()
        return perf_counter()

    return after_all_work


def _own_cost(clock: Clock) -> float:
    """Seconds from one look at the clock to the next, noted as in a run with nothing to do."""
    stamps = [clock()]
    for _ in range(LOOKS):
        stamps.append(clock())  # noqa: PERF401 - as in `_stepped`
    return float(np.median(np.diff(stamps)))


def _depth(plan: Plan) -> int:
    """How many loops are within each other at most."""
    loops = [step.iteration.plan for step in plan.steps if step.iteration is not None]
    return max((1 + _depth(loop) for loop in loops), default=0)


class _Trial:
    """Runs, each on what the one before left of `store`, but for the variables that are `anew`."""

    def __init__(self, recording: Recording, store: VariableStore, anew: Mapping[str, Any]) -> None:
        self._recording, self._store, self._anew = recording, store, anew

    def seconds(self, clock: Clock) -> float:
        """What one takes."""
        recording, store = self._recording, self._store
        for name, value in self._anew.items():
            store.set(name, value)
        recording.begin(store)
        began = clock()
        done, error = recording.run(0, len(recording.plan.steps))
        seconds = clock() - began
        recording.keep(store, done)
        if isinstance(error, WouldBlockError):
            raise stuck(recording.plan, done, error, store)
        if error is not None:
            raise error
        return seconds

    def watch(self, watch: Stopwatch) -> None:
        """Let `watch` learn of one."""
        watch.begin()
        self._recording.stopwatch = watch
        try:
            self.seconds(perf_counter)
        finally:
            self._recording.stopwatch = None


def _costs(watches: Sequence[Stopwatch]) -> tuple[Cost, ...]:
    """What the steps of a plan take. watches: those that look into none of its loops, into one,
    into one more in that…"""
    seconds = watches[0].seconds.tolist()
    return tuple(_cost(watches, index, taken) for index, taken in enumerate(seconds))


def _cost(watches: Sequence[Stopwatch], index: int, seconds: float) -> Cost:
    watch = watches[0]
    step = watch.plan.steps[index]
    within = [deeper.inside[step] for deeper in watches[1:] if step in deeper.inside]
    inside = _costs(within) if within else ()
    return Cost(
        step,
        seconds=max(seconds, sum(cost.seconds for cost in inside)),
        made=int(watch.made[index]) + sum(cost.made for cost in inside),
        read=int(watch.read[index]) + sum(cost.read for cost in inside),
        calls=int(watch.calls[index]),
        # The condition of the last one was computed, too, and was false.
        iterations=int(within[0].times[0] - watch.times[index]) if within else 0,
        inside=inside,
    )
