"""Compiling again after an edit means the same as compiling anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan import incremental
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.liveness_conditions import holds
from gradstep.core.engine.plan.steps import Step
from gradstep.core.engine.run.feed_values import feed_arrays, infer_fed_types
from gradstep.core.engine.run.recording import Recording
from gradstep.core.errors import GradstepError
from gradstep.core.graph.carry_over import continue_graph
from gradstep.core.graph.model import Constant, Graph, Operation, Phase, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.typing.inference import infer_declared
from tests.support.edited_graphs import edited, shared
from tests.support.large_graphs import edit_as_large
from tests.support.layouts import Case
from tests.support.random_networks import networks
from tests.support.random_programs import programs

BACKEND = NumpyBackend()


@dataclass
class Edited:
    """One graph after another, each compiled from the one before."""

    case: Case
    plan: Plan | None = None
    recording: Recording | None = None

    def to(self, graph: Graph, fetches: tuple[TensorRef, ...]) -> tuple[Plan, Recording]:
        """The graph is this now: compiled after the one before and anew, all is the same."""
        arrays = feed_arrays(graph, self.case.feeds)
        types = infer_fed_types(arrays)
        targets = tuple(t for t in self.case.targets if t in graph)
        if self.plan is not None and self.plan.fetches == fetches:
            fetches = self.plan.fetches  # as `derive` gives them
        anew = compile_plan(graph, fetches, targets, types)
        self.plan = compile_plan(graph, fetches, targets, types, self.plan)
        self.recording = Recording(self.plan, BACKEND, self.case.functions, before=self.recording)
        other = Recording(anew, BACKEND, self.case.functions)
        assert_same_plan(self.plan, anew)
        initial = {n: np.asarray(x) for n, x in self.case.initial.items()}
        assert everything(self.recording, arrays, initial) == everything(other, arrays, initial)
        return self.plan, self.recording


def assert_same_plan(continued: Plan, anew: Plan) -> None:
    assert all(a.op is b.op for a, b in zip(continued.steps, anew.steps, strict=True))
    number = dict(zip(continued.fed, anew.fed, strict=True))
    for name in anew.versions:
        number[continued.versions[name][0]] = anew.versions[name][0]
    for a, b in zip(continued.steps, anew.steps, strict=True):
        number.update(zip(a.writes, b.writes, strict=True))
        assert [number[v] for v in a.reads] == list(b.reads)
        assert a.computes == b.computes
        assert (a.guard and a.guard.on(number)) == b.guard
    assert len(set(number.values())) == len(number)
    for a, b in number.items():
        assert continued.values[a] == anew.values[b]
    assert {r: x if isinstance(x, str) else number[x] for r, x in continued.tensors.items()} == {
        **anew.tensors
    }
    assert [[number.get(x, x) for x in there or ()] for there in continued.whereabouts] == [
        [*(there or ())] for there in anew.whereabouts
    ]
    assert continued.needed.names == anew.needed.names
    assert (continued.step_of, continued.is_plain) == (anew.step_of, anew.is_plain)
    assert [continued.made_by[a] for a in number] == [anew.made_by[b] for b in number.values()]
    assert {made for v, made in enumerate(continued.made_by) if v not in number} <= {-1}
    assert continued.firsts.keys() == anew.firsts.keys()
    assert [*continued.variables.items()] == [*anew.variables.items()]
    assert list(continued.versions) == list(anew.versions)
    assert all(type(numbers) is tuple for numbers in continued.versions.values())
    assert [[number[v] for v in x] for x in continued.versions.values()] == [
        list(x) for x in anew.versions.values()
    ]
    assert {n: str(e) for n, e in continued.failures.items()} == {
        n: str(e) for n, e in anew.failures.items()
    }


def everything(recording: Recording, feeds: Mapping[Any, Any], initial: Mapping[str, Any]) -> Any:
    """What two runs show: each value at its step's end, the variables, the failure."""
    plan = recording.plan
    recording.feed(feeds)
    recording.begin({n: x for n, x in initial.items() if n in plan.versions})
    seen: list[Any] = []
    for _ in range(2):
        done, error = recording.run(0, len(plan.steps))
        record = recording.record()
        seen.append((done, str(error)))
        alive = (s for s in plan.steps[:done] if not s.guard or holds(s.guard.when, record.value))
        values = (v for s in alive for v in ((() if s.guard else s.reads), s.writes))
        seen.append([bits(record.value(v)) for several in values for v in several])
        seen.append({n: bits(x) for n, x in recording.variables(done).items()})
        recording.begin(recording.variables(done))
    return seen


