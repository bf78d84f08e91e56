"""Branches of an edited program: whatever the way, each shows what a fresh run with it would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.history.frozen_program import NamedEdit, Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import CodeItem, CodeKind, Document, Optimizer
from gradstep.core.document.named_edits import edit_by_name
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Graph, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.program.derive import derive
from tests.core.debug.conftest import floats
from tests.core.debug.motion.test_branches import Fresh
from tests.core.debug.test_state_machine import same
from tests.support.drawn_share import share

RUNS = 3
EDITS: tuple[NamedEdit, ...] = (
    ("stop", ("r<0",)),
    ("stop", ("both<1",)),
    ("stop", ("y",)),
    ("unstop", ("r<0",)),
    ("override", ("Identity", "r", "op")),
    ("override", ("Identity", "LeakyRelu", "type")),
    ("native", ("r",)),
    ("set", ("r", "alpha", "0.5")),
    ("set", ("r", "alpha", "-1")),
    ("set", ("total", "keep_dims", "true")),
    ("set", ("two", "value", "[3, -1]")),
    ("hyper", ("train", "learning_rate", "0.5")),
    ("hyper", ("optimizer", "momentum", "0.9", "learning_rate", "1")),
    ("hyper", ("train", "schedule", "exponential_decay(2, 0.5)")),
    ("hyper", ("train", "clip", "norm(0.5)")),
)


def _document() -> Document:
    """A rectified product that is trained with momentum, and something that is not trained."""
    b = GraphBuilder()
    x, w = b.placeholder("x", shape=(2, 2)), b.variable("w", shape=(2,))
    v, two = b.variable("v", shape=(2,)), b.constant(floats(2, 1), name="two")
    y = b.one("Mul", x, w, name="y")
    r = b.one("LeakyRelu", y, name="r", alpha=0.25)
    scaled = b.one("Mul", r, two, name="scaled")
    both = b.one("AddV2", scaled, v, name="both")
    b.one("Sum", both, np.array([0, 1], np.int32), name="total", keep_dims=False)
    b.one("Neg", b.get("total"), name="loss")
    b.one("AssignAdd", b.variable("n", shape=()), 1.0, name="count")
    momentum = Optimizer("Momentum", {"learning_rate": 0.1, "momentum": 0.5})
    return Document(
        graph=b.build(),
        request=GradientRequest.to("loss", "w", "v"),
        feeds={"x:0": Constant(np.array([[1, -2], [0.5, 3]], np.float32))},
        initial={
            "w": Constant(floats(1, -0.5)),
            "v": Constant(floats(0.5, 2)),
            "n": Constant(np.float32(0)),
        },
        optimizers=(momentum,),
        targets=("count",),
        fetches=(TensorRef("both"),),
    )


@dataclass(frozen=True, eq=False)
class Given:
    """A value, before operation `op` of a run ("" at its end)."""

    run: int
    op: str
    name: str
    value: np.ndarray

    @property
    def op_given(self) -> str:
        return TensorRef.parse(self.name).op


@dataclass(frozen=True, eq=False)
class Way:
    """What was given and edited on the way, with the runs in which that was."""

    given: tuple[Given, ...] = ()
    edits: tuple[tuple[int, NamedEdit], ...] = ()


class FreshWay(Fresh):
    """A straight run whose program is another one from some run on."""

    def __init__(self, document: Document, way: Way) -> None:
        self.document, self.way = document, way
        self.at = {}
        self.steps: list[list[str]] = []
        carried: dict[str, np.ndarray] = {}
        for run in range(RUNS):
            edits = [edit for first, edit in way.edits if first <= run]
            self.program = program = derive(_edited(document, edits))
            needed = program.graph.ancestors([*program.targets, *(r.op for r in program.fetches)])
            fed = {ref.op for ref in program.feeds}
            self.names = [name for name in program.graph.order if name in needed - fed]
            self.steps.append([*self.names, ""])
            self.variables = {**program.initial, **carried}
            places = {name: step for step, name in enumerate(self.steps[-1])}
            there = {*needed, *fed, *self.variables}  # an edit may leave nobody who needs it
            given = [g for g in way.given if g.op_given in there and _fits(program.graph, g)]
            self.given = [(g.run, places.get(g.op, places[""]), g.name, g.value) for g in given]
            self._run(run)
            carried = dict(self.variables)
        self.tensors = sorted({ref for known in self.at.values() for ref in known}, key=str)


def _fits(graph: Graph, given: Given) -> bool:
    """Whether it still is of the tensor's type: an edit may have made that another one."""
    kind = infer_declared(graph).types.get(TensorRef.parse(given.name))
    return kind is None or kind.shape.accepts(given.value.shape)


