"""The tensor that leaves equal blocks."""

from __future__ import annotations

from gradstep.core.graph.block_kinds import members
from gradstep.core.graph.block_results import block_results
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.io.open_document import read
from tests.support.block_documents import decoder
from tests.traces.trace_archive import traces


def results(graph: Graph, *scopes: str) -> dict[str, str]:
    return {s: r.short for s, r in block_results(graph, members(graph, scopes)).items()}


def test_what_the_next_block_reads() -> None:
    """Also of the last, which something else reads; not the first sum, which is read inside."""
    scopes = [f"h/{i}" for i in range(4)]
    assert results(decoder(4).graph, *scopes) == {s: f"{s}/AddV2_1" for s in scopes}


def test_layers_of_a_traced_model() -> None:
    graph = read(traces() / "hf_gpt2.gstrace").graph
    first, second = (f"model/transformer/h/{i}" for i in range(2))
    found = results(graph, first, second)
    assert found[second].startswith(second)
    assert {read.op for op in graph if op.name.startswith(f"{second}/") for read in op.inputs
            if read is not None and read.op.startswith(f"{first}/")} == {found[first]}  # fmt: skip


def chain(*, outside: bool) -> Graph:
    """Two blocks of a Split and what reads its second output; the first has readers of more."""
    ops = [Operation("x", "Placeholder")]
    for scope in ("b/0", "b/1"):
        split = Operation(f"{scope}/split", "Split", (None, TensorRef("x")), attrs={"num_split": 2})
        ops += [split, Operation(f"{scope}/neg", "Neg", (split.output(0),))]
        if outside:
            ops.append(Operation(f"y{scope[-1]}", "Neg", (split.output(1),)))
    if outside:
        ops.append(Operation("z", "Neg", (TensorRef("b/0/neg"),)))
    return Graph.of(ops)


def test_what_most_of_them_give() -> None:
    assert results(chain(outside=True), "b/0", "b/1") == {
        "b/0": "b/0/split:1",
        "b/1": "b/1/split:1",
    }


def test_what_nobody_reads() -> None:
    assert results(chain(outside=False), "b/0", "b/1") == {"b/0": "b/0/neg", "b/1": "b/1/neg"}
    assert block_results(Graph(), {}) == {}
