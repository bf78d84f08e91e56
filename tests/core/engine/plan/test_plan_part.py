"""The plan of a part of a plan is the one that compiling it from nothing gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.plan_part import PartResolver
from gradstep.core.engine.plan.pruning import Needed
from gradstep.core.engine.plan.step_builder import Resolver
from gradstep.core.engine.plan.steps import Step
from gradstep.core.engine.run.feed_values import feed_arrays, infer_fed_types
from gradstep.core.engine.run.taken_calls import TakenCalls
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.persistent.joined_sequence import Joined
from tests.support.edited_graphs import edited
from tests.support.large_graphs import edit_as_large
from tests.support.layouts import Case
from tests.support.random_networks import networks
from tests.support.random_programs import programs


def told(plan: Plan) -> Any:
    """All that there is to a plan, in its order."""
    steps = [
        (s.op, s.definition, s.reads, s.writes, s.computes, s.plain, s.guard) for s in plan.steps
    ]
    tables = plan.tensors.of, plan.variables, plan.versions, plan.failures
    orders = [[*each.items()] for each in tables[:3]]
    failures = {name: str(error) for name, error in plan.failures.items()}
    asked = plan.fed, plan.fetches, plan.targets, plan.needed.names, plan.branches
    return steps, plan.values, orders, failures, asked


@given(st.one_of(networks(), programs()), st.data())
@pytest.mark.slow
def test_the_plan_of_a_part_is_as_if_compiled_from_nothing(case: Case, data: st.DataObject) -> None:
    graph, arrays = case.graph, feed_arrays(case.graph, case.feeds)
    types = infer_fed_types(arrays)
    whole = compile_plan(graph, case.fetches, case.targets, types)
    every = st.sampled_from([*graph.operations])
    names = data.draw(st.lists(every, max_size=4, unique=True))
    if data.draw(st.booleans()):
        graph = edited(graph, {ref.op for ref in case.feeds}, data.draw)
        names = [name for name in names if name in graph]
    try:
        _ = graph.order
        feed_arrays(graph, case.feeds)
    except GradstepError:
        return  # a cycle, or another shape for what is fed
    asked = graph, (), tuple(names), types
    assert told(compile_plan(*asked, whole=whole)) == told(compile_plan(*asked))


def steps_resolved(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Filled with each operation of which a step is made anew."""
    seen: list[object] = []
    resolve = Resolver._step

    def counted(self: Resolver, *given: Any) -> Step:
        seen.append(given[0].name)
        return resolve(self, *given)

    monkeypatch.setattr(Resolver, "_step", counted)
    return seen


def trained() -> GraphBuilder:
    """A variable, drawn numbers, which are counted, and an update that another read comes after."""
    build = GraphBuilder()
    x = build.placeholder("x", "float32", (None,))
    v = build.variable("v", "float32", (2,))
    product = tf.multiply(x, v, name="product")
    drawn = build.one("RandomUniform", build.constant([2]), dtype=DType.FLOAT32, name="drawn")
    tf.add(product, drawn, name="sum")
    update = build.one("AssignAdd", v, build.one("Neg", product), name="update")
    build.one("Identity", v, name="read", control_inputs=[update.ref.op])
    return build


FED = {TensorRef("x"): TensorType(DType.FLOAT32, Shape((2,)))}


@pytest.mark.parametrize("part", ["product", "sum", "drawn", "v", "update", "read"])
def test_nothing_of_a_part_is_made_anew(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = trained().build()
    whole = compile_plan(graph, [TensorRef("sum")], ["update", "read"], FED)
    anew = compile_plan(graph, (), [part], FED)
    seen = steps_resolved(monkeypatch)
    assert told(compile_plan(graph, (), [part], FED, whole=whole)) == told(anew)
    assert seen == []


def test_a_read_whose_update_is_not_needed_any_more_is_of_an_older_version() -> None:
    """Nothing says that it comes after that, but its place."""
    build = GraphBuilder()
    v = build.variable("v", "float32", (2,))
    build.one("Assign", v, build.constant(np.ones(2, np.float32)), name="update")
    build.one("Neg", v, name="read")
    graph = build.build()
    whole = compile_plan(graph, (), ["update", "read"])
    asked = graph, (), ["read"]
    assert whole.steps[whole.step_of["read"]].reads == (whole.versions["v"][1],)
    part = PartResolver(compile_plan(*asked).types, lambda *_: None)  # type: ignore[arg-type, return-value]
    assert not part.take(whole, Needed(graph, {}, ["read"]))
    assert told(compile_plan(*asked, whole=whole)) == told(compile_plan(*asked))


def test_what_comes_in_another_order_is_compiled_from_nothing() -> None:
    build = GraphBuilder()
    v = build.variable("v", "float32", (2,))
    one, two = (build.constant(np.full(2, n, np.float32), name=f"c{n}") for n in (1, 2))
    build.one("Assign", v, one, name="first")
    build.one("Assign", v, two, name="second")
    build.one("Neg", two, name="more")
    graph = build.build()
    whole = compile_plan(graph, (), ["first", "second", "more"])
    names = ["v", "c1", "c2", "second", "first", "more"]
    asked = Graph({name: graph[name] for name in names}), (), ["first", "second"]
    anew = compile_plan(*asked)
    assert [step.op.name for step in anew.steps][-2:] == ["second", "first"]
    assert told(compile_plan(*asked, whole=whole)) == told(anew)


def with_attr(graph: Graph, name: str, **attrs: Any) -> Graph:
    return Graph.of(op.with_attrs(**attrs) if op.name == name else op for op in graph)


@pytest.mark.parametrize("change", ["operation", "variable", "feed"])
def test_a_part_that_means_something_else_is_compiled_from_nothing(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = trained()
    graph = build.build()
    whole = compile_plan(graph, [TensorRef("sum")], ["update"], FED)
    fed = FED
    if change == "feed":
        fed = {TensorRef("x"): TensorType(DType.FLOAT32, Shape((1,)))}
    elif change == "operation":
        graph = with_attr(graph, "product", _note="seen")
    else:
        graph = with_attr(graph, "v", shape=Shape((1,)))
    anew = compile_plan(graph, (), ["product"], fed)
    seen = steps_resolved(monkeypatch)
    assert told(compile_plan(graph, (), ["product"], fed, whole=whole)) == told(anew)
    assert "product" in seen


def test_steps_of_a_long_plan_are_not_looked_up_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither for the plan of a part, nor for the calls of its steps."""
    edit_as_large(monkeypatch)
    build = GraphBuilder()
    x = build.constant(np.float32(1), name="x")
    for number in range(60):
        x = tf.negative(x, name=f"n{number}")
    graph = build.build()
    whole = compile_plan(graph, (), ("n59",))
    asked, get = list[Any](), Joined.__getitem__

    def counted(self: Joined[Any], place: Any) -> Any:
        asked.append(place)
        return get(self, place)

    monkeypatch.setattr(Joined, "__getitem__", counted)
    part = compile_plan(graph, (), ("n49",), whole=whole)
    _, made = TakenCalls().of(part, lambda step: ())
    assert len(made) == len(part.steps) == 51
    assert isinstance(part.steps, Joined)
    assert len(asked) < 10
