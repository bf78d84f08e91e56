"""What a query finds is what one finds who goes through every step and looks, in loops too."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradstep.core.debug.breaks.expression import Scope, parse
from gradstep.core.debug.breaks.expression_names import find_mentions
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.query.condition_parts import locate
from gradstep.core.debug.query.query_search import find
from gradstep.core.debug.query.recorded_query import Answers, Query, Which
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import loop_of, within
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.program.derive import derive
from tests.examples.build import FOLDER
from tests.support.each_case import each_of
from tests.support.looping import branched, nested, position, power, session

RUNS = 3
WRITES = ("Assign", "Apply")  # of the variable that is their first input
DECLARES = ("VariableV2",)
Found = list[tuple[str, str]]  # position, and what `value` was, "None" where it was not said


class Walk:
    """By single steps through all runs; `found` by an expression after those steps that gave a
    value to what it names, or to anything where it says `value`."""

    def __init__(self, made: DebugSession) -> None:
        self.made = made
        self.ops = {op.name: op for op in within(made.plan.graph)}
        self.stops: list[tuple[str, Any, list[TensorRef]]] = []  # what was given a value there
        done = ""
        while made.stop.run < RUNS:
            given = self._given(done)
            if not (done and made.frame().skips(done)):
                self.stops.append((position(made.stop), made.frame(), given))
            done = "" if made.next_op is None else made.next_op.name
            around = made.stop.inside
            made.step_into()
            if len(made.stop.inside) < len(around):
                done = around[-1].loop

    @property
    def _begins(self) -> bool:
        stop = self.made.stop
        return (stop.inside[-1].step if stop.inside else stop.step) == 0

    def _given(self, done: str) -> list[TensorRef]:
        stop = self.made.stop
        if self._begins and stop.inside:
            loop = loop_of(self.ops[stop.inside[-1].loop])
            assert loop is not None
            first = loop.captures if stop.inside[-1].iteration == 0 else ()
            return [TensorRef(name) for name in (*loop.variables, *first)]
        if self._begins:
            fed = [*self.made.program.feeds, *map(TensorRef, self.made.program.initial)]
            return fed if stop.run == 0 else []
        op = self.ops[done]
        if op.type in DECLARES:
            return []
        if op.type.startswith(WRITES):
            return [TensorRef(done), self._variable(op)]
        return [TensorRef(done, i) for i in range(4)]

    def _variable(self, op: Operation) -> TensorRef:
        ref = op.inputs[0]
        assert ref is not None
        while self.ops[ref.op].type not in DECLARES:
            ref = self.ops[ref.op].inputs[0]
            assert ref is not None
        return ref

    def found(self, text: str) -> Found:
        expression, refs = parse(text), {ref for _, ref in find_mentions(text)}
        found: Found = []
        for at, frame, gave in self.stops:
            subjects: list[TensorRef | None] = [None]
            if expression.bare:
                written = [ref for ref in gave if self.ops[ref.op].type in DECLARES]
                subjects = [*(written if len(gave) == 2 and written else gave)]
            elif not (refs & {*gave} or expression.recorded & {"step", self._anew(at)}):
                subjects = []
            for subject in subjects:
                with suppress(GradstepError):  # the record of a loop is no number
                    if expression.holds(Scope(frame, subject)):
                        found.append((at, str(subject)))
        return found

    def _anew(self, at: str) -> str:
        """What is another one at the begin of an iteration."""
        return "iteration" if "/" in at and at.endswith(":0") else ""


def asked(made: DebugSession, text: str, which: Which = Which.EVERY) -> Found:
    found = find(made, Query(text, which)).found
    bare = parse(text).bare
    return [(answer.position, str(answer.tensor if bare else None)) for answer in found]


@cache
def walk(build: Callable[..., Any], n: int) -> Walk:
    return Walk(session(build, n))


NAMES = {
    power: ["y", "while/times", "while/Merge_1", "x", "while/Less"],
    nested: ["y", "out/in/plus", "out/Merge_1", "out/in/Merge", "out/AddV2_1"],
    branched: ["y", "cond/while/cond/times", "runs", "cond/while/Merge_1", "count"],
}


@st.composite
def conditions(draw: st.DrawFn, build: Callable[..., Any]) -> str:
    there = {op.name for op in within(walk(build, 2).made.plan.graph)}
    names = [name for name in NAMES[build] if name in there]
    name, other = draw(st.sampled_from(names)), draw(st.sampled_from(names))
    number = draw(st.sampled_from(["0", "1", "2", "4", "7.5", f'x["{other}"]']))
    sign = draw(st.sampled_from(["<", ">", "==", ">="]))
    return draw(
        st.sampled_from(
            [
                f'x["{name}"] {sign} {number}',
                f"value {sign} {number}",
                f'x["{name}"] {sign} {number} and step > 3',
                f'x["{name}"] {sign} {number} and iteration >= 1',
                f'written(x["{name}"])',
                f'x["{other}"] {sign} 2 or x["{name}"] {sign} {number}',
                f'not written(x["{name}"]) and x["{other}"] {sign} 2',
            ]
        )
    )


@pytest.mark.slow
@settings(deadline=None)
@given(st.data(), st.sampled_from([power, nested, branched]), st.integers(0, 3))
def test_every_is_what_a_walk_through_all_steps_finds(
    data: st.DataObject, build: Callable[..., Any], n: int
) -> None:
    through = walk(build, n)
    text = data.draw(conditions(build))
    expected = through.found(text)
    found = asked(through.made, text)
    assert [at for at, _ in found] == [at for at, _ in expected]
    assert sorted(found) == sorted(expected)


@pytest.mark.slow
@settings(deadline=None)
@given(st.data(), st.sampled_from([power, nested, branched]), st.integers(0, 3))
def test_others_are_among_every(data: st.DataObject, build: Callable[..., Any], n: int) -> None:
    made = walk(build, n).made
    text = data.draw(conditions(build))
    every = asked(made, text)
    places = [at for at, _, _ in walk(build, n).stops]
    here = data.draw(st.sampled_from(places))
    made.run_to(here)
    order = [places.index(at) for at, _ in every]
    now = places.index(here)
    after = [e for e, at in zip(every, order, strict=True) if at > now]
    before = [e for e, at in zip(every, order, strict=True) if at < now]
    up_to = [e for e, at in zip(every, order, strict=True) if at <= now]
    assert asked(made, text, Which.FIRST) == every[:1]
    assert asked(made, text, Which.NEXT) == after[:1]
    assert asked(made, text, Which.PREVIOUS) == before[-1:]
    assert asked(made, text, Which.LAST) == up_to[-1:]
    assert position(made.stop) == here


@each_of("build", [power, nested, branched])
@each_of("n", [0, 2])
def test_what_was_written_is_what_the_last_step_gave(build: Callable[..., Any], n: int) -> None:
    for at, frame, gave in walk(build, n).stops:
        begins = at.split("/")[-1].endswith(":0")
        for name in NAMES[build]:
            ref = TensorRef(name)
            assert frame.written(ref) == (ref in gave and not begins), (at, name)


def counting(builder: GraphBuilder) -> Tensor:
    """A variable that is counted up in each iteration."""
    n = builder.placeholder("n", "int32", ())
    builder.placeholder("x", shape=())
    runs = builder.variable("runs", shape=())

    def body(i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        return i + 1, y + builder.one("AssignAdd", runs, 1.0, name="count")

    return tf.identity(tf.while_loop(lambda i, y: i < n, body, [0, 0.0])[1], name="y")


def test_what_a_loop_writes_its_own_steps_do() -> None:
    made = session(counting, 3)
    made.continue_()
    found = find(made, Query('written(x["runs"])', Which.EVERY)).found
    assert [answer.inside[-1].iteration for answer in found] == [0, 1, 2]
    assert [float(answer.value) for answer in found] == [1, 2, 3]


# -- runs of a training --------------------------------------------------------------------------

TEXTS = (
    'x["loss:0"] < 0.66',
    'norm(grad["c"]) > 0.9 * previous(norm(grad["c"]))',
    "isnan(value)",
    "value > 0.5",
    "norm(grad) > norm(value)",
    'update["c"] != 0',
    'x["c"] > previous(previous(x["c"]))',
    "run == 3",
    'written(grad["c"]) and run > 1',
)


def trained(program: Program, runs: int, limit: int = 2 << 30) -> DebugSession:
    made = DebugSession(program, limit_bytes=limit)
    for _ in range(runs):
        made.continue_()
    return made


def rows(answers: Answers) -> list[Any]:
    return [
        (a.position, a.node, a.tensor, a.element, np.asarray(a.value).tolist())
        for a in answers.found
    ]


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.sampled_from(TEXTS), which=st.sampled_from([*Which]), step=st.integers(0, 6))
def test_runs_that_are_not_kept_answer_as_those_that_are(
    tutorial: Program, text: str, which: Which, step: int
) -> None:
    kept, dropped = trained(tutorial, 6), trained(tutorial, 6, 2000)
    dropped.frame(step % 5, 9).value("c")  # a run amid those that are not kept is
    for made in (kept, dropped):
        made.run_to(f"{step % 6}:{step}")
    before = [*dropped.timeline.recorded_runs]
    whole, again = (find(made, Query(text, which)) for made in (kept, dropped))
    assert rows(again) == rows(whole)
    assert again.count == whole.count
    assert whole.repeated == 0
    assert again.repeated or again.runs <= 2
    assert [*dropped.timeline.recorded_runs] == before  # a look drops nothing, and keeps nothing
    assert not dropped.timeline.passing


def test_an_answer_says_where_what_and_which_element(tutorial: Program) -> None:
    made = trained(tutorial, 4)
    [answer] = find(made, Query('any(x["c"][1:] > -0.0398)')).found
    run, step = map(int, answer.position.split(":"))
    assert made.plan.steps[step - 1].op.name == answer.node
    assert made.plan.steps[step - 1].op.type == "ApplyAdam"
    assert answer.tensor == TensorRef("c")
    value = made.frame(run, step).value("c")
    assert value is not None
    assert answer.element == (int(np.argmax(value[1:] > -0.0398)),)
    assert answer.value == value[1]
    before = made.frame(run, step - 1).value("c")
    assert before is not None
    assert not (before[1:] > -0.0398).any()


@each_of(
    ("text", "element", "value"),
    [
        ("isnan(x)", (1, 0), "nan"),
        ("not all(isfinite(x))", (1, 0), "nan"),
        ("any(isnan(x))", (1, 0), "nan"),
        ("x > 2", (0, 1), "3.0"),
        ("any(x > 2)", (0, 1), "3.0"),
        ("2 > 1 and x > 2", None, "2.0"),
        ("x > 5 or x > 2", (0, 1), "3.0"),
        ("max(abs(x[0])) > 2", None, "3.0"),
    ],
)
def test_what_a_condition_is_about(text: str, element: Any, value: str) -> None:
    class Here:
        def value(self, ref: TensorRef) -> Any:
            return np.array([[1.0, 3.0], [np.nan, 0.0]])

    here: Any = Here()
    scope = Scope(here, TensorRef("x"))
    said = text.replace("x", "value").replace("mavalue", "max")
    assert parse(said).holds(scope)
    index, number = locate(said, scope)
    assert (index, str(number)) == (element, value)


def test_the_first_nan_is_a_query(countdown: Program) -> None:
    made = trained(countdown, 5)
    [first] = find(made, Query("not all(isfinite(value))")).found
    assert (first.position.split(":")[0], first.node) == ("2", "net/log")
    [nan] = find(made, Query("isnan(value)")).found
    assert (nan.position.split(":")[0], nan.node) == ("3", "net/log")
    assert np.isnan(nan.value)


def test_who_wrote_a_variable_last(countdown: Program) -> None:
    made = trained(countdown, 3)
    made.run_to("2:1")
    [wrote] = find(made, Query('written(x["n"])', Which.LAST)).found
    assert (wrote.node, wrote.position.split(":")[0]) == ("less", "1")
    made.run_to(wrote.position)
    [again] = find(made, Query('written(x["n"])', Which.LAST)).found
    assert again.position == wrote.position
    [earlier] = find(made, Query('written(x["n"])', Which.PREVIOUS)).found
    assert earlier.position.split(":")[0] == "0"


def test_what_has_no_gradient_is_found_where_it_is_computed() -> None:
    document = read(FOLDER / "stop_gradient.gradstep")
    made = trained(derive(document, {}), 1)
    found = find(made, Query("isnone(grad)", Which.EVERY)).found
    none = {answer.node for answer in found}
    held = {ref.op for ref in made.program.gradients}
    run = {step.op.name for step in made.plan.steps if step.op.phase == "forward"}
    declared = {v.op for v in made.plan.variables.values()}
    assert none
    fed = {ref.op for ref in made.program.feeds}
    assert none - declared == {name for name in run | fed if name not in held | declared}
    assert find(made, Query('isnone(grad["w1"])')).count == ("w1" not in held)


def test_it_counts_what_it_does_not_list(countdown: Program) -> None:
    answers = find(trained(countdown, 5), Query('x["y"] == x["y"] or 1', Which.EVERY, most=2))
    assert (len(answers.found), answers.count, answers.runs) == (2, 5, 5)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x[", "cannot evaluate"),
        ('x["nowhere"] > 1', "nowhere"),
        ('x["y"][3] > 1', "cannot evaluate"),
        ("value[3, 4] > 1", "cannot evaluate"),
        ('written(x["n"] + 1)', "written"),
        ("written(value)", "written"),
        ('(x["y"], (1, 2))', "no shape in common"),
    ],
)
def test_what_is_wrong_is_said(countdown: Program, text: str, why: str) -> None:
    with pytest.raises(GradstepError, match=why):
        find(trained(countdown, 2), Query(text))


def test_a_loop_under_way_is_looked_at_as_far_as_it_is() -> None:
    made = session(power, 3)
    while not (made.stop.inside and made.stop.inside[0].iteration == 2):
        made.step_into()
    found = asked(made, 'x["while/times"] > 0')
    assert [at.split("/")[1].split(":")[0] for at, _ in found] == ["0", "1"]
    assert made.stop.inside[0].iteration == 2
