"""A variable that is read and written in one run, with no path between the two."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.engine.plan import races as module
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.races import Race, races
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor

Pair = tuple[str, str, str]  # variable, and two operations, the first one made first


def found(graph: Graph, fetches: Iterable[str], targets: Iterable[str] = ()) -> list[Race]:
    refs = [TensorRef.parse(name) for name in fetches]
    return races(compile_plan(graph, refs, [*targets]), graph)


def pairs(graph: Graph, fetches: Iterable[str], targets: Iterable[str] = ()) -> list[Pair]:
    return [(r.variable, r.first, r.second) for r in found(graph, fetches, targets)]


# -- any graph -----------------------------------------------------------------------------------

KINDS = ("read", "write", "alias")


@st.composite
def programs(draw: st.DrawFn) -> tuple[Graph, dict[str, tuple[str, str]]]:
    """Operations on two variables, each after some of those before it; what each is, and of which
    variable."""
    build = GraphBuilder()
    handles: dict[str, list[Tensor]] = {}  # of each variable, what stands for it
    for name in ("v", "w"):
        handles[name] = [build.variable(name)]
    made: list[Tensor] = []
    roles: dict[str, tuple[str, str]] = {}
    for number in range(draw(st.integers(2, 9))):
        variable, kind = draw(st.sampled_from("vw")), draw(st.sampled_from(KINDS))
        before = draw(st.lists(st.sampled_from(made), max_size=2)) if made else []
        handle = draw(st.sampled_from(handles[variable]))
        with build.control_dependencies([t.ref.op for t in before]):
            if kind == "alias":
                op = build.one("Identity", handle, name=f"o{number}")
            elif kind == "read":
                op = build.one("Neg", handle, name=f"o{number}")
            else:
                op = build.one("Assign", handles[variable][0], 1.0, name=f"o{number}")
        if kind != "read":
            handles[variable].append(op)
        made.append(op)
        roles[op.ref.op] = kind, variable
    return build.build(), roles


def expected(graph: Graph, roles: dict[str, tuple[str, str]]) -> set[Pair]:
    """Pairs of which one writes and neither needs the other."""
    needs = {name: graph.ancestors([name]) for name in roles}
    return {
        (roles[a][1], a, b)
        for a, b in combinations(roles, 2)
        if roles[a][1] == roles[b][1]
        and "alias" not in (roles[a][0], roles[b][0])
        and "write" in (roles[a][0], roles[b][0])
        and a not in needs[b]
    }


@given(programs(), st.sampled_from((1, 3, 1024)))
def test_those_that_neither_need_each_other(
    drawn: tuple[Graph, dict[str, tuple[str, str]]], at_once: int
) -> None:
    graph, roles = drawn
    with patch.object(module, "_AT_ONCE", at_once):
        assert sorted(pairs(graph, (), roles)) == sorted(expected(graph, roles))


# -- what is one, and what is none ---------------------------------------------------------------


@pytest.fixture
def build() -> GraphBuilder:
    return GraphBuilder()


def test_a_learning_rate_that_reads_the_step_that_is_counted(build: GraphBuilder) -> None:
    """As BERT's optimizer has it: `global_step` is read for the rate, and counted beside it."""
    step = build.variable("global_step", "int64")
    with build.as_default():
        rate = build.one("Cast", step, DstT=DType.FLOAT32, name="rate") * 0.1
        w = build.variable("w")
        build.one("ApplyGradientDescent", w, rate, 1.0, name="update")
        build.one("AssignAdd", step, np.int64(1), name="count")
        build.op("NoOp", name="train", control_inputs=("update", "count"))
    assert pairs(build.build(), (), ["train"]) == [("global_step", "rate", "count")]


