"""Where the values of a recorded run lie, and when the memory of another plan will do."""

from __future__ import annotations

import pytest

from gradstep.core.engine.memory.record_layout import RecordLayout
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder


def plan_of(type: str, previous: Plan | None = None) -> Plan:
    build = GraphBuilder()
    x = build.placeholder("x", "float32", (3,))
    build.one("Exp", build.one(type, x, name="y"), name="z")
    return compile_plan(build.build(), [TensorRef("z")], fed=[TensorRef("x")], previous=previous)


def test_a_plan_that_goes_on_from_another_one_lies_in_its_memory() -> None:
    before = plan_of("Tanh")
    assert RecordLayout(before).continued(plan_of("Exp", before)) is not None


@pytest.mark.parametrize("type", ["Identity", "Neg"])
def test_equal_values_of_a_plan_made_anew_do_not(type: str) -> None:
    """What lies in another's place in the one is written in the other."""
    before, anew = plan_of("Identity"), plan_of(type)
    assert before.values == anew.values
    assert RecordLayout(before).continued(anew) is None
