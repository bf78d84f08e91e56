"""Gradients of rows in fast runs: how many there are is known while running only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.passes.algebraic_simplification import simplify
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.ops.build.builder import GraphBuilder, Tensor


def element_of_shape(begin: Any, rank: int = 1, **attrs: Any) -> tuple[GraphBuilder, Tensor]:
    """shape(x)[begin] of what has as many axes as `rank`, of sizes unknown before running."""
    build = GraphBuilder()
    x = build.placeholder("x", "float32", (None,) * rank)
    shape = build.one("Shape", x, name="shape")
    end = np.asarray(begin, np.int32) + 1
    cut = build.one(
        "StridedSlice", shape, np.array(begin, np.int32), end, np.ones(1, np.int32), **attrs
    )
    return build, cut


def plan_of(build: GraphBuilder, fetch: Tensor) -> Plan:
    graph = build.build()
    return compile_plan(graph, [fetch.ref], (), [graph["x"].output()])


def types(plan: Plan) -> set[str]:
    return {step.op.type for step in simplify(plan).steps}


def test_the_first_element_of_a_vectors_shape_is_its_size() -> None:
    build, cut = element_of_shape([0], shrink_axis_mask=1)
    assert "Size" in types(plan_of(build, cut))
    session = Session(build.build(), NumpyBackend(), fast=True)
    for size in (3, 0, 5):
        (found,) = session.run([cut.ref], {"x": np.zeros(size, np.float32)})
        assert (found.dtype, found.shape, found.item()) == (np.int32, (), size)


@pytest.mark.parametrize(
    ("begin", "rank", "attrs"),
    [
        ([0], 2, {"shrink_axis_mask": 1}),  # the first of two
        ([0], 1, {}),  # a vector of one
        ([-1], 1, {"shrink_axis_mask": 1}),  # the same, but who writes so?
    ],
)
def test_other_slices_stay(begin: list[int], rank: int, attrs: dict[str, int]) -> None:
    build, cut = element_of_shape(begin, rank, **attrs)
    assert "Size" not in types(plan_of(build, cut))
    x = np.zeros((4, 7)[:rank], np.float32)
    plain, fast = (Session(build.build(), fast=f).run([cut.ref], {"x": x}) for f in (False, True))
    assert plain[0].tolist() == fast[0].tolist()


@pytest.mark.parametrize("fast", [False, True])
def test_results_of_one_run_outlive_the_next(fast: bool) -> None:
    """What is kept by reference is the kernel's own array, unless it is a view or an input."""
    build = GraphBuilder()
    x = build.placeholder("x", "int32", (None,))
    unique, _ = build.op("Unique", x)
    same = build.one("Identity", unique)
    session = Session(build.build(), fast=fast)
    first = session.run([unique.ref, same.ref, x.ref], {"x": np.array([2, 1, 2], np.int32)})
    session.run([unique.ref, same.ref, x.ref], {"x": np.array([7, 7, 8], np.int32)})
    assert [a.tolist() for a in first] == [[2, 1], [2, 1], [2, 1, 2]]
