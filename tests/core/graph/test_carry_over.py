"""What is known of a graph after an edit is what would be found anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.errors import GradstepError
from gradstep.core.graph import edits
from gradstep.core.graph.carry_over import (
    changes_between,
    continue_graph,
    edit_before,
    is_made_again,
)
from gradstep.core.graph.changes import alike
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.free_names import unique_name
from gradstep.core.graph.model import (
    GRADIENT_OP_TYPE,
    MARKS,
    Constant,
    Edge,
    Graph,
    Operation,
    TensorRef,
    predecessors,
)
from gradstep.core.graph.relabel import relabel, relabel_one
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.build.used_names import names_of
from gradstep.core.ops.typing.inference import agree, find_retyped, infer, infer_declared
from gradstep.core.ops.typing.invalid_operations import broken_operations
from gradstep.core.ops.typing.missing_inputs import find_waiting
from gradstep.core.persistent import overlaid_mapping
from tests.support.edited_graphs import assert_edit_is_known, edited
from tests.support.large_graphs import edit_as_large
from tests.support.layouts import Case
from tests.support.random_networks import networks
from tests.support.work import lines_run


def _find_all(graph: Graph) -> tuple[object, ...]:
    order: object
    try:
        order = graph.order
    except GradstepError as error:
        order = str(error)
    inferred = infer_declared(graph)
    constants = {name: value.tobytes() for name, value in inferred.constants.items()}
    known = (inferred.types.of, constants, inferred.problems)
    consumers = dict(graph.consumers)
    by_type = {type: sorted(names) for type, names in graph.by_type.items()}
    waits = {name: sorted(after) for name, after in graph.control_outputs.items() if after}
    found = graph.readers[1], by_type, graph.unwired, graph.wishes, graph.marked, waits
    named = graph.derived, graph.lowered
    return order, consumers, *found, *named, len(graph.places), known


def _called_otherwise(graph: Graph, data: st.DataObject) -> Graph:
    """After a name has become another, in other letters perhaps; or is waited for, or read, or
    there at last, that was not there."""
    op = data.draw(st.sampled_from([*graph]))
    name = data.draw(st.sampled_from([op.name.upper(), f"scope/{op.name}", "gone", "Gone"]))
    kind = data.draw(st.sampled_from(("rename", "wait", "read", "come")))
    is_free = name.lower() not in graph.lowered
    if kind == "rename" and (is_free or name.lower() == op.name.lower()):
        return relabel_one(graph, op.name, name)
    if kind == "come" and is_free:
        operations = [*graph]
        place = data.draw(st.integers(0, len(graph)))
        operations.insert(place, replace(op, name=name))
        return Graph.of(operations)
    if kind == "read" and op.inputs:
        op = replace(op, inputs=(TensorRef(name), *op.inputs[1:]))
    elif kind == "wait":
        op = replace(op, control_inputs=(name,))
    return Graph({**graph.operations, op.name: op})


def _edited(graph: Graph, data: st.DataObject) -> Graph:
    """After an edit that may leave an input without a wire, mark an operation, or place it."""
    if len(graph) and data.draw(st.integers(0, 3)) == 0:
        return _called_otherwise(graph, data)
    if len(graph) and data.draw(st.integers(0, 4)) == 0:
        op = data.draw(st.sampled_from([op for op in graph if op.device] or [*graph]))
        attrs = {key: value for key, value in op.attrs.items() if key not in MARKS}
        mark = {} if len(attrs) < len(op.attrs) else {GRADIENT_OP_TYPE: "Mine"}
        device = data.draw(st.sampled_from(["", "/device:TORCH_CPU:0"]))
        marked = replace(op, attrs={**attrs, **mark}, device=device)
        return Graph({**graph.operations, op.name: marked})
    wired = [op for op in graph if op.inputs]
    if not wired or data.draw(st.booleans()):
        return edited(graph, set(), data.draw)
    op = data.draw(st.sampled_from(wired))
    is_new = data.draw(st.booleans())
    inputs = (None,) * len(op.inputs) if is_new else (None, *op.inputs[1:])
    op = replace(op, name=f"{op.name}_new" if is_new else op.name, inputs=inputs)
    return Graph({**graph.operations, op.name: op})


@given(networks(), st.data())
@pytest.mark.slow
def test_it_is_as_found_anew(case: Case, data: st.DataObject) -> None:
    graph = case.graph
    graphs = [graph]
    for _ in range(data.draw(st.integers(1, 5))):
        _find_all(graph)
        names_of(graph)
        undo = data.draw(st.integers(0, 3)) == 0
        asked = data.draw(st.sampled_from(graphs)) if undo else graph
        for _ in range(0 if undo else data.draw(st.integers(1, 3))):  # perhaps several at once
            asked = _edited(asked, data)
        before, graph = graph, continue_graph(Graph(dict(asked.operations)), graph)
        graphs.append(graph)
        anew = Graph(dict(graph.operations))
        for found, wanted in zip(_find_all(graph), _find_all(anew), strict=True):
            assert found == wanted
        assert [*graph.places.items()] == [*anew.places.items()]
        assert names_of(graph).everything() == names_of(anew).everything()
        assert infer_declared(graph).types.of == infer(anew).types.of
        then, now = infer_declared(before), infer_declared(graph)
        others = {n for n in (*before.operations, *graph.operations) if not agree(then, now, n)}
        assert find_retyped(before, graph) >= others


def _edited_by_name(graph: Graph, data: st.DataObject) -> Graph:
    """After one of the edits that say what they changed."""
    op = data.draw(st.sampled_from([*graph]))
    kind = data.draw(st.sampled_from(("add", "attribute", "rename", "swap", "unplug")))
    if kind == "add":
        return edits.add(graph, op.type, op.name, op.inputs, op.attrs)[0]
    if kind == "unplug" and op.inputs:
        return edits.disconnect(graph, Edge(op.name, len(op.inputs) - 1))
    if kind == "rename":
        return edits.rename(graph, op.name, unique_name(graph, f"s/{op.name}"))
    if kind == "swap":
        other = data.draw(st.sampled_from([*graph])).name
        names = {op.name: other, other: op.name, "gone": "there"}
        return relabel(graph, lambda name: names.get(name, name))
    return edits.set_attr(graph, op.name, "_note", data.draw(st.sampled_from((1, True, "x"))))


@given(networks(), st.data())
@pytest.mark.slow
def test_edits_say_themselves_what_they_changed(case: Case, data: st.DataObject) -> None:
    graph = case.graph
    for _ in range(data.draw(st.integers(1, 4))):
        _find_all(graph)
        before, graph = graph, _edited_by_name(graph, data)
        anew = Graph(dict(graph.operations))
        for found, wanted in zip(_find_all(graph), _find_all(anew), strict=True):
            assert found == wanted
        assert [*graph.places.items()] == [*anew.places.items()]
        assert_edit_is_known(before, graph)


@given(networks(), st.data())
@pytest.mark.slow
def test_what_is_made_again_is_known_to_be_the_same(case: Case, data: st.DataObject) -> None:
    first = case.graph
    _find_all(first)
    second = _edited_by_name(first, data)
    undone = continue_graph(Graph(dict(first.operations)), second)
    again = continue_graph(Graph(dict(second.operations)), first)
    others = [continue_graph(_edited(second, data), second), _edited_by_name(first, data)]
    for graph in (undone, again, *others):
        for other in (first, second):
            here, there = [*graph], [*other]
            same = len(here) == len(there) and all(map(alike, here, there))
            assert is_made_again(graph, other) in (None, same)
    ops = [*first]
    op = ops.pop(data.draw(st.integers(0, len(ops) - 1)))
    without = continue_graph(Graph.of(ops), first)
    ops.insert(data.draw(st.integers(0, len(ops))), op)
    same = ops == [*first]
    assert is_made_again(continue_graph(Graph.of(ops), without), first) in (None, same)
    if edit_before(second) is not None and undone is not second:
        assert is_made_again(again, second)
        assert is_made_again(undone, first)


def test_places_are_numbered_once_for_all_edits_that_keep_the_order() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "float32", (4,))
    last = build.one("Neg", build.one("Tanh", x, name="a"), name="b")
    for _ in range(8):
        last = build.one("Neg", last)
    graph = build.build()
    _ = infer_declared(graph), graph.consumers
    for note in ("one", "other"):
        changed = graph["a"].with_attrs(_note=note)
        after = continue_graph(Graph({**graph.operations, "a": changed}), graph)
        _ = infer_declared(after)
        assert after.places is graph.places
    more = Graph({"first": replace(graph["x"], name="first"), **graph.operations})
    _ = infer_declared(more), more.consumers
    after = continue_graph(Graph(dict(graph.operations)), more)
    _ = infer_declared(after)
    assert [*after.places.values()] == [*range(len(graph))]
    moved = {name: graph[name] for name in reversed(graph.operations)}
    after = continue_graph(Graph({**moved, "a": graph["a"].with_attrs(_note="moved")}), graph)
    _ = infer_declared(after)
    assert [*after.places] == [*reversed(graph.operations)]


@given(networks(), st.data())
def test_what_an_unfinished_graph_waits_for_lies_after_it(case: Case, data: st.DataObject) -> None:
    graph = case.graph
    for _ in range(data.draw(st.integers(1, 3))):
        graph = _edited(graph, data)
    try:
        order = graph.order
    except GradstepError:
        return
    names = data.draw(st.sets(st.sampled_from([*graph.operations]), min_size=1))
    after = {*names}
    for name in order:
        if not after.isdisjoint(predecessors(graph[name])):
            after.add(name)
    assert graph.descendants(*names) == after
    held = {op.name for op in graph if None in op.inputs or op.type == "Placeholder"}
    waiting = find_waiting(graph)
    assert waiting.keys() == (graph.descendants(*held) if held else set())
    found = infer(graph)
    blamed = broken_operations(graph, found)
    assert {n for n in order if n not in found.types.of} <= blamed.keys()
    assert blamed.keys() <= graph.descendants(*(p.node for p in found.problems))


def _chain(length: int) -> Graph:
    build = GraphBuilder()
    h = build.placeholder("x", "float32", (2,))
    shared = build.constant(2.0, name="shared")
    for number in range(length):
        h = build.one("Mul", h, shared, name=f"part{number}/mul")
    return build.build()


def test_an_edit_is_remembered_while_somebody_has_the_graph_before() -> None:
    before = _chain(3)
    op = before["part1/mul"].with_attrs(_note="seen")
    after = continue_graph(Graph({**before.operations, op.name: op}), before)
    found = edit_before(after)
    assert found is not None
    assert found[0] is before
    assert found[1].changed == {op.name}
    assert continue_graph(Graph(dict(before.operations)), before) is before
    del before, found
    assert edit_before(after) is None


@pytest.mark.parametrize("name", ["mul", "new"])
@pytest.mark.parametrize("source", [TensorRef("shared"), None])
def test_an_edit_looks_at_no_more_of_a_larger_graph(source: TensorRef | None, name: str) -> None:
    """Lines of Python; what goes through names in C is one line."""

    def work(length: int) -> int:
        before = _chain(length)
        _find_all(before)
        names_of(before)
        own = f"part{length - 4}/{name}"
        op = Operation(own, "Mul", (TensorRef("x"), source))
        again = {**before.operations, own: op}

        def edit() -> None:
            graph = continue_graph(Graph(again), before)
            _find_all(graph)
            names_of(graph)

        return sum(lines_run(edit).values())

    small, large = work(50), work(400)
    assert large < 1.5 * small


@pytest.mark.parametrize("follows", [True, False])
def test_what_is_renamed_in_its_place_keeps_the_place(follows: bool) -> None:
    """Also where what reads it goes on reading what is not there any more."""
    before = _chain(30)
    _find_all(before)
    old = next(name for name, edges in before.consumers.items() if edges and "/" in name)
    made = {
        name: replace(op, name="other") if name == old else op
        for name, op in before.operations.items()
    }
    if follows:
        for edge in before.consumers[old]:
            op = made[edge.op]
            wires = (TensorRef("other", r.index) if r and r.op == old else r for r in op.inputs)
            made[edge.op] = replace(op, inputs=tuple(wires))
    graph = continue_graph(Graph.of(made.values()), before)
    assert "readers" in graph.__dict__
    assert (old in graph.readers[1]) is not follows
    assert _find_all(graph) == _find_all(Graph(graph.operations))


@pytest.mark.parametrize("others", [0, 1])
def test_what_nobody_reads_any_more_is_not_missing(others: int) -> None:
    """Once what read an operation that is not there reads another one; unless others still do."""
    whole = _chain(30)
    lost = {f"part{number}/mul": ("gone", "shared") for number in (3, 7)[: 1 + others]}
    wires = {name: tuple(map(TensorRef, sources)) for name, sources in lost.items()}
    broken = {name: replace(whole[name], inputs=inputs) for name, inputs in wires.items()}
    before = Graph({**whole.operations, **broken})
    _find_all(before)
    graph = continue_graph(Graph({**before.operations, "part3/mul": whole["part3/mul"]}), before)
    assert graph.readers[1] == ({"gone"} if others else frozenset())
    assert _find_all(graph) == _find_all(Graph(graph.operations))


@pytest.mark.parametrize("waits", [True, False])
def test_what_was_missing_comes_before_who_needs_it(waits: bool) -> None:
    """Wherever it is put in."""
    whole = _chain(30)
    op = whole["part3/mul"]
    wires = {"control_inputs": ("late",)} if waits else {"inputs": (TensorRef("late"),) * 2}
    before = Graph({**whole.operations, op.name: replace(op, **wires)})  # type: ignore[arg-type]
    _find_all(before)
    late = Operation("late", "Identity", (TensorRef("x"),))
    graph = continue_graph(Graph({**before.operations, "late": late}), before)
    assert graph.order.index("late") < graph.order.index(op.name)
    assert _find_all(graph) == _find_all(Graph(graph.operations))


def test_the_way_back_changes_the_same() -> None:
    before = _chain(30)
    name = [*before.operations][-1]
    graph = continue_graph(Graph({n: o for n, o in before.operations.items() if n != name}), before)
    assert changes_between(before, graph).removed == {name}
    assert changes_between(graph, before).added == {name}
    assert not changes_between(graph, graph)
    alone = Graph({**graph.operations})
    assert changes_between(alone, before) == changes_between(graph, before)


def test_what_is_behind_another_lost_wire_is_told_of_that_alone() -> None:
    """Also where what lies between is as it was."""
    before = _chain(30)
    _find_all(before)
    names = "part3/mul", "part5/mul"
    unwired = {n: replace(before[n], inputs=(before[n].inputs[0], None)) for n in names}
    graph = continue_graph(Graph({**before.operations, **unwired}), before)
    found = infer_declared(graph)
    assert found.since is not None, "it was typed again, and not anew"
    assert [problem.node for problem in found.problems] == ["part3/mul"]
    assert {"part3/mul", "part4/mul", "part5/mul", "part29/mul"} <= found.since.names
    assert _find_all(graph) == _find_all(Graph(graph.operations))


@pytest.fixture
def _as_if_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables are edited as large ones."""
    monkeypatch.setattr(overlaid_mapping, "_SMALL", 0)