def bits(array: Any) -> Any:
    if array is None:
        return None
    content = array.tolist() if array.dtype.hasobject else array.tobytes()
    return array.dtype.str, array.shape, str(content)


@contextmanager
def looking_at_few(data: st.DataObject) -> Iterator[None]:
    """Only at the steps that edits may have touched: at whatever edits, or at small ones; as in a
    small graph, or in a large one."""
    with pytest.MonkeyPatch.context() as patch:
        share = data.draw(st.sampled_from([1.0, incremental.MOST_TOUCHED]))
        patch.setattr(incremental, "MOST_TOUCHED", share)
        if data.draw(st.booleans()):
            edit_as_large(patch)
        yield


@given(st.one_of(networks(), programs()), st.data())
@pytest.mark.slow
def test_after_any_edits_all_is_as_if_compiled_anew(case: Case, data: st.DataObject) -> None:
    with looking_at_few(data):
        _edit(Edited(case), data)


def _edit(run: Edited, data: st.DataObject) -> None:
    case, graphs, asked = run.case, [run.case.graph], {run.case.graph: run.case.fetches}
    fed = {ref.op for ref in case.feeds}
    run.to(case.graph, case.fetches)
    for _ in range(data.draw(st.integers(1, 5))):
        if data.draw(st.integers(0, 3)) == 0:
            graph = data.draw(st.sampled_from(graphs))  # undo, redo
        else:
            graph = edited(graphs[-1], fed, data.draw)
        try:
            _ = graph.order
            feed_arrays(graph, case.feeds)
        except GradstepError:
            continue  # a cycle, or another shape for what is fed
        if data.draw(st.booleans()):
            graph = continue_graph(graph, graphs[-1])
        graphs.append(graph)
        known = infer_declared(graph).types
        able = [ref for ref in case.fetches if ref in known]
        if graph not in asked or data.draw(st.booleans()):
            asked[graph] = tuple(data.draw(st.permutations(able)))[: data.draw(st.integers(0, 9))]
        run.to(graph, asked[graph])


@given(networks(), st.data())
@pytest.mark.slow
def test_after_any_requests_all_is_as_if_compiled_anew(case: Case, data: st.DataObject) -> None:
    """Stops, overrides, other tensors to differentiate by."""
    with looking_at_few(data):
        _request(replace(case, targets=()), data)


def _request(case: Case, data: st.DataObject) -> None:
    forward = Graph.of(op for op in case.graph if op.phase is Phase.FORWARD)
    types = infer_declared(forward).types
    floats = [ref for ref, kind in types.items() if kind.dtype.is_floating and not kind.ref]
    names = [op.name for op in forward if op.inputs and op.output(1) not in types]
    run, before = Edited(case), forward
    for _ in range(data.draw(st.integers(2, 5))):
        request = GradientRequest(
            (case.fetches[0],),
            tuple(data.draw(st.lists(st.sampled_from(floats), min_size=1, unique=True))),
            frozenset(data.draw(st.lists(st.sampled_from(floats), max_size=2))),
            overrides=tuple(
                Override("Identity", name, OverrideKind.OP)
                for name in data.draw(st.lists(st.sampled_from(names), max_size=2))
            ),
        )
        try:
            found = differentiate(forward, request)
        except GradstepError:
            continue  # an override that does not fit
        before = shared(found.graph, before)
        run.to(before, (case.fetches[0], *found.gradients.values()))