def test_a_step_that_is_assigned_beside_the_update(build: GraphBuilder) -> None:
    """BERT's own `train_op`: the step is not added to but assigned `global_step + 1`, which is read
    before by its own wire; the rate, through `global_step/read`, by none."""
    step = build.variable("global_step", "int64")
    with build.as_default():
        seen = build.one("Identity", step, name="global_step/read")
        rate = build.one("Cast", seen, DstT=DType.FLOAT32, name="Cast") * 0.1
        build.one("AssignSub", build.variable("w"), rate, name="update")
        following = build.one("Add", seen, np.int64(1), name="add")
        build.one("Assign", step, following, name="Assign")
        build.op("NoOp", name="train", control_inputs=("update", "Assign"))
    assert pairs(build.build(), (), ["train"]) == [("global_step", "Cast", "Assign")]


def test_a_path_of_data_or_control_is_an_order(build: GraphBuilder) -> None:
    v = build.variable("v")
    read = build.one("Neg", v, name="read")
    build.one("Assign", v, read, name="by_data")
    with build.control_dependencies(["by_data"]):
        build.one("Exp", v, name="by_control")
    assert not found(build.build(), ["by_control"])


def test_what_does_not_run_is_not_in_the_way(build: GraphBuilder) -> None:
    v = build.variable("v")
    build.one("Neg", v, name="read")
    build.one("Assign", v, 1.0, name="write")
    assert not found(build.build(), ["read"])
    assert pairs(build.build(), ["read"], ["write"]) == [("v", "read", "write")]


def test_a_feed_cuts_the_path(build: GraphBuilder) -> None:
    v = build.variable("v")
    between = build.one("Exp", build.one("Neg", v, name="read"), name="between")
    build.one("Assign", v, between, name="write")
    graph, fed = build.build(), [TensorRef("between")]
    plan = compile_plan(graph, [TensorRef("read")], ["write"], fed)
    assert [(r.first, r.second) for r in races(plan, graph)] == [("read", "write")]


def test_an_identity_is_no_read_but_what_computes_with_it(build: GraphBuilder) -> None:
    v = build.variable("v")
    read = build.one("Identity", v, name="v/read")
    build.one("Assign", v, 1.0, name="write")
    with build.control_dependencies(["write"]):
        build.one("Neg", read, name="after")
    assert not found(build.build(), ["after"])
    build.one("Exp", read, name="any_time")
    assert pairs(build.build(), ["after", "any_time"]) == [("v", "write", "any_time")]


def test_a_resource_is_read_where_it_says_so(build: GraphBuilder) -> None:
    r = build.one("VarHandleOp", name="r", dtype=DType.FLOAT32, shape=Shape.of())
    first = build.one("ReadVariableOp", r, dtype=DType.FLOAT32, name="snapshot")
    build.op("AssignAddVariableOp", r, 1.0, name="write", dtype=DType.FLOAT32)
    with build.control_dependencies(["write"]):
        build.one("Neg", first, name="late")  # of what was read at any time
    assert pairs(build.build(), ["late"]) == [("r", "snapshot", "write")]


def test_a_read_that_nobody_looks_at_is_none(build: GraphBuilder) -> None:
    """Each resource variable comes with a ReadVariableOp, which runs when all ends are run."""
    r = build.one("VarHandleOp", name="r", dtype=DType.FLOAT32, shape=Shape.of())
    build.one("ReadVariableOp", r, dtype=DType.FLOAT32, name="r/Read")
    build.op("AssignVariableOp", r, 1.0, name="write", dtype=DType.FLOAT32)
    assert not found(build.build(), (), ["r/Read", "write"])
    assert pairs(build.build(), ["r/Read"], ["write"]) == [("r", "r/Read", "write")]


def test_a_fetched_variable_is_read_when_all_is_done(build: GraphBuilder) -> None:
    v = build.variable("v")
    build.one("Identity", v, name="v/read")
    build.one("AssignAdd", v, build.one("Neg", v, name="minus"), name="write")
    (race,) = found(build.build(), ["v/read"], ["write"])
    assert (race.first, race.second, race.writes, race.fetched) == (
        ("write", "v/read", (True, False), True)
    )
    assert not found(build.build(), ["write"])


