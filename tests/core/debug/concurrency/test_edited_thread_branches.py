"""Edits on branches beside threads: whatever the way, each thread shows on every branch what it
would where operations are executed one by one, in the same turns, and each thread has another
program from some run on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.thread_state import MAIN
from gradstep.core.debug.history.frozen_program import NamedEdit, Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.document.kept_branch import KeptBranch, KeptEdit, KeptPlace, KeptTurn
from gradstep.core.document.kept_branches import begin, keep
from gradstep.core.document.named_edits import edit_by_name
from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, Operation, TensorRef
from gradstep.core.host.branch_answers import manage
from gradstep.core.host.course_bytes import read, written
from gradstep.core.host.session_restore import Courses, course_of, follow
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.declare.table import lookup
from gradstep.core.program.derive import derive
from gradstep.core.protocol.messages import ManageBranches
from tests.core.debug.concurrency.thread_walk import (
    NAMES,
    Did,
    Line,
    Place,
    ThreadWalk,
    before,
    end,
)
from tests.core.debug.test_state_machine import same
from tests.support.drawn_share import share
from tests.support.queueing import FEEDERS, trained_queue

GIVEN = ("one_rows", "two_rows", "batch", "r", "w", "one_count", "one_half")
STOP, RATE = ("stop", ("r<0",)), ("hyper", ("train", "learning_rate", "0.5"))
OF_THE_QUEUE = ("set", ("q", "capacity", "3"))
LIMIT = ("keep_below", ("one_rows<0", "12"))  # puts operations before what puts into the queue
# Each with the threads that it concerns.
EDITS: Mapping[NamedEdit, Sequence[str]] = {
    STOP: (MAIN,),
    ("set", ("r", "alpha", "0.5")): (MAIN,),
    RATE: (MAIN,),
    ("set", ("one_half", "value", "0.75")): ("one",),
    ("set", ("by", "value", "2")): FEEDERS,
    ("stop", ("two_rows",)): (),
    LIMIT: ("one",),
    OF_THE_QUEUE: NAMES,
}


class BlockedError(Exception):
    pass


class Worker:
    """A thread of the model."""

    def __init__(self, name: str) -> None:
        self.name, self.place = name, (0, 0)
        self.values: dict[TensorRef, Any] = {}
        self.alias: dict[TensorRef, str] = {}
        self.taken: list[Any] = []  # of an operation that waits
        self.put = 0
        self.waits = False
        self.constants: dict[str, Any] = {}  # that were given, for all runs behind
        self.at: dict[Place, dict[TensorRef, Any]] = {(0, 0): {}}

    @property
    def is_amid_work(self) -> bool:
        return bool(self.taken or self.put)


class World:
    """All threads of a branch, operation by operation: no plan, no timeline, no branch."""

    def __init__(self, document: Document, edits: list[tuple[NamedEdit, dict[str, int]]]) -> None:
        self.document, self.edits = document, edits
        self.programs: dict[tuple[NamedEdit, ...], Program] = {}
        self.variables = dict(derive(document).initial)
        self.queue: list[Any] = []
        self.workers = {name: Worker(name) for name in NAMES}
        self.of_the_queue: dict[str, Callable[[Worker, Operation], None]] = {
            "q": lambda worker, op: None,
            "take": self._take,
            "one_put": self._put,
            "two_put": self._put,
        }

    def program(self, name: str, run: int) -> Program:
        edits = tuple(e for e, where in self.edits if name in where and where[name] <= run)
        if edits not in self.programs:
            document = self.document
            for edit in edits:
                document = edit_by_name(document, *edit)
            self.programs[edits] = derive(document)
        return self.programs[edits]

    def steps(self, name: str, run: int) -> list[str]:
        program = self.program(name, run)
        if name == MAIN:
            asked = [*program.targets, *(ref.op for ref in program.fetches)]
        else:
            asked = next([*t.targets] for t in program.threads if t.name == name)
        needed = program.graph.ancestors(asked)
        return [each for each in program.graph.order if each in needed]

    def translated(self, did: Did) -> Place:
        assert did.to is not None
        run, step = did.to
        steps = self.steps(did.thread, run)
        if not did.op:
            return run, len(steps)
        return run, steps.index(did.op) if did.op in steps else min(step, len(steps))

    def follow(self, done: Sequence[Did]) -> list[Did]:
        """Do all, as far as it can be done; what has been."""
        return [one for did in done for one in self._do(did)]

    def _do(self, did: Did) -> list[Did]:
        worker = self.workers[did.thread]
        if did.edit is not None:
            return [did]
        if did.back:
            worker.waits = False
            return [did]
        if did.given is not None:
            return [did] if self._gives(worker, *did.given) else []
        start, failed = worker.place, False
        if did.to is not None and self.translated(did) > start:
            failed = not self._go(worker, self.translated(did))
        elif not did.tried:
            return []
        if did.tried and not failed:
            run, step = worker.place
            ended = step == len(self.steps(worker.name, run))
            failed = not self._go(worker, (run + 1, 0) if ended else (run, step + 1))
        worker.waits = failed
        run, step = worker.place
        op = [*self.steps(worker.name, run), ""][step]
        return [Did(worker.name, worker.place if worker.place > start else None, op, failed)]

    def _gives(self, worker: Worker, name: str, value: Any) -> bool:
        """Whether it could be given."""
        if worker.is_amid_work or (
            name not in self.variables and TensorRef(name) not in worker.values
        ):
            return False
        if name in self.variables:
            self.variables[name] = value
        else:
            worker.values[TensorRef(name)] = value
            if name.endswith("_half"):
                worker.constants[name] = value
        self._note(worker)
        return True

    def _go(self, worker: Worker, to: Place) -> bool:
        while worker.place < to:
            run, step = worker.place
            steps = self.steps(worker.name, run)
            if step == len(steps):
                worker.place, worker.values, worker.alias = (run + 1, 0), {}, {}
            else:
                try:
                    self._execute(worker, self.program(worker.name, run).graph[steps[step]])
                except BlockedError:
                    return False
                worker.place, worker.taken, worker.put = (run, step + 1), [], 0
            self._note(worker)
        return True

    def _note(self, worker: Worker) -> None:
        worker.at[worker.place] = dict(worker.values)

    def _execute(self, worker: Worker, op: Operation) -> None:
        values, alias = worker.values, worker.alias
        if op.name in self.variables:
            alias[op.output()] = op.name
            return
        if op.name in self.of_the_queue:
            self.of_the_queue[op.name](worker, op)
            return
        definition = lookup(op.type)
        sources = [alias.get(ref) for ref in op.inputs]
        if definition.aliases and sources[0]:
            alias[op.output()] = sources[0]
        pairs = zip(op.inputs, sources, strict=True)
        inputs = [values[ref] if s is None else self.variables[s] for ref, s in pairs]
        results = run_op(NumpyBackend(), op, inputs)
        if op.name in worker.constants:
            results = (worker.constants[op.name],)
        if definition.state.writes:
            names = [sources[index] for index in definition.state.writes]
            self.variables.update(zip(names, map(np.array, results), strict=True))
        elif op.output() not in alias:
            values.update((op.output(i), np.array(x)) for i, x in enumerate(results))

    def _take(self, worker: Worker, op: Operation) -> None:
        count = int(worker.values[op.inputs[1]])
        while len(worker.taken) < count:
            if not self.queue:
                raise BlockedError
            worker.taken.append(self.queue.pop(0))
        worker.values[op.output()] = np.array(worker.taken, np.float32)

    def _put(self, worker: Worker, op: Operation) -> None:
        rows = worker.values[op.inputs[1]]
        while worker.put < len(rows):
            if len(self.queue) >= self.capacity:
                raise BlockedError
            self.queue.append(rows[worker.put])
            worker.put += 1

    @property
    def capacity(self) -> int:
        return int(self.program(MAIN, 0).graph["q"].attrs["capacity"])


class Editing(ThreadWalk):
    """Moves, values that are given, edits and branches, at any time."""

    @initialize(capacity=st.integers(1, 4), batch=st.integers(1, 4))
    def begin(self, capacity: int, batch: int) -> None:
        self.document = trained_queue(capacity, batch)
        self._set_out(Scheduler(derive(self.document)))

    @rule(times=st.integers(1, 3))
    def go_on_and_on(self, times: int) -> None:
        for _ in range(times):
            self.continue_()

    @rule(data=st.data())
    def into_the_past(self, data: st.DataObject) -> None:
        self._go_into_the_past(data)

    def _behind(self) -> tuple[list[Did], list[tuple[NamedEdit, dict[str, int]]]] | None:
        """What led to where the current thread stands, and the edits that hold there; None where
        one of them holds in one thread only."""
        session = self.threads.session
        here, op = (session.stop.run, session.stop.step), session.plan.op_after(session.stop.step)
        done = before(self.line.done, self.threads.current, here, end(session), op)
        found, numbers = [], dict[int, int]()
        for number, (edit, where) in enumerate(self.line.edits):
            there = sum(did.edit == number for did in done)
            if 0 < there < len(where):
                return None
            if there or not where:
                numbers[number] = len(found)
                found.append((edit, where))
        done = [d if d.edit is None else replace(d, edit=numbers.get(d.edit)) for d in done]
        return done, found

    @rule(data=st.data())
    def give(self, data: st.DataObject) -> None:
        frame, left = self.threads.session.frame(), self.current
        there = [name for name in GIVEN if frame.value(name) is not None]
        if not there:
            return
        name = data.draw(st.sampled_from(there))
        value = np.array(frame.value(name)) + np.float32(data.draw(st.integers(100, 104)))
        was_new, behind, where = self.is_new, self._behind(), self.threads.stop.place
        refused = _refusal(lambda: self.threads.inject({name: value}, "", "words"))
        if refused is not None:
            assert refused.hint
            assert (self.threads.branches.current, self.threads.stop.place) == (left, where)
            assert behind is not None or was_new or "not yet in" in refused.message
            return
        made = self.threads.branches.current
        assert (made == left) == was_new
        if made != left:
            assert behind is not None
            self.lines[made] = Line(left, *behind)
        self.current, self.is_new = made, True
        self.line.done.append(Did(self.threads.current, given=(name, value)))
        assert self.threads.stop.place == where
        self._spy()

    @rule(edit=st.sampled_from([*EDITS]))
    def edit(self, edit: NamedEdit) -> None:
        threads, left, behind = self.threads, self.current, self._behind()
        where, newest = threads.stop.place, {m.name: end(m.session) for m in threads._all}
        if behind is None:
            with pytest.raises(GradstepError, match="not yet in"):
                threads.edit(*edit)
            return
        done, edits = behind
        stood = dict.fromkeys(NAMES, 0)
        for did in done:
            if did.to is not None:
                stood[did.thread] = max(stood[did.thread], did.to[0])
        known = [each for each, _ in edits]
        nobody = edit == RATE and STOP in known  # then there is no gradient to train with
        runs = {} if nobody else {name: stood[name] for name in EDITS[edit]}
        why = ""
        if edit in (each for each, _ in edits) or (
            edit == OF_THE_QUEUE and self._capacity(edits) == 3
        ):
            why = "it is so already"
        elif edit == OF_THE_QUEUE and any(runs.values()):
            why = "holds what the threads have put there"
        if why:
            with pytest.raises(GradstepError, match=why):
                threads.edit(*edit)
            assert (threads.branches.current, threads.stop.place) == (left, where)
            assert {m.name: end(m.session) for m in threads._all} == newest
            return
        said = manage(threads, ManageBranches(command="edit", kind=edit[0], edited=[*edit[1]]))
        made = threads.branches.current
        assert made not in self.lines
        held = " and ".join(f"run {runs[n] + 1} of {n}" for n in NAMES if n in runs)
        assert said.endswith(f" from {held or 'the beginning'} on, on branch {made}")
        for name in runs:
            at = next(
                (n for n, d in enumerate(done) if d.thread == name and d.to and _is_in(d, runs)),
                len(done),
            )
            marked = [Did(name, edit=len(edits))]
            if runs[name]:
                marked.insert(0, Did(name, (runs[name] - 1, 0)))
            done = [*done[: at if runs[name] else 0], *marked, *done[at if runs[name] else 0 :]]
        world = World(self.document, [*edits, (edit, runs)])
        self.lines[made] = Line(left, world.follow(done), world.edits)
        self.current, self.is_new = made, False
        for member in threads._all:
            model = world.workers[member.name]
            assert (end(member.session), member.waits is not None) == (model.place, model.waits)
        self._spy()

    def _capacity(self, edits: list[tuple[NamedEdit, dict[str, int]]]) -> int:
        return World(self.document, edits).capacity

    @rule(data=st.data())
    def show(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.lines)))
        self.threads.switch_branch(name)
        if name != self.current:
            self.current, self.is_new = name, False
        self._spy()

    @rule()
    def go_on_in_another_engine(self) -> None:
        """By what the window keeps of how it came here."""
        (data,) = written(Courses({"other": course_of(self.threads)}, "other")) or (b"",)
        if data:
            other = Scheduler(derive(self.document))
            follow(other, read(data).by_name["other"])
            assert other.states == self.threads.states
            assert _told(other) == _told(self.threads)
            self.threads, self.is_new = other, other._branches.is_new
            self._spy()

    @rule()
    def keep_and_open_again(self) -> None:
        """The document keeps them, and the first one begins anew."""
        known = _told(self.threads)
        document = self.document.with_(branches=keep(self.threads.to_be_kept))
        opened = gradstep_file.from_bytes(gradstep_file.to_bytes(document))
        assert opened.branches == document.branches
        self.threads = Scheduler(derive(self.document))
        if len(self.lines) > 1:
            self.threads.begin_branches(begin(opened.branches))
            assert _told(self.threads)[1:] == known[1:]
        self.lines["main"] = Line()
        self.current, self.is_new = "main", False
        self._spy()

    def teardown(self) -> None:
        if hasattr(self, "lines"):
            self.every_branch_is_what_its_operations_make()

    @rule()
    def every_branch_is_what_its_operations_make(self) -> None:
        told = {branch.name: branch for branch in self.threads.branches.all}
        assert {name: branch.parent for name, branch in told.items()} == {
            name: line.parent for name, line in self.lines.items()
        }
        for name, line in self.lines.items():
            assert [(e.kind, e.names) for e in told[name].edits] == [e for e, _ in line.edits]
            world = World(self.document, line.edits)
            assert world.follow(line.done) == line.done or not line.edits
            with self.threads.branches.looking_at(name):
                runs = self.threads._branches._runs[name]
            made = self.threads.branches[name]  # now, perhaps
            stood = told[name].place, told[name].stands, told[name].thread
            assert (made.place, made.stands, made.thread) == stood or not told[name].stands
            for member in runs.all:
                model = world.workers[member.name]
                assert (end(member.session), member.waits is not None) == (model.place, model.waits)
                self._compare(member.session, model, f"{name} {member.name}")

    def _compare(self, session: DebugSession, model: Worker, what: str) -> None:
        first = session.timeline.first
        for (run, step), values in model.at.items():
            if run >= first:
                frame = session.frame(run, step)
                for ref, value in values.items():
                    assert same(frame.value(ref), value), (what, run, step, ref)


def _is_in(did: Did, runs: Mapping[str, int]) -> bool:
    return did.to is not None and did.to[0] >= runs[did.thread]


def _told(threads: Scheduler) -> list[Any]:
    return [
        (b.name, b.parent, b.run, b.step, b.op, b.place, b.words, b.left, b.stands, b.thread)
        for b in threads.branches.all
    ]


TestEditing = pytest.mark.slow(Editing.TestCase)
TestEditing.settings = settings(max_examples=share(15), stateful_step_count=20, deadline=None)


def _stands(threads: Scheduler, name: str, place: str) -> None:
    threads.switch(name)
    threads.command("run_to", place)


def test_what_a_constant_was_given_holds_behind_an_edit() -> None:
    threads = Scheduler(derive(trained_queue(8, 2)))
    _stands(threads, "one", "0:5")
    threads.inject({"one_half": np.float32(0.125)})
    _stands(threads, "one", "1:8")
    threads.edit("set", ("by", "value", "2"))
    assert threads.edited_in == {"one": 1, "two": 0}
    seen = threads.session.timeline.link.seen
    assert not seen.touches(1)  # what it begins with, nobody has changed since
    rows = threads.session.frame().value("one_rows")
    assert rows is not None
    assert rows.tolist() == [13, 13.125]


def test_where_an_edit_holds_in_one_thread_only_no_branch_leaves() -> None:
    threads = Scheduler(derive(trained_queue(8, 2)))
    for name in ("one", "two"):
        _stands(threads, name, "1:5")
    said = manage(threads, ManageBranches(command="edit", kind="set", edited=["by", "value", "2"]))
    assert said == "by.value = 2 from run 2 of one and run 2 of two on, on branch b1"
    _stands(threads, "one", "1:3")  # when the other had not begun that run
    count = threads.session.frame().value("one_count")
    assert count is not None
    for act in (lambda: threads.inject({"one_count": count + 1}), lambda: threads.edit(*STOP)):
        with pytest.raises(GradstepError, match="holds here in one, and not yet in two") as caught:
            act()
        assert "switch to the branch that this one leaves" in caught.value.hint
    assert [branch.name for branch in threads.branches.all] == ["main", "b1"]


def test_edits_of_the_first_run_all_hold_in_it_when_one_of_a_later_run_comes() -> None:
    """w after run 1 was learned with the slope 0.5; another learning rate holds from run 2 on."""
    threads = Scheduler(derive(trained_queue(4, 2)))
    for edit in (OF_THE_QUEUE, ("set", ("r", "alpha", "0.5"))):
        threads.edit(*edit)
    threads.command("continue_")
    learned = threads.session.frame().value("w")
    threads.command("continue_")
    threads.edit(*RATE)
    assert threads.edited_in == {MAIN: 1}
    assert threads.session.frame(1, 0).value("w") == learned
    assert learned is not None
    assert learned != -0.5


def test_a_branch_from_before_an_edit_has_it_not_and_is_kept_so() -> None:
    threads = Scheduler(derive(trained_queue(8, 2)))
    _stands(threads, "two", "0:8")
    for _ in range(3):
        threads.command("continue_")
    _stands(threads, MAIN, "2:0")
    threads.command("continue_")
    threads.edit("set", ("r", "alpha", "0.5"), "larger", "larger")
    assert threads.edited_in[MAIN] > 0
    _stands(threads, "two", "0:6")
    threads.inject({"two_count": np.float32(7)}, "early", "two_count = 7")
    early = threads.branches["early"]
    assert (early.parent, early.edits, early.edits_inherited) == ("larger", (), 0)
    threads.switch(MAIN)
    threads.edit("stop", ("r<0",), "stopped")
    kept = keep(threads.to_be_kept)
    assert [branch.lacks for branch in kept] == [(), (), (0,), ()]
    again = Scheduler(derive(trained_queue(8, 2)))
    again.begin_branches(begin(kept))
    for name in ("larger", "early", "stopped"):
        edits = [[(e.kind, e.names) for e in t.branches[name].edits] for t in (threads, again)]
        assert edits[0] == edits[1]
        again.switch_branch(name)
        threads.switch_branch(name)
        assert again.states == threads.states
    threads.drop_branch("larger")
    assert threads.branches["early"].parent == "main"
    assert threads.branches["early"].words == "two_count = 7"
    assert [edit.kind for edit in threads.branches["stopped"].edits] == ["stop"]


def test_branches_of_a_document_that_has_other_threads_say_so() -> None:
    """Each comes back once the threads do."""
    document = trained_queue(8, 2)
    threads = Scheduler(derive(document))
    threads.command("continue_")
    threads.edit("set", ("r", "alpha", "0.5"))
    alone = document.with_(threads=(), fetches=(TensorRef("one_rows"),), targets=())
    kept = begin(keep(threads.to_be_kept))
    single = Scheduler(derive(alone.with_(request=GradientRequest(), optimizers=())))
    single.begin_branches(kept)
    with pytest.raises(GradstepError, match="is of several threads"):
        single.switch_branch("b1")
    assert single.branches.current == "main"
    again = Scheduler(derive(document))
    again.begin_branches(begin(keep(single.to_be_kept)))
    again.switch_branch("b1")
    assert again.states == threads.states
    single.drop_branch("b1")
    single.inject({"one_count": np.float32(7)})
    again = Scheduler(derive(document))
    again.begin_branches(begin(keep(single.to_be_kept)))
    with pytest.raises(GradstepError, match="there are no turns that lead to it"):
        again.switch_branch("b1")
    assert again.branches.current == "main"
    again.drop_branch("b1")


_NUMBERS = st.integers(0, 30) | st.just(2**53)
_PLACES = st.lists(st.tuples(st.integers(0, 3), _NUMBERS), min_size=1, max_size=2).map(tuple)
_OPS = st.lists(st.sampled_from(["", "take", "one_put", "nowhere"]), max_size=2).map(tuple)
_GIVEN = st.dictionaries(
    st.sampled_from(["w", "batch", "q", "nowhere", "one_rows", "r:3"]),
    st.sampled_from([Constant(np.float32(3)), Constant(np.ones(2, np.int64))]),
    max_size=2,
)


@st.composite
def _turns(draw: Any) -> KeptTurn:
    turn = KeptTurn(draw(st.sampled_from([*NAMES, "three"])))
    kind = draw(st.integers(0, 4))
    if kind == 0:
        return replace(turn, given=draw(_GIVEN))
    if kind == 1:
        return replace(turn, assigned=draw(_GIVEN))
    if kind == 2:
        return replace(turn, place=draw(_PLACES), edit=1)
    places = draw(_PLACES) if draw(st.booleans()) else ()
    return replace(turn, place=places, ops=draw(_OPS), tried=draw(st.booleans()))


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(_turns(), max_size=5), _PLACES, _OPS, st.sampled_from([STOP, LIMIT, ("pray", ())]))
def test_whatever_a_file_says_of_turns_is_gone_to_or_refused(
    turns: list[KeptTurn], place: Any, ops: Any, edit: NamedEdit
) -> None:
    stands = (KeptPlace("one", place, ops), KeptPlace("three", place, ops))
    branch = KeptBranch("b", "main", 0, 0, "", turns=tuple(turns), stands=stands, thread="one")
    edited = replace(branch, edits=(KeptEdit(0, 0, "", *edit),))
    kept = KeptBranch("main", "", 0, 0, ""), edited
    opened = gradstep_file.from_bytes(gradstep_file.to_bytes(Document(branches=kept))).branches
    threads = Scheduler(derive(trained_queue(4, 2)))
    threads.begin_branches(begin(opened))
    refused = _refusal(lambda: threads.switch_branch("b"))
    if refused is None:
        assert threads.branches.current == "b"
        threads.command("continue_")
        threads.switch_branch("main")
    else:
        assert refused.hint
        assert "cannot be made again up to where it was left" in refused.message
    assert threads.branches.current == "main"
    threads.command("continue_")
    assert threads.stop.run == 0


def _refusal(act: Callable[[], object]) -> GradstepError | None:
    try:
        act()
    except GradstepError as error:
        return error
    return None