def chain(build: GraphBuilder, length: int) -> Tensor:
    """A placeholder and a variable, and operations one after the other."""
    x = build.placeholder("x", "float32", (4,))
    v = build.variable("v", "float32", (4,))
    for number in range(length):
        x = build.one("AddV2", build.one("Tanh", x, name=f"tanh{number}"), v, name=f"sum{number}")
    return x


def stopped_at(name: str, *, length: int = 30) -> tuple[Case, Case]:
    """A chain's gradient; and the same after a stop there, with the same operations where it is
    the same."""
    build = GraphBuilder()
    last = chain(build, length)
    forward = build.build()
    request = GradientRequest((last.ref,), (TensorRef("v"),))
    plain = differentiate(forward, request)
    stops = frozenset({TensorRef(name)})
    other = differentiate(forward, replace(request, stops=stops), previous=plain)
    feeds = {TensorRef("x"): np.ones(4, np.float32)}
    initial = {"v": np.full(4, 0.5, np.float32)}
    first, second = (
        Case(d.graph, (last.ref, d.gradients[TensorRef("v")]), (), feeds, initial)
        for d in (plain, other)
    )
    return first, second


def test_an_edit_that_is_undone_has_the_steps_that_there_were() -> None:
    first, second = stopped_at("tanh4")  # few steps: all are looked at where many are others
    run, seen = Edited(first), dict[int, Plan]()
    for case in (first, second, first, second, first, first):
        plan, _ = run.to(case.graph, case.fetches)
        assert plan.steps is seen.setdefault(id(case), plan).steps
    assert seen[id(first)] is not plan  # it knows of the values that came meanwhile


def test_an_edit_is_undone_though_its_program_came_twice() -> None:
    """As it does where something was edited in between that no run sees."""
    first, second = stopped_at("tanh4")
    run = Edited(first)
    before, _ = run.to(first.graph, first.fetches)
    for _ in range(2):
        after, _ = run.to(second.graph, second.fetches)
    for case, steps in ((first, before.steps), (first, before.steps), (second, after.steps)):
        plan, _ = run.to(case.graph, case.fetches)
        assert plan.steps is steps


def test_only_what_a_stop_changes_is_bound_again() -> None:
    first, second = stopped_at("tanh15")
    run = Edited(first)
    before, recording = run.to(first.graph, first.fetches)
    calls = dict(zip(before.steps, recording.calls.by_step, strict=True))
    plan, recording = run.to(second.graph, second.fetches)
    kept = [step for step in plan.steps if step in calls]
    assert len(kept) > 0.9 * len(plan.steps)
    now = dict(zip(plan.steps, recording.calls.by_step, strict=True))
    assert all(now[step] is calls[step] for step in kept)


@pytest.mark.slow
def test_toggling_for_hours_takes_no_more_memory() -> None:
    first, second = stopped_at("tanh15")
    run = Edited(first)
    sizes, values = [], []
    for _ in range(30):
        for case in (first, second):
            plan, recording = run.to(case.graph, case.fetches)
            sizes.append(recording.nbytes)
            values.append(len(plan.values))
    assert max(sizes) <= 2 * sizes[0]
    assert max(values) <= 2 * values[0]


def test_an_edit_of_most_of_a_graph_leaves_nothing_idle() -> None:
    build = GraphBuilder()
    chain(build, 40)
    graph = build.build()
    feeds = {TensorRef("x"): np.ones(4, np.float32)}
    run = Edited(Case(graph, (TensorRef("sum39"),), (), feeds, {"v": np.ones(4, np.float32)}))
    run.to(graph, (TensorRef("sum39"),))
    plan, _ = run.to(graph, (TensorRef("sum3"),))
    assert plan.is_dense
    assert len(plan.values) < 20


