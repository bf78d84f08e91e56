"""What files are reckoned to take, held to what documents of every day are."""

from __future__ import annotations

import numpy as np

from core.document.document import Document, View
from core.graph.dtypes import DType
from core.graph.model import Constant, Graph, Operation, TensorRef
from core.io import graphdef, store
from core.io.archive import Archive
from core.io.budget import DEFAULT, Budget
from core.io.graphdef_export import to_pb

COUNT = 1000
TIMES = 100  # as many operations as in the largest graphs that people draw or import


def document() -> Document:
    """A chain of sums with constants, under names with scopes, each at its place."""
    attrs = {"T": DType.FLOAT32}
    first = Operation("net/x", "Const", attrs={"value": Constant(np.arange(10, dtype=np.float32))})
    operations = [first]
    for i in range(COUNT):
        last = TensorRef(operations[-1].name)
        operations.append(
            Operation(f"net/layer_{i // 100}/add_{i}", "AddV2", (last, last), attrs=attrs)
            if i % 5
            else Operation(f"net/c_{i}", "Const", attrs=first.attrs)
        )
    places = {op.name: (1.123 * i, 2.77 * i) for i, op in enumerate(operations)}
    return Document(graph=Graph.of(operations), view=View(positions=places))


def test_a_hundred_thousand_operations_open_unasked() -> None:
    """In either format, with room for five times as many in text, and three times in memory."""
    data = store.to_bytes(document())
    budget = Budget()
    store.from_bytes(data, "a.gradstep", budget)
    assert 3 * TIMES * budget.taken < DEFAULT
    assert 4 * TIMES * len(Archive(data).json("document.json")) < budget.longest_text
    graph = Budget()
    graphdef.from_pb(to_pb(document()), "a.pb", graph)
    assert 3 * TIMES * graph.taken < DEFAULT
