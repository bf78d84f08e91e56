"""Where operations are from: attributes read, and the one that gives a scope's result."""

from __future__ import annotations

from typing import Any

import pytest

from gradstep.core.graph.foreign_origin import ForeignOrigin, foreign_origin, foreign_results
from gradstep.core.graph.model import Graph, Operation, TensorRef


def op(name: str, *inputs: str, scope: str = "s", **attrs: Any) -> Operation:
    own = {"_foreign_op": "aten.x.default", "_foreign_scope": scope, **attrs}
    return Operation(name, "Identity", tuple(map(TensorRef.parse, inputs)), attrs=own)


@pytest.mark.parametrize(
    ("source", "file", "line"),
    [("a/net.py:12", "a/net.py", 12), ("c:net.py:3", "c:net.py", 3), ("", "", 0),
     ("net.py", "", 0), ("net.py:x", "", 0)],
)  # fmt: skip
def test_lines(source: str, file: str, line: int) -> None:
    assert foreign_origin(op("s/a", _source=source)) == ForeignOrigin(
        "aten.x.default", "s", file, line
    )


def test_what_was_drawn_here_is_from_nowhere() -> None:
    assert foreign_origin(Operation("a", "Identity")) is None
    assert foreign_origin(Operation("a", "Identity", attrs={"_foreign_op": 3})) is None


def test_the_result_is_what_others_read() -> None:
    inside = [op("s/a"), op("s/b", "s/a"), op("s/mask", "s/a")]
    reader = Operation("out", "Identity", (TensorRef("s/b"),))
    graph = Graph.of([*inside, reader])
    assert foreign_results(graph)["s"] == "s/b"
    assert foreign_results(Graph.of(inside))["s"] == inside[-1].name
    assert "t" not in foreign_results(graph)
