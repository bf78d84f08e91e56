"""What is taken over of a visible graph after an edit: the result is as if all were made anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override
from gradstep.core.graph.block_kinds import BlockKinds
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.edits import rename
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.graph.stacked_blocks import each_by_itself, stack_blocks, stacks_in
from gradstep.core.ops.typing.inference import infer
from gradstep.gui.canvas.scene.incremental_scene import Found, revising
from gradstep.gui.canvas.scene.visible_graph import Source, VisibleGraph

NAMES = "abcdefgh"
UNPACKED = {"num": 2, "axis": 0}  # two outputs, once it is known what comes in
REQUEST = GradientRequest(of=(TensorRef("h"),), wrt=(TensorRef("a"),))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Of some of the names, wired to anything: also to what is not there, or not at all."""
    refs = st.none() | st.builds(
        TensorRef, st.sampled_from("abc" * 6 + NAMES), st.sampled_from([0, 0, 0, 1])
    )
    names = NAMES[: draw(st.integers(3, len(NAMES)))]
    return Graph.of(draw(_operation(name, refs)) for name in names)


def _operation(
    name: str, refs: st.SearchStrategy[TensorRef | None]
) -> st.SearchStrategy[Operation]:
    if name in "ab":
        given = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}
        return st.just(Operation(name, "Placeholder", attrs=given))
    waits = st.sets(st.sampled_from(NAMES), max_size=1).map(tuple)
    kinds = [("Neg", 1), ("Sub", 2), ("AddN", 2), ("Split", 2), ("Unpack", 1)]
    return st.sampled_from(kinds).flatmap(
        lambda kind: st.tuples(st.lists(refs, min_size=kind[1], max_size=kind[1]), waits).map(
            lambda found: Operation(
                name, kind[0], tuple(found[0]), found[1], UNPACKED if kind[0] == "Unpack" else {}
            )
        )
    )


ARRAYS = ("kinds", "rows", "port_counts", "ends", "end_ports", "control", "wire_counts")
SAID = ("boxes", "links", "box_of", "number", "on_path", "link_of", "surroundings")


def assert_equal(found: VisibleGraph, anew: VisibleGraph) -> None:
    for name in SAID:
        assert getattr(found, name) == getattr(anew, name), name
    for name in ARRAYS:
        assert np.array_equal(getattr(found, name), getattr(anew, name)), name
    assert [vars(hub)["links"].tolist() for hub in found.hubs.all] == [
        vars(hub)["links"].tolist() for hub in anew.hubs.all
    ]


def source_of(graph: Graph, request: GradientRequest = REQUEST) -> Source:
    return Source(graph, infer(graph), request, {})


def revised(before: VisibleGraph, made: Source, now: Source) -> Found:
    """All parts at once."""
    parts = revising(before, made, now)
    while True:
        try:
            next(parts)
        except StopIteration as end:
            found: Found = end.value
            return found


@st.composite
def edited(draw: st.DrawFn, before: Graph) -> Graph:
    """Some operations are others, or are called otherwise; the graph is cut, or added to."""
    other = draw(graphs())
    taken = draw(st.sets(st.sampled_from(NAMES)))
    mixed = {
        name: other[name] if name in taken and name in other else op
        for name, op in before.operations.items()
    }
    kept = dict(list(mixed.items())[: len(other)])
    after = Graph(kept | {n: op for n, op in other.operations.items() if n not in kept})
    for name in draw(st.sets(st.sampled_from(NAMES), max_size=2)):
        new = draw(st.sampled_from(["s/x", "s/y", "z"]))
        if name in after and new not in after:
            after = rename(after, name, new)
    return after


