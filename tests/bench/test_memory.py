"""What an opened graph takes of memory is counted, and grows as the graph does."""

from __future__ import annotations

import pytest

from gradstep.core.document.document import Document
from tests.bench.deriving import DRAWN
from tests.bench.memory import AGAIN, measured, table


def _document(operations: int) -> Document:
    return DRAWN["network"](operations)


@pytest.mark.slow
def test_it_is_counted_by_stage_and_grows_as_the_graph_does() -> None:
    measured(_document(20))  # what is imported and kept for good is no part of it
    small, large = measured(_document(60)), measured(_document(240))
    assert large.drawn > 3 * small.drawn
    assert large.derived > 2 * large.drawn
    assert list(small.stages) == ["document", "program", "plan", "run", "next edit", AGAIN]
    assert small.total == sum(small.stages.values()) - small.stages[AGAIN]
    assert large.per_operation()["all, by drawn"] < 1.2 * small.per_operation()["all, by drawn"]
    assert large.per_operation()["of the target"] < 1.6, "it was 1.48, and 1.92 before"
    assert table(large).startswith(f"{large.drawn:,} operations drawn, {large.derived:,} derived")
    assert any(line.startswith("core/graph/model.py:") for line in large.lines)
