"""Tensors of the same numbers meet, and no two pairs cross."""

from __future__ import annotations

import numpy as np

from gradstep.core.checks.alignment.value_matching import match
from gradstep.core.graph.model import Graph, Operation, TensorRef

A, B, C = (TensorRef(name) for name in "abc")
ONE, TWO, THREE = (np.random.default_rng(i).standard_normal(6) for i in (1, 2, 3))


def _chain(*names: str) -> Graph:
    """One after the other."""
    ops, before = list[Operation](), tuple[TensorRef, ...]()
    for name in names:
        ops.append(Operation(name, "Identity", before))
        before = (TensorRef(name),)
    return Graph.of(ops)


def test_the_same_numbers_in_any_order_meet() -> None:
    graph = _chain("a", "b", "c")
    left = {A: ONE.reshape(2, 3), B: TWO, C: THREE}
    right = {A: ONE.reshape(2, 3).T, B: TWO * (1 + 1e-7), C: ONE + TWO}
    found = match((graph, left), (graph, right), 1e-5)
    assert found.right == {A: (A,), B: (B,)}
    assert found.left == {A: (A,), B: (B,)}


def test_pairs_do_not_cross() -> None:
    """What comes first on one side comes not last on the other."""
    graph = _chain("a", "b", "c")
    left = {A: ONE, B: TWO, C: THREE}
    found = match((graph, left), (graph, {A: TWO, B: ONE, C: THREE}), 1e-5)
    assert found.right == {A: (B,), C: (C,)}


def test_several_of_the_same_numbers_are_one() -> None:
    graph = _chain("a", "b", "c")
    values = {A: ONE, B: ONE, C: TWO}
    found = match((graph, values), (graph, values), 1e-5)
    assert found.right == {A: (A, B), B: (A, B), C: (C,)}


def test_branches_may_come_in_another_order() -> None:
    left = Graph.of([Operation("a", "Identity"), Operation("b", "Identity")])
    found = match((left, {A: ONE, B: TWO}), (left, {A: TWO, B: ONE}), 1e-5)
    assert found.right == {A: (B,), B: (A,)}