@given(data=st.data(), before=graphs())
@pytest.mark.slow
def test_a_graph_revised_again_and_again_is_the_graph(data: st.DataObject, before: Graph) -> None:
    shown = VisibleGraph.of(before, infer(before), REQUEST)
    assert shown.source is not None
    made, graph = shown.source, before
    for _ in range(3):
        for name in data.draw(st.sets(st.sampled_from((*SAID, *ARRAYS, "hubs")))):
            getattr(shown, name)  # as somebody looks at it
        graph = data.draw(edited(graph))
        anew = VisibleGraph.of(graph, infer(graph), REQUEST)
        found = revised(shown, made, source_of(graph))
        if found is None:
            assert anew.source is not None
            shown, made = anew, anew.source
            continue
        shown, made = found
        assert_equal(shown, anew)
        assert anew.source is not None
        assert (made.passed, made.whole) == (anew.source.passed, anew.source.whole)


def test_another_in_the_place_of_one_that_is_waited_for() -> None:
    """Who waits for it goes on waiting for what is not there any more."""
    given_ = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}
    a = Operation("a", "Placeholder", attrs=given_)
    first = [a, Operation("x", "Neg", (TensorRef("a"),), ("e",)), Operation("d", "Neg", (None,))]
    before = Graph.of([*first, Operation("e", "Neg", (None,))])
    after = Graph.of([*first, Operation("c", "Neg", (None,))])
    shown = VisibleGraph.of(before, infer(before), REQUEST)
    assert shown.source is not None
    found = revised(shown, shown.source, source_of(after))
    assert found is not None
    assert_equal(found[0], VisibleGraph.of(after, infer(after), REQUEST))


def test_outputs_come_and_go_with_what_is_known_of_inputs() -> None:
    """As many are drawn as the type says, and one while it says nothing."""
    given_ = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}
    read = {"c": "a", "d": "c", "e": "d", "f": "e", "g": "f"}
    ops = [Operation("a", "Placeholder", attrs=given_)]
    ops += [Operation(name, "Neg", (TensorRef(of),)) for name, of in read.items()]
    whole = Graph.of([*ops, Operation("p", "Unpack", (TensorRef("c"),), attrs=UNPACKED)])
    cut = Graph(whole.operations | {"c": Operation("c", "Neg", (None,))})
    shown = VisibleGraph.of(whole, infer(whole), REQUEST)
    assert shown.source is not None
    made, counts = shown.source, [shown.boxes[-1].outputs]
    for graph in (cut, whole):
        found = revised(shown, made, source_of(graph))
        assert found is not None
        shown, made = found
        assert_equal(shown, VisibleGraph.of(graph, infer(graph), REQUEST))
        counts.append(shown.boxes[-1].outputs)
    assert counts[0] == counts[2] != counts[1]


def test_operations_that_changed_places_are_found_there() -> None:
    """Who reads one of them, and is as it was, is wired to another number."""
    given_ = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}
    a, b = (Operation(name, "Placeholder", attrs=given_) for name in "ab")
    read = {"c": "a", "d": "c", "e": "d", "f": "e"}
    rest = [Operation(name, "Neg", (TensorRef(of),)) for name, of in read.items()]
    before, after = Graph.of([a, b, *rest]), Graph.of([b, a, *rest])
    shown = VisibleGraph.of(before, infer(before), REQUEST)
    assert shown.source is not None
    found = revised(shown, shown.source, source_of(after))
    if found is not None:
        assert_equal(found[0], VisibleGraph.of(after, infer(after), REQUEST))


def test_a_name_that_a_gradient_is_asked_for_is_gone() -> None:
    """The request goes on saying the old one: there is no gradient any more, nor a place for it."""
    given_ = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}
    sources = [Operation(name, "Placeholder", attrs=given_) for name in "ak"]
    read = {"b": "a", "h": "b", "l": "k", "m": "k", "n": "k"}
    negated = [Operation(name, "Neg", (TensorRef(of),)) for name, of in read.items()]
    before = Graph.of([*sources, *negated])
    shown = VisibleGraph.of(before, infer(before), REQUEST)
    assert shown.source is not None
    assert any(box.has_gradient for box in shown.boxes)
    after = rename(before, "a", "x")
    anew = VisibleGraph.of(after, infer(after), REQUEST)
    found = revised(shown, shown.source, source_of(after))
    assert found is not None
    assert_equal(found[0], anew)
    assert not any(box.has_gradient for box in anew.boxes)


