"""Branches: whatever the way, each shows what a fresh run with the same edits would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.random_streams import seeded
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.training import Wish
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.run.recording import Recording
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Constant, Graph, TensorRef
from gradstep.core.host.branch_answers import inject
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.debug.conftest import floats
from tests.core.debug.test_state_machine import Straight, same
from tests.support.drawn_share import share

RUNS = 3  # as far as the machine goes
Given = tuple[int, int, str, np.ndarray]  # a run, steps done, what, and its value


class Fresh(Straight):
    """A straight run, operation by operation, with values given on the way: no branch, no plan."""

    def __init__(self, program: Program, given: Sequence[Given] = ()) -> None:
        self.given = given
        super().__init__(program)

    def _run(self, run: int) -> None:
        if run >= RUNS:
            return
        alias = {TensorRef(name): name for name in self.variables}
        values = dict(self.program.feeds)
        for first, _, name, value in self.given:  # a feed is one for all runs behind
            if first < run and TensorRef.parse(name) in self.program.feeds:
                values[TensorRef.parse(name)] = value
        for step, name in enumerate([*self.names, ""]):
            for when in [g for g in self.given if g[:2] == (run, step)]:
                ref = TensorRef.parse(when[2])
                (self.variables if ref in alias else values)[alias.get(ref, ref)] = when[3]
            known = {ref: self.variables[variable] for ref, variable in alias.items()}
            self.at[run, step] = {**values, **known}
            if name and name not in self.variables:
                self._execute(self.program.graph[name], alias, values)
            if name and self.program.graph[name].type == "Const":  # one for all runs behind, too
                mine = [g[3] for g in self.given if g[0] < run and g[2] == name]
                values.update({TensorRef(name): value for value in mine})


class Forks(RuleBasedStateMachine):
    """Moves, values that are given, and branches, at any time. `program` is set by the test."""

    program: Program
    limit_bytes: int
    backend: Backend | None = None

    def __init__(self) -> None:
        super().__init__()
        self.session = DebugSession(self.program, self.backend, self.limit_bytes)
        self.given: dict[str, list[Given]] = {"main": []}  # what was, in each branch
        self.fresh: dict[str, Fresh] = {"main": Fresh(self.program)}
        self.places = {"main": (0, 0)}

    @property
    def here(self) -> tuple[int, int]:
        return (self.session.stop.run, self.session.stop.step)

    @property
    def name(self) -> str:
        return self.session.branches.current

    def may(self, command: str) -> bool:
        last = self.here >= (RUNS - 1, self.session.timeline.length)
        forward = command in ("step", "step_into", "continue_", "run_to")
        return command in self.session.stop.legal and not (last and forward)

    @rule(command=st.sampled_from(["step", "step_into", "continue_", "step_back"]))
    def move(self, command: str) -> None:
        if self.may(command):
            self.session.command(command)

    @precondition(lambda self: self.may("run_to"))
    @rule(run=st.integers(0, RUNS - 1), fraction=st.floats(0, 1))
    def run_to(self, run: int, fraction: float) -> None:
        run = max(run, self.session.timeline.first)
        self.session.run_to(f"{run}:{int(fraction * self.session.timeline.length)}")

    @rule(data=st.data(), back=st.just(0) | st.integers(0, 12))
    def inject(self, data: st.DataObject, back: int) -> None:
        """Where it stands, or some steps before that in the same run; it stands where it did."""
        at, before = (self.here[0], max(self.here[1] - back, 0)), self.name
        frame = self.session.frame(*at)
        there = {r: frame.value(r) for r in self.fresh[before].tensors}
        known = sorted((r for r, v in there.items() if v is not None), key=str)
        assume(known)
        ref = data.draw(st.sampled_from(known))
        value = np.asarray(there[ref])
        seed = data.draw(st.integers(0, 99))
        new = np.random.default_rng(seed).normal(size=value.shape).astype(value.dtype)
        self.places[before], count = self.here, len(self.given)
        was_new = self.session.branches._is_new
        if self.program.graph[ref.op].type == "Const" and value.dtype.kind == "i":  # an axis
            with pytest.raises(GradstepError, match="says how large something is"):
                self.session.inject({ref.short: new})
            return
        here, last = self.here, self.given[before][-1:]
        stop = self.session.inject({ref.short: new}, step=at[1] if back else None)
        assert (stop.run, stop.step) == self.here == here
        given = [g for g in self.given[before] if g[:2] <= at]
        self.given[self.name] = [*given, (*at, ref.short, new)]
        self.fresh[self.name] = Fresh(self.program, self.given[self.name])
        goes_on = was_new and all(g[:2] <= at for g in last)
        assert len(self.given) == count + (not goes_on)

    @rule(data=st.data())
    def switch(self, data: st.DataObject) -> None:
        self.places[self.name] = self.here
        name = data.draw(st.sampled_from(sorted(self.given)))
        self.session.switch_branch(name)
        assert self.name == name
        assert self.here == self.places.get(name, self.here)

    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.given)))
        if name == "main":
            with pytest.raises(GradstepError, match="that all others leave"):
                self.session.drop_branch(name)
            return
        self.places[self.name] = self.here
        self.session.drop_branch(name)
        del self.given[name], self.fresh[name]
        self.places.pop(name, None)

    @rule(data=st.data(), number=st.integers(0, 3))
    def rename(self, data: st.DataObject, number: int) -> None:
        name, to = data.draw(st.sampled_from(sorted(self.given))), f"other {number}"
        if name == "main" or to in self.given:
            return
        self.places[self.name] = self.here
        self.session.branches.rename(name, to)
        for table in (self.given, self.fresh, self.places):
            if name in table:
                table[to] = table.pop(name)

    @rule(data=st.data())
    def look_at_another_branch(self, data: st.DataObject) -> None:
        """Without going there."""
        name = data.draw(st.sampled_from(sorted(self.given)))
        with self.session.branches.looking_at(name):
            run, step = self.session.branches[name].place if name != self.name else self.here
            frame, fresh = self.session.frame(run, step), self.fresh[name]
            for ref in fresh.tensors:
                assert same(frame.value(ref), fresh.at[run, step].get(ref)), (name, ref)

    @rule()
    def forget_what_is_kept(self) -> None:
        """As memory runs out: branches are computed again."""
        while self.session.timeline.drop_oldest():
            pass

    @rule()
    def know_no_more_than_what_was_given(self) -> None:
        """As after an edit of the document, and in another engine."""
        self.session.timeline.parked.by_name.clear()

    @rule()
    def restart(self) -> None:
        self.places[self.name] = self.here
        self.session.restart()
        assert (self.name, self.here) == ("main", (0, 0))

    @rule(run=st.integers(0, RUNS - 1), fraction=st.floats(0, 1))
    def look_elsewhere(self, run: int, fraction: float) -> None:
        step = int(fraction * self.session.timeline.length)
        timeline = self.session.timeline
        if timeline.first <= run < timeline.runs and step <= timeline.done(run):
            self._compare(run, step)

    @invariant()
    def values_are_those_of_a_fresh_run(self) -> None:
        self._compare(*self.here)

    def _compare(self, run: int, step: int) -> None:
        frame, fresh = self.session.frame(run, step), self.fresh[self.name]
        for ref in fresh.tensors:
            assert same(frame.value(ref), fresh.at[run, step].get(ref)), (ref, run, step)


@pytest.fixture
def aliases(tutorial: Program) -> Program:
    """Values that lie in one place, constants that are read twice, a variable set to a tensor."""
    b = GraphBuilder()
    x, w = b.placeholder("x", shape=(4,)), b.variable("w", shape=(2, 2))
    two = b.constant(floats(1, 2, 3, 4), name="two")
    y = b.one("Mul", x, two, name="y")
    flat = b.one("Reshape", y, np.array([2, 2], np.int32), name="flat")
    same = b.one("Identity", flat, name="same")
    back = b.one("Reshape", same, np.array([4], np.int32), name="back")
    b.one("AddV2", back, two, name="sum")
    b.one("AddV2", y, b.get("sum"), name="both")
    b.one("AddV2", flat, same, name="twice")
    b.one("Assign", w, b.get("twice"), name="set")
    b.one("Sum", b.get("set"), np.array([0], np.int32), name="total")
    b.one("AssignAdd", w, same, name="up")
    fetches = tuple(TensorRef(name) for name in ("both", "total", "up"))
    return Program(
        graph=b.build(),
        forward=b.build(),
        fetches=fetches,
        feeds={TensorRef("x"): floats(1, -2, 3, 0.5)},
        initial={"w": np.ones((2, 2), np.float32)},
    )


@pytest.mark.parametrize("limit_bytes", [1 << 30, 6000, 0], ids=["all", "some", "none"])
@pytest.mark.parametrize("name", ["tutorial", "dynamic", "aliases"])
@pytest.mark.slow
def test_every_branch_is_a_fresh_run_with_its_edits(
    name: str, limit_bytes: int, request: pytest.FixtureRequest
) -> None:
    fields = {"program": request.getfixturevalue(name), "limit_bytes": limit_bytes}
    case = type("Machine", (Forks,), fields).TestCase
    case.settings = settings(stateful_step_count=20, deadline=None, max_examples=share(15))
    case("runTest").runTest()


def _loop(x: float) -> Program:
    """y = 3 · 2 · … · x0, with x0 = x + 1, and z = y + x0."""
    b = GraphBuilder()
    with b.as_default():
        x0 = b.one("AddV2", b.placeholder("x", shape=()), 1.0, name="x0")
        _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x0), (0, x0))
        b.one("AddV2", y, x0, name="z")
    feeds = {TensorRef("x"): np.float32(x)}
    return Program(graph=b.build(), forward=b.build(), fetches=(TensorRef("z"),), feeds=feeds)


def _all_values(session: DebugSession) -> dict[str, object]:
    """Of every tensor, in the last iteration of each loop, too."""
    frame, graph = session.frame(), session.program.graph
    found = {op.name: frame.value(op.output()) for op in graph}
    return {name: None if x is None else x.tolist() for name, x in found.items() if name != "x"}


def test_a_loop_runs_again_on_what_it_was_given() -> None:
    session, other = DebugSession(_loop(2)), DebugSession(_loop(4))
    session.continue_()
    session.run_to("0:" + str(session.plan.step_of["x0"] + 1))
    session.inject({"x0": np.float32(5)})
    session.continue_()
    other.continue_()
    assert _all_values(session) == _all_values(other)


def test_what_cannot_be_given_is_refused_and_nothing_is_changed() -> None:
    session = DebugSession(_loop(2))
    loop = session.plan.steps[session.plan.loops[0]].op
    inside = next(op.name for op in within(session.program.graph) if op.type == "Mul")
    for name, value, message in (
        ("nowhere", np.float32(1), "no operation named 'nowhere'"),
        ("x0", np.float32(1), "'x0' has no value here yet"),
        (inside, np.float32(1), "in a loop's iterations"),
        ("x", np.int32(1), "'x' is float32, and the value int32"),
        ("x", np.ones(2, np.float32), r"'x' is of shape \[\], and the value of \[2\]"),
    ):
        with pytest.raises(GradstepError, match=message):
            session.inject({name: value})
    session.run_to(loop.name)
    session.step_into()
    with pytest.raises(GradstepError, match="outside of the loop that the session stands in"):
        session.inject({"x": np.float32(1)})
    assert [branch.name for branch in session.branches.all] == ["main"]


def test_a_branch_whose_steps_fail_ends_where_they_fail(gather: Program) -> None:
    """And the other way round: one goes on where the run that it leaves has failed."""
    session = DebugSession(gather)
    assert session.continue_().reason == "exception"
    session.inject({"indices": np.array([0, 1, 4], np.int32)}, "mended")
    assert session.continue_().reason == "end"
    session.run_to("0:1")
    session.inject({"indices": np.array([0, 1, 9], np.int32)})
    stopped = session.continue_()
    assert (stopped.reason, stopped.op) == ("exception", "b")
    session.switch_branch("mended")
    assert session.run_to("0:4").reason == "end"


def test_only_what_hangs_on_a_value_is_done_again() -> None:
    calls: list[str] = []
    b = GraphBuilder()
    x, y = b.placeholder("x", shape=()), b.placeholder("y", shape=())
    kind = (DType.FLOAT32,)
    for name, source in (("f", x), ("g", y)):
        b.one("PyFunc", source, name=name, token=name, Tin=kind, Tout=kind)
    b.one("AddV2", b.get("f"), b.get("g"), name="sum")

    def function(name: str) -> Callable[[np.ndarray], np.ndarray]:
        return lambda value: calls.append(name) or value * 2

    program = Program(
        graph=b.build(),
        forward=b.build(),
        fetches=(TensorRef("sum"),),
        feeds={TensorRef("x"): np.float32(1), TensorRef("y"): np.float32(2)},
        functions={name: function(name) for name in ("f", "g")},
    )
    session = DebugSession(program)
    session.continue_()
    session.run_to("0:0")
    session.inject({"y": np.float32(7)})
    assert session.continue_().reason == "end"
    assert session.frame().value("sum") == 16
    assert calls == ["f", "g", "g"]


def test_what_was_read_already_is_given_where_it_is_computed(tutorial: Program) -> None:
    """At the end of a run nothing reads d any more: another d there would change nothing."""
    threads, other = Scheduler(tutorial), DebugSession(tutorial)
    threads.command("continue_")
    held = threads.session.frame().value("d")
    assert held is not None
    said = inject(threads, "d", held * 2)
    assert said == "d = [2.12 3.92] since it was computed, on branch b1"
    other.run_to(f"0:{other.plan.step_of['d'] + 1}")
    other.inject({"d": held * 2})
    other.run_to(f"0:{other.timeline.length}")
    assert _all_values(threads.session) == _all_values(other)
    said = inject(threads, "c", np.zeros(2, np.float32))
    assert said == "c = [0. 0.] from here on, on branch b1", "the next run reads it"


def test_a_step_that_fails_by_what_is_given_is_where_one_stands(gather: Program) -> None:
    session = DebugSession(gather)
    session.inject({"indices": np.array([0, 1, 4], np.int32)}, "mended")
    assert session.continue_().reason == "end"
    end = session.stop.step
    stopped = session.inject({"indices": np.array([0, 1, 9], np.int32)}, step=0)
    assert stopped.error is not None
    assert stopped.step < end
    session.switch_branch("mended")
    assert (session.stop.step, session.stop.error) == (end, None)


def test_a_seed_gives_other_random_numbers_from_there_on() -> None:
    """The same ones each time, other than every other seed's; what was drawn before stays."""
    b = GraphBuilder()
    shape = np.array([3], np.int32)
    for name in ("one", "two"):
        b.one("RandomUniform", shape, name=name, seed=1, seed2=2, dtype=DType.FLOAT32)
    b.one("AddV2", b.get("one"), b.get("two"), name="sum")
    graph = b.build()
    session = DebugSession(Program(graph=graph, forward=graph, fetches=(TensorRef("sum"),)))

    def drawn(seed: int) -> tuple[bytes, ...]:
        session.run_to(f"1:{session.plan.step_of['two']}")
        session.inject(seeded(session, seed))
        session.continue_()
        session.continue_()
        frames = [session.frame(run, session.timeline.length) for run in (0, 1, 2)]
        found = [f.value(name).tobytes() for f in frames for name in ("one", "two")]
        session.switch_branch("main")
        return tuple(found)

    session.continue_()
    session.continue_()
    session.continue_()
    first, same_again, other = drawn(0), drawn(0), drawn(7)
    assert first == same_again
    assert first[:3] == other[:3]
    assert not {*first[3:]} & {*other[3:]}
    assert drawn(7) == other
    main = session.frame(2, session.timeline.length)
    assert [main.value(name).tobytes() for name in ("one", "two")] == [*first[4:]]
    with pytest.raises(GradstepError, match="no seed here"):
        seeded(session, -1)