def _edited(document: Document, edits: Sequence[NamedEdit]) -> Document:
    for kind, names in edits:
        document = edit_by_name(document, kind, names)
    return document


class EditedForks(RuleBasedStateMachine):
    """Moves, edits, values that are given, and branches, at any time."""

    limit_bytes: int

    def __init__(self) -> None:
        super().__init__()
        self.document = _document()
        self.session = DebugSession(derive(self.document), None, self.limit_bytes)
        self.ways = {"main": Way()}
        self.fresh = {"main": FreshWay(self.document, Way())}
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

    def _behind(self) -> Way:
        """What was given and edited on the way to where it stands."""
        way, (run, step) = self.ways[self.name], self.here
        steps = self.fresh[self.name].steps[run]
        there = {name: number for number, name in enumerate(steps)}
        given = [g for g in way.given if (g.run, there.get(g.op, len(steps) - 1)) <= (run, step)]
        return Way((*given,), way.edits)

    @rule(edit=st.sampled_from(EDITS))
    def edit(self, edit: NamedEdit) -> None:
        before, here, op, way = self.name, self.here, self.session.stop.op, self._behind()
        so_far = _edited(self.document, [each for _, each in way.edits])
        after = _edited(so_far, [edit])
        self.places[before] = here
        same = after.graph.operations == so_far.graph.operations
        if same and all(getattr(after, k) == getattr(so_far, k) for k in ("request", "optimizers")):
            with pytest.raises(GradstepError, match="it is so already"):
                self.session.edit(*edit)
            assert (self.name, self.here) == (before, here)
            return
        stop = self.session.edit(*edit)
        assert self.name not in self.ways
        self.ways[self.name] = Way(way.given, (*way.edits, (here[0], edit)))
        self.fresh[self.name] = FreshWay(self.document, self.ways[self.name])
        assert stop.run == here[0]
        steps = self.fresh[self.name].steps[stop.run]
        assert stop.step == (steps.index(op) if op in steps else min(here[1], len(steps) - 1))

    @rule(data=st.data())
    def inject(self, data: st.DataObject) -> None:
        frame, before = self.session.frame(), self.name
        there = {r: frame.value(r) for r in self.fresh[before].tensors}
        known = [r for r, v in there.items() if v is not None and v.dtype.kind == "f"]
        assume(known)
        ref = data.draw(st.sampled_from(sorted(known, key=str)))
        value, seed = np.asarray(there[ref]), data.draw(st.integers(0, 99))
        new = np.random.default_rng(seed).normal(size=value.shape).astype(value.dtype)
        self.places[before], way = self.here, self._behind()
        given = Given(self.here[0], self.session.stop.op, ref.short, new)
        self.session.inject({ref.short: new})
        self.ways[self.name] = Way((*way.given, given), way.edits)
        self.fresh[self.name] = FreshWay(self.document, self.ways[self.name])

    @rule(data=st.data())
    def switch(self, data: st.DataObject) -> None:
        self.places[self.name] = self.here
        name = data.draw(st.sampled_from(sorted(self.ways)))
        self.session.switch_branch(name)
        assert self.name == name
        assert self.here == self.places.get(name, self.here)

    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.ways)))
        if name != "main":
            self.places[self.name] = self.here
            self.session.drop_branch(name)
            del self.ways[name], self.fresh[name]
            self.places.pop(name, None)

    @rule(data=st.data(), number=st.integers(0, 2))
    def rename(self, data: st.DataObject, number: int) -> None:
        name, to = data.draw(st.sampled_from(sorted(self.ways))), f"other {number}"
        if name == "main" or to in self.ways:
            return
        self.places[self.name] = self.here
        self.session.branches.rename(name, to)
        for table in (self.ways, self.fresh, self.places):
            if name in table:
                table[to] = table.pop(name)

    @rule(data=st.data())
    def look_at_another_branch(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.ways)))
        with self.session.branches.looking_at(name):
            place = self.session.branches[name].place if name != self.name else self.here
            self._compare(*place, name)

    @rule()
    def forget_what_is_kept(self) -> None:
        while self.session.timeline.drop_oldest():
            pass

    @rule()
    def know_no_more_than_what_was_given(self) -> None:
        """As in another engine: no run of another branch is kept, and no program of one."""
        programs = self.session.branches.programs
        for runs in (programs.own, *programs._made.values()):
            runs.timeline.parked.by_name.clear()
        programs._made = {e: r for e, r in programs._made.items() if r is self.session.runs}

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
            self._compare(run, step, self.name)

    @invariant()
    def values_are_those_of_a_fresh_run(self) -> None:
        self._compare(*self.here, self.name)

    def _compare(self, run: int, step: int, name: str) -> None:
        frame, fresh = self.session.frame(run, step), self.fresh[name]
        for ref in fresh.tensors:
            if ref.op in self.session.program.graph:
                assert same(frame.value(ref), fresh.at[run, step].get(ref)), (ref, run, step)


