"""A weight that was frozen has no gradient in PyTorch, and the inspector says why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradstep.core.io.traces.traced_document import from_trace
from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel
from tests.core.io.traces.written_traces import frozen


def test_none_is_not_that_no_gradient_reaches_it(bench: Any, show: Callable[..., Any]) -> None:
    bench.space.open_document(from_trace(frozen().packed("loss")), None)
    bench.space.debugger.flush()
    bench.space.select(["fc/a"])
    bench.run("continue_")
    panel = show(InspectorPanel(bench.space), 328, 1400)
    panel.refresh()
    said = panel.gradient.note.text()
    assert said.startswith("None: it was frozen when it was captured (requires_grad was False)")