def test_names_are_there_once(tutorial: Program) -> None:
    session = DebugSession(tutorial)
    session.inject({"c": floats(1, 2)}, "mine")
    with pytest.raises(GradstepError, match="a branch 'mine' already"):
        session.branches.rename("main", "mine")
    with pytest.raises(GradstepError, match="a branch needs a name"):
        session.branches.rename("mine", " ")
    with pytest.raises(GradstepError, match="no branch 'min'"):
        session.switch_branch("min")
    session.branches.rename("main", "first")
    assert [(b.name, b.parent) for b in session.branches.all] == [("first", ""), ("mine", "first")]


def _with_constant(program: Program, name: str, value: np.ndarray) -> Program:
    graph = program.graph
    ops = dict(graph.operations)
    ops[name] = replace(graph[name], attrs={**graph[name].attrs, "value": Constant(value)})
    return replace(program, graph=Graph(ops))


@pytest.mark.parametrize("fast", [False, True], ids=["recorded", "trained"])
def test_a_constant_is_another_one_in_all_runs_behind(tutorial: Program, fast: bool) -> None:
    """As a fresh run with another learning rate, which nothing has read before."""
    rate, value = "train/learning_rate", np.float32(0.25)
    session, fresh = DebugSession(tutorial), DebugSession(_with_constant(tutorial, rate, value))

    def go_on(one: DebugSession) -> None:
        one.continue_()
        if fast:
            one.train(Wish(5, one.curves()))
        else:
            for _ in range(5):
                one.continue_()

    session.run_to(f"0:{session.plan.step_of[rate] + 1}")
    session.inject({rate: value})
    go_on(session)
    go_on(fresh)
    assert session.stop.run == fresh.stop.run
    for _ in range(2):
        for run in range(session.timeline.runs):
            frames = [each.frame(run, session.timeline.done(run)) for each in (session, fresh)]
            for name in ("c", "k", "c/Adam", "loss", rate):
                assert same(*(frame.value(name) for frame in frames)), (run, name)
        assert session.frame(0, session.plan.step_of[rate] + 1).value(rate) == value
        session.switch_branch("main")
        session.continue_()
        assert session.frame().value(rate) == np.float32(0.001)
        session.timeline.parked.by_name.clear()
        session.switch_branch("b1")


