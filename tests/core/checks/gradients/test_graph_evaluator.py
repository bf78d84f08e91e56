"""Graphs run beside the session: each run starts with what is given, whatever came before."""

from __future__ import annotations

import numpy as np

from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder

V, X = TensorRef("v"), TensorRef("x")


def counting() -> tuple[Graph, TensorRef]:
    """A variable to which each run adds what is fed."""
    build = GraphBuilder()
    v, x = build.variable("v", shape=[2]), build.placeholder("x", shape=[2])
    added = build.one("AssignAdd", v, x)
    return build.build(), added.ref


def numbers(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_a_variable_starts_as_it_is_given_each_time() -> None:
    """Also where the run before wrote to it, and it is given the same array again."""
    graph, added = counting()
    evaluate, start, one = Evaluator({}), numbers(1, 2), numbers(1, 1)
    for _ in range(3):
        (found,) = evaluate(graph, [added], {V: start, X: one})
        assert found is not None
        assert found.tolist() == [2, 3]


def test_it_starts_as_another_when_it_is_given_another() -> None:
    graph, added = counting()
    evaluate, one = Evaluator({}), numbers(1, 1)
    for value in (numbers(1, 2), numbers(3, 4), numbers(1, 2)):
        for fetch, by in ((V, 0), (added, 1)):
            (found,) = evaluate(graph, [fetch], {V: value, X: one})
            assert found is not None
            assert found.tolist() == (value + by).tolist()


def test_what_is_asked_for_and_fed_may_change_from_run_to_run() -> None:
    """Other fetches, other shapes, a value for what is no part of the graph."""
    build = GraphBuilder()
    x = build.placeholder("x")
    twice = build.one("Mul", x, build.constant(2.0))
    graph, evaluate = build.build(), Evaluator({})
    for value in (numbers(1, 2), numbers(1, 2, 3), numbers(5)):
        given = {X: value, TensorRef("elsewhere"): numbers(0)}
        found = evaluate(graph, [twice.ref, x.ref], given)
        assert [each.tolist() for each in found if each is not None] == [
            (2 * value).tolist(),
            value.tolist(),
        ]


def test_another_graph_has_variables_of_its_own() -> None:
    evaluate, start, one = Evaluator({}), numbers(1, 2), numbers(1, 1)
    for graph, added in (counting(), counting()):
        (found,) = evaluate(graph, [added], {V: start, X: one})
        assert found is not None
        assert found.tolist() == [2, 3]


def test_every_run_is_told_beforehand() -> None:
    told: list[int] = []
    graph, added = counting()
    evaluate = Evaluator({}, lambda: told.append(len(told)))
    for _ in range(2):
        evaluate(graph, [added], {V: numbers(1, 2), X: numbers(1, 1)})
    assert told == [0, 1]
