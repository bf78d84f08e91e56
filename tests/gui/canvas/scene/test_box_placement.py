"""Where new boxes go: what comes to a scope comes into its frame."""

from __future__ import annotations

from gradstep.core.document.document import Document
from gradstep.core.document.named_edits import edit_by_name
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.typing.inference import infer
from gradstep.gui.canvas.scene import box_placement
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph


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
