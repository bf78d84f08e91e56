"""A timeline at whose steps values are given, and from which branches leave."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from gradstep.core.debug.history.manual_assignments import place_of
from gradstep.core.debug.history.parked_runs import ParkedRuns
from gradstep.core.debug.history.same_steps import Pairs
from gradstep.core.debug.history.timeline import Timeline, go_through
from gradstep.core.engine.memory.run_snapshot import RunSnapshot
from gradstep.core.engine.plan.dependent_steps import dependent_steps
from gradstep.core.engine.run.loop_places import Places, go_back_into, go_on_into
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.state.opaque_state import OpaqueState

if TYPE_CHECKING:
    from gradstep.core.debug.history.manual_assignments import Assignment


class BranchingTimeline(Timeline):
    """Shows one branch at a time; the others are parked."""

    def park(self) -> ParkedRuns:
        """What there is now, to be gone back to."""
        live = None if self._live.nbytes > self.limit_bytes else self._live.record()
        return ParkedRuns(
            runs=self.runs,
            first=self.first,
            done=self._done,
            changes=self.changes,
            feeds_from=self._feeds_from,
            kept=OrderedDict(self._kept),
            starts=self.starts,
            seen=self.link.seen,
            outside=self.link.shared.now,
            live=live,
        )

    def resume(self, parked: ParkedRuns) -> None:
        """Go back to what there was. Raises GradstepError where a run must be repeated, and that
        fails."""
        self._replayed, self._feeds_from = None, [*parked.feeds_from]
        self.runs, self.first, self._done = parked.runs, parked.first, parked.done
        self.changes, self.starts = [*parked.changes], parked.starts
        self.link.seen = parked.seen
        self.link.shared.hold(parked.outside)
        self._keep_only(parked.kept)
        if parked.live is None:
            self._make_again(self.runs - 1, parked.done)
        else:
            self._live.restore(parked.live)
            self._feed_as_it_was()

    def fork(self, run: int, step: int, inside: Places = ()) -> None:
        """Stand after `step` steps of `run`, as if nothing had come behind them; of that run's
        steps those that are done stay so, if they are as they would come without what was given by
        hand behind there. What there was before is to be parked first. inside: the place in the
        loop that comes then, which stands there; what comes behind the loop is done, or is not, as
        it comes to it. Raises GradstepError where that place is not kept."""
        self.require(run)
        seen, given_next = self.link.seen, self.link.seen.has_after(run, step, inside)
        is_live, kept = run == self.runs - 1, self._kept.get(run)
        done = self._done if is_live else self.length
        self.starts = self.starts.until(run)
        if run not in self.starts and (given_next or not is_live):
            started = self._live_start() if is_live else self._before(run)
            self.keep_start(run, VariableStore(self.backend, started))
        self._replayed = None
        self.runs, self._done = run + 1, step if inside else done
        self.changes = [c for c in self.changes if c.at <= place_of(run, step, inside)]
        self._feeds_from = [each for each in self._feeds_from if each[0] <= (run, step)]
        self.link.seen = seen.until(run, step, inside)
        self.link.shared.hold(self.link.shared.now.copy())
        self._keep_only({r: s for r, s in self._kept.items() if r < run})
        if again := given_next or (kept is None and not is_live):
            self._make_again(run, step)
        elif not is_live and kept is not None:
            self._live.restore(kept)
            self._feed_as_it_was()
        self._live.given = self.link.seen.inside(run)
        if inside and again:
            go_on_into(self._live, step, inside)
        elif inside:
            self._live.leave_done(step, done)
            go_back_into(self._live, step, inside)

    def go_inside(self, step: int, inside: Places) -> bool:
        """Run the loop that is the next step of the last run to a place in it; whether it comes
        there. Raises GradstepError where a step fails."""
        return self._done == step and go_on_into(self._live, step, inside)

    def stands_at(self, step: int, inside: Places) -> bool:
        """Whether the loops that are under way, from step `step` of the last run on, stand at that
        place."""
        recording = self._live
        for number, at in inside:
            loop = recording.loop(step)
            if (loop.number, loop.step) != (number, at):
                return False
            recording, step = loop.recording, at
        return True

    def give_inside(self, step: int, inside: Places, values: Mapping[int, Any]) -> None:
        """Values of an iteration, by their numbers, are others (device arrays) once the loop that
        is step number `step` of the last run, and the next, stands at that place in it."""
        recording, noted, number, at = self._live, self.link.seen, self.runs - 1, step
        for iteration, following in inside:
            around, noted = noted, noted.note_inside(number, at)
            recording.given = around.inside(number)
            loop = recording.loop(at)
            loop.take_given(noted)
            recording, number, at = loop.recording, iteration, following
        for index, value in values.items():
            noted.note(number, at, index, partial(loop.recording.copy_of, index), value)
            loop.give(index, value)

    def give(self, index: int, value: Any, step: int) -> GradstepError | None:
        """Value `index` of the plan is `value` (a device array) after `step` steps of the last run;
        of those behind that are done, the ones that hang on it are done again. What stopped them:
        then the last run is done as far as that."""
        run = self.runs - 1
        self._set_apart([index], step)
        self.link.give(self._live, run, step, index, value)
        self._fed.pop(self._live, None)
        for steps in dependent_steps(self.plan, [index], step, self._done):
            done, error = self._live.run(steps.start, steps.stop)
            if error is not None or done < steps.stop:
                self._done = done
                return error
        return None

    def start_of(self, run: int) -> VariableStore:
        """The variables that a run began with, for runs of another program: a copy."""
        self.require(run)
        is_last = run == self.runs - 1
        held = self._live_start() if is_last else self._before(run)
        return VariableStore(self.backend, {**self.start, **held})

    def begin_with(self, changes: Sequence[Assignment], feeds: Mapping[TensorRef, Any]) -> None:
        """Before the first run: what was given by hand in the runs before that, which are another
        program's, and which of it is fed to these."""
        self.changes = [*changes]
        self._set_apart([self._place(ref) for ref in feeds])
        for ref, value in feeds.items():
            self.feed_on(0, ref, value, self.origin - 1)
        self._feed_anew(self.origin)
        self._live.begin(self.start)

    def take(self, step: int, kept: Mapping[int, Pairs], value: Callable[[int], Any]) -> None:
        """Do the steps of the last run up to `step`; of those that are `kept` take what they make
        from `value`, which gives values of another plan by their numbers."""
        for number in range(self._done, step):
            values = [(index, value(there)) for index, there in kept.get(number, ())]
            if values and all(_is_array(each) for _, each in values):
                for index, array in values:
                    self._live.give(index, array)
                self._done = number + 1
            elif self.reach(number + 1) is not None or self._done <= number:
                return

    def feed_on(self, step: int, ref: TensorRef, value: Any, run: int | None = None) -> None:
        """Behind `step` of the last run, or of `run`, a feed, or a constant, is another one in all
        runs, unless it is the data's."""
        run = self.runs - 1 if run is None else run
        if ref not in self._feeds:
            self._constants[ref] = self.plan.graph[ref.op].attrs["value"].array
            self._feeds = {**self._feeds, **self._constants}
            self._quick.clear()
        if self.batches is None or ref not in self.batches.types:
            self._given.add(ref)
            self._feeds_from.append(((run, step), {**self._fixed_feeds(run), ref: value}))
            self._fed_at.clear()

    def _keep_only(self, kept: Mapping[int, RunSnapshot]) -> None:
        self._kept = OrderedDict(kept)
        self._kept_bytes = sum(snapshot.nbytes for snapshot in kept.values())

    def _make_again(self, run: int, step: int) -> None:
        """Let the last run be done up to `step`, from its start on."""
        variables = self._before(run)
        self._feed_anew(run)
        self._live.begin(variables)
        go_through(self._live, self.link.seen, run, step)
        self._done = step


def _is_array(value: Any) -> bool:
    """Whether it is there, and a tensor."""
    return value is not None and not isinstance(value, OpaqueState)