@pytest.mark.usefixtures("_as_if_large")
def test_of_what_gets_other_types_each_is_looked_at_once() -> None:
    def work(length: int) -> int:
        before = _chain(length)
        _find_all(before)
        wider = before["x"].with_attrs(shape=Shape((3,)))
        graph = continue_graph(Graph({**before.operations, "x": wider}), before)
        found = lines_run(lambda: infer_declared(graph))
        assert infer_declared(graph).types.of == infer(graph).types.of
        return sum(found.values())

    small, large = work(100), work(400)
    assert large < 5 * small


@pytest.mark.usefixtures("_as_if_large")
def test_constant_values_are_told_on_however_many_there_are() -> None:
    build = GraphBuilder()
    length = build.constant([4], name="length")
    for _ in range(40):
        length = build.one("Minimum", length, build.constant([6]))
    build.one("Fill", length, build.constant(1.0), name="last")
    before = build.build()
    _find_all(before)
    other = before["length"].with_attrs(value=Constant(np.array([2], np.int32)))
    graph = continue_graph(Graph({**before.operations, "length": other}), before)
    assert infer_declared(graph).since is not None, "it was typed again, and not anew"
    assert infer_declared(graph).types[TensorRef("last")].shape == Shape((2,))


def test_names_in_small_letters_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    edit_as_large(monkeypatch)
    before = Graph.of(Operation(f"N{i}", "NoOp") for i in range(9))
    there = before.lowered
    after = relabel_one(before, "N3", "M")
    assert isinstance(after.lowered, overlaid_mapping.OverlaidMapping)
    assert after.lowered.below is there
    assert {*after.lowered} == {*there} - {"n3"} | {"m"}
