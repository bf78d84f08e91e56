"""Of a Switch that the run has passed, every view shows the output that was taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradstep.gui import commands
from gradstep.gui.canvas.scene import node_values
from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel
from gradstep.gui.panels.tensor.tensor_panel import TensorPanel
from gradstep.gui.panels.timeline.timeline_model import OPERATION, PHASE, VALUE
from gradstep.gui.panels.timeline.timeline_panel import TimelinePanel


def test_of_what_is_no_switch_one_output_alone_is_asked_for(bench: Any) -> None:
    """What is asked for is read at every stop."""
    bench.open("tutorial")
    bench.run("continue_")
    space, types = bench.space, bench.space.inference.types.of
    several = [op for op in space.shown if len(types.get(op.name, ())) > 1]
    assert several
    asked: list[str] = []
    value = space.value
    space.value = lambda ref: asked.append(ref) or value(ref)
    for op in several:
        node_values.value(space, op)
    assert asked == [str(op.output()) for op in several]


@pytest.mark.parametrize(("predicate", "taken"), [(True, "true: 3"), (False, "false: 3")])
def test_the_branch_that_is_taken_is_not_dead(
    bench: Any, show: Callable[..., Any], qtbot: Any, predicate: bool, taken: str
) -> None:
    bench.open("cond_gradients")
    commands.set_feed(bench.space, "p:0", np.bool_(predicate))
    bench.space.debugger.flush()
    bench.run("continue_")
    op = bench.space.shown["choose/Mul/Switch"]
    assert node_values.value(bench.space, op).text == taken
    inspector = show(InspectorPanel(bench.space))
    bench.space.select(["choose/Mul/Switch"])
    qtbot.waitUntil(lambda: inspector.is_current)
    assert inspector.value.header.remark.text().startswith(taken.partition(":")[0])
    assert inspector.value.tiles.isVisible()
    timeline = show(TimelinePanel(bench.space), 900, 300)
    cells = timeline.model.cell
    rows = [r for r in range(timeline.model.count()) if cells(r, PHASE).text == "forward"]
    shown = {cells(r, OPERATION).text: cells(r, VALUE).text for r in rows}
    assert shown["choose/Mul/Switch (RefSwitch)"] == taken
    tensor = show(TensorPanel(bench.space), 900, 300)
    tensor.grab()
    assert "not taken" not in tensor.facts.text()
