"""Where the values of a recorded run lie, and when the memory of another plan will do."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.engine.memory.record_layout import RecordLayout
from gradstep.core.engine.memory.value_places import Form, Places
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder


def plan_of(type: str, previous: Plan | None = None) -> Plan:
    build = GraphBuilder()
    x = build.placeholder("x", "float32", (3,))
    build.one("Exp", build.one(type, x, name="y"), name="z")
    return compile_plan(build.build(), [TensorRef("z")], fed=[TensorRef("x")], previous=previous)


def test_a_plan_that_goes_on_from_another_one_lies_in_its_memory() -> None:
    before = plan_of("Tanh")
    assert RecordLayout(before).continued(plan_of("Exp", before)) is not None


def test_two_that_go_on_from_the_same_one_lie_each_where_it_says() -> None:
    """As after an undo, when another edit is made."""
    form = Form((2,), np.dtype("float32"), 8, 64)
    before = Places([0, 64], (form, form))
    one, other = before.and_behind([128], (form,)), before.and_behind([640, 704], (form, form))
    assert [one.offset(v) for v in range(len(one))] == [0, 64, 128]
    assert [other.offset(v) for v in range(len(other))] == [0, 64, 640, 704]
    assert [place and place.offset for place in before] == [0, 64]
    assert (before.end(0), one.end(2), other.end(2)) == (128, 192, 768)
    assert [v for v, _ in one.placed(1)] == [1, 2]
    assert not before.unplaced(0)


def test_a_switch_that_may_fail_is_not_idle() -> None:
    """Its predicate may turn out to be no scalar."""
    build = GraphBuilder()
    x = build.placeholder("x", "float32", (3,))
    known = build.placeholder("known", "bool", ())
    unknown = build.one("Reshape", known, build.placeholder("sizes", "int32", (None,)))
    for name, predicate in (("sure", known), ("unsure", unknown)):
        build.op("Switch", tf.negative(x), predicate, name=name)
    fetches = [TensorRef("sure"), TensorRef("unsure")]
    graph = build.build()
    plan = compile_plan(graph, fetches, fed=[TensorRef(n) for n in ("x", "known", "sizes")])
    layout = RecordLayout(plan)
    idle = {name: layout.is_idle(plan.steps[plan.step_of[name]]) for name in ("sure", "unsure")}
    assert idle == {"sure": True, "unsure": False}


@pytest.mark.parametrize("type", ["Identity", "Neg"])
def test_equal_values_of_a_plan_made_anew_do_not(type: str) -> None:
    """What lies in another's place in the one is written in the other."""
    before, anew = plan_of("Identity"), plan_of(type)
    assert before.values == anew.values
    assert RecordLayout(before).continued(anew) is None
