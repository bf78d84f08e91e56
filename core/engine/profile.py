"""What a plan's steps cost: time and bytes of each, measured over some runs."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from core.engine.backend import Backend
from core.engine.evaluate import located
from core.engine.plan import Step
from core.engine.record import Recording
from core.engine.running import Call
from core.engine.state import VariableStore
from core.errors import GradstepError

ENOUGH = 1.0  # seconds of measuring, where nobody says how many runs
LONG = 20.0  # seconds after which such a measurement ends, however few runs it has made
FEWEST, MOST = 3, 1000  # runs of it otherwise
KEPT = 1000  # runs with a clock of which the times of every step are remembered, the last ones
LOOKS = 1000  # at the clock, to learn what one takes

Clock = Callable[[], float]


@dataclass(frozen=True)
class Cost:
    """What one step takes in one run. seconds: the median over the runs; made, read: bytes of its
    results and its inputs; calls: bound calls; 0 where it has nothing to do, as a constant."""

    step: Step
    seconds: float
    made: int
    read: int
    calls: int


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
) -> Profile:
    """Run the recording, which has been fed, on the variables of `store`, each run on what the one
    before left. Whole runs and runs with the clock read after every call take turns.

    runs: how many of each; 0: as many as fit in about a second. before: gets what share of the
    work is done, from 0 to 1, before each run, to tell it or to raise. Raises GradstepError,
    located, when a step fails, and for a device that is imitated: it has no times.
    """
    require_times(recording.backend)
    clock = _clock(recording.backend)
    own = _own_cost(clock)
    _whole(recording, store, clock)  # binds the calls and touches the memory
    start = perf_counter()
    whole: list[float] = []
    stepped: deque[np.ndarray] = deque(maxlen=KEPT)
    while (share := _share(len(whole), perf_counter() - start, runs)) < 1:
        before(share)
        whole.append(_whole(recording, store, clock) - own)
        stepped.append(_stepped(recording, store, clock, own))
    seconds = np.maximum(np.median(stepped, axis=0), 0.0)
    return Profile(len(whole), max(float(np.median(whole)), 0.0), _costs(recording, seconds))


def require_times(backend: Backend) -> None:
    """Raises GradstepError for a device that is imitated."""
    if not backend.measured:
        raise GradstepError(
            f"'{backend.name}' is emulated, and an emulated device has no times",
            kind="UnavailableError",
            hint="profile on cpu, or on a GPU of this machine",
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


def _whole(recording: Recording, store: VariableStore, clock: Clock) -> float:
    """Seconds of one run; what it gives variables is kept."""
    recording.begin(store)
    began = clock()
    done, error = recording.run(0, len(recording.plan.steps))
    seconds = clock() - began
    recording.keep(store, done)
    if error is not None:
        raise error
    return seconds


def _stepped(recording: Recording, store: VariableStore, clock: Clock, own: float) -> np.ndarray:
    """Seconds of each step in one run; what it gives variables is kept."""
    recording.begin(store)
    steps, calls = _separated(recording)
    stamps: list[float] = []
    try:
        with np.errstate(all="ignore"):
            stamps.append(clock())
            for call in calls:
                call()
                stamps.append(clock())
    except Exception as error:
        failed = recording.plan.steps[steps[len(stamps) - 1]]
        raise located(error, failed.op) from error
    count = len(recording.plan.steps)
    recording.keep(store, count)
    return np.bincount(np.array(steps, np.intp), np.diff(stamps) - own, count)


def _separated(recording: Recording) -> tuple[list[int], list[Call]]:
    """The step of each call, and the calls."""
    listed = [*recording.calls]
    return [step for step, _ in listed], [call for _, call in listed]


def _costs(recording: Recording, seconds: np.ndarray) -> tuple[Cost, ...]:
    steps, _ = _separated(recording)
    calls = np.bincount(np.array(steps, np.intp), minlength=len(recording.plan.steps))
    return tuple(
        _cost(recording, step, float(seconds[i]), int(calls[i]))
        for i, step in enumerate(recording.plan.steps)
    )


def _cost(recording: Recording, step: Step, seconds: float, calls: int) -> Cost:
    if not calls:
        return Cost(step, 0.0, 0, 0, 0)
    made, read = (
        sum(_bytes(recording, v) for v in dict.fromkeys(values))
        for values in (step.writes, step.reads)
    )
    return Cost(step, seconds, made, read, calls)


def _bytes(recording: Recording, value: int) -> int:
    """What the value takes, even where only a block of it is there at a time."""
    kind = recording.plan.values[value].type
    if kind.shape.is_static:
        return math.prod(kind.shape.static()) * kind.dtype.numpy.itemsize
    array = recording.value(value)
    return 0 if array is None else int(array.nbytes)
