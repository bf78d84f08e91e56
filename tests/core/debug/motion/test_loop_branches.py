"""Values that are given amid loops: whatever the way, each branch shows what a straight run with
them would, in every iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.concurrency.session_registry import Sessions
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document
from gradstep.core.document.kept_branch import relabel_branch
from gradstep.core.document.kept_branches import begin as begin_branches
from gradstep.core.document.kept_branches import keep
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.host.branch_answers import inject
from gradstep.core.host.course_bytes import read, written
from gradstep.core.host.moment_answers import compare_moments
from gradstep.core.host.moment_text import read_moment
from gradstep.core.host.moment_values import take
from gradstep.core.host.session_restore import Courses, begin, course_of, follow
from gradstep.core.io.native.gradstep_file import from_bytes, to_bytes
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.program.derive import derive
from gradstep.core.protocol.branch_queries import SEED, CompareMoments
from tests.core.debug.test_state_machine import same
from tests.support.drawn_share import share
from tests.support.looping import nested, power
from tests.support.straight_loops import Place, StraightLoops, place_of, text_of

RUNS = 2
FEEDS = {"x:0": Constant(np.float32(2)), "n:0": Constant(np.int32(3))}


def counted(b: GraphBuilder) -> Tensor:
    """A variable grows in each iteration."""
    x, n = b.placeholder("x", shape=()), b.placeholder("n", "int32", ())
    v = b.variable("v", shape=())

    def body(i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        up = b.one("AssignAdd", v, y, name="up")
        return i + 1, tf.add(up, x, name="plus")

    _, y = tf.while_loop(lambda i, y: i < n, body, [0, 1.0])
    return tf.identity(y, name="y")


def shared(b: GraphBuilder) -> Tensor:
    """What lies in one place of memory: a value, its reshaped self, and what goes round."""
    x, n = b.placeholder("x", shape=()), b.placeholder("n", "int32", ())

    def body(i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        times = tf.multiply(y, x, name="times")
        flat = tf.reshape(times, [4], name="flat")
        back = tf.reshape(flat, [2, 2], name="back")
        return i + 1, back + tf.transpose(tf.identity(times, name="same"))

    first = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    _, y = tf.while_loop(lambda i, y: i < n, body, [0, first])
    return tf.identity(y, name="y")


def _program(build: Callable[[GraphBuilder], Tensor], wrt: str = "") -> Program:
    b = GraphBuilder()
    with b.as_default():
        y = build(b).ref
    graph = b.build()
    request = GradientRequest.to("y", wrt) if wrt else GradientRequest()
    initial = {"v": Constant(np.float32(0.5))} if "v" in graph else {}
    asked = Document(graph=graph, request=request, feeds=FEEDS, initial=initial, fetches=(y,))
    return derive(asked)


PROGRAMS: dict[str, Callable[[], Program]] = {
    "power": lambda: _program(power),
    "gradient": lambda: _program(power, "x"),
    "nested": lambda: _program(nested),
    "variable": lambda: _program(counted),
    "shared": lambda: _program(shared),
}


LIMITS = (1 << 30, 6000, 0)  # all that was done is kept, or some, or none
# Each program with two of them, the next one with others.
LIMITED = [(name, LIMITS[(at + i) % 3]) for at, name in enumerate(PROGRAMS) for i in range(2)]


def _one_of(data: st.DataObject, things: list[Any]) -> Any:
    """One of many, each as often as the others: Hypothesis prefers the first ones."""
    return things[np.random.default_rng(data.draw(st.integers(0, 1 << 16))).integers(len(things))]


class LoopForks(RuleBasedStateMachine):
    """Moves, values that are given in iterations and outside, and branches, at any time."""

    program: Program
    limit_bytes: int

    def __init__(self) -> None:
        super().__init__()
        self.session = DebugSession(self.program, None, self.limit_bytes)
        self.given: dict[str, list[tuple[Place, str, Any]]] = {"main": []}
        self.fresh = {"main": self._straight([])}
        self.places: dict[str, Place] = {"main": (0, 0)}

    def _straight(self, given: list[tuple[Place, str, Any]]) -> StraightLoops:
        return StraightLoops(self.program, self.session.plan, RUNS, given)

    @property
    def here(self) -> Place:
        return place_of(self.session.stop)

    @property
    def name(self) -> str:
        return self.session.branches.current

    @rule(
        command=st.sampled_from(
            ["step", "step_into", "step_out", "continue_", "step_back", "reverse_continue"]
        )
    )
    def move(self, command: str) -> None:
        last = self.here >= (RUNS - 1, self.session.timeline.length)
        back = command in ("step_back", "reverse_continue")
        if command in self.session.stop.legal and (back or not last):
            self.session.command(command)

    @rule(data=st.data())
    def run_to(self, data: st.DataObject) -> None:
        first = self.session.timeline.first
        there = sorted(place for place in self.fresh[self.name].at if place[0] >= first)
        place = _one_of(data, there)
        self.session.run_to(text_of(place))
        assert self.here == place

    @rule(data=st.data(), moves=st.integers(0, 5))
    def inject_in_an_iteration_and_go_on(self, data: st.DataObject, moves: int) -> None:
        first = self.session.timeline.first
        fresh = self.fresh[self.name]
        there = sorted(p for p in fresh.at if p[0] >= first and len(p) > 2)
        assume(there)
        self.session.run_to(text_of(_one_of(data, there)))
        self._inject(data)
        for command in ["step_into"] * moves:
            self.move(command)
            self.values_are_those_of_a_straight_run()

    @rule(data=st.data(), times=st.integers(1, 2))
    def inject(self, data: st.DataObject, times: int) -> None:
        for _ in range(times):
            self._inject(data)

    @rule(data=st.data())
    def inject_before_what_was_given(self, data: st.DataObject) -> None:
        """In the same loop: what was given behind there is not on that branch."""
        first = self.session.timeline.first
        given = [place for place, _, _ in self.given[self.name] if len(place) > 2]
        last = max(given, default=(0, 0))
        before = [p for p in self.fresh[self.name].at if last[:2] <= p < last and p[0] >= first]
        assume(before)
        self.session.run_to(text_of(_one_of(data, sorted(before)[-12:])))
        self._inject(data)

    @rule()
    def go_far_and_come_back(self) -> None:
        """The run is made again, with what was given in it."""
        here = self.here
        self.session.run_to(f"{RUNS - 1}:{self.session.timeline.length}")
        self.forget_what_is_kept()
        if here[0] >= self.session.timeline.first:
            self.session.run_to(f"{here[0]}:{self.session.timeline.length}")
            self.values_are_those_of_a_straight_run()
            self.session.run_to(text_of(here))

    def _inject(self, data: st.DataObject) -> None:
        session, before = self.session, self.name
        frame = session.frame()
        plan = session.plan if not session.stop.inside else frame.loops[0].loop.plan
        seen = {r: frame.value(r) for r in self.fresh[before].at[self.here] if r in plan.tensors}
        known = {
            r: x
            for r, x in seen.items()
            # The way back goes through as many iterations as there are.
            if x is not None and (x.dtype.kind == "f" or not r.op.startswith("grad"))
        }
        assume(known)
        ref = _one_of(data, sorted(known, key=str))
        new = self._other(data, known[ref])
        here, was_new, count = self.here, session.branches._is_new, len(self.given)
        refused: GradstepError | None = None
        try:
            session.inject({ref.short: new})
        except GradstepError as error:
            refused = error
        assert place_of(session.stop) == here
        if refused is not None:
            assert refused.hint
            assert self.name == before
            return
        self.places[before] = here
        kept = [each for each in self.given[before] if each[0] <= here]
        self.given[self.name] = [*kept, (here, ref.short, new)]
        self.fresh[self.name] = self._straight(self.given[self.name])
        assert len(self.given) == count + (not was_new)

    def _other(self, data: st.DataObject, value: np.ndarray) -> np.ndarray:
        number = data.draw(st.integers(0, 9))
        if value.dtype.kind == "f":
            return np.random.default_rng(number).normal(size=value.shape).astype(value.dtype)
        return np.full(value.shape, number % 4, value.dtype)

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
        if name != "main":
            self.places[self.name] = self.here
            self.session.drop_branch(name)
            del self.given[name], self.fresh[name]
            self.places.pop(name, None)

    @rule()
    def forget_what_is_kept(self) -> None:
        while self.session.timeline.drop_oldest():
            pass

    @rule()
    def know_no_more_than_what_was_given(self) -> None:
        """As after an edit of the document, and in another engine."""
        self.session.timeline.parked.by_name.clear()

    @rule()
    def go_on_in_another_engine(self) -> None:
        """By what the window keeps of how it came here."""
        threads = begin(self.program, self.session.backend, self.limit_bytes)
        before = begin(self.program, self.session.backend)
        before._current.session = self.session
        (data,) = written(Courses({"other": course_of(before)}, "other")) or (b"",)
        if data:
            follow(threads, read(data).by_name["other"])
            assert place_of(threads.session.stop) == self.here
            assert threads.session.branches.current == self.name
            self.session = threads.session

    @rule()
    def restart(self) -> None:
        self.places[self.name] = self.here
        self.session.restart()
        assert (self.name, self.here) == ("main", (0, 0))

    @rule(data=st.data())
    def look_elsewhere(self, data: st.DataObject) -> None:
        """Outside of loops, at a step that is done."""
        timeline = self.session.timeline
        places = [p for p in self.fresh[self.name].at if len(p) == 2]
        run, step = data.draw(st.sampled_from(places))
        if timeline.first <= run < timeline.runs and step <= timeline.done(run):
            self._compare((run, step), self.session.frame(run, step))

    @rule(data=st.data())
    def look_at_another_branch(self, data: st.DataObject) -> None:
        """From wherever the session stands, amid a loop, too."""
        name = data.draw(st.sampled_from(sorted(self.given)))
        here, fresh = self.here, self.fresh[name]
        with self.session.branches.looking_at(name) as there:
            timeline = there.timeline
            run, step = data.draw(st.sampled_from([p for p in fresh.at if len(p) == 2]))
            if timeline.first <= run < timeline.runs and step <= timeline.done(run):
                frame = there.frame(run, step)
                for ref, value in fresh.at[run, step].items():
                    assert same(frame.value(ref), value), (ref, name, run, step)
        assert self.here == here

    @invariant()
    def values_are_those_of_a_straight_run(self) -> None:
        self._compare(self.here, self.session.frame())

    def _compare(self, place: Place, frame: Any) -> None:
        fresh = self.fresh[self.name]
        for ref, value in fresh.at[place].items():
            assert same(frame.value(ref), value), (ref, place, self.given[self.name])


@pytest.mark.parametrize(("name", "limit_bytes"), LIMITED)
@pytest.mark.slow
def test_every_branch_is_a_straight_run_with_what_was_given(name: str, limit_bytes: int) -> None:
    fields = {"program": PROGRAMS[name](), "limit_bytes": limit_bytes}
    case = type("Machine", (LoopForks,), fields).TestCase
    case.settings = settings(stateful_step_count=20, deadline=None, max_examples=share(12))
    case("runTest").runTest()


def _session(name: str = "power") -> DebugSession:
    return DebugSession(PROGRAMS[name]())


def test_only_what_hangs_on_a_value_is_done_again() -> None:
    """Of the iteration in which it is given; iterations before it, and what is behind the loop and
    does not read it, stay done."""
    calls: list[str] = []
    kind = (DType.FLOAT32,)
    b = GraphBuilder()

    def called(name: str, x: Tensor) -> Tensor:
        return b.one("PyFunc", x, name=name, token=name, Tin=kind, Tout=kind)

    def body(i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        scalar = np.zeros(0, np.int32)
        f = tf.reshape(called("f", y), scalar)
        g = tf.reshape(called("g", tf.cast(i, "float32")), scalar)
        return i + 1, tf.reshape(called("h", f + g), scalar)

    with b.as_default():
        x = b.placeholder("x", shape=())
        _, y = tf.while_loop(lambda i, y: i < 3, body, [0, 1.0])
        tf.identity(called("k", x), name="apart")
        tf.identity(called("m", y), name="behind")

    def function(name: str) -> Callable[[np.ndarray], np.ndarray]:
        return lambda value: calls.append(name) or value + 1

    graph = b.build()
    program = Program(
        graph=graph,
        forward=graph,
        fetches=(TensorRef("apart"), TensorRef("behind")),
        feeds={TensorRef("x"): np.float32(1)},
        functions={name: function(name) for name in "fghkm"},
    )
    session = DebugSession(program)
    session.continue_()
    assert sorted(calls) == sorted("fgh" * 3 + "km")
    step = session.plan.loops[0]
    steps = session.plan.steps[step].iteration.plan.step_of
    calls.clear()
    session.run_to(f"0:{step}/1:{steps['while/f'] + 1}")
    session.inject({"while/f": np.float32(7)})
    assert calls == []
    assert session.continue_().reason == "end"
    assert sorted(calls) == sorted("h" + "fgh" + "m")  # not f and g of iteration 1, and not k
    # f of iteration 1 is 7, and g 2; in the next one g is 3
    assert session.frame().value("behind") == ((7 + 2 + 1) + 1 + 3 + 1) + 1


def test_a_condition_that_is_given_ends_a_loop_or_lets_it_go_on() -> None:
    session = _session()
    loop = session.plan.loops[0]
    session.run_to(f"0:{loop}/1:2")
    stop = session.inject({"while/LoopCond": np.bool_(False)})
    assert (stop.inside[0].iterations, stop.op) == (1, "")
    session.continue_()
    assert session.frame().value("y") == 2
    session.switch_branch("main")
    session.continue_()
    assert session.frame().value("y") == 8
    session.run_to(f"0:{loop}/3:2")
    stop = session.inject({"while/LoopCond": np.bool_(True)})
    assert (stop.inside[0].iterations, stop.op) == (None, "while/Switch")
    session.continue_()
    assert session.frame().value("y") == 16


@pytest.mark.parametrize(
    ("place", "name", "value", "message"),
    [
        ("0:4/1:5", "nowhere", np.float32(1), "no operation named 'nowhere'"),
        ("0:4/1:5", "while/times", np.float32(1), "'while/times' has no value here yet"),
        ("0:4/1:5", "while/times/Enter", np.float32(1), "comes into the loop from outside"),
        ("0:4/1:8", "while/Const_2", np.int32(1), "is a constant, and the same in all"),
        ("0:4/1:5", "x", np.float32(1), "outside of the loop that the session stands in"),
        ("0:4/1:5", "while/Merge_1", np.int32(1), "is float32, and the value int32"),
        ("0:4/1:5", "while/Merge_1", np.ones(2, np.float32), r"of shape \[\], and the value"),
        ("0:4", "while/Merge_1", np.float32(1), "is computed in a loop's iterations"),
    ],
)
def test_what_cannot_be_given_in_a_loop_is_refused(
    place: str, name: str, value: np.ndarray, message: str
) -> None:
    session = _session()
    session.run_to(place)
    with pytest.raises(GradstepError, match=message) as raised:
        session.inject({name: value})
    assert raised.value.hint
    assert [branch.name for branch in session.branches.all] == ["main"]
    assert text_of(place_of(session.stop)) == place


def test_a_variable_that_the_loop_only_reads_is_given_outside() -> None:
    b = GraphBuilder()
    with b.as_default():
        v = b.variable("v", shape=())
        _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v), [0, 1.0])
        tf.identity(y, name="y")
    graph, initial = b.build(), {"v": np.float32(2)}
    session = DebugSession(Program(graph, graph, fetches=(TensorRef("y"),), initial=initial))
    session.run_to(f"0:{session.plan.loops[0]}/1:3")
    with pytest.raises(GradstepError, match="is only read in the loop"):
        session.inject({"v": np.float32(1)})


def test_an_edit_amid_a_loop_holds_from_the_beginning_of_the_run() -> None:
    """And the place in the loop is found again, where the loop still comes there."""
    document = Document(graph=PROGRAMS["power"]().forward, feeds=FEEDS, fetches=(TensorRef("y"),))
    session = DebugSession(derive(document))
    loop = session.plan.loops[0]
    session.run_to(f"1:{loop}/1:5")
    stop = session.edit("set", ("while/Const_2", "value", "2"))
    assert text_of(place_of(stop)) == f"1:{loop}/1:5"
    assert session.frame().value("while/Merge") == 2
    session.continue_()
    assert session.frame().value("y") == 4
    session.switch_branch("main")
    assert text_of(place_of(session.stop)) == f"1:{loop}/1:5"
    assert session.frame().value("while/Merge") == 1
    session.run_to(f"1:{loop}/2:5")
    stop = session.edit("set", ("while/Const_2", "value", "3"))
    assert [(p.iteration, p.iterations) for p in stop.inside] == [(1, 1)]
    session.switch_branch("main")
    session.run_to(f"1:{loop}/0:4")
    session.inject({"while/Merge_1": np.float32(5)})
    session.run_to(f"1:{loop}/1:5")
    session.edit("set", ("while/Const_2", "value", "2"))
    assert session.frame().value("while/Merge_1") == 10
    session.continue_()
    assert session.frame().value("y") == 20
    session.branches.programs._made.clear()
    session.switch_branch("main")
    session.switch_branch("b4")
    assert session.frame().value("y") == 20


def test_what_was_given_in_a_loop_is_kept_with_a_document() -> None:
    session = _session()
    loop = session.plan.loops[0]
    session.run_to(f"0:{loop}/1:4")
    session.inject({"while/Merge_1": np.float32(5)}, "mine")
    document = Document(graph=session.program.graph, feeds=FEEDS, fetches=(TensorRef("y"),))
    saved = from_bytes(to_bytes(document.with_(branches=keep(session.branches.all))))
    other = DebugSession(derive(saved))
    other.branches.take_over(begin_branches(saved.branches), "main")
    stop = other.switch_branch("mine")
    assert [(p.loop, p.iteration, p.step) for p in stop.inside] == [("while/While", 1, 4)]
    assert other.frame().value("while/Merge_1") == 5
    other.continue_()
    assert other.frame().value("y") == 20
    renamed = relabel_branch(saved.branches[1], lambda name: f"net/{name}")
    assert renamed.changes[0].inside == ((1, 4, "net/while/Identity"),)


def drawing(b: GraphBuilder) -> Tensor:
    """Each iteration draws a number, and a loop inside of it two; others are drawn around."""
    n, shape = b.placeholder("n", "int32", ()), b.constant(np.array([1], np.int32))
    b.placeholder("x", shape=())

    def draw(name: str, seed: int) -> Tensor:
        noise = b.one("RandomUniform", shape, name=name, seed=seed, seed2=2, dtype=DType.FLOAT32)
        return tf.reduce_sum(noise)

    def inner(i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return i + 1, tf.add(y, draw("deep", 7))

    def body(i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        _, more = tf.while_loop(lambda i, y: i < 2, inner, [0, 0.0], name="inner")
        return i + 1, tf.add(tf.add(y, draw("noise", 6)), more)

    before = draw("before", 5)
    _, y = tf.while_loop(lambda i, y: i < n, body, [0, 0.0])
    return tf.add(tf.add(y, before), draw("after", 8), name="y")


def _drawn(session: DebugSession, run: int) -> dict[str, list[float]]:
    """What was drawn in a run: before the loop, in its iterations, in the one inside, after."""
    (outer,), length = session.plan.loops, session.timeline.length
    frame = session.frame(run, length)
    found = {n: [float(frame.value(n)[0])] for n in ("before", "after")}
    loop = session.timeline.enter(run, outer)
    (deep,) = loop.plan.loops
    for number in range(3):
        within = len(loop.plan.steps)
        found.setdefault("noise", []).append(
            float(loop.value(TensorRef("while/noise"), number, within)[0])
        )
        inner = loop.enter(number, deep)
        for turn in range(2):
            value = inner.value(TensorRef("while/inner/deep"), turn, len(inner.plan.steps))
            found.setdefault("deep", []).append(float(value[0]))
    return found


@pytest.mark.parametrize("deep", [False, True], ids=["outer", "inner"])
def test_a_seed_in_an_iteration_is_of_what_the_loop_draws_from_there_on(deep: bool) -> None:
    program, backend = _program(drawing), _session().backend

    def seeded(seed: int | None) -> tuple[list[dict[str, list[float]]], Any]:
        threads = begin(program, backend)
        (outer,) = threads.session.plan.loops
        inner = next(s.iteration for s in threads.session.plan.steps if s.iteration).plan.loops[0]
        if seed is not None:
            threads.command("run_to", f"0:{outer}/1:{inner}/1:0" if deep else f"0:{outer}/1:0")
            said = inject(threads, SEED, np.array(seed))
            which = "2, 2" if deep else "2"
            assert said == f"seed = {seed} in iteration {which} from here on, on branch b1"
        threads.command("run_to", f"1:{threads.session.timeline.length}")
        return [_drawn(threads.session, run) for run in range(2)], threads

    (plain, _), (seven, threads), (eight, _) = seeded(None), seeded(7), seeded(8)
    assert seeded(7)[0] == seven
    first = 3 if deep else 2  # of what is drawn in the loop inside, by all iterations
    for name in ("before", "after"):
        assert plain[0][name] == seven[0][name] == eight[0][name]
    for other in (seven, eight):
        assert plain[0]["deep"][:first] == other[0]["deep"][:first]
        assert not set(plain[0]["deep"][first:]) & set(other[0]["deep"][first:])
        assert plain[0]["noise"][:1] == other[0]["noise"][:1]
        assert (plain[0]["noise"] == other[0]["noise"]) == deep
        assert not set(plain[1]["deep"]) & set(other[1]["deep"])
    assert seven[0]["deep"][first:] != eight[0]["deep"][first:]
    other = begin(program, backend)
    (data,) = written(Courses({"other": course_of(threads)}, "other"))
    follow(other, read(data).by_name["other"])
    assert [_drawn(other.session, run) for run in range(2)] == seven
    threads.switch_branch("main")
    threads.session.timeline.parked.by_name.clear()
    threads.switch_branch("b1")
    assert [_drawn(threads.session, run) for run in range(2)] == seven


def _sessions(session: DebugSession) -> Sessions:
    """The session as an engine's only one."""
    threads = begin(PROGRAMS["power"](), session.backend)
    threads._current.session = session
    return Sessions({"main": threads})