def test_a_recording_is_taken_over_once() -> None:
    """Two plans may continue one; its memory goes to the first that asks."""
    first, second = stopped_at("tanh15")
    feeds = feed_arrays(first.graph, first.feeds)
    plan = compile_plan(first.graph, first.fetches, (), infer_fed_types(feeds))
    recording = Recording(plan, BACKEND)
    recording.feed(feeds)
    recording.begin(first.initial)
    shown = []
    for _ in range(2):
        other = compile_plan(second.graph, second.fetches, (), infer_fed_types(feeds), plan)
        shown.append(Recording(other, BACKEND, before=recording))
    assert shown[0]._cells is recording._cells
    assert shown[1]._cells is not recording._cells
    assert everything(shown[0], feeds, first.initial) == everything(shown[1], feeds, first.initial)


def test_a_step_that_fails_says_why_it_fails_now() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "float32", (4,))
    build.one("Reshape", x, build.constant([2, 2], name="sizes"), name="y")
    graph = build.build()
    feeds = {TensorRef("x"): np.ones(4, np.float32)}
    run = Edited(Case(graph, (TensorRef("y"),), (), feeds))
    run.to(graph, (TensorRef("y"),))
    others = [op for op in graph if op.name != "sizes"]
    said = []
    for sizes in ([[3, 2]], [[5, 2]], []):
        constants = [
            graph["sizes"].with_attrs(value=Constant(np.array(x, np.int32))) for x in sizes
        ]
        plan, recording = run.to(Graph.of([*others, *constants]), (TensorRef("y"),))
        said.append(str(recording.run(0, len(plan.steps))[1]))
    assert len(set(said)) == 3
    assert "sizes" in said[-1]


def test_a_reader_that_did_not_change_sees_an_update_that_is_new() -> None:
    build = GraphBuilder()
    v = build.variable("v", "float32", (4,))
    x = build.placeholder("x", "float32", (4,))
    build.one("AssignAdd", v, x, name="update")
    with build.control_dependencies(["update"]):
        later = build.one("Neg", v, name="later")
    updated = build.build()
    still = Graph.of(Operation("update", "NoOp") if op.name == "update" else op for op in updated)
    feeds = {TensorRef("x"): np.ones(4, np.float32)}
    run = Edited(Case(still, (later.ref,), (), feeds, {"v": np.zeros(4, np.float32)}))
    for graph, value in ((still, 0), (updated, -1), (still, 0), (updated, -1)):
        plan, recording = run.to(graph, (later.ref,))
        recording.begin({"v": np.zeros(4, np.float32)})
        recording.run(0, len(plan.steps))
        assert (recording.value(plan.tensors[later.ref]) == value).all()


@pytest.mark.parametrize("touched", [0.0, 1.0])
def test_a_reader_that_did_not_change_sees_no_update_that_is_gone(
    touched: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incremental, "MOST_TOUCHED", touched)
    build = GraphBuilder()
    v = build.variable("v", "float32", (4,))
    build.one("AssignAdd", v, build.constant(np.ones(4, np.float32)), name="update")
    later = build.one("Neg", v, name="later").ref
    graph = build.build()
    plan = compile_plan(graph, [later], ["update"])
    for targets in (["update"], [], ["update"], []):
        plan = compile_plan(graph, [later], targets, previous=plan)
        (read,) = plan.steps[plan.step_of["later"]].reads
        assert plan.versions["v"].index(read) == len(targets)
        assert len(plan.versions["v"]) == 1 + len(targets)


def test_a_variable_that_an_edit_declares_has_versions_as_the_others() -> None:
    build = GraphBuilder()
    first = [build.variable(f"v{n}", "float32", (2,)) for n in range(40)]
    small = tf.add_n([tf.negative(v) for v in first])
    before = build.build()
    more = build.variable("more", "float32", (2,))
    build.one("AssignAdd", more, small, name="update")
    plan = compile_plan(before, [small.ref])
    plan = compile_plan(build.build(), [small.ref], ["update"], previous=plan)
    assert plan.exchanged is not None, "all was looked at"
    assert len(plan.versions["more"]) == 2
    assert all(type(numbers) is tuple for numbers in plan.versions.values())