@given(
    kinds=st.lists(st.sampled_from(["Neg", "Sub", "Tanh"]), min_size=3, max_size=8),
    data=st.data(),
)
def test_renaming_where_scopes_are_boxes(kinds: list[str], data: st.DataObject) -> None:
    """Within the box, out of it, into another: the same, again and again."""
    given_ = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}
    scopes = [data.draw(st.sampled_from(["", "s/", "s/t/", "u/"])) for _ in range(len(kinds) + 1)]
    names = [f"{scope}n{i}" for i, scope in enumerate(scopes)]
    ops = [Operation(names[0], "Placeholder", attrs=given_)]
    for i, kind in enumerate(kinds):
        earlier = st.sampled_from(names[: i + 1]).map(TensorRef)
        inputs = data.draw(st.lists(earlier, min_size=2, max_size=2))
        waits = (names[0],) if data.draw(st.booleans()) else ()
        ops.append(Operation(names[i + 1], kind, tuple(inputs[: 2 if kind == "Sub" else 1]), waits))
    graph, request = Graph.of(ops), GradientRequest.to(names[-1], names[0])
    collapsed = each_by_itself(data.draw(st.sampled_from([("s",), ("s/t", "u"), ("s", "u")])))
    shown = VisibleGraph.of(graph, infer(graph), request, collapsed)
    assert shown.source is not None
    made = shown.source
    for round in range(3):
        for name in data.draw(st.sets(st.sampled_from((*SAID, *ARRAYS, "hubs")))):
            getattr(shown, name)
        old = data.draw(st.sampled_from([*graph.operations]))
        new = f"{data.draw(st.sampled_from(['', 's/', 's/t/', 'u/']))}m{round}"
        graph = rename(graph, old, new)
        ends = (new if ref.op == old else ref.op for ref in (*request.of, *request.wrt))
        request = GradientRequest.to(*ends)
        source = Source(graph, infer(graph), request, collapsed)
        anew = VisibleGraph.of(graph, infer(graph), request, collapsed)
        found = revised(shown, made, source)
        if found is None:
            assert anew.source is not None
            shown, made = anew, anew.source
            continue
        shown, made = found
        assert_equal(shown, anew)
        assert anew.source is not None
        assert (made.passed, made.whole) == (anew.source.passed, anew.source.whole)


def in_a_row(types: str) -> Graph:
    """A block h/0, h/1, ... for each letter: all are equal whose letters are the same."""
    given_ = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}
    ops = [Operation("a", "Placeholder", attrs=given_)]
    for number, letter in enumerate(types):
        read = TensorRef(ops[-1].name)
        ops += block(f"h/{number}", letter, read)
    return Graph.of([*ops, Operation("z", "Neg", (TensorRef(ops[-1].name),))])


def block(scope: str, letter: str, read: TensorRef) -> list[Operation]:
    """Three operations, of which the first differs."""
    first = Operation(f"{scope}/n", {"n": "Neg", "t": "Tanh"}[letter], (read,))
    second = Operation(f"{scope}/e", "Exp", (first.output(),))
    return [first, second, Operation(f"{scope}/s", "Sub", (read, second.output()))]


@st.composite
def block_edits(draw: st.DrawFn, graph: Graph, round: int) -> Graph:
    """A block becomes of another kind, or of its own again; something is renamed, wired elsewhere,
    marked, or comes in beside it."""
    number = draw(st.integers(0, sum(name.endswith("/e") for name in graph.operations) - 1))
    operations = dict(graph.operations)
    names = [name for name in (f"h/{number}/n", f"h/{number}/s") if name in operations]
    if not names:
        return graph
    op = operations[draw(st.sampled_from(names))]
    what = draw(st.sampled_from(["type", "wire", "mark", "rename", "more", "beside"]))
    if what == "type":
        operations[op.name] = replace(op, type=draw(st.sampled_from(["Neg", "Tanh", "Sub"])))
    elif what == "wire":
        operations[op.name] = replace(op, inputs=(TensorRef("a"), *op.inputs[1:]))
    elif what == "mark":
        operations[op.name] = op.with_attrs(_source=f"net.py:{round}")
    elif what == "rename":
        return rename(graph, op.name, f"h/{number}/m{round}")
    else:
        scope = f"h/{number}/" if what == "more" else ""
        operations[f"{scope}x{round}"] = Operation(f"{scope}x{round}", "Neg", (TensorRef("a"),))
    return Graph(operations)


