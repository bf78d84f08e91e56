"""The scene of a document that was read, put together beside the main thread.

The window would be deaf meanwhile. It is kept with the graph until it is asked for, once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.document.requests import whole_request
from gradstep.core.graph.model import Graph
from gradstep.core.ops.typing.flatten_loops import flatten_loop_types
from gradstep.core.ops.typing.inference import Inference

if TYPE_CHECKING:
    from gradstep.gui.canvas.scene.scene_arrays import Point, SceneArrays
    from gradstep.gui.canvas.scene.visible_graph import VisibleGraph

_KEY = "foreseen scene"  # in the graph that is looked at: it goes when that goes


def foresee_scene(
    document: Document, shown: Graph, inference: Inference, collapsed: Mapping[str, str]
) -> None:
    """Find out how it will be drawn: a gradstep.gui.model.foreseen.DrawAhead."""
    from gradstep.gui.canvas.scene.visible_graph import VisibleGraph  # loads NumPy

    types = flatten_loop_types(document.graph, inference)
    drawn = VisibleGraph.of(shown, types, whole_request(document), collapsed)
    drawn.find_ahead()
    shown.__dict__[_KEY] = drawn, _scene_of(drawn, document.view.positions)


def _scene_of(drawn: VisibleGraph, positions: Mapping[str, Point]) -> SceneArrays | None:
    """In the places that the document gives, or that layout finds for a few boxes; None where a
    process has to lay it out."""
    from gradstep.gui.canvas.scene import box_placement
    from gradstep.gui.canvas.scene.scene_arrays import SceneArrays

    places = box_placement.known(drawn, positions)
    if not places and box_placement.is_small(drawn):
        places = box_placement.complete(drawn, places)
    if len(places) < len(drawn.boxes):
        return None
    found = SceneArrays.of(drawn, places)
    assert found.extent  # with the frames
    return found


def foreseen_scene(
    shown: Graph, request: GradientRequest, collapsed: Mapping[str, str]
) -> tuple[VisibleGraph | None, SceneArrays | None]:
    """Of a graph with its loops opened; None where something else was foreseen, or nothing."""
    drawn: VisibleGraph | None
    scene: SceneArrays | None
    drawn, scene = shown.__dict__.pop(_KEY, (None, None))
    source = None if drawn is None else drawn.source
    same = source is not None and (source.request, source.collapsed) == (request, collapsed)
    return (drawn, scene) if same else (None, None)