def test_who_reads_a_variable_is_not_looked_at_when_another_reader_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All updates of an optimizer read the same variables: how far it is."""
    build = GraphBuilder()
    rate = build.variable("rate", "float32", ())
    for number in range(20):
        v = build.variable(f"v{number}", "float32", ())
        build.one("AssignAdd", v, rate, name=f"update{number}")
    graph = build.build()
    less = Graph.of(op for op in graph if op.name != "update7")
    targets = tuple(f"update{number}" for number in range(20))
    initial = {op.name: np.float32(1) for op in graph if op.type == "VariableV2"}
    looked: list[str] = []
    look_at = incremental.IncrementalResolver._look_at

    def counted(resolver: incremental.IncrementalResolver, op: Operation) -> Step:
        looked.append(op.name)
        return look_at(resolver, op)

    monkeypatch.setattr(incremental.IncrementalResolver, "_look_at", counted)
    run = Edited(Case(graph, (), targets, {}, initial))
    run.to(graph, ())
    plan, _ = run.to(less, ())
    assert plan.exchanged is not None  # those that were touched alone are looked at
    assert looked == []


def test_variables_stay_in_order_when_one_is_declared_anew() -> None:
    build = GraphBuilder()
    variables = [build.variable(f"v{number}", "float32", ()) for number in range(12)]
    total = build.one("AddN", *variables, name="total")
    graph = build.build()
    other = Graph.of(op.with_attrs(_note="seen") if op.name == "v0" else op for op in graph)
    initial = {v.ref.op: np.float32(1) for v in variables}
    run = Edited(Case(graph, (total.ref,), (), {}, initial))
    run.to(graph, (total.ref,))
    plan, _ = run.to(other, (total.ref,))
    assert [*plan.variables] == [*initial]


def test_what_is_deleted_is_no_tensor_even_if_nobody_had_asked_for_it() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "float32", (4,))
    build.one("Tanh", build.constant(np.ones(4, np.float32), name="c"), name="y")
    build.one("Neg", x, name="z")
    graph = build.build()
    feeds = {TensorRef("x"): np.ones(4, np.float32)}
    run = Edited(Case(graph, (), (), feeds))
    run.to(graph, (TensorRef("z"),))
    plan, _ = run.to(Graph.of(op for op in graph if op.name != "c"), (TensorRef("y"),))
    assert "is not a tensor of this graph" in str(plan.failures["y"])


def test_what_is_fed_stays_where_its_operation_begins_to_fail() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "float32", (4,))
    y = build.one("Neg", build.one("Tanh", x, name="inner"), name="y")
    last, other = build.one("Exp", y, name="last"), x
    for _ in range(9):  # so many that what fails is the least of it
        other = build.one("Tanh", other)
    graph = build.build()
    ones = np.ones(4, np.float32)
    case = Case(graph, (last.ref, other.ref), ("y",), {TensorRef("x"): ones, y.ref: ones})
    run = Edited(case)
    run.to(graph, case.fetches)
    plan, _ = run.to(Graph.of(op for op in graph if op.name != "inner"), case.fetches)
    assert set(plan.failures) == {"y"}


def test_what_was_waited_for_and_is_gone_is_not_waited_for_any_more() -> None:
    """Nothing that is missing has a step to be given up."""
    build = GraphBuilder()
    gate = build.constant(1.0, name="gate")
    last = chain(build, 20)
    y = build.one("Neg", last, name="y")
    graph = build.build()

    def waiting(*names: str) -> list[Operation]:
        return [replace(op, control_inputs=names) if op.name == "sum3" else op for op in graph]

    feeds = {TensorRef("x"): np.ones(4, np.float32)}
    run = Edited(Case(graph, (y.ref,), (), feeds, {"v": np.ones(4, np.float32)}))
    for operations in (
        waiting("gate"),
        [op for op in waiting("gate") if op.name != gate.ref.op],
        [op for op in waiting("v") if op.name != gate.ref.op],
        waiting("gate"),
    ):
        run.to(Graph.of(operations), (y.ref,))