@pytest.mark.parametrize("limit_bytes", [1 << 30, 6000, 0], ids=["all", "some", "none"])
@pytest.mark.slow
def test_every_branch_is_a_fresh_run_with_its_edits(limit_bytes: int) -> None:
    case = type("Machine", (EditedForks,), {"limit_bytes": limit_bytes}).TestCase
    case.settings = settings(stateful_step_count=20, deadline=None, max_examples=share(15))
    case("runTest").runTest()


def _compare(session: DebugSession, fresh: FreshWay) -> None:
    """All that there is to see on the branch that is shown."""
    timeline = session.timeline
    for run in range(timeline.first, timeline.runs):
        for step in range(timeline.done(run) + 1):
            frame, there = session.frame(run, step), fresh.at[run, step]
            for ref in {*there, *fresh.tensors}:
                if ref.op in session.program.graph:
                    assert same(frame.value(ref), there.get(ref)), (ref, run, step)


def _to_the_end(session: DebugSession) -> None:
    while session.stop.run < RUNS - 1 or session.stop.reason != "end":
        session.continue_()


@pytest.mark.parametrize(
    ("name", "x"), [("x", np.full((2, 2), 3, np.float32)), ("two", floats(3, -1))]
)
def test_what_was_fed_by_hand_in_an_earlier_run_is_fed_behind_an_edit(
    name: str, x: np.ndarray
) -> None:
    """A constant, too."""
    document = _document()
    session = DebugSession(derive(document))
    session.run_to("y")
    session.inject({name: x})
    given = Given(0, session.stop.op, name, x)
    session.continue_()
    session.run_to("1:3")
    session.edit("stop", ("r<0",))
    _to_the_end(session)
    fresh = FreshWay(document, Way((given,), ((1, ("stop", ("r<0",))),)))
    _compare(session, fresh)
    assert session.branches[session.branches.current].edits_inherited == 0
    session.switch_branch("main")
    session.branches.programs._made.clear()
    session.switch_branch("b2")
    _compare(session, fresh)


def test_a_gradient_that_does_not_fit_is_refused_and_makes_no_branch() -> None:
    session = DebugSession(derive(_document()))
    session.run_to("0:3")
    with pytest.raises(GradstepError, match="do not match num inputs"):
        session.edit("override", ("Identity", "Mul", "type"))
    assert [branch.name for branch in session.branches.all] == ["main"]
    assert (session.stop.run, session.stop.step) == (0, 3)


def test_an_edit_ends_the_branch_that_a_value_began() -> None:
    """What is given next is another branch's, though nothing was done since."""
    session = DebugSession(derive(_document()))
    session.run_to("r")
    y = np.full((2, 2), 9, np.float32)
    session.inject({"y": y})
    session.edit("stop", ("r<0",))
    edited = session.branches.current
    session.run_to("scaled")
    session.inject({"y": y})
    assert session.branches.current != edited


@pytest.mark.parametrize(
    ("kind", "names"),
    [("cast_first", ("y<0",)), ("safe_where", ("y<0", "x", "1", "0")), ("set", ())],
)
def test_an_edit_that_was_made_for_another_graph_is_refused_in_a_sentence(
    kind: str, names: tuple[str, ...]
) -> None:
    session = DebugSession(derive(_document()))
    with pytest.raises(GradstepError):
        session.edit(kind, names)
    assert [branch.name for branch in session.branches.all] == ["main"]


