"""One run of a loop, iteration by iteration and step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.engine.device_transfer import copy_array
from gradstep.core.engine.loops.given_values import NOTHING_GIVEN, GivenValues
from gradstep.core.engine.loops.iteration_trace import LoopTrace
from gradstep.core.engine.loops.loop_pause import Pausing, never
from gradstep.core.engine.loops.loop_round import LoopRound
from gradstep.core.engine.loops.trace_budget import Charge
from gradstep.core.engine.loops.trace_retention import Keep, Kept, Retention
from gradstep.core.engine.plan.loop_body import Iteration
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.state.print_output import nowhere, printing_to

if TYPE_CHECKING:
    from gradstep.core.engine.run.recording import Recording


class LoopRun:
    """Runs a loop again and again on other inputs; to be driven forward in any strides.

    `begin` puts it before iteration 0. From there it stands in iteration `number`, of which `step`
    steps are done: `reach` executes steps of that iteration, `advance` goes from its end to the
    start of the next, `finish` all the way. `ended` says that the condition was false: then
    `length` is the number of steps that the condition took, and `results` and `variables` are what
    the loop leaves. A loop inside is one step of an iteration, and has a run of its own:
    `recording.loop(step)`.

    life: another object for each time that it begins; who looks on at one time of it is not shown
    the next.
    Looking back: `value` gives a tensor of this iteration or one before, as of its end.
    """

    def __init__(self, iteration: Iteration, recording: Recording, keeping: Retention) -> None:
        self.iteration = iteration
        self.recording = recording
        self._again: LoopRun | None = None  # does iterations once more
        self._rounds: LoopRound | None = None
        self._keeps_late = False  # whether these may be over when what is kept is copied
        both = zip(iteration.carried, iteration.results, strict=True)
        self._carried = [(first, result) for first, result in both if first != result]
        self._crossed = not set(iteration.carried).isdisjoint(r for _, r in self._carried)
        self.number = self.step = 0
        self.ended = False
        self.given: GivenValues | None = None  # by hand, in its iterations
        self.adopt(keeping)

    def adopt(self, keeping: Retention) -> None:
        """Keep other things of iterations from now on, and forget what there is."""
        self.keeping = keeping
        self.recording.adopt(keeping)
        self._kept = Kept.of(self.iteration, keeping, self._repeat)
        self._charge = Charge(keeping.memory, self.recording.nbytes)
        self._again = self._rounds = None
        self.release()

    def release(self) -> None:
        """Hold nothing of the last run any more."""
        self.life = object()
        self.trace = LoopTrace(self._kept, {})

    def begin(
        self,
        inputs: Sequence[Any],
        shared: Mapping[str, Any],
        given: GivenValues | None = None,
    ) -> None:
        """Stand before iteration 0. inputs: device arrays of the loop's variables and captures;
        shared: of the variables that it has in common with the run around. given: what is given by
        hand on the way."""
        of = self.iteration
        self.life = object()
        self._take(given)
        self.recording.feed({ref: inputs[number] for ref, number in of.fed.items()})
        self._start({**shared, **{name: inputs[n] for name, n in of.started.items()}})
        self.trace = LoopTrace(self._kept, self._outside(), given)

    def go_back(self, number: int, step: int, before: LoopTrace | None = None) -> None:
        """Stand where `step` steps of iteration `number` are done, which is done or under way;
        nothing is done again. before: what there is of a run of the loop that is over, which this
        one is to be as until then. Raises GradstepError where that is not kept any more."""
        trace = self.trace if before is None else before
        if before is None and number == self.number:
            done = self.step
        else:
            record, is_last = trace.record(number), number == trace.iterations
            done = self.iteration.split if is_last else len(self.recording.plan.steps)
            self.recording.restore(record)
        self.trace = trace.until(number, self._kept, self.given)
        self.number, self.step, self.ended = number, step, False
        self._give_inside()
        self.recording.leave_done(step, done)
        if step == self.iteration.split:
            self._ask()

    def give(self, index: int, value: Any) -> None:
        """Value `index` of the iteration that it stands in is `value` for what comes. A condition
        that is known is asked again. given: has it already."""
        self._give({index: value})
        if self.step == self.iteration.split:
            self.trace = self.trace.until(self.number, self._kept, self.given)
            self._ask()

    def take_given(self, given: GivenValues) -> None:
        """What is given by hand from now on, what was already among it."""
        self.given = self.trace.given = given
        self._give_inside()

    def _take(self, given: GivenValues | None) -> None:
        self.given, self.recording.given = given, NOTHING_GIVEN

    def _give(self, values: Mapping[int, Any]) -> None:
        self._set_apart(values)
        for index, value in values.items():
            self.recording.give(index, value)

    def _give_inside(self) -> None:
        """Let the loops in this iteration know what is given in theirs."""
        given = self.given
        self.recording.given = NOTHING_GIVEN if given is None else given.inside(self.number)

    def _set_apart(self, values: Iterable[int]) -> None:
        """Let nothing else lie where these do."""
        recording = self.recording
        near = [v for v in values if not recording.layout.is_apart(v, self.step)]
        if near:
            self.recording = recording.parted(near)
            self._feed(recording.value)
            self.recording.stand_as(recording)
            self._again = self._rounds = None

    def _feed(self, capture: Callable[[int], Any]) -> None:
        """Take the captures from what gives them by the numbers of their values."""
        self.recording.feed({ref: capture(value) for ref, value in self._captures.items()})

    @property
    def _captures(self) -> Mapping[TensorRef, int]:
        """The values that captures are in an iteration, where they lie outside."""
        places = self.recording.plan.tensors
        where = ((ref, places[ref]) for ref in self.iteration.fed)
        return {ref: value for ref, value in where if isinstance(value, int)}

    @property
    def length(self) -> int:
        """Steps of the iteration it stands in."""
        return self.iteration.split if self.ended else len(self.recording.plan.steps)

    def reach(self, step: int) -> GradstepError | None:
        """Execute what is missing up to `step` of this iteration, or up to its end, which comes
        early where the condition is false; what stopped it."""
        if self.given is not None:
            return self._reach_given(step)
        recording, split = self.recording, self.iteration.split
        if self.step < split:
            self.step, error = recording.run(self.step, min(step, split))
            if error is not None:
                return self._located(error)
            unclear = self._ask() if self.step == split else None
            if unclear is not None or self.step < split:
                return unclear
        if self.ended:
            return None
        self.step, error = recording.run(self.step, step)
        return None if error is None else self._located(error)

    def _reach_given(self, step: int) -> GradstepError | None:
        """The same, where values are given on the way: each once the steps before it are done."""
        assert self.given is not None
        split = self.iteration.split
        given = self.given.steps(self.number)
        for stop in sorted({*given, split, step}):
            if not self.step < stop <= step or self.ended:
                continue
            self.step, error = self.recording.run(self.step, stop)
            if error is not None:
                return self._located(error)
            if self.step < stop:  # a loop was left
                return None
            self._give(given.get(stop, {}))
            unclear = self._ask() if stop == split else None
            if unclear is not None:
                return unclear
        return None

    def advance(self) -> GradstepError | None:
        """From the end of an iteration that took place to the start of the next; what is in the
        way: there is no room to keep what has to be kept of it."""
        assert self.step == self.length
        assert not self.ended
        error = self._add()
        if error is None:
            self._carry()
        return error

    def _add(self) -> GradstepError | None:
        """Keep what has to be kept of this iteration."""
        try:
            self.trace.add(self.recording)
        except GradstepError as error:
            return error
        return None

    def finish(self, pausing: Pausing = never) -> GradstepError | None:
        """Run to the end of the loop; what stopped it early. It is left where it stands, without
        having `ended`, once `pausing`."""
        self.recording.pausing = pausing
        rounds, split = self._whole_rounds(), self.iteration.split
        length = len(self.recording.plan.steps)
        while not self.ended:
            if rounds is None or self.step > split:
                error = self.reach(length)
                if error is None and not self.ended:
                    if self.step < length:  # a loop inside was left
                        return None
                    error = self.advance()
            else:
                error = self.reach(split) if self.step < split else self._go_round(rounds)
            if error is not None or pausing():
                return error
        return None

    def _go_round(self, rounds: LoopRound) -> GradstepError | None:
        """From where this iteration's condition is known to where the next one's is."""
        check_cancelled()
        began, step, error = rounds.run()
        if began:
            full = self._add()
            if full is not None:
                return full
            self.number += 1
        if error is None:
            return self._ask()
        self.step = step
        return self._located(self.recording.located(error, step))

    def _whole_rounds(self) -> LoopRound | None:
        """What goes from condition to condition, where the next iteration begins with copies alone
        and its condition leaves what is kept of this one as it is."""
        if self._kept.whole or self._crossed or self.given is not None:
            return None
        copies, calls = self.recording.copies_to_go_on(self._carried), self.recording.calls
        if copies is None:
            return None
        if self._rounds is None or self._rounds.calls is not calls:
            self._rounds = LoopRound(calls, self.iteration.split, copies)
            self._keeps_late = self.recording.are_apart(self._kept.asked, self._overwritten())
        return self._rounds if self._keeps_late else None

    def _overwritten(self) -> list[int]:
        """Values of an iteration that the next one's condition is computed over."""
        steps = self.recording.plan.steps[: self.iteration.split]
        return [*(first for first, _ in self._carried), *(v for step in steps for v in step.writes)]

    @property
    def results(self) -> list[Any]:
        """What the loop variables hold; device arrays, not copies."""
        return [self.recording.on_device(index) for index in self.iteration.carried]

    @property
    def variables(self) -> dict[str, Any]:
        """What the shared variables hold."""
        return self.recording.variables(self.step)

    def value(self, tensor: TensorRef, number: int) -> Any:
        """What a tensor was in iteration `number`, this one or one before; None where it was not
        computed (yet), or is not kept any more."""
        if number < self.number or self.ended:
            return self.trace.value(tensor, number)
        plan = self.recording.plan
        where = plan.tensors[tensor]
        index = plan.newest(where, self.step) if isinstance(where, str) else where
        return self.recording.value(index) if plan.made_by[index] < self.step else None

    def _ask(self) -> GradstepError | None:
        """Whether this iteration takes place."""
        flag, backend = self.recording.value(self.iteration.cond), self.recording.backend
        try:
            self.ended = not (flag if backend.xp is np else backend.get(flag))
        except ValueError:
            return GradstepError(
                "The condition of a loop must be one bool", node=self.iteration.loop.cond.op
            )
        if self.ended:
            self.trace.end(self.recording)
        return None

    def _carry(self) -> None:
        """Start the next iteration."""
        of, recording = self.iteration, self.recording
        check_cancelled()
        if not self._crossed and recording.go_on(self._carried):
            self.number, self.step = self.number + 1, 0
            self._begin_given()
            return
        now = recording.variables()
        after = [recording.value(index) for index in of.results]
        if self._crossed:
            after = [_copy(recording.backend.xp, x) for x in after]
        number = self.number + 1
        self._start({**now, **dict(zip(of.loop.variables, after, strict=True))}, number)

    def _start(self, variables: Mapping[str, Any], number: int = 0) -> None:
        """Stand before an iteration that starts with these variables."""
        check_cancelled()
        self.recording.begin(variables)
        self.number, self.step, self.ended = number, 0, False
        self._begin_given()

    def _begin_given(self) -> None:
        """Give what is given as this iteration begins."""
        if self.given is not None:
            self._give_inside()
            self._give(self.given.steps(self.number).get(0, {}))

    def _repeat(
        self,
        outside: Mapping[int, Any],
        variables: Mapping[str, Any],
        numbers: range,
        given: GivenValues | None,
        keep: Keep,
    ) -> None:
        """See trace_retention.Repeat. In memory of its own, and without printing once more."""
        again = self._again
        if again is None:
            plain = replace(self.keeping, whole=False)
            again = self._again = LoopRun(self.iteration, self.recording.another(), plain)
            again.recording.keeping = self.keeping  # of loops inside
        with printing_to(nowhere):
            again.do_again(outside, variables, numbers, given, keep)

    def do_again(
        self,
        outside: Mapping[int, Any],
        variables: Mapping[str, Any],
        numbers: range,
        given: GivenValues | None,
        keep: Keep,
    ) -> None:
        """Iterations of another run of the loop: see `_repeat`. Raises GradstepError where one
        fails that did not fail before."""
        self._take(given)
        self._feed(outside.__getitem__)
        self._start(variables, numbers.start)
        for number in numbers:
            error = self.reach(len(self.recording.plan.steps))
            if error is not None:
                raise error
            keep(number, self.recording)
            if self.ended:
                break
            self._carry()

    def _outside(self) -> dict[int, Any]:
        """Copies of what lies outside the iterations, for who looks back."""
        if not self.keeping.whole:
            return {}
        recording, copy = self.recording, self.recording.backend.xp.array
        return {value: copy(recording.value(value)) for value in self._captures.values()}

    def _located(self, error: GradstepError) -> GradstepError:
        return GradstepError(
            f"{error.message} (in iteration {self.number + 1})",
            kind=error.kind,
            node=error.node,
            index=error.index,
            hint=error.hint,
        )


def _copy(xp: Any, value: Any) -> Any:
    """Where it is, on the host too."""
    return value.copy() if type(value) is np.ndarray else copy_array(xp, value)