@pytest.mark.parametrize(
    ("type", "locks", "adds"),
    [
        ("AssignAdd", (True, True), None),
        ("AssignAdd", (True, False), True),
        ("Assign", None, False),
    ],
)
def test_two_writers(
    build: GraphBuilder, type: str, locks: tuple[bool, bool] | None, adds: bool | None
) -> None:
    """Additions may be made in any order, if a lock keeps them apart."""
    v = build.variable("v")
    for name, lock in zip("ab", locks or (True, True), strict=True):
        build.one(type, v, 1.0, name=name, use_locking=lock)
    races = found(build.build(), (), "ab")
    assert [(r.first, r.second, r.adds) for r in races] == (
        [] if adds is None else [("a", "b", adds)]
    )


def test_a_shape_is_the_same_at_any_time(build: GraphBuilder) -> None:
    v = build.variable("v", shape=(2,))
    build.one("Shape", v, name="shape")
    build.one("Assign", v, [1.0, 2.0], name="write")
    assert not found(build.build(), ["shape"], ["write"])


def conds(build: GraphBuilder, negated: bool) -> list[Race]:
    """What one cond reads of `v`, in its branch and where its branches meet; another cond writes
    it, if the same is true, or the opposite."""
    v, asked = build.variable("v"), build.placeholder("asked", "bool", ())
    with build.as_default():
        read = tf.cond(asked, lambda: tf.identity(v * 2.0), lambda: build.constant(0.0))
        met = tf.cond(asked, lambda: tf.identity(v), lambda: build.constant(0.0))
        ways = [lambda: build.one("Assign", v, 1.0), lambda: tf.identity(v)]
        tf.cond(asked, *(ways[::-1] if negated else ways))
    graph = build.build()
    (write,) = (op.name for op in graph if op.type == "Assign")
    fetches = [read.ref, build.one("Neg", met).ref]
    return races(compile_plan(build.build(), fetches, [write], [TensorRef("asked")]), build.build())


def test_the_branches_of_a_cond_never_run_together(build: GraphBuilder) -> None:
    assert not conds(build, negated=True)


def test_the_same_branches_of_two_conds_do(build: GraphBuilder) -> None:
    assert [build.operation(r.first).type for r in conds(build, negated=False)] == ["Mul", "Merge"]


def test_whether_there_is_a_value_is_no_affair_of_updates(build: GraphBuilder) -> None:
    v = build.variable("v")
    build.one("LogicalNot", build.one("IsVariableInitialized", v, name="there"), name="y")
    build.one("AssignAdd", v, 1.0, name="update")
    build.one("Assign", v, 1.0, name="first")
    found = pairs(build.build(), ["y"], ["update"])
    assert not found
    assert pairs(build.build(), ["y"], ["first"]) == [("v", "there", "first")]


def test_inside_a_loop(build: GraphBuilder) -> None:
    v = build.variable("v")
    with build.as_default():

        def body(i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
            added = build.one("AssignAdd", v, 1.0, name="write")
            with build.control_dependencies([added.ref.op]):
                late = tf.exp(v, name="late")
            return i + 1, y + tf.negative(v, name="read") + late

        _, y = tf.while_loop(lambda i, y: i < 3, body, [0, 0.0])
    graph = build.build()
    names = [
        (r.first.rpartition("/")[2], r.second.rpartition("/")[2])
        for r in found(graph, [str(y.ref)])
    ]
    assert names == [("write", "read")]


def test_what_is_derived_has_its_place(build: GraphBuilder) -> None:
    v = build.variable("v")
    build.one("Neg", v, name="read")
    build.one("Assign", v, 1.0, name="update")
    graph = build.build()
    plan = compile_plan(graph, [TensorRef("read")], ["update"])
    drawn = Graph.of(op for op in graph if op.name != "update")
    assert not races(plan, drawn)
    assert races(plan, graph)
