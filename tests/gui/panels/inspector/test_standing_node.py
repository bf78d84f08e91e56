"""Where the debugger stands in a traced graph: at an operation, not at what it reads first."""

from __future__ import annotations

from typing import Any

from gradstep.core.io.open_document import read
from gradstep.gui.model.standing_node import standing_node
from tests.traces.trace_archive import traces


def test_one_stands_at_the_operation_whose_weights_are_read_next(bench: Any) -> None:
    bench.space.open_document(read(traces() / "hook.gstrace"), None)
    bench.space.debugger.flush()
    assert bench.space.stop.op in ("l/bias", "l/weight")
    assert standing_node(bench.space).startswith("l/linear/")
    bench.run("step")
    assert bench.space.stop.op.startswith("m/")
    assert standing_node(bench.space).startswith("m/linear/")
    bench.run("step_into")
    assert standing_node(bench.space) == bench.space.stop.node  # one looks inside now


def test_elsewhere_one_stands_where_the_engine_does(bench: Any) -> None:
    bench.open("tutorial")
    assert standing_node(bench.space) == bench.space.stop.node
    bench.run("step")
    assert standing_node(bench.space) == bench.space.stop.node
