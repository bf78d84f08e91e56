"""Loops held against a recorded run: a mistake in a body is named, with the iteration it is in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.graph.loop import inside
from gradstep.core.graph.model import Constant, Graph, Operation
from gradstep.core.io.open_document import read
from gradstep.core.program.derive import derive
from gradstep.core.protocol.messages import ComparedNode, Comparison
from gradstep.gpu.devices import Devices
from tests.traces.trace_archive import traces

LOOPS = ("while_loop", "scan", "loop_draws", "nested_loops")
Change = Callable[[Operation], Operation]


@cache
def document_of(name: str) -> Document:
    return read(traces() / f"{name}.gstrace")


def changed(document: Document, node: str, change: Change) -> Document:
    def one(graph: Graph) -> Graph:
        return replace(graph, operations={**graph.operations, node: change(graph[node])})

    return document.with_(graph=inside(document.graph, node, one))


def compared(document: Document) -> Comparison:
    return Devices().compare(derive(document), "cpu", "recorded")


def rows(found: Comparison) -> Mapping[str, ComparedNode]:
    return {node.name: node for node in found.nodes}


def another_type(kind: str) -> Change:
    return lambda op: replace(op, type=kind)


def holding(value: float, dtype: type = np.float32) -> Change:
    return lambda op: op.with_attrs(value=Constant(dtype(value)))


@pytest.mark.parametrize("name", LOOPS)
def test_nothing_in_a_loop_differs_where_nothing_is_changed(name: str) -> None:
    found = compared(document_of(name))
    inner = [node for node in found.nodes if node.iteration]
    assert len(inner) >= 12
    assert {node.phase for node in inner} == {"forward", "backward"}
    assert not [node.name for node in inner if node.differs]
    recorded = document_of(name).recorded
    assert recorded is not None
    expected = {*recorded.remarks}  # weights whose gradient in PyTorch is another than its loop's
    off = {node.right.text.removeprefix("the gradient of ") for node in found.nodes if node.differs}
    assert off == expected


@pytest.mark.parametrize(
    ("name", "node", "change", "first", "iteration"),
    [
        ("while_loop", "while_loop/cond/tanh/Tanh", another_type("Sigmoid"),
         "while_loop/cond/tanh/Tanh", "iteration 1"),
        ("while_loop", "while_loop/cond/linear/MatMul", lambda op: op.with_attrs(transpose_b=False),
         "while_loop/cond/linear/BiasAdd", "iteration 1"),
        ("while_loop", "while_loop/lt/Const", holding(5, np.int64), "while_loop/lt/Less",
         "iteration 5"),
        ("scan", "scan/tanh/Tanh", another_type("Sin"), "scan/tanh/Tanh", "iteration 1"),
        ("nested_loops", "while_loop/while_loop_1/div/Const", holding(4),
         "while_loop/while_loop_1/div/RealDiv", "iteration 2, 1"),
        ("loop_draws", "while_loop/cond/mul_1/Const", holding(3), "while_loop/cond/mul_1/Mul",
         "iteration 2"),
    ],
)  # fmt: skip
def test_the_first_divergence_is_the_mistake(
    name: str, node: str, change: Change, first: str, iteration: str
) -> None:
    found = compared(changed(document_of(name), node, change))
    assert found.first_divergence == first
    made = rows(found)[first]
    assert f"First divergence: {first} ({made.type}, {iteration})" in found.text
    assert made.creates
    assert made.iteration == iteration
    before = found.nodes[: [*rows(found)].index(first)]
    assert not [row.name for row in before if row.differs]


@pytest.mark.slow
def test_what_comes_after_it_has_inherited_it() -> None:
    """In the same iteration, in later ones, behind the loop, and on the way back."""
    node = "while_loop/while_loop_1/sin/Sin"
    found = compared(changed(document_of("nested_loops"), node, another_type("Cos")))
    forward = [row for row in found.nodes if row.phase == "forward"]
    assert [row.name for row in forward if row.creates] == [node]
    after = rows(found)["while_loop/mul/Mul"], rows(found)["m/linear/BiasAdd"]
    assert all(row.differs and not row.creates and row.inherited for row in after)
    differing = sum(row.differs for row in found.nodes)
    assert f"That explains all {differing} nodes that differ" in found.text


def test_another_number_of_iterations_is_said() -> None:
    found = compared(
        changed(document_of("while_loop"), "while_loop/lt/Const", holding(2, np.int64))
    )
    assert found.first_divergence == "while_loop/lt/Less"
    left_out = rows(found)["while_loop/sum/Sum"]
    assert left_out.iteration == "iteration 3"
    assert left_out.left.text == "not computed in this iteration"
    assert left_out.differs
    assert not left_out.creates


def test_what_is_in_a_branch_that_is_not_taken_here_is_said() -> None:
    """And so is the gradient that comes back to it, of which there is none."""
    never = changed(document_of("while_loop"), "while_loop/gt/Const", holding(1e9))
    found = compared(never)
    assert found.first_divergence == "while_loop/gt/Greater"
    value = rows(found)["while_loop/cond/tanh/Tanh"]
    gradient = rows(found)[
        "gradients/while_loop/cond/Merge_grad/cond_grad"
    ]  # of a Switch, which runs
    assert gradient.right.text == "the gradient of while_loop/cond/tanh/Tanh"
    for row in (value, gradient):
        assert row.left.text == "not computed in this iteration"
        assert row.differs
        assert not row.creates


def test_a_gradient_in_a_loop_is_judged_by_itself() -> None:
    """A gradient that its rule doubles: made at the node, in the last iteration, which comes
    first; what it is a sum of has inherited it."""
    document = document_of("scan")
    assert document.recorded is not None
    kept = document.recorded.iterations["scan/tanh/Tanh:0"]
    assert kept.gradients is not None
    twice = replace(kept, gradients=Constant(kept.gradients.array * 2))
    iterations = {**document.recorded.iterations, "scan/tanh/Tanh:0": twice}
    found = compared(document.with_(recorded=replace(document.recorded, iterations=iterations)))
    creating = [row for row in found.nodes if row.creates]
    assert creating[0].right.text == "the gradient of scan/tanh/Tanh"
    assert creating[0].iteration == "iteration 3"
    assert {row.phase for row in creating} == {"backward"}
