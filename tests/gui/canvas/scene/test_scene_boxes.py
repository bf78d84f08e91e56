"""What boxes say of the scopes that they show."""

from __future__ import annotations

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.io.open_document import read
from gradstep.core.ops.typing.inference import infer
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph
from tests.traces.trace_archive import traces


def test_what_another_frameworks_operation_became_is_marked() -> None:
    """The scope of one is; a module's, that has others in it, is not."""
    graph = read(traces() / "hook.gstrace").graph
    inference = infer(graph)
    for collapsed, marked in (
        ({"m/linear": "m/linear"}, {"m/linear/"}),
        ({"m": "m"}, set()),
        ({}, set()),
    ):
        visible = VisibleGraph.of(graph, inference, GradientRequest(), collapsed)
        assert {box.id for box in visible.boxes if box.is_foreign} == marked