@given(types=st.sampled_from(["nnn", "nnnn", "nnnnnn", "nntnnn", "tttnnn"]), data=st.data())
@pytest.mark.slow
def test_blocks_edited_apart_and_together_again(types: str, data: st.DataObject) -> None:
    graph, request = in_a_row(types), GradientRequest.to("z", "a")
    opened = data.draw(st.sampled_from([(), (0,), (5,), (1,)]))
    closed = frozenset(f"h/{i}" for i in range(len(types)) if i not in opened)
    kinds = BlockKinds(graph)
    shown = VisibleGraph.of(graph, infer(graph), request, stack_blocks(closed, kinds))
    assert shown.source is not None
    made, seen = shown.source, [graph]
    for round in range(4):
        for name in data.draw(st.sets(st.sampled_from((*SAID, *ARRAYS, "hubs")))):
            getattr(shown, name)
        again = st.sampled_from(seen) if data.draw(st.booleans()) else block_edits(graph, round)
        graph = data.draw(again)
        seen.append(graph)
        kinds = BlockKinds(graph, kinds)
        stacked = stack_blocks(closed, kinds)
        assert stacked == stack_blocks(closed, BlockKinds(graph)), "as if nothing was known"
        anew = VisibleGraph.of(graph, infer(graph), request, stacked)
        found = revised(shown, made, Source(graph, infer(graph), request, stacked))
        if found is None:
            assert anew.source is not None
            shown, made = anew, anew.source
            continue
        shown, made = found
        assert_equal(shown, anew)
        assert [box.stack for box in shown.boxes] == [box.stack for box in anew.boxes]


def test_a_stack_is_one_box_with_one_link_to_each_side() -> None:
    graph, request = in_a_row("nnnnnn"), GradientRequest.to("z", "a")
    closed = frozenset(f"h/{i}" for i in range(6))
    stacked = stack_blocks(closed, BlockKinds(graph))
    shown = VisibleGraph.of(graph, infer(graph), request, stacked)
    assert [box.id for box in shown.boxes] == ["a", "h/0/", "z"]
    stack = shown.boxes[1]
    assert stack.stack == tuple(f"h/{i}" for i in range(6))
    assert (stack.name, stack.type) == ("h/0 … 5", "×6 · 3 ops each")
    assert len(stack.members) == 18
    assert shown.ends.tolist() == [[1, 2], [0, 1]] or shown.ends.tolist() == [[0, 1], [1, 2]]
    assert {shown.number_of_scope(f"h/{i}") for i in range(6)} == {1}
    assert shown.number_of_scope("h") is None
    opened = stack_blocks(closed - {"h/2"}, BlockKinds(graph))
    assert stacks_in(opened) == {"h/3": ("h/3", "h/4", "h/5")}
    shown = VisibleGraph.of(graph, infer(graph), request, opened)
    ids = [box.id for box in shown.boxes]
    assert ids == ["a", "h/0/", "h/1/", "h/2/n", "h/2/e", "h/2/s", "h/3/", "z"]


