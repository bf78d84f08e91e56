"""Placing nodes and scopes."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradstep.core.document.document import Document
from gradstep.core.document.placement_edits import place, place_as_written
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.edits import set_devices
from gradstep.core.graph.placed_devices import device_spec
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.tensorflow.graphdef_export import to_pb
from gradstep.core.io.tensorflow.graphdef_import import from_pb
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.placeable_ops import placements

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"


@pytest.fixture
def document() -> Document:
    build = GraphBuilder()
    x = build.placeholder("x", shape=(None, 2))
    for layer in ("layer1", "layer2"):
        w = build.one("VariableV2", name=f"{layer}/w", dtype=DType.FLOAT32, shape=Shape.of(2, 2))
        x = build.one("MatMul", x, w, name=f"{layer}/product")
        x = build.one("Tanh", x, name=f"{layer}/tanh")
    build.one("VariableV2", name="only/w", dtype=DType.FLOAT32, shape=Shape.of(2))
    return Document(graph=build.build())


def test_a_scope_places_all_of_it_that_computes(document: Document) -> None:
    placed = place_as_written(document, ["layer1=torch:cpu", "layer2/tanh=gpu"])
    assert placements(placed.graph) == {
        "layer1/product": "torch:cpu", "layer1/tanh": "torch:cpu", "layer2/tanh": "gpu"
    }  # fmt: skip
    assert placed.graph["layer1/w"].device == ""
    assert placements(place(placed, ["layer1/"], "").graph) == {"layer2/tanh": "gpu"}


def test_what_is_so_already_is_no_edit(document: Document) -> None:
    placed = place(document, ["layer1"], "gpu")
    assert place(placed, ["layer1", "layer1/tanh"], "gpu") is placed
    assert place(document, ["layer1"], "") is document


def test_the_file_keeps_it(document: Document) -> None:
    placed = place(document, ["layer1"], "emulate:tf-gpu")
    again = gradstep_file.from_bytes(gradstep_file.to_bytes(placed))
    assert placements(again.graph) == placements(placed.graph) != {}


def test_what_is_in_a_loop_is_placed_but_not_what_holds_it_together() -> None:
    document = gradstep_file.load(EXAMPLES / "while_loop.gradstep")
    product = place(document, ["while/Mul"], "gpu")
    assert placements(product.graph) == {"while/Mul": "gpu"}
    assert place(product, ["while/Mul"], "gpu") is product
    whole = place(product, ["while"], "torch:cpu")
    inside = ("while/Less", "while/Identity", "while/Identity_1", "while/AddV2", "while/Mul")
    assert placements(whole.graph) == dict.fromkeys(inside, "torch:cpu")
    again = gradstep_file.from_bytes(gradstep_file.to_bytes(whole))
    assert placements(again.graph) == placements(whole.graph)
    assert placements(place(whole, ["while/"], "").graph) == {}
    for name in (
        "while/While",
        "while/NextIteration",
        "while/LoopCond",
        "while/Exit",
        "while/Merge",
    ):
        with pytest.raises(GradstepError, match="cannot be placed") as refused:
            place(document, [name], "gpu")
        assert "what holds a loop together" in refused.value.hint


def test_what_a_file_places_wrongly_is_taken_away_and_wishes_stay(document: Document) -> None:
    devices = {"layer1/w": device_spec("gpu"), "only/w": "/device:GPU:0", "x": device_spec("gpu")}
    wrong = document.with_(graph=set_devices(document.graph, devices))
    assert placements(wrong.graph) == {}
    free = place(wrong, ["layer1", "x"], "")
    assert free.graph["layer1/w"].device == free.graph["x"].device == ""
    with pytest.raises(GradstepError, match="nothing in only"):
        place(free, ["only"], "")
    assert free.graph["only/w"].device == "/device:GPU:0"


def test_a_graphdef_has_those_in_loops_too() -> None:
    document = gradstep_file.load(EXAMPLES / "while_loop.gradstep")
    placed = place(document, ["while/Mul"], "torch:cpu")
    again = from_pb(to_pb(placed))
    assert placements(again.graph) == {"while/Mul": "torch:cpu"}


@pytest.mark.parametrize(
    ("text", "what", "hint"),
    [
        ("layer3=gpu", "no scope 'layer3'", "layer1"),
        ("layer1", "places nothing", "layer1=torch:cpu"),
        ("=gpu", "places nothing", "NAME=DEVICE"),
        ("layer1=A GPU", "no name of a device", "gradstep doctor"),
        ("only=gpu", "nothing in only can be placed", "variables, feeds"),
        ("x=gpu", "x cannot be placed", "variables, feeds"),
        ("layer1/w=gpu", "layer1/w cannot be placed", "variables, feeds"),
    ],
)
def test_what_cannot_be_placed_is_said(document: Document, text: str, what: str, hint: str) -> None:
    with pytest.raises(GradstepError, match=what) as refused:
        place_as_written(document, [text])
    assert hint in refused.value.hint
