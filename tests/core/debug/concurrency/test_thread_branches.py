"""Branches beside threads: whatever is done, every thread shows on every branch, at every step,
what a fresh program shows whose threads take the same turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from gradstep.core.cancellation import Cancelled
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.thread_state import MAIN, Thread
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.manual_assignments import give_in_thread
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.branch_answers import inject, manage
from gradstep.core.host.course_bytes import read, written
from gradstep.core.host.session_restore import Courses, course_of, follow
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from gradstep.core.protocol.branch_queries import SEED
from gradstep.core.protocol.messages import ManageBranches
from tests.core.debug.concurrency.thread_walk import Did, Line, ThreadWalk, before, end
from tests.core.debug.test_state_machine import same
from tests.support.drawn_share import share
from tests.support.queueing import FEEDERS, queue_document


def fresh(program: Program, done: list[Did]) -> Scheduler:
    threads = Scheduler(program)
    for each in done:
        threads.switch(each.thread)
        session = threads.session
        if each.assigned is not None:
            for thread in threads._all:  # it stands somewhere, and is to be at its newest
                if end(thread.session) != (thread.session.stop.run, thread.session.stop.step):
                    thread.session.command("run_to", "{}:{}".format(*end(thread.session)))
            threads.assign(each.assigned)
            continue
        if each.given is not None:
            name, value = each.given
            give_in_thread(session, {name: value})
            continue
        to = end(session) if each.to is None and each.tried else each.to
        waits = threads._current.waits is not None
        if to is not None and (waits or to != (session.stop.run, session.stop.step)):
            assert threads.command("run_to", f"{to[0]}:{to[1]}").error is None
        if each.tried:
            stop = threads.command("step_into")
            assert stop.error is not None
    return threads


class Branching(ThreadWalk):
    """Commands of users; what came of each is taken down thread by thread."""

    @initialize(capacity=st.integers(1, 4), batch=st.integers(1, 4))
    def begin(self, capacity: int, batch: int) -> None:
        self.program = derive(queue_document(capacity, batch))
        self._set_out(Scheduler(self.program))

    @rule(data=st.data())
    def give(self, data: st.DataObject) -> None:
        session, name = self.threads.session, self.threads.current
        here = session.stop.run, session.stop.step
        frame = session.frame()
        refs = [ref for ref in map(TensorRef, session.plan.tensors.of) if ref.op != "q"]
        known = {r: frame.value(r) for r in refs}
        there = sorted(
            (r for r, x in known.items() if x is not None and x.dtype.kind == "f"), key=str
        )
        if not there:
            return
        ref = data.draw(st.sampled_from(there))
        value = known[ref]
        assert value is not None
        new = value + np.float32(data.draw(st.integers(100, 104)))
        was_new, left, count = self.is_new, self.current, len(self.lines)
        try:
            self.threads.inject({ref.short: new}, "", "words")
        except GradstepError as error:
            refused: GradstepError | None = error
        else:
            refused = None
        if refused is not None:
            assert refused.hint
            assert "in the past" not in refused.message
            assert "waits" not in refused.message or here == end(session)
            assert self.threads.branches.current == left
            assert len(self.threads.branches.all) == count
            assert self.threads.current == name
            return
        made = self.threads.branches.current
        assert (made == left) == was_new
        if made != left:
            self.lines[made] = Line(left, before(self.lines[left].done, name, here, end(session)))
        self.current, self.is_new = made, True
        self.line.done.append(Did(name, given=(ref.short, new)))
        assert (self.threads.current, self.threads.stop.run, self.threads.stop.step) == (
            name,
            *here,
        )
        self._spy()

    @rule(data=st.data(), more=st.integers(0, 2))
    def give_in_the_past(self, data: st.DataObject, more: int) -> None:
        """Behind which all threads have gone on."""
        for _ in range(more):
            self.continue_()
        self._go_into_the_past(data)
        self.give(data)

    @rule(name=st.sampled_from(FEEDERS), number=st.integers(500, 502))
    def assign(self, name: str, number: int) -> None:
        values = {f"{name}_count": np.float32(number)}
        where = next(s for s in self.threads.sessions if f"{name}_count" in s.plan.versions)
        if end(where) != (where.stop.run, where.stop.step):
            with pytest.raises(GradstepError, match="in the past"):
                self.threads.assign(values)
            return
        self.threads.assign(values)
        self.line.done.append(Did(self.threads.current, assigned=values))
        self.is_new = False

    @rule(data=st.data())
    def show(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.lines)))
        where = {n: r.states for n, r in self._looked().items()}
        self.threads.switch_branch(name)
        if name != self.current:
            self.current, self.is_new = name, False
        assert {n: r.states for n, r in self._looked().items()} == where

    @rule(data=st.data())
    def rename(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.lines)))
        to = f"x{len(self.lines)}{name}"[:12]
        if to in self.lines:
            return
        self.threads.rename_branch(name, to)
        self.lines = {to if n == name else n: line for n, line in self.lines.items()}
        for line in self.lines.values():
            line.parent = to if line.parent == name else line.parent
        self.current = to if self.current == name else self.current
        self.first = to if self.first == name else self.first

    @rule()
    def restart(self) -> None:
        self.threads.command("restart")
        self.current, self.is_new = self.first, False
        self.line.done.clear()

    @rule(at=st.sampled_from(("", "take", "one_more", "two_put")))
    def break_at(self, at: str) -> None:
        self.threads.set_breakpoints([Breakpoint(at)] if at else [])

    @rule()
    def go_on_in_another_engine(self) -> None:
        """By what the window keeps of how it came here."""
        (data,) = written(Courses({"other": course_of(self.threads)}, "other")) or (b"",)
        other = Scheduler(self.program)
        if data:
            follow(other, read(data).by_name["other"])
            assert other.states == self.threads.states
            told = [
                [(b.name, b.parent, b.run, b.step, b.op, b.place, b.words) for b in each.all]
                for each in (other.branches, self.threads.branches)
            ]
            assert told[0] == told[1]
            self.threads, self.is_new = other, other._branches.is_new
            self._spy()

    # -- what must hold ------------------------------------------------------------------------

    def _looked(self) -> dict[str, Any]:
        class Seen:
            def __init__(self, runs: Any) -> None:
                self.states = [m.session.stop.place for m in runs.all]

        return {
            b.name: Seen(self.threads._branches._runs[b.name]) for b in self.threads.branches.all
        }

    @invariant()
    def branches_are_those_that_were_made(self) -> None:
        if not hasattr(self, "lines"):
            return
        assert self.threads.branches.current == self.current
        assert {b.name: b.parent for b in self.threads.branches.all} == {
            name: line.parent for name, line in self.lines.items()
        }

    def teardown(self) -> None:
        if hasattr(self, "lines"):
            self.every_branch_is_a_fresh_program_with_these_turns()

    @rule()
    def every_branch_is_a_fresh_program_with_these_turns(self) -> None:
        for name, line in self.lines.items():
            runs = self.threads._branches._runs[name]
            other = fresh(self.program, line.done)
            for session, wanted in zip(runs.sessions, other.sessions, strict=True):
                assert end(session) == end(wanted), (name, line.done)
                self._compare(session, wanted, f"{name} {line.done}")
            for member, model in zip(runs.all, other._all, strict=True):
                assert (member.waits is None) == (model.waits is None)
                assert member.blocked == model.blocked

    def _compare(self, session: DebugSession, wanted: DebugSession, what: str) -> None:
        refs = [TensorRef(op) for op in session.plan.tensors.of]
        last, done = end(session)
        for run in range(session.timeline.first, last + 1):
            for step in range((done if run == last else session.timeline.length) + 1):
                one, two = session.frame(run, step), wanted.frame(run, step)
                for ref in refs:
                    if session.plan.tensors.get(ref) != "q":
                        assert same(one.value(ref), two.value(ref)), (what, run, step, ref)
                    assert str(one.state(ref)) == str(two.state(ref)), (what, run, step, ref)


TestBranching = pytest.mark.slow(Branching.TestCase)
TestBranching.settings = settings(max_examples=share(15), stateful_step_count=20, deadline=None)


def _batches(threads: Scheduler, count: int) -> list[list[float]]:
    """Those of the next runs of the main program."""
    threads.switch(MAIN)
    found = []
    while len(found) < count:
        threads.command("continue_")
        value = threads.session.frame().value("batch")
        assert value is not None
        found.append(value.tolist())
    return found


def test_a_branch_is_of_all_threads_and_the_others_stay_as_they_are() -> None:
    threads = Scheduler(derive(queue_document(4, 2)))
    first = _batches(threads, 2)
    threads.switch("one")
    said = inject(threads, "one_count", np.array(50, np.float32), branch="mine")
    assert said == "one_count = 50 in one from here on, on branch mine"
    other = _batches(threads, 4)
    assert any(51 <= x < 60 for batch in other for x in batch)
    assert threads.stop.run == 5
    assert manage(threads, ManageBranches(command="switch", name="main")) == "branch main"
    assert threads.current == "one"
    assert threads.switch(MAIN).run == 1
    assert threads.session.frame(0, 4).value("batch").tolist() == first[0]
    mine, main = threads.branches["mine"], Scheduler(derive(queue_document(4, 2)))
    assert (mine.parent, mine.words) == ("main", "one_count = 50 in one")
    assert _batches(threads, 3) == _batches(main, 5)[2:]
    threads.switch_branch("mine")
    assert [threads.session.frame(run, 4).value("batch").tolist() for run in (2, 3, 4, 5)] == other
    manage(threads, ManageBranches(command="rename", name="mine", to="fifty"))
    manage(threads, ManageBranches(command="drop", name="fifty"))
    assert [branch.name for branch in threads.branches.all] == ["main"]
    assert len(threads.kept_sessions) == 3


def test_what_leaves_a_branch_that_is_dropped_says_what_was_given_on_both() -> None:
    threads = Scheduler(derive(queue_document(4, 2)))
    for number in (1, 2):
        threads.command("continue_")
        inject(threads, "one_count", np.array(number, np.float32))
    one, two = (f"one_count = {number} in main" for number in (1, 2))
    (_, first, second) = threads.branches.all
    assert (first.words, second.words) == (one, two)
    threads.drop_branch("b1")
    (_, left) = threads.branches.all
    assert (left.parent, left.run, left.step) == ("main", first.run, first.step)
    assert left.words == f"{one}, {two}"


def test_a_step_that_was_waited_for_is_not_tried_yet_where_a_branch_leaves_before_it() -> None:
    """It had done a part of its work when the others let it go on."""
    threads = Scheduler(derive(queue_document(1, 2)))
    threads.switch("one")
    meets = threads.session.plan.step_of["one_put"]
    threads.command("run_to", f"0:{meets + 1}")
    assert threads.session.timeline.link.is_amid_work
    while threads.stop.run == 0 and threads.stop.step <= meets:
        threads.command("continue_")
        threads.switch("one")
        threads.command("step_into")
    threads.command("run_to", f"0:{meets}")
    rows = threads.session.frame().value("one_rows")
    assert rows is not None
    threads.inject({"one_rows": rows + 100})
    assert (threads.stop.run, threads.stop.step) == (0, meets)
    queue = threads.session.frame().state("q")
    assert queue is not None
    assert [*queue.items] == []
    threads.command("step_into")
    assert [float(x) for (x,) in threads.session.frame().state("q").items] == [111.0]


def test_breakpoints_count_on_a_branch_what_led_to_it() -> None:
    threads = Scheduler(derive(queue_document(4, 2)))
    threads.set_breakpoints([Breakpoint("take")])
    for _ in range(6):
        threads.command("continue_")
    (count,) = threads.session.hit_counts
    assert count > 1
    threads.command("run_to", "1:0")
    (then,) = threads.session.hit_counts
    inject(threads, "one_count", np.array(50, np.float32))
    assert threads.session.hit_counts == (1,)
    threads.switch_branch("main")
    assert threads.session.hit_counts == (then,)


def test_a_restart_begins_the_first_branch_anew_and_leaves_the_others() -> None:
    threads = Scheduler(derive(queue_document(4, 2)))
    _batches(threads, 2)
    inject(threads, "one_count", np.array(50, np.float32))
    threads.command("restart")
    assert (threads.branches.current, threads.stop.run) == ("main", 0)
    again = Scheduler(derive(queue_document(4, 2)))
    again.repeat(threads.history)
    assert [b.place for b in again.branches.all] == [b.place for b in threads.branches.all]
    threads.drop_branch("b1")
    threads.command("restart")
    assert [name for name, _ in threads.history] == [""]


def test_the_memory_of_all_branches_is_that_of_one() -> None:
    threads = Scheduler(derive(queue_document(4, 2)), limit_bytes=6 << 20)
    for count in (1, 2, 3):
        again = Scheduler(derive(queue_document(4, 2)), limit_bytes=6 << 20)
        again.repeat(threads.history)
        for each in (threads, again):
            assert len(each.kept_sessions) == 3 * count
            limits = {session.timeline.limit_bytes for session in each.kept_sessions}
            assert limits == {(6 << 20) // (3 * count)}
        threads.command("continue_")
        inject(threads, "one_count", np.array(count, np.float32))


def test_a_fork_that_is_paused_is_none() -> None:
    threads = Scheduler(derive(queue_document(4, 2)))
    _batches(threads, 3)
    made = threads._branches._begin

    def paused(*given: Any) -> Any:
        threads.pause()
        return made(*given)

    threads._branches._begin = paused  # type: ignore[method-assign]
    with pytest.raises(Cancelled):
        inject(threads, "one_count", np.array(50, np.float32))
    assert [branch.name for branch in threads.branches.all] == ["main"]
    assert threads.stop.run == 2


def test_a_seed_is_given_in_a_thread() -> None:
    """What it draws from there on is other, each time the same; what others draw stays."""

    def drawn(*seeds: int) -> tuple[list[float], list[float]]:
        threads = Scheduler(derive(_random_document()))
        for _ in range(2):
            threads.command("continue_")
        for seed in seeds:
            threads.switch("one")
            said = inject(threads, SEED, np.array(seed))
            assert said == f"seed = {seed} in one from here on, on branch b1"
        threads.switch(MAIN)
        taken, own = list[float](), list[float]()
        for _ in range(4):
            threads.command("continue_")
            (one,), (noise,) = (threads.session.frame().value(n) for n in ("batch", "own"))
            taken.append(float(one))
            own.append(float(noise))
        return taken, own

    plain, seven, eight = drawn(), drawn(7), drawn(8)
    assert drawn(7) == seven
    assert plain[1] == seven[1] == eight[1]
    assert len({(*each[0],) for each in (plain, seven, eight)}) == 3


def _random_document() -> Document:
    """A thread puts random numbers into a queue; the program takes them, and draws others."""
    b = GraphBuilder()
    with b.as_default():
        q = tf.FIFOQueue(2, tf.float32, shapes=[[]], name="q")
        b.op("Identity", q.dequeue_many(1, name="take"), name="batch")
        shape = b.constant(np.array([1], np.int32))
        for name, seed in (("own", 5), ("theirs", 6)):
            b.one("RandomUniform", shape, name=name, seed=seed, seed2=2, dtype=DType.FLOAT32)
        q.enqueue_many([b.get("theirs")], name="put")
    fetches = (TensorRef("batch"), TensorRef("own"))
    return Document(graph=b.build(), fetches=fetches, threads=(Thread("one", ("put",)),))