@pytest.mark.parametrize("name", ["power", "nested", "variable", "shared"])
def test_a_moment_amid_a_loop_holds_what_the_iteration_does(name: str) -> None:
    session = _session(name)
    fresh = StraightLoops(session.program, session.plan, RUNS)
    session.run_to(f"{RUNS - 1}:{session.timeline.length}")
    count, sessions = 0, _sessions(session)
    for place in fresh.at:
        taken = take(sessions, read_moment(sessions, text_of(place)))
        assert taken.title == text_of(place)
        for op, outputs in taken.values.items():
            for index, value in outputs.items():
                count += len(place) > 2
                assert same(value, fresh.at[place].get(TensorRef(op, index), value)), (place, op)
        known = {ref.op for ref in fresh.at[place]}
        assert known - {*taken.values} == set() or len(place) == 2, (place, known)
    assert count > 50


def test_two_moments_amid_loops_are_held_against_each_other() -> None:
    session = _session()
    (loop,) = session.plan.loops
    session.run_to(f"0:{loop}/1:4")
    session.inject({"while/Merge_1": np.float32(5)})
    sessions = _sessions(session)
    from gradstep.gpu.devices import Devices

    def compared(left: str, right: str = "") -> Any:
        moments = (read_moment(sessions, text) for text in (left, right))
        left_moment, right_moment = moments
        request = CompareMoments(left=left_moment, right=right_moment)
        return compare_moments(sessions, request, Devices())

    found = compared("main")
    here = f"0:{loop}/1:4"
    assert (found.left, found.right) == (f"main · {here}", f"b1 · {here}")
    assert found.first_divergence == "while/Merge_1"
    assert session.stop.place == [(0, loop), (1, 4)]
    assert [n.name for n in found.nodes if n.creates] == ["while/Merge_1"]
    steps = compared(f"0:{loop}/0:4", f"0:{loop}/1:4")
    assert "while/Merge" in {n.name for n in steps.nodes if n.differs}
    session.run_to(f"0:{session.timeline.length}")
    ends = compared("main@" + here, "b1@" + here)
    assert ends.first_divergence == "while/Merge_1"
    with pytest.raises(GradstepError, match="has not been run there"):
        compared(f"0:{loop}/7:0", here)
    with pytest.raises(GradstepError, match="is no loop"):
        compared("0:0/0:0", here)


