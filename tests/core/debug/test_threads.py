"""Threads beside the main program: whatever is done in whatever order, held against a model."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from core.debug.program import Program
from core.debug.thread import MAIN, Condition
from core.debug.threads import Threads
from core.host.derive import derive
from tests.support.queueing import FEEDERS, ROWS, queue_document


def queue_program(capacity: int, batch: int) -> Program:
    return derive(queue_document(capacity, batch))


@dataclass
class Model:
    """One thread: which step meets the queue, where it stands, and what it saw there."""

    name: str
    meets: int
    length: int
    run: int = 0
    step: int = 0
    last: tuple[int, int] = (0, 0)  # the end of what it has done
    moved: list[float] = field(default_factory=list)  # by the step that waits
    waits: int = -1  # for this many changes to be more
    seen: dict[tuple[int, int], list[float]] = field(default_factory=dict)
    batches: dict[int, list[float]] = field(default_factory=dict)

    @property
    def here(self) -> tuple[int, int]:
        return self.run, self.step


class Machine(RuleBasedStateMachine):
    """Commands to both; `changes` counts those of the queue."""

    @initialize(
        capacity=st.integers(1, 4), batch=st.integers(1, 5), limit=st.sampled_from((1, 1 << 20))
    )
    def begin(self, capacity: int, batch: int, limit: int) -> None:
        self.arguments = capacity, batch, limit
        self.commands: list[str] = []
        self.threads = Threads(queue_program(capacity, batch), limit_bytes=limit)
        self._clear()

    def _clear(self) -> None:
        self.queue: list[float] = []
        self.changes = 0
        self.models: dict[str, Model] = {}
        for name in (MAIN, *FEEDERS):
            plan = self.threads._members[name].session.plan
            meets = plan.step_of["take" if name == MAIN else f"{name}_put"]
            self.models[name] = Model(name, meets, len(plan.steps))

    # -- commands ----------------------------------------------------------------------------

    @rule(name=st.sampled_from((MAIN, *FEEDERS)))
    def switch(self, name: str) -> None:
        self.commands.append(f"thread {name}")
        self.threads.switch(name)

    @rule(times=st.integers(1, 8))
    def step(self, times: int) -> None:
        for _ in range(times):
            self._command("step_into")
            thread = self.models[self.threads.current]
            self._forward(thread, thread.step + 1)

    @precondition(lambda self: self.models[self.threads.current].here != (0, 0))
    @rule()
    def back(self) -> None:
        self._command("step_back")
        thread = self.models[self.threads.current]
        thread.waits = -1
        if thread.step:
            thread.step -= 1
        else:
            thread.run, thread.step = thread.run - 1, thread.length

    @rule()
    def continue_(self) -> None:
        names = [MAIN, *FEEDERS]
        first = names.index(self.threads.current)
        self._command("continue_")
        turns = [self.models[name] for name in (*names[first:], *names[:first])]
        while any(thread.waits != self.changes for thread in turns):
            for thread in turns:
                if thread.waits == self.changes:
                    continue
                here = 0 if thread.step == thread.length else thread.step
                self._forward(thread, thread.meets + 1 if here <= thread.meets else thread.length)
                if thread.name == MAIN and thread.step == thread.length:
                    return

    @rule()
    def restart(self) -> None:
        self._command("restart")
        self._clear()

    def _command(self, name: str) -> None:
        self.commands.append(name)
        self.threads.command(name)

    # -- the model ---------------------------------------------------------------------------

    def _forward(self, thread: Model, limit: int) -> None:
        """To step `limit`; from the end of a run only into the next, if that is behind it."""
        thread.waits = -1
        if thread.step == thread.length:
            if thread.here == thread.last:
                thread.seen[thread.here] = [*self.queue]
                thread.last = thread.run + 1, 0
            thread.run, thread.step = thread.run + 1, 0
            if limit > thread.length:
                return
        while thread.step < limit:
            if thread.here == thread.last and not self._execute(thread):
                thread.waits = self.changes
                return
            thread.step += 1
            thread.last = max(thread.last, thread.here)

    def _execute(self, thread: Model) -> bool:
        """Do the next step; whether it could be done."""
        thread.seen[thread.here] = [*self.queue]
        if thread.step != thread.meets:
            return True
        before = len(thread.moved)
        done = self._take(thread) if thread.name == MAIN else self._put(thread)
        self.changes += done or len(thread.moved) != before
        if done:
            thread.moved = []
        return done

    def _take(self, thread: Model) -> bool:
        _, batch, _ = self.arguments
        while self.queue and len(thread.moved) < batch:
            thread.moved.append(self.queue.pop(0))
        thread.batches[thread.run] = [*thread.moved]
        return len(thread.moved) == batch

    def _put(self, thread: Model) -> bool:
        capacity, _, _ = self.arguments
        first = 10 * (1 + FEEDERS.index(thread.name)) + thread.run + 1
        rows = [first, first + 0.5]
        while len(self.queue) < capacity and len(thread.moved) < ROWS:
            thread.moved.append(rows[len(thread.moved)])
            self.queue.append(thread.moved[-1])
        return len(thread.moved) == ROWS

    # -- what must hold ----------------------------------------------------------------------

    @invariant()
    def threads_stand_where_the_model_does(self) -> None:
        if not hasattr(self, "models"):
            return
        stuck = all(thread.waits == self.changes for thread in self.models.values())
        for state in self.threads.states:
            thread = self.models[state.name]
            assert (state.run, state.step) == thread.here
            waits = Condition.DEADLOCK if stuck else Condition.BLOCKED
            blocked = thread.waits == self.changes
            assert state.condition == (waits if blocked else Condition.READY)
        assert bool(self.threads.deadlock) == stuck

    @invariant()
    def earlier_steps_show_what_was_there_then(self) -> None:
        if not hasattr(self, "models"):
            return
        for name, thread in self.models.items():
            session = self.threads._members[name].session
            for (run, step), queue in [*thread.seen.items(), (thread.last, self.queue)]:
                if (run, step) == thread.last:
                    queue = self.queue
                state = session.frame(run, step).state("q")
                assert state is not None
                assert [float(x) for (x,) in state.items] == queue, (name, run, step)
            for run, batch in thread.batches.items():
                if (run, thread.meets) < thread.last:
                    found = session.frame(run, thread.meets + 1).value("take")
                    assert found is not None
                    assert found.tolist() == batch

    def teardown(self) -> None:
        """The same commands give the same."""
        capacity, batch, limit = self.arguments
        again = Threads(queue_program(capacity, batch), limit_bytes=limit)
        for command in self.commands:
            if command.startswith("thread "):
                again.switch(command.removeprefix("thread "))
            else:
                again.command(command)
        assert again.states == self.threads.states
        assert str(again.session.frame().state("q")) == str(self.threads.session.frame().state("q"))


TestThreads = Machine.TestCase
TestThreads.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
