"""What files are reckoned to take, held to what documents of every day are."""

from __future__ import annotations

import numpy as np

from gradstep.core.document.document import Document, View
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.disk.memory_budget import DEFAULT, Budget
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.native.zip_archive import Archive
from gradstep.core.io.tensorflow import graphdef_import
from gradstep.core.io.tensorflow.graphdef_export import to_pb

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
    data = gradstep_file.to_bytes(document())
    budget = Budget()
    gradstep_file.from_bytes(data, "a.gradstep", budget)
    assert 3 * TIMES * budget.taken < DEFAULT
    assert 4 * TIMES * len(Archive(data).json("document.json")) < budget.longest_text
    graph = Budget()
    graphdef_import.from_pb(to_pb(document()), "a.pb", graph)
    assert 3 * TIMES * graph.taken < DEFAULT