def test_a_loop_that_draws_nothing_takes_no_seed() -> None:
    threads = begin(PROGRAMS["power"](), _session().backend)
    threads.command("run_to", f"0:{threads.session.plan.loops[0]}/1:4")
    with pytest.raises(GradstepError, match="nothing in the loop while/While draws") as raised:
        inject(threads, SEED, np.array(7))
    assert raised.value.hint == "step out of the loop, for what is drawn outside"
    said = inject(threads, "while/Merge_1", np.float32(5))
    assert said.startswith("while/Merge_1 = 5 in iteration 2 from here on")


def test_the_way_back_through_a_loop_goes_round_as_often_as_that_goes_now() -> None:
    session = _session("gradient")
    session.continue_()
    loop, back = session.plan.loops
    session.run_to(f"0:{loop}/3:2")
    session.inject({"while/Merge": np.int32(0)})
    session.inject({"while/LoopCond": np.bool_(True)})
    stop = session.run_to(f"0:{back}/5:3")
    assert [(p.iteration, p.iterations) for p in stop.inside] == [(5, None)]
    session.continue_()
    assert session.frame().value("y") == 2**6
    assert session.frame().gradient("x") == 6 * 2**5


def test_the_way_back_does_not_go_through_an_iteration_that_there_was_not() -> None:
    session = _session("gradient")
    session.continue_()
    back = session.plan.loops[1]
    session.run_to(f"0:{back}/3:3")
    session.inject({"gradients/while/While_grad/While/LoopCond": np.bool_(True)})
    stop = session.continue_()
    assert stop.reason == "exception"
    assert "is asked for in iteration -1" in stop.error.message


