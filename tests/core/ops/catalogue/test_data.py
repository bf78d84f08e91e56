"""Lookup tables and iterators: values, and TensorFlow's words."""

from __future__ import annotations

from typing import Any

import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops.build.builder import GraphBuilder


class Table:
    """A table of numbers by words; `fill` takes both from feeds."""

    def __init__(self, fast: bool = False) -> None:
        b = GraphBuilder()
        kinds = {"key_dtype": "string", "value_dtype": "int64"}
        (table,) = b.op("HashTableV2", name="table", **kinds)
        keys, values = b.placeholder("keys", "string"), b.placeholder("values", "int64")
        b.op("LookupTableImportV2", table, keys, values, name="fill")
        b.op("LookupTableFindV2", table, keys, b.constant(-1, "int64"), name="find")
        b.op("LookupTableSizeV2", table, name="size")
        self.session = Session(b.build(), fast=fast)

    def fill(self, keys: Any, values: Any) -> None:
        self.session.run([], {"keys": keys, "values": values}, ["fill"])

    def find(self, keys: Any) -> Any:
        return self.session.run(["find"], {"keys": keys})[0].tolist()


@pytest.mark.parametrize("fast", [False, True])
def test_a_table_is_filled_once(fast: bool) -> None:
    table = Table(fast)
    with pytest.raises(GradstepError, match="Table not initialized") as caught:
        table.find(["a"])
    assert (caught.value.kind, caught.value.node) == ("FailedPreconditionError", "find")
    table.fill(["a", "b", "a"], [1, 2, 1])
    assert table.find([["a", b"b"], ["z", ""]]) == [[1, 2], [-1, -1]]
    assert table.session.run(["size"])[0] == 2
    table.fill(["c", "d"], [8, 9])  # as many: TensorFlow takes it for the same
    assert table.find(["a", "c"]) == [1, -1]
    with pytest.raises(GradstepError, match="was already initialized with different data"):
        table.fill(["c"], [1])


def test_keys_and_values_that_do_not_fit() -> None:
    with pytest.raises(GradstepError, match="Key a has 1 and trying to add value 3"):
        Table().fill(["a", "b", "a"], [1, 2, 3])
    with pytest.raises(GradstepError, match=r"Expected shape \[2\] for value, got \[1\]"):
        Table().fill(["a", "b"], [1])
    b = GraphBuilder()
    (table,) = b.op("HashTableV2", name="table", key_dtype="string", value_dtype="int64")
    with pytest.raises(GradstepError, match="have: resource, int64, int64->int64 expected: "):
        b.op("LookupTableFindV2", table, b.constant([1], "int64"), b.constant(1, "int64"))


def test_an_iterator_has_types_and_is_fed() -> None:
    b = GraphBuilder()
    kinds = {"output_types": (DType.FLOAT32, DType.INT64)}
    kinds |= {"output_shapes": (Shape.of(None, 2), Shape.of(None))}
    (iterator,) = b.op("IteratorV2", name="iterator", **kinds)
    x, y = b.op("IteratorGetNext", iterator, name="next", **kinds)
    b.one("Sum", x, b.constant([0, 1]), name="total")
    assert (str(x.type), str(y.type)) == ("float32[?, 2]", "int64[?]")
    session = Session(b.build())
    assert session.run(["total"], {"next:0": [[1, 2], [3, 4]]})[0] == 10
    with pytest.raises(GradstepError, match="has not been initialized") as caught:
        session.run(["total"])
    assert caught.value.hint == "Gradstep runs no datasets: feed 'next', 'next:1'"


def test_what_a_table_holds_is_shown() -> None:
    table = Table()
    table.fill(["a", "b"], [1, 2])
    assert str(table.session.store.get("table")) == "2: {a: 1, b: 2}"
