"""A graph as NetworkX has it."""

from __future__ import annotations

import networkx
import pytest
from hypothesis import HealthCheck, given, settings

from gradstep.core.graph.as_networkx import to_networkx
from gradstep.core.graph.model import Graph, Operation, Phase, TensorRef
from tests.support.random_graphs import Drawn, graphs


def test_wires_and_control_dependencies_with_the_ends_that_they_have() -> None:
    graph = Graph.of(
        [
            Operation("net/x", "Split", attrs={"num_split": 2}, device="/cpu:0"),
            Operation("y", "Mul", (TensorRef("net/x", 1), TensorRef("net/x", 1)), ("net/x",)),
            Operation("z", "Neg", (None,), origin="y", phase=Phase.BACKWARD),
            Operation("w", "Neg", (TensorRef("gone"),), ("gone",)),
        ]
    )
    found = to_networkx(graph)
    assert list(found) == ["net/x", "y", "z", "w"]
    assert found.nodes["net/x"] == {
        "type": "Split",
        "scope": "net",
        "device": "/cpu:0",
        "origin": "",
        "phase": "forward",
        "attrs": {"num_split": 2},
    }
    assert (found.nodes["z"]["phase"], found.nodes["z"]["origin"]) == ("backward", "y")
    assert [*found.edges(data=True)] == [
        ("net/x", "y", {"kind": "data", "output": 1, "input": 0}),
        ("net/x", "y", {"kind": "data", "output": 1, "input": 1}),
        ("net/x", "y", {"kind": "control"}),
    ]


@pytest.mark.slow
@settings(deadline=None, suppress_health_check=[*HealthCheck])
@given(graphs())
def test_what_leads_where_is_the_same(drawn: Drawn) -> None:
    found = to_networkx(drawn.graph)
    for name in drawn.graph.operations:
        assert networkx.ancestors(found, name) | {name} == drawn.graph.ancestors([name])
