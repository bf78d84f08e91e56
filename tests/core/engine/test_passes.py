"""The passes as users meet them: by name, switchable, and saying what became of operations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.passes.pass_pipeline import PASSES
from gradstep.core.engine.passes.pass_report import PassReport, optimize_and_report
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.each_case import each_of

NAMES = [made.name for made in PASSES]
LARGE = 1 << 16


@pytest.fixture
def builder() -> GraphBuilder:
    """y = (exp x · (1 + 1) + exp x) · 1, and a sine that nobody looks at."""
    b = GraphBuilder()
    x = b.placeholder("x", shape=(LARGE,))
    two = b.one("AddV2", 1.0, 1.0, name="two")
    first, second = b.one("Exp", x, name="first"), b.one("Exp", x, name="second")
    total = b.one("AddV2", b.one("Mul", first, two, name="double"), second, name="sum")
    b.one("Identity", total, name="y")
    b.one("Sin", x, name="unused")
    return b


@pytest.fixture
def plan(builder: GraphBuilder) -> Plan:
    return compile_plan(builder.build(), [TensorRef("y", 0)], ["unused"], [TensorRef("x", 0)])


def reports(plan: Plan, *without: str) -> dict[str, PassReport]:
    return {r.made.name: r for r in optimize_and_report(plan, NumpyBackend(), without)[1]}


def test_what_became_of_operations(plan: Plan) -> None:
    became = {name: dict(report.became) for name, report in reports(plan).items()}
    assert became["constant folding"] == {"two": "is a constant now"}
    assert became["simpler forms"] == {"y": "is the same as sum"}
    assert became["common subexpressions"]["second"] == "is the same as first"
    assert became["dead code"]["unused"] == "nobody looks at it"
    assert set(became["blocked elementwise fusion"]) == {"first", "double", "sum"}


def test_each_pass_takes_up_the_plan_of_the_one_before(plan: Plan) -> None:
    found = [*reports(plan).values()]
    assert found[0].before == len(plan.steps)
    for one, following in pairwise(found):
        assert one.after == following.before
    assert found[-1].after < len(plan.steps)


@pytest.mark.parametrize("name", NAMES)
def test_a_pass_can_be_left_out(plan: Plan, name: str) -> None:
    found = reports(plan, name)
    assert [n for n, report in found.items() if not report.on] == [name]
    assert [*found] == NAMES
    assert found[name].became == {}


def test_a_session_leaves_out_what_it_is_told_to(builder: GraphBuilder) -> None:
    b = GraphBuilder()
    b.one("Identity", b.one("Exp", b.placeholder("x", shape=(2,))), name="y")
    counts = []
    for without in ((), ("simpler forms",)):
        session = Session(b.build(), fast=True, without=without)
        session.run(["y"], {"x": np.zeros(2)})
        (recording,) = session.recordings
        counts.append(len(recording.plan.steps))
    assert counts == [1, 2]


def test_a_name_that_no_pass_has() -> None:
    with pytest.raises(GradstepError, match="no pass 'ded code'") as caught:
        Session(GraphBuilder().build(), fast=True, without=["ded code"])
    assert caught.value.hint == "did you mean 'dead code'?"
    with pytest.raises(GradstepError) as caught:
        Session(GraphBuilder().build(), fast=True, without=["xyzzy"])
    assert "constant folding" in caught.value.hint


@each_of("made", PASSES, ids=NAMES)
def test_each_pass_says_what_it_does_in_a_sentence(made: object) -> None:
    text = made.text  # type: ignore[attr-defined]
    assert text[0].isupper()
    assert text.endswith(".")
    assert len(text) < 160