def test_a_name_within_a_box_makes_that_box_anew() -> None:
    ops = [Operation("a", "Placeholder", attrs={"dtype": DType.FLOAT32, "shape": Shape.of(2)})]
    ops += [Operation(f"s/n{i}", "Neg", (TensorRef(ops[-1].name if not i else f"s/n{i - 1}"),))
            for i in range(5)]  # fmt: skip
    graph = Graph.of([*ops, Operation("z", "Neg", (TensorRef("s/n4"),))])
    request, folded = GradientRequest.to("z", "a"), each_by_itself(["s"])
    shown = VisibleGraph.of(graph, infer(graph), request, folded)
    assert shown.source is not None
    after = rename(graph, "s/n2", "s/other")
    found = revised(shown, shown.source, Source(after, infer(after), request, folded))
    assert found is not None, "nothing goes into another box"
    assert [a is b for a, b in zip(found[0].boxes, shown.boxes, strict=True)] == [True, False, True]


def chain_of(count: int) -> Graph:
    ops = [Operation("a", "Placeholder", attrs={"dtype": DType.FLOAT32, "shape": Shape.of(2)})]
    ops += [
        Operation(f"n{i}", "Neg", (TensorRef(f"n{i - 1}" if i else "a"),)) for i in range(count)
    ]
    return Graph.of(ops)


def test_an_edit_of_one_operation_makes_one_box() -> None:
    graph = chain_of(20)
    asked = GradientRequest.to("n19", "a")
    shown = VisibleGraph.of(graph, infer(graph), asked)
    assert shown.source is not None
    after = Graph(graph.operations | {"n7": Operation("n7", "Tanh", (TensorRef("n2"),))})
    found, _ = revised(shown, shown.source, source_of(after, asked)) or (shown, None)
    new = [i for i, (a, b) in enumerate(zip(found.boxes, shown.boxes, strict=True)) if a is not b]
    assert 8 in new
    assert len(new) <= 6, "it, and those that have no gradient any more"
    assert sum(a != b for a, b in zip(found.links, shown.links, strict=True)) == 1


def test_what_is_not_seen_leaves_the_graph_as_it_is() -> None:
    graph = chain_of(20)
    asked = GradientRequest.to("n19", "a")
    shown = VisibleGraph.of(graph, infer(graph), asked)
    assert shown.source is not None
    noted = replace(graph["n7"], attrs={**graph["n7"].attrs, "_note": "seen"})
    after = Graph(graph.operations | {"n7": noted})
    changed = replace(asked, stops=frozenset({TensorRef("n3")}), overrides=(Override("Sub", "n4"),))
    found = revised(shown, shown.source, source_of(after, changed))
    assert found is not None
    assert found[0] is shown


def test_renaming_keeps_all_but_the_name() -> None:
    graph = chain_of(20)
    asked = GradientRequest.to("n19", "a")
    shown = VisibleGraph.of(graph, infer(graph), asked)
    assert shown.source is not None
    kept = [getattr(shown, name) for name in ("ends", "hubs", "control")]
    after = rename(graph, "n7", "other")
    found = revised(shown, shown.source, source_of(after, asked))
    assert found is not None
    assert [getattr(found[0], name) for name in ("ends", "hubs", "control")] == kept
    assert [box.id for box in found[0].boxes][8] == "other"


def test_of_a_folded_scope_only_what_is_seen_matters() -> None:
    x = Operation("x", "Placeholder", attrs={"dtype": DType.FLOAT32, "shape": Shape.of(2)})
    inside = Operation("s/split", "Split", (None, TensorRef("x")), attrs={"num_split": 2})
    outside = replace(inside, name="split")
    graph, folded = Graph.of([x, inside, outside, Operation("n", "NoOp")]), each_by_itself(["s"])
    shown = VisibleGraph.of(graph, infer(graph), REQUEST, folded)
    assert shown.source is not None
    for name, is_seen in (("s/split", False), ("split", True), ("n", False)):
        other = replace(graph[name], attrs={**graph[name].attrs, "num_split": 3, "_note": "seen"})
        other = replace(other, type="SplitV") if is_seen else other
        after = Graph(graph.operations | {name: other})
        source = Source(after, infer(after), REQUEST, folded)
        found = revised(shown, shown.source, source)
        assert (found is None) == is_seen
