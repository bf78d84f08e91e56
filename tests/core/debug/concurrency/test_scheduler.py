"""Threads beside the main program: whatever is done in whatever order, held against a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.thread_state import MAIN, Condition, Thread
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.course_bytes import read, written
from gradstep.core.host.session_restore import Course, Courses
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from tests.support.drawn_share import share
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
    since: int = 0  # who waits longer has a lower number
    seen: dict[tuple[int, int], list[float]] = field(default_factory=dict)
    batches: dict[int, list[float]] = field(default_factory=dict)

    @property
    def here(self) -> tuple[int, int]:
        return self.run, self.step


class Machine(RuleBasedStateMachine):
    """Commands to both; `changes` counts those of the queue."""

    @initialize(
        capacity=st.integers(1, 4),
        batch=st.integers(1, 5),
        limit=st.sampled_from((1, 600, 1 << 20)),
    )
    def begin(self, capacity: int, batch: int, limit: int) -> None:
        self.arguments = capacity, batch, limit
        self.commands: list[str] = []
        self.threads = Scheduler(queue_program(capacity, batch), limit_bytes=limit)
        self._clear()

    def _clear(self) -> None:
        self.queue: list[float] = []
        self.changes = self.waited = 0
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

    @rule()
    def back(self) -> None:
        thread = self.models[self.threads.current]
        if thread.here == (self.threads.session.timeline.first, 0):
            with pytest.raises(GradstepError, match="step_back is not possible here"):
                self.threads.command("step_back")
            return
        self._command("step_back")
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
            for turn in turns:
                thread: Model | None = turn
                while thread is not None and thread.waits != self.changes:
                    here = 0 if thread.step == thread.length else thread.step
                    ahead = thread.meets + 1 if here <= thread.meets else thread.length
                    self._forward(thread, ahead)
                    if thread.name == MAIN and thread.step == thread.length:
                        return
                    woken = (t for t in turns if t.waits not in (-1, self.changes))
                    thread = min(woken, key=lambda t: t.since, default=None)

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
        waited, thread.waits = thread.waits >= 0, -1
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
                if not waited:
                    self.waited = thread.since = self.waited + 1
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
                if run < session.timeline.first:
                    with pytest.raises(GradstepError, match=f"run {run + 1} is not kept any more"):
                        session.frame(run, step).state("q")
                    continue
                state = session.frame(run, step).state("q")
                assert state is not None
                assert [float(x) for (x,) in state.items] == queue, (name, run, step)
            for run, batch in thread.batches.items():
                if session.timeline.first <= run and (run, thread.meets) < thread.last:
                    found = session.frame(run, thread.meets + 1).value("take")
                    assert found is not None
                    assert found.tolist() == batch

    def teardown(self) -> None:
        """The same commands give the same."""
        capacity, batch, limit = self.arguments
        again = Scheduler(queue_program(capacity, batch), limit_bytes=limit)
        for command in self.commands:
            if command.startswith("thread "):
                again.switch(command.removeprefix("thread "))
            else:
                again.command(command)
        assert again.states == self.threads.states
        assert str(again.session.frame().state("q")) == str(self.threads.session.frame().state("q"))


TestThreads = pytest.mark.slow(Machine.TestCase)
TestThreads.settings = settings(max_examples=share(25), stateful_step_count=20, deadline=None)


def test_stepping_back_ends_at_the_first_run_that_is_kept() -> None:
    """At a tiny limit run 0 is let go of when run 1 begins: no way leads back into it, and a way
    that is refused is no part of the history."""
    threads = Scheduler(queue_program(1, 1), limit_bytes=1)
    for command in ("continue_", "continue_", "step_back", "step_back", "step_back", "step_back"):
        threads.command(command)
    assert (threads.stop.run, threads.stop.step) == (threads.session.timeline.first, 0) == (1, 0)
    for command, target, words in [
        (
            "step_back",
            "",
            "step_back is not possible here: this is the start of the first run that",
        ),
        ("reverse_continue", "", "reverse_continue is not possible here: this is the start of the"),
        ("run_to", "0:2", "run 1 is not kept any more"),
    ]:
        before = threads.stop
        with pytest.raises(GradstepError, match=words):
            threads.command(command, target)
        assert threads.stop is before
        assert (command in before.legal) == (command == "run_to")
    again = Scheduler(queue_program(1, 1), limit_bytes=1)
    again.repeat([*threads.history, ("step_into", "")])
    assert (again.stop.run, again.stop.step) == (1, 1)


def test_what_a_thread_saw_of_others_takes_no_more_memory_in_the_end() -> None:
    """Runs whose part of that is let go of cannot be looked at; later ones can, replayed too."""
    size, limit = 1000, 1 << 15
    b = GraphBuilder()
    with b.as_default():
        q = tf.FIFOQueue(1, tf.float32, shapes=[[size]], name="q")
        b.one("Identity", q.dequeue(name="take"), name="batch")
        count = b.one("AssignAdd", b.variable("n", shape=(size,)), np.ones(size, np.float32))
        q.enqueue([count], name="put")
    graph, initial = b.build(), {"n": np.zeros(size, np.float32)}
    feeder = Thread("feeder", ("put",))
    fetches = (TensorRef("batch"),)
    program = Program(graph, graph, fetches=fetches, initial=initial, threads=(feeder,))
    threads = Scheduler(program, limit_bytes=limit)
    taken = []
    for run in range(40):
        threads.command("continue_")
        taken.append(sum(session.stop.recorded_bytes for session in threads.sessions))
        first, end = threads.session.timeline.first, threads.session.timeline.length
        for earlier in range(first, run + 1):
            value = threads.session.frame(earlier, end).value("batch")
            assert value is not None
            assert value[0] == earlier + 1
    assert first > 30
    assert max(taken[20:]) <= max(taken[:20]) < 3 * limit
    with pytest.raises(GradstepError, match="run 1 is not kept any more"):
        threads.session.frame(0, end).value("batch")


def test_continue_ends_though_a_thread_goes_on_that_cannot_help() -> None:
    b = GraphBuilder()
    with b.as_default():
        q = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="q")
        b.one("Identity", q.dequeue(name="take"), name="batch")
        q.enqueue([1.0], name="put")
        b.one("AssignAdd", b.variable("n", shape=()), 1.0, name="count")
    graph, initial, fetches = b.build(), {"n": np.float32(0)}, (TensorRef("batch"),)
    free = Thread("free", ("count",))
    threads = Scheduler(Program(graph, graph, fetches=fetches, initial=initial, threads=(free,)))
    assert threads.command("continue_").reason == "blocked"
    assert threads.current == MAIN
    assert threads.stop.error is not None
    assert threads.stop.error.message.endswith("nothing that is running can enqueue more")
    assert [state.condition for state in threads.states] == [Condition.BLOCKED, Condition.READY]


def test_without_a_main_program_threads_go_on_for_one_run_of_the_current_one() -> None:
    """Also where none ever waits for another."""
    builder = GraphBuilder()
    with builder.as_default():
        count = builder.variable("count", "float32", ())
        builder.one("AssignAdd", count, np.float32(1), name="more")
        tf.FIFOQueue(1, tf.float32, name="q")
    graph, zero = builder.build(), np.zeros((), np.float32)
    threads = Scheduler(
        Program(
            graph,
            graph,
            threads=(Thread("a", ("q",)), Thread("b", ("more",))),
            initial={"count": zero},
        )
    )
    for run in range(3):
        threads.command("continue_")
        assert threads.current == "a"
        assert (threads.stop.run, threads.stop.reason) == (run, Reason.END)


def test_a_value_is_given_where_a_thread_stands() -> None:
    """And another engine, led by the commands, gives it there again."""
    threads = Scheduler(queue_program(4, 2))
    threads.switch("one")
    threads.command("run_to", "0:7")
    before = threads.session.frame().value("one_rows")
    threads.inject({"one_rows": np.array([7, 8], np.float32)}, "", "one_rows = [7, 8]")
    assert threads.session.frame().value("one_rows").tolist() == [7, 8]
    assert threads.session.frame(0, 7).value("AddV2") is not None
    threads.command("step")
    threads.switch(MAIN)
    threads.command("continue_")
    assert threads.session.frame().value("batch").tolist() == [7, 8]
    threads.switch("one")
    assert threads.session.changes[0].words == "one_rows = [7, 8]"
    threads.command("run_to", "0:6")
    assert threads.session.frame(0, 6).value("one_more") == before[0]
    again = Scheduler(queue_program(4, 2))
    again.repeat(_sent(threads.history))
    again.switch(MAIN)
    assert again.session.frame().value("batch").tolist() == [7, 8]


def _sent(history: Sequence[tuple[str, Any]]) -> Sequence[tuple[str, Any]]:
    """As it arrives in another engine."""
    course = Course(0, 0, "", history=tuple(history))
    (data,) = written(Courses({"other": course}, "other"))
    return read(data).by_name["other"].history


def test_what_cannot_be_given_beside_threads_is_refused() -> None:
    threads = Scheduler(queue_program(4, 2))
    threads.switch("one")
    threads.command("run_to", "0:7")
    threads.command("step_back")
    rows = {"one_rows": np.array([7, 8], np.float32)}
    history = threads.history
    with pytest.raises(GradstepError, match="has no value here yet"):
        threads.inject(rows)
    threads.command("run_to", "0:7")
    for wrong, words in (
        (lambda: threads.inject(rows, "main"), "there is a branch 'main' already"),
        (lambda: threads.inject({"batch": rows["one_rows"]}), "is not computed by this run"),
        (lambda: threads.inject({"one_rows": np.zeros(3, np.float32)}), "is of shape"),
        (lambda: threads.edit("set", ("nowhere", "alpha", "1")), "nowhere"),
        (lambda: threads.switch_branch("b1"), "there is no branch 'b1'"),
        (lambda: threads.drop_branch("main"), "all others leave"),
    ):
        with pytest.raises(GradstepError, match=words):
            wrong()
    assert [name for name, _ in threads.history] == [*(n for n, _ in history), "run_to"]
    full = Scheduler(queue_program(1, 2))
    full.switch("one")
    assert full.command("run_to", "1:0").reason is Reason.BLOCKED
    with pytest.raises(GradstepError, match="has done a part of its work"):
        full.inject(rows)
    assert [branch.name for branch in full.branches.all] == ["main"]
    assert [name for name, _ in full.history] == ["", "run_to"]


def test_a_program_alone_takes_down_no_turns() -> None:
    threads = Scheduler(derive(queue_document(1, 2).with_(threads=())))
    for number in range(3):
        threads.assign({"one_count": np.float32(number)})
        threads.command("continue_")  # and waits for ever
    assert threads._runs.turns == []
    assert threads.history == ()