def test_what_was_given_behind_an_edit_is_not_taken_over() -> None:
    """Though the run before the edit has it."""
    document, y = _document(), np.full((2, 2), 9, np.float32)
    session = DebugSession(derive(document))
    session.run_to("both")
    session.inject({"y": y})
    session.continue_()
    session.run_to(f"0:{session.plan.step_of['r']}")
    session.edit("set", ("r", "alpha", "0.5"))
    _to_the_end(session)
    _compare(session, FreshWay(document, Way((), ((0, ("set", ("r", "alpha", "0.5"))),))))


def _counted() -> Document:
    """Two functions of the user's; what the one gives goes through a LeakyRelu."""
    b = GraphBuilder()
    x, w = b.placeholder("x", shape=()), b.variable("w", shape=())
    kind = (DType.FLOAT32,)
    b.one("PyFunc", x, name="f", token="f", Tin=kind, Tout=kind)
    b.one("LeakyRelu", b.get("f"), name="leaky", alpha=0.5)
    b.one("PyFunc", b.get("leaky"), name="g", token="g", Tin=kind, Tout=kind)
    b.one("Mul", b.get("g"), w, name="loss")
    code = {n: CodeItem(n, CodeKind.PYFUNC, f"def {n}(x): return x * 2") for n in ("f", "g")}
    return Document(
        graph=b.build(),
        request=GradientRequest.to("loss", "w"),
        feeds={"x:0": Constant(np.float32(-1))},
        initial={"w": Constant(np.float32(3))},
        code=code,
        fetches=(TensorRef("loss"),),
    )


def test_only_what_hangs_on_an_edit_is_done_again() -> None:
    calls: list[str] = []
    document = _counted()

    def function(name: str) -> Callable[[np.ndarray], np.ndarray]:
        return lambda value: calls.append(name) or value * 2

    session = DebugSession(derive(document, {name: function(name) for name in ("f", "g")}))
    session.continue_()
    assert calls == ["f", "g"]
    session.edit("set", ("leaky", "alpha", "0.25"))
    assert session.frame().value("loss") == -1 * 2 * 0.25 * 2 * 3
    assert calls == ["f", "g", "g"]
    session.switch_branch("main")
    assert session.frame().value("loss") == -1 * 2 * 0.5 * 2 * 3
    assert calls == ["f", "g", "g"]


def test_what_cannot_be_edited_is_refused_and_nothing_is_changed() -> None:
    session = DebugSession(derive(_document()))
    session.continue_()
    for edit, message in (
        (("stop", ("nowhere",)), "no operation named 'nowhere'"),
        (("stop", ("r<7",)), "carries no wire"),
        (("stop", ("y:7",)), "exists but only has 1 outputs"),
        (("set", ("r", "alfa", "1")), "has no attribute 'alfa'"),
        (("set", ("r", "alpha", "much")), "'much' is not a number"),
        (("override", ("Identity", "nowhere", "op")), "no operation named 'nowhere'"),
        (("pray", ()), "there is no edit 'pray'"),
        (("unstop", ("r<0",)), "it is so already"),
    ):
        with pytest.raises(GradstepError, match=message):
            session.edit(*edit)
    assert [branch.name for branch in session.branches.all] == ["main"]
    bare = DebugSession(Program(graph=session.program.graph, forward=session.program.forward))
    with pytest.raises(GradstepError, match="was not made from a document"):
        bare.edit("stop", ("r<0",))


def test_a_branch_whose_steps_fail_stands_where_they_fail() -> None:
    b = GraphBuilder()
    x, at = b.placeholder("x", shape=(3,)), b.constant(np.int32(1), name="at")
    b.one("GatherV2", x, at, b.constant(np.int32(0), name="axis"), name="taken")
    b.one("Neg", b.get("taken"), name="loss")
    feeds = {"x:0": Constant(floats(1, 2, 3))}
    session = DebugSession(
        derive(Document(graph=b.build(), feeds=feeds, fetches=(TensorRef("loss"),)))
    )
    session.continue_()
    session.edit("set", ("at", "value", "7"))
    assert session.stop.op == "taken"
    assert session.step().reason == "exception"
    session.switch_branch("main")
    assert session.stop.reason == "end"
    with pytest.raises(GradstepError, match="no gradient until 'scaled' is repaired"):
        DebugSession(derive(_document())).edit("set", ("two", "value", "[1, 2, 3]"))


