"""Lists in lists, as deep and as many as a file has them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.tensorflow.functions.list_groups import ListGroups


def nested(depth: int, *names: str) -> Iterator[Operation]:
    """Of each name a list, in a list, …, the innermost first; the last one is `name`_`depth`."""
    sizes = Constant(np.int32([2]))
    yield Operation("sizes", "Const", attrs={"value": sizes, "dtype": DType.INT32})
    for level in range(depth + 1):
        of = {"element_dtype": DType.VARIANT if level else DType.FLOAT32}
        for name in names:
            here = f"{name}_{level}"
            sizes = () if level else (TensorRef("sizes"),)
            yield Operation(f"{here}/empty", "EmptyTensorList", sizes, attrs=of)
            inner = TensorRef(f"{name}_{level - 1}") if level else None
            given = TensorRef(f"{here}/empty"), inner
            yield Operation(here, "TensorListPushBack", given, attrs=of)


def test_lists_deeper_than_python_calls_go() -> None:
    graph = Graph.of(nested(1500, "a"))
    groups = ListGroups(graph)
    assert groups.element(graph["a_1500"]).dtype is DType.VARIANT
    assert groups.element(graph["a_0"]).dtype is DType.FLOAT32
    assert groups.element(graph["a_2"]).shape == Shape((None, None, 2))


def test_lists_that_turn_out_to_be_one_take_no_square_of_their_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two that are put into one list are of one group, and so is what is in them, level by level
    inwards."""
    asked, leader = [0], ListGroups._leader

    def counted(self: ListGroups, ref: TensorRef) -> TensorRef:
        asked[0] += 1
        return leader(self, ref)

    monkeypatch.setattr(ListGroups, "_leader", counted)
    counts = []
    for depth in (50, 100):
        of = {"element_dtype": DType.VARIANT}
        a, b = TensorRef(f"a_{depth}"), TensorRef(f"b_{depth}")
        both = [
            Operation("empty", "EmptyTensorList", attrs=of),
            Operation("one", "TensorListPushBack", (TensorRef("empty"), a), attrs=of),
            Operation("two", "TensorListPushBack", (TensorRef("one"), b), attrs=of),
        ]
        asked[0] = 0
        ListGroups(Graph.of([*nested(depth, "a", "b"), *both]))
        counts.append(asked[0])
    assert counts[1] <= 2.5 * counts[0]
