"""Rows of a traced graph: one for each operation that its author wrote, called as there."""

from __future__ import annotations

from gradstep.core.graph.foreign_origin import FOREIGN_OP, FOREIGN_SCOPE
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.gui.panels.timeline.foreign_rows import ForeignRows


def part(scope: str, name: str, *inputs: str) -> Operation:
    """An operation that aten.batch_norm.default in `scope` was lowered to."""
    marks = {FOREIGN_OP: "aten.batch_norm.default", FOREIGN_SCOPE: scope}
    return Operation(f"{scope}/{name}", "Neg", tuple(map(TensorRef, inputs)), attrs=marks)


GRAPH = Graph.of(
    [
        Operation("bn/weight", "VariableV2"),
        Operation("x", "Placeholder"),
        part("bn/batch_norm", "Norm", "x", "bn/weight"),
        part("bn/batch_norm", "Average", "bn/batch_norm/Norm"),
        Operation("bn/mean/update", "Neg", (TensorRef("bn/batch_norm/Average"),)),
        part("bn/next", "Neg", "bn/batch_norm/Norm"),
        Operation("drawn", "Neg", (TensorRef("bn/next/Neg"),)),
    ]
)


def test_an_operation_and_the_weights_for_it_are_one_row() -> None:
    rows = ForeignRows(GRAPH)
    assert [*map(rows.key, GRAPH.operations)] == [
        "bn/batch_norm/", "bn/batch_norm/", "bn/batch_norm/", "bn/batch_norm/",
        "bn/mean/update", "bn/next/", "drawn",
    ]  # fmt: skip


def test_a_row_is_called_as_its_author_calls_it() -> None:
    rows = ForeignRows(GRAPH)
    assert rows.label("bn/batch_norm/") == "bn/batch_norm (aten.batch_norm)"
    assert rows.label("drawn") == ""


def test_its_result_is_what_others_read_and_no_running_average() -> None:
    rows = ForeignRows(GRAPH)
    assert rows.result("bn/batch_norm/") == "bn/batch_norm/Norm"
    assert rows.result("bn/next/") == "bn/next/Neg"
    assert rows.result("drawn") == ""
