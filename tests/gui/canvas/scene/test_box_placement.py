"""Where new boxes go: on free ground, and what comes to a scope into its frame."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.document.document import Document, View
from gradstep.core.document.loss_insertion import add_loss, loss_choices
from gradstep.core.document.named_edits import edit_by_name
from gradstep.core.document.wire_completion import add_cast
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.typing.inference import infer
from gradstep.gui.canvas.scene import box_placement
from gradstep.gui.canvas.scene.scene_arrays import Point, SceneArrays
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph
from gradstep.tests.support.drawn_share import share


def visible_of(document: Document) -> VisibleGraph:
    asked = document.graph, infer(document.graph), document.request
    return VisibleGraph.of(*asked)


def test_what_is_put_into_a_wire_leaves_the_frame_around_its_scope() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x, other = builder.placeholder("x", shape=[4]), builder.placeholder("other", shape=[4])
        with builder.scope("model"):
            w, b = builder.variable("w", shape=[4]), builder.variable("b", shape=[4])
            y = tf.add(tf.multiply(tf.log(x, name="size"), w), b)
        tf.squared_difference(y, other, name="loss")
    document = Document(builder.build())
    before = visible_of(document)
    stood = box_placement.complete(before, {})
    frames = SceneArrays.of(before, stood).frames
    assert [frame.title for frame in frames] == ["model"]
    after = visible_of(edit_by_name(document, "keep_above", ["model/size<0", "1e-7"]))
    placed = box_placement.complete(after, stood)
    assert {name: placed[name] for name in stood} == stood, "nothing that stands moves"
    (frame,) = SceneArrays.of(after, placed).frames
    assert frame.title == "model"
    names = [box.id for box in after.boxes]
    inside = {name for name, there in zip(names, frame.boxes, strict=True) if there}
    assert {"model/size_bound", "model/size_bounded"} <= inside


EXAMPLES = Path(__file__).parents[4] / "assets" / "examples"
SITES = sorted(EXAMPLES.glob("*.gradstep"))
INTO_A_WIRE = ("keep_above", "keep_below", "add_epsilon", "expand")


@cache
def stood_in(path: Path) -> tuple[Document, dict[str, Point]]:
    document = gradstep_file.load(path)
    visible = visible_of(document)
    return document, box_placement.complete(
        visible, box_placement.known(visible, document.view.positions)
    )


def covered(visible: VisibleGraph, places: Mapping[str, Point]) -> set[tuple[str, str]]:
    """Boxes that lie over each other, in part at least."""
    x, y, width, height = SceneArrays.of(visible, {**places}).rects.T
    across = (x[:, None] < x + width) & (x[:, None] + width[:, None] > x)
    down = (y[:, None] < y + height) & (y[:, None] + height[:, None] > y)
    names = [box.id for box in visible.boxes]
    pairs = np.argwhere(np.triu(across & down, 1)).tolist()
    return {(names[one], names[other]) for one, other in pairs}


@given(st.data())
@settings(max_examples=share(30))
def test_what_a_repair_adds_lies_over_nothing(data: st.DataObject) -> None:
    document, places = stood_in(data.draw(st.sampled_from(SITES)))
    stood = covered(visible_of(document), places)
    for _ in range(3):
        wires = [
            f"{op.name}<{k}"
            for op in document.graph
            for k, ref in enumerate(op.inputs)
            if ref is not None
        ]
        kind, wire = data.draw(st.sampled_from(INTO_A_WIRE)), data.draw(st.sampled_from(wires))
        try:
            document = edit_by_name(document, kind, [wire, "1"])
        except GradstepError:  # what it carries has no such number
            continue
        visible = visible_of(document)
        found = box_placement.known(visible, {**places, **document.view.positions})
        before, places = places, box_placement.complete(visible, found)
        assert before.items() <= places.items(), "what stands does not move"
        assert covered(visible, places) <= stood, (kind, wire)


def test_what_a_cast_or_a_loss_adds_lies_over_nothing() -> None:
    """In a document all of whose places are a user's, and tight."""
    builder = GraphBuilder()
    with builder.as_default():
        x, w = builder.placeholder("x", shape=[4, 3]), builder.variable("w", shape=[4, 3])
        builder.one("Cast", tf.greater(x, w, name="more"), name="whole", DstT=DType.INT64)
        y = tf.multiply(x, w, name="y")
        tf.squared_difference(y, x, name="apart")
    names = ["x", "w", "more", "whole", "y", "apart"]
    places = {name: (236.0 * (k // 2), 96.0 * (k % 2)) for k, name in enumerate(names)}
    document = Document(builder.build(), fetches=(TensorRef("y"),), view=View(places))
    cast, _ = add_cast(document, TensorRef("whole"), Edge("apart", 1))
    types = infer(document.graph).types
    loss, scope = add_loss(document, loss_choices(document, types)[0], types)
    for made in (cast, loss):
        folded = {scope: scope} if made is loss else {}
        visible = VisibleGraph.of(made.graph, infer(made.graph), made.request, folded)
        placed = box_placement.complete(visible, box_placement.known(visible, made.view.positions))
        assert places.items() <= placed.items()
        assert covered(visible, placed) == set()
