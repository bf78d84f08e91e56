"""What is taken over of a visible graph after an edit: the result is as if all were made anew."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.typing.inference import infer
from gradstep.gui.canvas.scene.incremental_scene import revised
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph

NAMES = "abcdefgh"
REQUEST = GradientRequest(of=(TensorRef("h"),), wrt=(TensorRef("a"),))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Of some of the names, wired to anything: also to what is not there, or not at all."""
    refs = st.none() | st.sampled_from("abc" * 6 + NAMES).map(TensorRef)
    names = NAMES[: draw(st.integers(3, len(NAMES)))]
    return Graph.of(draw(_operation(name, refs)) for name in names)


def _operation(
    name: str, refs: st.SearchStrategy[TensorRef | None]
) -> st.SearchStrategy[Operation]:
    if name in "ab":
        given = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}
        return st.just(Operation(name, "Placeholder", attrs=given))
    waits = st.sets(st.sampled_from(NAMES), max_size=1).map(tuple)
    return st.sampled_from([("Neg", 1), ("Sub", 2), ("AddN", 2), ("Split", 2)]).flatmap(
        lambda kind: st.tuples(st.lists(refs, min_size=kind[1], max_size=kind[1]), waits).map(
            lambda found: Operation(name, kind[0], tuple(found[0]), found[1])
        )
    )


@given(before=graphs(), other=graphs(), taken=st.sets(st.sampled_from(NAMES)))
def test_a_revised_graph_is_the_graph(before: Graph, other: Graph, taken: set[str]) -> None:
    mixed = {
        name: other[name] if name in taken and name in other else op
        for name, op in before.operations.items()
    }
    length = len(other)  # cut, or added to, at the end
    kept = dict(list(mixed.items())[:length])
    after = Graph(kept | {n: op for n, op in other.operations.items() if n not in kept})
    shown = VisibleGraph.of(before, infer(before), REQUEST)
    known = infer(after)
    found = revised(shown, after, known, REQUEST)
    if found is None:
        return
    anew = VisibleGraph.of(after, known, REQUEST)
    assert found.boxes == anew.boxes
    assert found.links == anew.links
    assert (found.box_of, found.on_path, found.badges) == (anew.box_of, anew.on_path, anew.badges)
    assert found.source is not None
    assert anew.source is not None
    assert (found.source.passed, found.source.whole) == (anew.source.passed, anew.source.whole)


def test_an_edit_of_one_operation_makes_one_box() -> None:
    ops = [Operation("a", "Placeholder", attrs={"dtype": DType.FLOAT32, "shape": Shape.of(2)})]
    ops += [Operation(f"n{i}", "Neg", (TensorRef(f"n{i - 1}" if i else "a"),)) for i in range(20)]
    graph = Graph.of(ops)
    shown = VisibleGraph.of(graph, infer(graph), GradientRequest())
    after = Graph(graph.operations | {"n7": Operation("n7", "Tanh", (TensorRef("n2"),))})
    found = revised(shown, after, infer(after), GradientRequest.to("n19", "a"))
    assert found is None  # another request is another path
    stopped = GradientRequest(stops=frozenset({TensorRef("n3")}))
    assert revised(shown, after, infer(after), stopped) is not None  # but a stop is a fact of it
    found = revised(shown, after, infer(after), shown.source.request)  # type: ignore[union-attr]
    assert found is not None
    new = [i for i, (a, b) in enumerate(zip(found.boxes, shown.boxes, strict=True)) if a is not b]
    assert new == [8]
    assert sum(a is not b for a, b in zip(found.links, shown.links, strict=True)) == 1