def test_another_predicate_takes_the_other_branch_of_a_cond() -> None:
    """What the two give reads nothing that the predicate made."""
    b = GraphBuilder()
    with b.as_default():
        p = b.one("Greater", b.placeholder("x", shape=()), 0.0, name="p")
        y = tf.cond(p, lambda: tf.constant(1.0), lambda: tf.constant(2.0))
        b.one("Neg", y, name="z")
    feeds = {TensorRef("x"): np.float32(1)}
    graph = b.build()
    program = Program(graph=graph, forward=graph, fetches=(TensorRef("z"),), feeds=feeds)
    session = DebugSession(program)
    session.continue_()
    assert session.frame().value("z") == -1
    session.run_to(f"0:{session.plan.step_of['p'] + 1}")
    session.inject({"p": np.bool_(False)})
    assert session.timeline.done(0) == session.timeline.length
    session.continue_()
    assert session.frame().value("z") == -2
    session.switch_branch("main")
    session.continue_()
    assert session.frame().value("z") == -1


def test_a_branch_that_is_shown_again_begins_with_no_variable_anew(
    tutorial: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its memory is taken back whole; and of what it began with it stays known what it is like."""
    session, start, started = DebugSession(tutorial), Recording._start, list[int]()
    monkeypatch.setattr(
        Recording,
        "_start",
        lambda self, version, array: started.append(version) or start(self, version, array),
    )
    session.continue_()
    before = _all_values(session)
    name = next(iter(tutorial.initial))
    session.inject({name: 2 * tutorial.initial[name]})
    started.clear()
    session.switch_branch("main")
    session.restart()
    assert not started
    session.continue_()
    assert _all_values(session) == before


def test_a_variable_without_a_value_has_none_again_on_the_branch_before() -> None:
    b = GraphBuilder()
    w = b.variable("w", shape=(2,))
    b.one("Identity", tf.multiply(w, w), name="y")
    graph = b.build()
    session = DebugSession(Program(graph=graph, forward=graph, fetches=(TensorRef("y"),)))
    session.inject({"w": floats(2, 3)})
    session.continue_()
    assert _all_values(session)["y"] == [4, 9]
    session.switch_branch("main")
    assert _all_values(session)["w"] is None
    assert session.continue_().error is not None
    session.switch_branch("b1")
    assert _all_values(session)["y"] == [4, 9]
