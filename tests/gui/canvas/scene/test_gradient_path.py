"""Where a gradient may come back: after any edits what it is said to be of a new graph."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.edits import rename
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef, predecessors
from gradstep.core.ops.typing.inference import infer
from gradstep.gui.canvas.scene.gradient_path import GradientPath, path_after
from gradstep.gui.canvas.scene.visible_graph import Source

SOURCES = {
    name: Operation(name, "Placeholder", attrs={"dtype": kind, "shape": Shape.of(2)})
    for name, kind in (("a", DType.FLOAT32), ("b", DType.FLOAT32), ("i", DType.INT32))
}
FIELDS = ("needed", "reached", "wires", "passed")


@st.composite
def operations(draw: st.DrawFn, name: str, earlier: list[str]) -> Operation:
    """One that reads what is before it, or nothing yet; that may wait, and may not be typed."""
    kind, count = draw(st.sampled_from([("Neg", 1), ("Sub", 2), ("ArgMax", 2), ("Rank", 1)]))
    refs = st.none() | st.sampled_from(earlier).map(TensorRef)
    waits = draw(st.sets(st.sampled_from(earlier), max_size=1))
    return Operation(name, kind, tuple(draw(refs) for _ in range(count)), tuple(waits))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    found = dict(SOURCES)
    for number in range(draw(st.integers(2, 9))):
        op = draw(operations(f"n{number}", [*found]))
        found[op.name] = op
    return Graph(found)


@st.composite
def edited(draw: st.DrawFn, asked: Source) -> Source:
    """An operation is wired otherwise, renamed, or there no more; or something else is asked."""
    graph, request = asked.graph, asked.request
    names = [*graph.operations]
    inner = names[len(SOURCES) :]
    what = draw(st.sampled_from(["wire", "rename", "cut", "ask"] if inner else ["ask"]))
    if what == "wire":
        name = draw(st.sampled_from(inner))
        op = draw(operations(name, names[: names.index(name)]))
        graph = Graph({**graph.operations, name: op})
    elif what == "rename":
        name, new = draw(st.sampled_from(names)), draw(st.sampled_from(["x", "s/y"]))
        if new not in graph:
            graph = rename(graph, name, new)
            if draw(st.booleans()):
                ends = (
                    tuple(ref._replace(op=new) if ref.op == name else ref for ref in refs)
                    for refs in (request.of, request.wrt)
                )
                request = GradientRequest(*ends)
    elif what == "cut":
        read = {name for op in graph for name in predecessors(op)}
        loose = [n for n in inner if n not in read]
        gone = draw(st.sampled_from(loose)) if loose else None
        graph = Graph({n: op for n, op in graph.operations.items() if n != gone})
    else:
        refs = st.lists(st.sampled_from(names).map(TensorRef), max_size=2).map(tuple)
        request = GradientRequest(draw(refs), draw(refs))
    return Source(graph, infer(graph), request, {})


@given(graph=graphs(), data=st.data())
def test_a_path_followed_through_edits_is_that_of_a_new_graph(
    graph: Graph, data: st.DataObject
) -> None:
    names = [*graph.operations]
    ends = data.draw(st.tuples(st.sampled_from(names[3:]), st.sampled_from("ab")))
    was = Source(graph, infer(graph), GradientRequest.to(*ends), {})
    path = GradientPath.of(was.graph, was.inference, was.request)
    for _ in range(4):
        now = data.draw(edited(was))
        old, new = was.graph.operations, now.graph.operations
        changed = [n for n in {**old, **new} if old.get(n) is not new.get(n)]
        before, path = path, path_after(path, was, now, changed, [*old, *new])
        anew = GradientPath.of(now.graph, now.inference, now.request)
        for field in FIELDS:
            assert getattr(path, field) == getattr(anew, field), field
        if all(getattr(before, field) == getattr(path, field) for field in FIELDS):
            assert path is before or not before.needed, "who keeps what follows from it can tell"
        was = now


def test_only_what_an_edit_touched_is_looked_at() -> None:
    ops = [SOURCES["a"]]
    for number in range(500):
        ops.append(Operation(f"n{number}", "Neg", (TensorRef(ops[-1].name),)))
    graph, request = Graph.of(ops), GradientRequest.to("n499", "a")
    was = Source(graph, infer(graph), request, {})
    path = GradientPath.of(graph, was.inference, request)
    noted = replace(graph["n250"], attrs={"_note": "seen"})
    after = Graph({**graph.operations, "n250": noted})
    now = Source(after, infer(after), request, {})
    looked: list[Edge] = []

    class Watched(dict[str, tuple[Edge, ...]]):
        def __getitem__(self, name: str) -> tuple[Edge, ...]:
            looked.extend(found := super().__getitem__(name))
            return found

    after.__dict__["readers"] = Watched(after.consumers), after.readers[1]
    assert path_after(path, was, now, ["n250"], []) is path
    assert len(looked) < 20