def test_what_is_done_on_one_branch_is_not_on_another() -> None:
    """Behind the loop that a branch leaves are steps that do not hang on what is given in it; in
    the run that is gone back to these are still to come."""
    b = GraphBuilder()
    with b.as_default():
        y, u = power(b), b.variable("u", shape=())
        z = tf.identity(tf.multiply(u, u), name="z")
        grown = b.one("AssignAdd", u, b.constant(1.0), name="grow")
    document = Document(
        graph=b.build(),
        feeds=FEEDS,
        initial={"u": Constant(np.float32(2))},
        fetches=(y.ref, z.ref, grown.ref),
    )
    session = DebugSession(derive(document))
    loop = next(n for n, step in enumerate(session.plan.steps) if step.iteration)
    session.continue_()
    session.run_to(f"1:{loop}")
    session.run_to(f"0:{loop}/1:0")
    given = session.stop.inside[0].loop.rpartition("/")[0] + "/Merge_1"
    session.inject({given: np.float32(7)})
    session.switch_branch("main")
    session.run_to(f"1:{session.timeline.length}")
    assert session.frame().value("z") == 9


@pytest.mark.parametrize("depth", [1, 2])
def test_a_loop_that_failed_and_begins_again_has_what_was_given(depth: int) -> None:
    """As a step around it is done, in which it is not gone into: of the run, or of an iteration."""
    fails: list[str] = []
    kind = (DType.FLOAT32,)
    b = GraphBuilder()

    def function(value: np.ndarray) -> np.ndarray:
        if fails:
            raise ValueError(fails.pop())
        return value

    def body(i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        made = b.one("PyFunc", y, name="f", token="f", Tin=kind, Tout=kind)
        return i + 1, tf.reshape(made, np.zeros(0, np.int32)) + 1.0

    def around(i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return i + 1, tf.while_loop(lambda i, y: i < 3, body, [0, y], name="in")[1]

    with b.as_default():
        _, y = tf.while_loop(lambda i, y: i < 2, around, [0, 1.0], name="out")
        tf.identity(y, name="y")
    graph = b.build()
    program = Program(graph, graph, fetches=(TensorRef("y"),), functions={"f": function})
    session = DebugSession(program)
    [outer] = session.plan.loops
    plan = session.plan.steps[outer].iteration.plan
    [inner] = plan.loops
    inside = plan.steps[inner].iteration.plan.step_of["out/in/f"] + 1
    session.run_to(f"0:{outer}/0:{inner}/1:{inside}")
    session.inject({"out/in/f": np.float32(100)})
    session.run_to("/".join([f"0:{outer}", f"0:{inner}"][:depth]))
    fails.append("not now")
    assert session.step().reason == "exception"
    assert len(session.stop.inside) == depth - 1
    session.continue_()
    assert session.frame().value("y") == 100 + 2 + 3


def test_runs_that_are_kept_were_fed_what_they_were_fed() -> None:
    """A fed value that is given on a branch, and then another for which memory is laid out anew."""
    session = DebugSession(PROGRAMS["shared"]())
    session.continue_()
    session.continue_()
    session.inject({"x": np.float32(0.125)})
    session.inject({"while/Exit": np.int32(0)})
    with session.branches.looking_at("main") as there:
        fed = [float(there.frame(run, 0).value("x:0")) for run in range(RUNS)]
    assert fed == [2.0, 2.0]
    assert float(session.frame().value("x:0")) == 0.125
