"""Edits: pure, refused when they would break the graph, never touching what they do not name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gradstep.core.errors import GradstepError
from gradstep.core.graph import edits
from gradstep.core.graph.changes import diff
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.graph.relabel import relabel, relabel_one
from gradstep.core.graph.scopes import children, is_inside, parents
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.each_case import each_of
from tests.support.edited_graphs import edited
from tests.support.layouts import Case
from tests.support.random_networks import networks


def two() -> Graph:
    graph, _ = edits.add(Graph(), "Placeholder", "x")
    graph, _ = edits.add(graph, "Mul", "y", [TensorRef("x"), None])
    return graph


def test_names_are_made_unique_ignoring_case() -> None:
    graph, first = edits.add(Graph(), "Add")
    graph, second = edits.add(graph, "Add", "add")
    assert (first, second) == ("Add", "add_1")


def test_removing_leaves_wires_open() -> None:
    graph = edits.remove(two(), ["x"])
    assert graph["y"].inputs == (None, None)


def test_renaming_leaves_what_does_not_mention_it_the_very_same() -> None:
    graph, _ = edits.add(two(), "Neg", "z", [TensorRef("y")])
    graph, _ = edits.add(graph, "Neg", "far")
    build = GraphBuilder()
    with build.as_default():
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
    graph = Graph.of((*graph, *build.build()))
    renamed = edits.rename(graph, "x", "input")
    assert [op.name for op in renamed if op not in [*graph]] == ["input", "y"]
    assert all(renamed[op.name] is op for op in graph if op.name not in ("x", "y"))
    loop = next(op.name for op in graph if op.type == "While")
    inner = next(op.name for op in within(graph) if op.type == "AddV2")
    renamed = edits.rename(graph, inner, "more")
    assert renamed[loop] is not graph[loop]
    assert "more" in [op.name for op in within(renamed)]


@pytest.mark.slow
@given(networks(), st.data())
def test_renaming_one_is_renaming_it_wherever_it_is_mentioned(
    case: Case, data: st.DataObject
) -> None:
    graph = case.graph
    for _ in range(data.draw(st.integers(0, 3))):
        graph = edited(graph, set(), data.draw)
    if not len(graph):
        return
    old = data.draw(st.sampled_from([*graph.operations]))
    origin = data.draw(st.sampled_from([*graph.operations]))
    graph = Graph({**graph.operations, origin: replace(graph[origin], origin=old)})
    found = relabel_one(graph, old, "renamed")
    wanted = relabel(graph, lambda name: "renamed" if name == old else name)
    assert [*found.operations.items()] == [*wanted.operations.items()]
    others = [op for op in found if op not in [*graph]]
    assert all(op is graph[op.name] for op in found if op not in others)


def test_a_wire_that_closes_a_cycle_is_refused() -> None:
    graph, _ = edits.add(two(), "Neg", "z", [TensorRef("y")])
    with pytest.raises(GradstepError, match="cycle"):
        edits.connect(graph, TensorRef("z"), Edge("y", 1))


def test_an_input_far_past_the_last_is_refused() -> None:
    with pytest.raises(GradstepError, match="no input 4"):
        edits.connect(two(), TensorRef("x"), Edge("y", 4))


def test_renaming_reaches_every_mention() -> None:
    graph = edits.rename(two(), "x", "scope/input")
    assert graph["y"].inputs[0] == TensorRef("scope/input")
    assert list(graph.operations) == ["scope/input", "y"]


@each_of("bad", ["", "/x", "x/", "_x", "a b", "é"])
def test_names_that_tensorflow_would_refuse_are_refused(bad: str) -> None:
    with pytest.raises(GradstepError, match="valid operation name"):
        edits.rename(two(), "x", bad)


def test_renaming_to_a_taken_name_is_refused_and_says_why() -> None:
    with pytest.raises(GradstepError, match="taken"):
        edits.rename(two(), "x", "Y")


def test_names_that_differ_in_case_alone_stay_two() -> None:
    """As in a graph from a file; an operation's own name may change its case."""
    graph = Graph.of(Operation(name, "NoOp") for name in ("s/a", "S/a", "s/b"))
    for edit, old, new in ((edits.rename, "s/a", "S/a"), (edits.rename_scope, "s", "S")):
        with pytest.raises(GradstepError, match="taken"):
            edit(graph, old, new)
    assert [*edits.rename(graph, "s/b", "s/B").operations] == ["s/a", "S/a", "s/B"]


def test_duplicates_keep_their_own_wires() -> None:
    graph, copies = edits.duplicate(two(), ["x", "y"])
    assert graph[copies["y"]].inputs[0] == TensorRef(copies["x"])


def test_diff_names_what_changed_and_nothing_else() -> None:
    before = two()
    after, _ = edits.add(edits.set_attr(before, "x", "dtype", "float32"), "Neg", "z")
    changes = diff(before, after)
    assert (changes.added, changes.removed, changes.changed) == ({"z"}, set(), {"x"})
    assert not diff(after, after)


def test_scopes_spell_a_tree() -> None:
    graph, _ = edits.add(Graph(), "NoOp", "c/Adam/read")
    graph, _ = edits.add(graph, "NoOp", "c")
    assert children(graph) == (["c"], ["c"])
    assert children(graph, "c") == (["c/Adam"], [])
    assert list(parents("c/Adam/read")) == ["c", "c/Adam"]
    assert is_inside("c/Adam", "c")
    assert not is_inside("cc", "c")


class Editing(RuleBasedStateMachine):
    """Any sequence of edits leaves a graph whose wires all lead to operations that are there."""

    def __init__(self) -> None:
        super().__init__()
        self.graph = Graph()

    def pick(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(sorted(self.graph.operations)))

    @rule(name=st.sampled_from(["a", "A", "b", "s/a"]), inputs=st.integers(0, 2))
    def add(self, name: str, inputs: int) -> None:
        before = len(self.graph)
        self.graph, chosen = edits.add(self.graph, "AddV2", name, [None] * inputs)
        assert len(self.graph) == before + 1
        assert chosen in self.graph

    @precondition(lambda self: len(self.graph) > 0)
    @rule(data=st.data())
    def connect(self, data: st.DataObject) -> None:
        source, target = self.pick(data), self.pick(data)
        count = len(self.graph[target].inputs)
        index = data.draw(st.integers(0, count))
        before = self.graph
        try:
            self.graph = edits.connect(before, TensorRef(source), Edge(target, index))
        except GradstepError:
            assert target in before.ancestors([source])
        else:
            assert self.graph.source(Edge(target, index)) == TensorRef(source)

    @precondition(lambda self: len(self.graph) > 0)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        gone = self.pick(data)
        self.graph = edits.remove(self.graph, [gone])
        assert gone not in self.graph

    @precondition(lambda self: len(self.graph) > 0)
    @rule(data=st.data())
    def duplicate(self, data: st.DataObject) -> None:
        chosen = {self.pick(data), self.pick(data)}
        before = len(self.graph)
        self.graph, _ = edits.duplicate(self.graph, chosen)
        assert len(self.graph) == before + len(chosen)

    @invariant()
    def every_wire_has_a_source(self) -> None:
        assert len(self.graph.order) == len(self.graph)
        for op in self.graph:
            assert all(ref is None or ref.op in self.graph for ref in op.inputs)

    @invariant()
    def names_are_unique_ignoring_case(self) -> None:
        assert len({name.lower() for name in self.graph.operations}) == len(self.graph)


TestEditing = Editing.TestCase
