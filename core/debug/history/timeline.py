"""The recorded runs of a program: a ring of arena copies, and replay for what was dropped.

A run is deterministic given the variables it starts from, so a dropped run is computed again
from the nearest earlier start that is kept.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from gradstep.core.cancellation import Cancelled, cancelled_when, check_cancelled
from gradstep.core.debug.concurrency.observed_writes import ObservedWrites
from gradstep.core.debug.concurrency.shared_variables import Link, SharedVariables
from gradstep.core.debug.history.batches import Batches
from gradstep.core.debug.history.fast_runs import FastRuns, Fetch, Fetched, Go, Pace
from gradstep.core.debug.history.loop_iterations import LoopIterations, kept_iterations
from gradstep.core.debug.history.parked_runs import FedFrom, Feeds, ParkedBranches
from gradstep.core.debug.history.run_starts import RunStarts
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.calls.op_evaluation import Functions
from gradstep.core.engine.loops.loop_run import LoopRun
from gradstep.core.engine.loops.trace_budget import LoopMemory
from gradstep.core.engine.memory.arena import Arena
from gradstep.core.engine.memory.record_layout import RecordLayout
from gradstep.core.engine.memory.run_snapshot import RunSnapshot
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.loop_body import trace_of
from gradstep.core.engine.run.recording import Recording
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.progress import tell_progress

if TYPE_CHECKING:
    from gradstep.core.debug.history.manual_assignments import Assignment

After = Callable[[int, Fetched], Go]
Looks = Callable[[int], bool]
_BATCHES = 4  # that are kept, for those who look at the same runs


def go_on(run: int, values: Fetched) -> Go:
    """Whatever the values are."""
    return Go.ON


def look_never(run: int) -> bool:
    """At no run more closely than at others."""
    return False


class Timeline:
    """Runs 0 to `runs - 1`; all are finished but the last, which is `done` so far. Those before
    `first` cannot be looked at any more. It is the `Track` that a program's runs are, as iterations
    are of a loop.

    start:       the variables before run 0.
    changes:     what was given by hand; see `manual_assignments`.
    parked:      the branches that are not shown.
    limit_bytes: how much finished runs may keep; the least recently read are dropped first.
    shared:      what other threads work on, too.
    batches:     what is fed that is other in each run; `feeds` has that of run 0, too.
    before:      the timeline of a plan that `plan` continues. Its memory goes over to this one as
                 far as it can, and then it is over.
    origin:      the first run, which `start` is before: those before it are another program's.
    """

    def __init__(
        self,
        plan: Plan,
        backend: Backend,
        functions: Functions,
        feeds: Mapping[TensorRef, np.ndarray],
        start: VariableStore,
        limit_bytes: int,
        before: Timeline | None = None,
        shared: SharedVariables | None = None,
        batches: Batches | None = None,
        origin: int = 0,
    ) -> None:
        self.plan = plan
        self.origin = origin
        self.backend = backend
        self.start = start
        self.limit_bytes = limit_bytes
        self.link = Link(shared or SharedVariables(start), plan)
        self._functions = functions
        self.batches = batches
        self._feeds = feeds
        self._feeds_from: list[FedFrom] = []
        self._constants: dict[
            TensorRef, np.ndarray
        ] = {}  # that were given; what they are by rights
        self._given = set[TensorRef]()  # these, and feeds that were given, on any branch
        self._fed_at: OrderedDict[int, Mapping[TensorRef, np.ndarray]] = OrderedDict()
        self._fed: WeakKeyDictionary[Recording, object] = WeakKeyDictionary()  # with what
        self._loops = LoopMemory(self)
        self._live: Recording = self._new_recording(None if before is None else before._handed_on())
        self._quick_now: FastRuns | None = None  # which makes runs
        self._spare: Recording | None = None  # for replays; the live run must not be disturbed
        self.parked = ParkedBranches()
        self.reset()

    def reset(self) -> None:
        """Forget everything and stand before the first run."""
        self.runs = self.origin + 1
        self.first = self.origin
        self.changes: list[Assignment] = []
        self._feeds_from = []
        self._done = 0
        self._kept: OrderedDict[int, RunSnapshot] = OrderedDict()
        self._kept_bytes = 0
        self._replayed: tuple[int, RunSnapshot] | None = None
        self.passing: dict[int, Recording | RunSnapshot] = {}  # see passing_runs
        self.starts = RunStarts(self.origin, self.start)
        self._quick: dict[tuple[tuple[Fetch, ...], ...], FastRuns] = {}  # by what they give
        self.link.reset()
        self._loops.reckon()
        self._feed_anew(self.origin)
        self._live.begin_first(self.start)

    def _handed_on(self) -> Recording:
        """The live run, for that of another plan: constants are what they are by rights."""
        for ref, array in self._constants.items():
            self._live.give(self._place(ref), self.backend.put(array))
        return self._live

    @property
    def nbytes_at_rest(self) -> int:
        """`nbytes` after `rest`."""
        return self._live.nbytes + self._loops.used

    def prepare_edit(self) -> Iterator[None]:
        """See Plan.prepare_edit; and what the memory is laid out with then."""
        yield from self.plan.prepare_edit()
        _ = self._live.layout.turns

    def rest(self) -> None:
        """Let go of all runs but the last: this is only gone on from, after some edit."""
        self._kept.clear()
        self.parked = ParkedBranches()
        self._fed_at.clear()
        self._quick.clear()
        self._kept_bytes, self._replayed, self._spare = 0, None, None
        self.starts = RunStarts(self.origin, self.start)

    name, count = "", None  # it is no loop, and a run follows every other

    def length_of(self, number: int) -> int:
        """Steps of run `number`."""
        return self.length

    def is_last(self, number: int) -> bool:
        """Whether no run can follow run `number`."""
        return False

    def heed(self, pausing: Callable[[], bool]) -> None:
        """Leave a loop between two iterations once `pausing`."""
        self._live.pausing = pausing

    @property
    def length(self) -> int:
        """Steps of a run."""
        return len(self.plan.steps)

    @property
    def nbytes(self) -> int:
        """Bytes held for all recorded runs, the live one included."""
        return self.nbytes_besides_loops + self._loops.used

    @property
    def nbytes_besides_loops(self) -> int:
        """`nbytes` without what loops keep of their iterations."""
        return self._kept_bytes + self._parked_bytes + self._live.nbytes + self.link.seen.nbytes

    @property
    def _parked_bytes(self) -> int:
        return self.parked.nbytes_besides(self._kept.values())

    def done(self, run: int) -> int:
        """Steps of `run` that have been executed."""
        if run == self.runs - 1:
            return self._done
        return self.length if run < self.runs else 0

    def under_way(self, run: int) -> Timeline | None:
        """Itself, for what is missing of `run`, if that is the newest."""
        return self if run == self.runs - 1 else None

    @property
    def step(self) -> int:
        """How many steps of the newest run are done."""
        return self._done

    def reach(self, step: int) -> GradstepError | None:
        """Execute what is missing of the newest run up to `step`; what stopped it early."""
        before = self._done
        self.link.pull(self._live, self.runs - 1, before)
        self._done, error = self._live.run(before, step)
        self.link.push(self._live, before, self._done, error)
        return error

    def assign(self, values: Mapping[str, Any]) -> None:
        """Give variables other values (device arrays) after the last step that has been done."""
        known = self.plan.versions
        self._set_apart([self.plan.newest(name, self._done) for name in values if name in known])
        self.link.put(self._live, self.runs - 1, self._done, values)

    def _set_apart(self, values: Sequence[int], done: int | None = None) -> None:
        """Let nothing else lie where these do."""
        done, layout = self._done if done is None else done, self._live.layout
        near = [value for value in values if not layout.is_apart(value, done)]
        if not near:
            return
        self._spare = None
        if (there := self._live.with_apart(near)) is not None:
            self._live = there
            return
        now = self._live.record()
        self._live = self._new_recording(layout=layout.with_apart(near))
        self._live.restore(now)
        self._feed_as_it_was()
        self.heed(now.recording.pausing)

    def advance(self, run: int) -> GradstepError | None:
        """From the end of `run` to the start of the next, which may have to be begun first: then
        the last one is recorded, and the next starts with its variables. What is in the way: that
        the next one cannot be fed."""
        if run + 1 == self.runs:
            try:
                self.feeds_at(self.runs)
            except GradstepError as error:
                return error
            self._begin_run()
        return None

    def _begin_run(self) -> None:
        self._keep_last()
        self._begin(self.runs, self._live.variables())

    def _keep_last(self) -> None:
        """Record the last run, which is done."""
        assert self._done == self.length
        self.link.pull(self._live, self.runs - 1, self._done)
        if self._live.nbytes > self.limit_bytes:  # it would be dropped as soon as it is kept
            self._keep_start(self.runs - 1, self._live_start)
        else:
            self._keep(self.runs - 1, self._live.record(self._make_room(self._live.nbytes)))

    def _begin(self, run: int, variables: Mapping[str, Any]) -> None:
        self._loops.reckon()
        self._feed(self._live, run)
        self._live.begin(variables)
        self.runs = run + 1
        self._done = 0
        while self.link.seen.nbytes > self.limit_bytes // 4 and self.first < self.runs - 1:
            self._forget()

    # -- runs of which little is kept ----------------------------------------------------------

    @property
    def can_skip(self) -> bool:
        """Whether runs depend on nothing but the variables that they start from."""
        return not self.link.names and self.length > 0

    def skip(
        self,
        count: int,
        fetches: Sequence[Fetch] = (),
        after: After = go_on,
        more: Sequence[Fetch] = (),
        looks: Looks = look_never,
    ) -> None:
        """Make `count` runs after the last one, which is done, on the fast plan, and begin the one
        behind them; or the one that fails, once more. Nothing is kept of them but, here and there,
        what a run started from.

        after: gets the number of each run, and its values of `fetches`; says whether to begin the
        one behind it already, or that one once more. looks: asked right before each run whether
        those of `more` are wanted, too."""
        quick, first = self._fast_runs(fetches, more), self.runs
        self.link.pull(self._live, first - 1, self._done)
        quick.begin(self._live.variables())
        try:
            with cancelled_when(self._live.pausing), self._making(quick):
                run = self._make_runs(quick, range(first, first + count), after, looks)
            self.feeds_at(run)
            variables = self._before(run)
        except BaseException:  # it is given up from outside: nothing was made
            self.starts.forget_after(first - 1)
            raise
        self._keep_last()
        self._begin(run, variables)

    def _make_runs(self, quick: FastRuns, runs: range, after: After, looks: Looks) -> int:
        """The run that is to be made next."""
        pace = Pace(self.starts.stride)
        for run in runs:
            tell_progress("Making steps", run - runs.start, len(runs))
            if pace.wants(run) or run == runs.start:
                self.keep_start(run, quick.variables.copy())
            feeds = self.feeds_at(run)
            try:
                go = after(run, quick.run(feeds, looks(run)))
            except GradstepError:  # it is made again, to where it fails
                return run
            except Cancelled:  # amid a run: it is made again, to where that is paused
                if self._live.pausing():
                    return run
                raise
            if go is not Go.ON:
                runs = range(runs.start, run + 1)
                break
        if go is Go.AGAIN:
            return run
        self.keep_start(runs.stop, quick.variables.copy())
        return runs.stop

    @contextmanager
    def _making(self, quick: FastRuns) -> Iterator[None]:
        """Inside, runs are made by `quick`."""
        self._quick_now = quick
        try:
            yield
        finally:
            self._quick_now = None

    @property
    def variables(self) -> Mapping[str, Any]:
        """What the run left that is over now; the next one writes to it (device arrays)."""
        quick = self._quick_now
        return self._live.variables() if quick is None else dict(quick.variables.items())

    def started_from(self, run: int) -> VariableStore:
        """The variables that a run began with: a copy. Raises GradstepError as `require_own`."""
        self.require_own(run)
        last = run == self.runs - 1
        held = self._live.variables(0) if last else self._before(run)
        return VariableStore(self.backend, held)

    def require_own(self, run: int) -> None:
        """Raises GradstepError for a run that cannot be looked at any more, or in which variables
        were given other values from outside, by hand or by other threads."""
        self.require(run)
        if self.link.seen.touches(run):
            raise GradstepError(
                f"variables were given other values from outside in run {run + 1}",
                kind="FailedPreconditionError",
                hint="look at a run that computed everything itself",
            )

    def keep_start(self, run: int, variables: VariableStore) -> None:
        """Let runs be repeated from `run`, which starts from these variables."""
        self.starts.keep(run, variables, self.limit_bytes // 4)

    def _fast_runs(self, fetches: Sequence[Fetch], more: Sequence[Fetch]) -> FastRuns:
        """Those that give them; the last ones are kept, for the next time."""
        key = tuple(fetches), tuple(more)
        if key not in self._quick:
            made = FastRuns(self.plan, self.backend, self._functions, *key)
            self._quick = {key: made}
        return self._quick[key]

    def feeds_at(self, run: int) -> Mapping[TensorRef, np.ndarray]:
        """What a run is given: where it is what another one is given, the same object. Raises
        GradstepError for a batch that cannot be had."""
        if self.batches is None:
            return self._fixed_feeds(run - 1)
        found = self._fed_at.get(run)
        if found is None:
            fixed = self._fixed_feeds(run - 1)
            found = self._fed_at[run] = {**fixed, **self.batches.feeds_at(run)}
            if len(self._fed_at) > _BATCHES:
                self._fed_at.popitem(last=False)
        return found

    def _fixed_feeds(self, run: int) -> Feeds:
        """What runs behind that one are fed, but for the data's."""
        there = (feeds for (first, _), feeds in reversed(self._feeds_from) if first <= run)
        feeds = next(there, self._feeds)
        lacking = self._constants.keys() - feeds.keys()
        return {**feeds, **{ref: self._constants[ref] for ref in lacking}} if lacking else feeds

    def _feed_anew(self, run: int) -> None:
        """The same of the live run, in which other values may lie there."""
        self._fed.pop(self._live, None)
        self._feed(self._live, run)

    def _feed_as_it_was(self) -> None:
        """The same of the last run, as far as it is done."""
        run = self.runs - 1
        self._feed_anew(run)
        for index in (*self.plan.fed, *map(self._place, self._constants)):
            if self.link.seen.has(run, index):
                self._live.give(index, self.link.seen.at(run, index, self._done, None))
                self._fed.pop(self._live, None)

    def _feed(self, recording: Recording, run: int) -> None:
        feeds = self.feeds_at(run)
        recording.given = self.link.seen.inside(run)
        if self._fed.get(recording) is not feeds:
            self._fed[recording] = feeds
            recording.feed(feeds)
            for ref in self._constants:  # each recording has its own of those that were given
                recording.give(self._place(ref), self.backend.put(feeds[ref]))

    def _place(self, ref: TensorRef) -> int:
        """The value of the plan that a feed or a constant is."""
        found = self.plan.tensors[ref]
        assert isinstance(found, int)
        return found

    def loop(self, run: int, step: int) -> LoopRun | None:
        """The run of the loop that is step number `step` of `run`, to be driven on; None where that
        step is not the next one to be executed."""
        if (run, step) != (self.runs - 1, self._done):
            return None
        self.link.pull(self._live, run, step)
        return self._live.loop(step)

    def enter(self, run: int, step: int) -> LoopIterations:
        """The iterations of the loop that is step number `step` of `run`. Raises GradstepError when
        they are not kept any more."""
        loop, live = self.plan.steps[step], self.loop(run, step)
        if live is not None:
            return LoopIterations(loop, live.trace, live)
        return kept_iterations(loop, self.held(run, trace_of(loop), step + 1))

    def held(self, run: int, index: int, done: int) -> Any:
        """Value `index` of `run` once so many steps of it are done, that of its own among them: a
        device array, no copy, or state; None for a variable without a value."""
        last = run == self.runs - 1
        if last and done == self._done:
            self.link.pull(self._live, run, done)
        return self.link.seen.at(run, index, done, self.values(run)(index))

    def values(self, run: int) -> Callable[[int], Any]:
        """What gives the values of `run` by their numbers, as its own steps made them."""
        recorded, varying = self.recorded(run).value, self._varying_now
        if run == self.runs - 1 or not varying:
            return recorded

        def value(index: int) -> Any:
            ref = varying.get(index)
            return recorded(index) if ref is None else self.backend.put(self.feeds_at(run)[ref])

        return value

    @cached_property
    def _varying(self) -> Mapping[int, TensorRef]:
        """The values that are fed another batch in each run, by their numbers: no run keeps them,
        as they can be had again."""
        refs = ((index, self.plan.values[index].ref) for index in self.plan.fed)
        types = {} if self.batches is None else self.batches.types
        return {index: ref for index, ref in refs if ref is not None and ref in types}

    @property
    def _varying_now(self) -> Mapping[int, TensorRef]:
        """The same, and those that were fed other values by hand, on whatever branch: the memory
        in which they lie is not a run's own."""
        if not self._given:
            return self._varying
        return {**self._varying, **{self._place(ref): ref for ref in self._given}}

    def recorded(self, run: int) -> Recording | RunSnapshot:
        """The values of `run` by their numbers, but those of batches; see `values`."""
        if run in self.passing:
            return self.passing[run]
        return self._live if run == self.runs - 1 else self._record(run)

    def is_recorded(self, run: int) -> bool:
        """Whether its values are there."""
        return run in self._kept or run in self.passing or 0 <= run == self.runs - 1

    @property
    def recorded_runs(self) -> Sequence[int]:
        """Runs whose values are there, the last one among them."""
        return sorted({*self._kept, self.runs - 1})

    def kept(self, run: int) -> RunSnapshot | None:
        """A finished run that is recorded; looking at it keeps it no longer."""
        return self._kept.get(run)

    def repeated(self, run: int, started: Mapping[str, Any] | None = None) -> Recording:
        """A run that is not recorded, made again from the variables that it started from, or those
        that are known of it. It is not kept: to be done with before another one is looked at."""
        return self._repeat(run, self._before(run) if started is None else started)

    def outside(self, name: str) -> Any:
        """What a variable holds that the plan has nothing to do with; None for no value."""
        now = self.link.shared[name]
        return self.start.get(name) if now is None else now

    def _new_recording(
        self, before: Recording | None = None, layout: RecordLayout | None = None
    ) -> Recording:
        recording = Recording(self.plan, self.backend, self._functions, layout, before)
        recording.loop_memory = self._loops
        self._feed(recording, 0)
        return recording

    def _forget(self) -> None:
        """Let go of the runs before the next one that starts from something kept: what they saw of
        other threads takes too much memory, and they cannot be repeated without."""
        last = self.runs - 1
        kept = [r for r in self._kept if r > self.first]
        later = min(kept, default=last)
        later = min(later, self.starts.after(self.first) or later)
        if later in self.starts:
            begun = self.starts[later]
        else:
            live = later == last
            held = self._live.variables(0) if live else self._started(later)
            begun = VariableStore(self.backend, held)
        self.first = later
        self.starts.begin_at(later, begun)
        for run in [r for r in self._kept if r < later]:
            self._drop(run)
        self.link.seen.forget(later)

    def require(self, run: int) -> None:
        """Raises GradstepError for a run that cannot be looked at any more."""
        if run < self.origin:
            raise GradstepError(
                f"run {run + 1} is before this branch, which begins with run {self.origin + 1}",
                kind="FailedPreconditionError",
                hint="show the branch that it leaves",
            )
        if run < self.first:
            raise GradstepError(
                f"run {run + 1} is not kept any more: with what was changed from outside "
                "meanwhile, by other threads or by hand, there was no room for it",
                kind="FailedPreconditionError",
                hint=f"look at run {self.first + 1} or a later one, or give recorded runs more "
                "memory",
            )

    def _record(self, run: int) -> RunSnapshot:
        self.require(run)
        if run in self._kept:
            self._kept.move_to_end(run)
            return self._kept[run]
        if self._replayed is None or self._replayed[0] != run:
            self._replayed = (run, self._replay(run))
            self._keep(*self._replayed)
        return self._replayed[1]

    def _replay(self, run: int) -> RunSnapshot:
        return self._repeat(run, self._before(run)).record()

    def _before(self, run: int) -> Mapping[str, Any]:
        """The variables that a run started from, or is to start from, that is not kept."""
        kept = (r for r in self._kept if r <= run)
        first = max(self.starts.before(run), max(kept, default=0))
        variables = self.starts[first] if first in self.starts else self._started(first)
        for number in range(first, run):
            check_cancelled()
            tell_progress("Repeating steps", number - first, run - first)
            variables = self._repeat(number, variables).variables()
        return variables

    def _repeat(self, run: int, variables: Mapping[str, Any]) -> Recording:
        """Do all steps of a run again, which starts from `variables`, with what others had changed
        in between."""
        if self._spare is None:
            self._spare = self._new_recording(layout=self._live.layout)
        self._fed.pop(self._spare, None)
        self._feed(self._spare, run)
        self._spare.begin(variables)
        go_through(self._spare, self.link.seen, run, self.length)
        return self._spare

    def _keep(self, run: int, record: RunSnapshot) -> None:
        self._kept[run] = record
        self._kept_bytes += record.nbytes
        while self._is_over(0) and self.drop_oldest():
            pass

    def _make_room(self, nbytes: int) -> Arena | None:
        """Drop runs until one of so many bytes can be kept; memory that is free then."""
        dropped = None
        while self._is_over(nbytes) and self.parked.drop_one():
            pass  # until none is left that has memory in common with what is dropped now
        while self._kept and self._is_over(nbytes):
            dropped = self._drop(next(iter(self._kept)))
        replayed = None if self._replayed is None else self._replayed[1]
        return None if dropped is None or dropped is replayed else dropped.arena

    def _is_over(self, nbytes: int) -> bool:
        """Whether so many bytes more are more than finished runs may keep, even once loops have let
        go of what they can compute again, until they keep half of the memory."""
        most = self.limit_bytes - self._kept_bytes - self._parked_bytes - nbytes
        return self._loops.used > most < self._loops.shrunk_to(max(most, self.limit_bytes // 2))

    def drop_oldest(self) -> bool:
        """Drop a kept run, the least recently read one, of branches that are not shown first; False
        if there is none."""
        if self.parked.drop_one():
            return True
        if self._kept:
            self._drop(next(iter(self._kept)))
            return True
        return False

    def _drop(self, run: int) -> RunSnapshot:
        self._keep_start(run, lambda: self._started(run))
        dropped = self._kept.pop(run)
        self._kept_bytes -= dropped.nbytes
        return dropped

    def _keep_start(self, run: int, started: Callable[[], Mapping[str, Any]]) -> None:
        """Keep the variables that a run started from which itself is not kept, if runs are to be
        repeated from there."""
        if self.starts.wants(run):
            self.keep_start(run, VariableStore(self.backend, started()))

    def _started(self, run: int) -> dict[str, Any]:
        """The variables that kept run number `run` started from."""
        record, seen = self._kept[run], self.link.seen
        firsts = {name: ids[0] for name, ids in self.plan.versions.items()}
        found = {name: seen.at(run, i, 0, record.value(i)) for name, i in firsts.items()}
        return {name: array for name, array in found.items() if array is not None}

    def _live_start(self) -> dict[str, Any]:
        """The variables that the last run started from."""
        run, seen, versions = self.runs - 1, self.link.seen, self.plan.versions
        held = self._live.variables(0).items()
        return {name: seen.at(run, versions[name][0], 0, array) for name, array in held}


def go_through(recording: Recording, seen: ObservedWrites, run: int, stop: int) -> None:
    """Do the steps of a run that has begun, up to `stop`, with what came from outside."""
    done = 0
    for step, values in seen.of(run):
        if step > stop:
            break
        _run(recording, done, step)
        for index, value in values.items():
            recording.give(index, value)
        done = step
    _run(recording, done, stop)


def _run(recording: Recording, start: int, stop: int) -> None:
    _, error = recording.run(start, stop) if start < stop else (stop, None)
    if error is not None:
        raise error
