"""What a backward pass visits after an edit is what would be found anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.backward_slice import BackwardSlice
from gradstep.core.graph.carry_over import continue_graph, edit_before
from gradstep.core.graph.edits import connect, rename
from gradstep.core.graph.model import Edge, Graph, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.typing.inference import find_retyped, infer_declared
from tests.support.edited_graphs import edited
from tests.support.layouts import Case
from tests.support.random_networks import networks


def _parts(found: BackwardSlice) -> tuple[object, ...]:
    path, places = [*found.path.items()], dict(found.places.items())
    own = found.asked, found.exits, found.live, found.arrivals, found.scopes
    return path, places, *own, found.has_gradient_scopes


@pytest.mark.slow
@given(networks(), st.data())
def test_it_is_as_found_anew(case: Case, data: st.DataObject) -> None:
    graph, types = case.graph, infer_declared(case.graph).types
    starts = [op for op in graph if op.type in ("VariableV2", "VarHandleOp")]
    wrt = [op.output() for op in data.draw(st.lists(st.sampled_from(starts), min_size=1))]
    below = graph.descendants(*(ref.op for ref in wrt))
    ends = [op.output() for op in graph if op.name in below and types.of.get(op.name)]
    of = [data.draw(st.sampled_from(ends[len(ends) // 2 :]))]
    known = BackwardSlice(graph, types, of, wrt)
    assert _parts(known)
    asked = {ref.op for ref in (*of, *wrt)}
    others = [name for name in known.path if name not in asked]
    renamed = bool(others) and data.draw(st.booleans())
    if renamed:
        name = data.draw(st.sampled_from(others))
        drawn = rename(graph, name, f"other/{name}")
    else:
        drawn = edited(graph, asked, data.draw)
    after = continue_graph(Graph(dict(drawn.operations)), graph)
    inference, edit = infer_declared(after), edit_before(after)
    if edit is None or inference.problems or asked - after.operations.keys():
        return
    found = known.after(after, inference.types, edit[1], find_retyped(graph, after))
    assert found is not None or not renamed
    if found is not None:
        anew = BackwardSlice(after, inference.types, of, wrt)
        assert _parts(found) == _parts(anew)
        assert found.differing_from(known) == anew.differing_from(known)


def test_a_wire_from_another_output_of_the_same_operation_comes_back_elsewhere() -> None:
    b = GraphBuilder()
    v = b.variable("v", shape=(4,))
    one, _ = b.op("Split", b.constant(np.int32(0)), v, num_split=2, name="parts")
    loss = b.one("Sum", one, b.constant(np.int32(0)), name="loss")
    graph = b.build()
    other = connect(graph, TensorRef("parts", 1), Edge("loss", 0))
    known, now = (
        BackwardSlice(each, infer_declared(each).types, [loss.ref], [v.ref])
        for each in (graph, other)
    )
    assert known.arrivals == now.arrivals
    assert [s.output_at(*s.arrivals["parts"]) for s in (known, now)] == [0, 1]
    assert now.differing_from(known) == {"parts"}
