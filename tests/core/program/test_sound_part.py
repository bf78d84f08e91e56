"""What is known of the part of a graph that is sound is what would be found anew."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gradstep.core.document.document import Document
from gradstep.core.graph.edits import disconnect
from gradstep.core.graph.model import Edge, Graph
from gradstep.core.ops.typing.inference import infer, infer_declared
from gradstep.core.ops.typing.invalid_operations import broken_operations
from gradstep.core.ops.typing.missing_inputs import find_waiting
from gradstep.core.program.training_updates import sound_part
from tests.support.layouts import Case
from tests.support.random_networks import networks


@pytest.mark.slow
@given(networks(), st.data())
def test_it_is_as_found_anew(case: Case, data: st.DataObject) -> None:
    graph = case.graph
    assert Document(graph=graph).graph.readers  # as of a document that is open
    wires = [Edge(op.name, i) for op in graph for i, ref in enumerate(op.inputs) if ref is not None]
    assume(wires)
    for wire in data.draw(st.lists(st.sampled_from(wires), min_size=1, max_size=2)):
        graph = disconnect(graph, wire)
    broken = broken_operations(graph, infer_declared(graph))
    left = sound_part(graph, broken)
    anew = Graph({op.name: op for op in graph if op.name not in broken})
    assert [*left] == [*anew]
    found, wanted = infer_declared(left), infer(anew)
    assert found.types.of == wanted.types.of
    assert found.constants.keys() == wanted.constants.keys()
    assert found.problems == wanted.problems
    assert left.order == anew.order
    assert dict(left.consumers) == dict(anew.consumers)
    assert dict(find_waiting(left)) == dict(find_waiting(anew))