def test_what_comes_before_is_looked_at_on_the_branch_that_is_left() -> None:
    session = DebugSession(derive(_document()))
    for _ in range(3):
        session.continue_()
    session.edit("stop", ("r<0",))
    assert "step_back" in session.stop.legal
    session.run_to("2:0")
    assert "step_back" not in session.stop.legal
    with pytest.raises(GradstepError, match="run 2 is before this branch, which begins with run 3"):
        session.frame(1, session.timeline.length).value("both")
    session.switch_branch("main")
    assert session.frame(1, session.timeline.length).value("both") is not None


def test_breakpoints_stop_on_every_branch_on_which_they_mean_something() -> None:
    session = DebugSession(derive(_document()))
    points = (Breakpoint("gradients/r_grad/LeakyReluGrad"), Breakpoint("both"))
    session.set_breakpoints(points)
    session.edit("override", ("Identity", "r", "op"))
    assert session.continue_().op == "both"
    assert session.continue_().reason == "end"
    session.switch_branch("main")
    assert [session.continue_().op for _ in range(2)] == ["both", points[0].target]
    assert session.hit_counts == (1, 1)


def test_a_session_is_led_to_an_edited_branch_as_far_as_that_goes() -> None:
    """After an edit of the document which is the branch's own: that is left out."""
    document = _document()
    session = DebugSession(derive(document))
    session.continue_()
    session.continue_()
    session.edit("set", ("r", "alpha", "0.5"), "mine")
    branches = session.branches.all
    for changed in (document, edit_by_name(document, "set", ("r", "alpha", "0.5"))):
        other = DebugSession(derive(changed))
        other.branches.take_over(branches, "mine")
        stop = other.lead()
        assert (stop.run, other.branches.current) == (1, "mine")
        way = Way((), ((1, ("set", ("r", "alpha", "0.5"))),)) if changed is document else Way()
        fresh = FreshWay(changed, way)
        for ref in fresh.tensors:
            if ref.op in other.program.graph:
                found = other.frame().value(ref)
                assert same(found, fresh.at[stop.run, stop.step].get(ref)), ref


def test_which_edits_can_be_made_is_found_out_once() -> None:
    made: list[Sequence[NamedEdit]] = []
    program = derive(_document())
    derived = program.edited
    assert derived is not None

    def edited(own: Program, edits: Sequence[NamedEdit]) -> Program:
        made.append(edits)
        return derived(own, edits)

    session = DebugSession(replace(program, edited=edited))
    session.edit("set", ("r", "alpha", "0.5"))
    session.edit("stop", ("r<0",))
    edits = session.branches["b2"].edits
    programs = session.branches.programs
    assert programs.possible(edits) == edits
    made.clear()
    assert programs.possible(edits) == edits
    assert programs.possible(edits[:1]) == edits[:1]
    assert made == []
    session.drop_branch("b2")
    session.drop_branch("b1")
    assert not programs._possible


def test_a_branch_that_cannot_be_led_to_again_is_said_to() -> None:
    """Its last edit takes from an index that a document with fewer elements does not have."""

    def document(*elements: float) -> Document:
        b = GraphBuilder()
        x, at = b.placeholder("x", shape=(None,)), b.constant(np.int32(1), name="at")
        b.one("GatherV2", x, at, b.constant(np.int32(0), name="axis"), name="taken")
        b.one("Neg", b.get("taken"), name="loss")
        feeds = {"x:0": Constant(floats(*elements))}
        return Document(graph=b.build(), feeds=feeds, fetches=(TensorRef("loss"),))

    session = DebugSession(derive(document(1, 2, 3)))
    session.continue_()
    session.edit("set", ("at", "value", "2"), "mine")
    session.continue_()
    other = DebugSession(derive(document(1, 2)))
    other.branches.take_over(session.branches.all, "mine")
    stop = other.lead()
    assert stop.error is not None
    assert stop.error.message.startswith("branch 'mine' cannot be made again")
    assert (stop.error.node, stop.op, other.branches.current) == ("taken", "taken", "mine")
    assert other.step().reason == "exception"
    assert DebugSession(derive(document(1, 2))).lead().error is None
