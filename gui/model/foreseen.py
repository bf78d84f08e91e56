"""What the window asks first of a document that was read, found out beside the main thread.

The window would be deaf meanwhile. It is kept with the graph until it is asked for, once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.document.placeholder_substitution import with_placeholders
from gradstep.core.document.requests import whole_request
from gradstep.core.document.required_python import missing_code
from gradstep.core.errors import GradstepError
from gradstep.core.graph.block_kinds import BlockKinds
from gradstep.core.graph.model import Constant, Graph, TensorRef
from gradstep.core.graph.stacked_blocks import each_by_itself, stack_blocks
from gradstep.core.host import engine_document
from gradstep.core.ops.typing.flatten_loops import flatten_loop_types, flatten_loops
from gradstep.core.ops.typing.inference import Inference
from gradstep.core.ops.typing.missing_inputs import Waiting, find_waiting

if TYPE_CHECKING:
    from gradstep.gui.canvas.scene.scene_arrays import Point, SceneArrays
    from gradstep.gui.canvas.scene.visible_graph import VisibleGraph

LIGHT = 16 << 20  # bytes of constants
Stacked = tuple[frozenset[str], bool]  # what scopes are closed; whether equal ones are one box
_KEY = "foreseen"  # in the graph that is looked at: it goes when that goes


@dataclass(slots=True)
class _Foreseen:
    kinds: BlockKinds | None
    stacks: tuple[Stacked, Mapping[str, str]]
    drawn: VisibleGraph | None
    scene: SceneArrays | None  # of `drawn`; None where a process has to lay that out


def foresee(document: Document, inference: Inference, stacked: bool) -> None:
    """Find out what will be asked of it. stacked: whether equal blocks are shown as one box."""
    from gradstep.gui.canvas.scene.visible_graph import VisibleGraph  # loads NumPy

    try:
        waiting_of(document)
        missing_code(document)
        shown = flatten_loops(document.graph)
        kinds, closed = BlockKinds(shown), document.view.collapsed
        collapsed = stack_blocks(closed, kinds) if stacked else each_by_itself(closed)
        types = flatten_loop_types(document.graph, inference)
        drawn = VisibleGraph.of(shown, types, whole_request(document), collapsed)
        drawn.find_ahead()
        scene = _scene_of(drawn, document.view.positions)
        stacks = (closed, stacked), collapsed
        shown.__dict__[_KEY] = _Foreseen(kinds, stacks, drawn, scene)
        if _weight(document) <= LIGHT:  # of more, the first picture need not wait for it
            engine_document.write_ahead(document)
    except GradstepError:
        return  # it will be said when it is asked for


def _scene_of(drawn: VisibleGraph, positions: Mapping[str, Point]) -> SceneArrays | None:
    """In the places that the document gives, or that layout finds for a few boxes."""
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


def _weight(document: Document) -> int:
    """Bytes of the arrays in it."""
    held = (value for op in document.graph for value in op.attrs.values())
    every = chain(held, document.feeds.values(), document.initial.values())
    return sum(value.array.nbytes for value in every if isinstance(value, Constant))


def waiting_of(document: Document) -> Mapping[str, Waiting]:
    """Operation -> what it waits for, of what is not drawn to its end yet."""
    try:
        fed = {TensorRef.parse(name) for name in (*document.feeds, *document.columns)}
        return find_waiting(with_placeholders(document).graph, fed)
    except GradstepError:  # a cycle, or a feed of nothing, which is said
        return {}


def foreseen_kinds(shown: Graph) -> BlockKinds | None:
    """Of a graph with its loops opened."""
    found = _of(shown)
    if found is None:
        return None
    kinds, found.kinds = found.kinds, None
    return kinds


def foreseen_stacks(shown: Graph, stacked: Stacked) -> Mapping[str, str] | None:
    """Each closed scope -> the one that its box is called after; None where something else was
    foreseen, or nothing."""
    found = _of(shown)
    return None if found is None or found.stacks[0] != stacked else found.stacks[1]


def foreseen_scene(
    shown: Graph, request: GradientRequest, collapsed: Mapping[str, str]
) -> tuple[VisibleGraph | None, SceneArrays | None]:
    """Of a graph with its loops opened; None where something else was foreseen, or nothing."""
    found = _of(shown)
    if found is None:
        return None, None
    drawn, scene = found.drawn, found.scene
    found.drawn = found.scene = None
    source = None if drawn is None else drawn.source
    same = source is not None and (source.request, source.collapsed) == (request, collapsed)
    return (drawn, scene) if same else (None, None)


def _of(shown: Graph) -> _Foreseen | None:
    found: _Foreseen | None = shown.__dict__.get(_KEY)
    return found
