"""What all of a gradient passes, and blocks that are repeated."""

from __future__ import annotations

from typing import Any

import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.gui.actions import action_table
from tests.gui.canvas.interact.test_context_menu import choose, menu_at


@pytest.fixture
def opened(canvas: Any) -> Any:
    canvas.open("tutorial")
    return canvas


def run(canvas: Any, id: str, *names: str) -> tuple[str, str]:
    """Run an action with some nodes selected. Returns what is said."""
    canvas.space.select(names)
    assert action_table.run(id, canvas.space)
    level, text = canvas.said[-1]
    return level, text


def test_what_all_of_a_gradient_passes_is_selected(opened: Any) -> None:
    choose(menu_at(opened, opened.middle("k")), "Select what all its gradient passes")
    assert opened.space.selection == ("a", "e")
    text = "All of d loss / d k passes a, e. A stop at k → e ends it"
    assert opened.said[-1] == ("note", text)


def test_where_no_gradient_arrives_nothing_is_selected(opened: Any) -> None:
    said = run(opened, "edit.select_passes", "loss")
    assert said == ("info", "no wire brings a gradient to loss")
    assert opened.space.selection == ("loss",)


def test_where_it_passes_no_one_operation_the_selection_stays(opened: Any) -> None:
    graph = opened.space.document.graph
    opened.space.open_document(Document(graph, GradientRequest.to("a", "c")))
    opened.space.debugger.flush()
    text = "All of d a / d c passes no one operation. Stops at c → d, c → e end it"
    assert run(opened, "edit.select_passes", "c") == ("note", text)
    assert opened.space.selection == ("c",)


def test_an_answer_that_comes_late_is_let_go(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer to what was asked of the document before says nothing of the one that is open."""
    late: list[Any] = []
    ask = opened.space.bridge.send
    monkeypatch.setattr(opened.space.bridge, "send", lambda *args: late.append(args))
    opened.space.select(["k"])
    action_table.run("edit.select_passes", opened.space)
    monkeypatch.undo()
    opened.open("tutorial")
    assert late
    for args in late:
        ask(*args)
    assert opened.space.selection == ()


def blocks() -> Document:
    """Three layers, one after the other, of two heads each."""
    build = GraphBuilder()
    h = build.placeholder("x", shape=(2,))
    for layer in range(3):
        with build.scope(f"layer{layer}"):
            heads = []
            for head in range(2):
                with build.scope(f"head{head}"):
                    heads.append(tf.sin(tf.exp(tf.tanh(h, name="t"), name="e"), name="s"))
            h = tf.add_n(heads, name="sum")
    build.one("Identity", h, name="y")
    return Document(build.build())


def test_blocks_like_the_one_around_and_once_more_those_around_them(canvas: Any) -> None:
    canvas.space.open_document(blocks())
    canvas.space.debugger.flush()
    inside = {n for n in canvas.space.shown.operations if "/" in n}
    said = run(canvas, "edit.select_repeats", "layer1/head0/t")
    heads = {name for name in inside if "head" in name}
    assert set(canvas.space.selection) == heads
    assert said[1].startswith("6 blocks of 3 operations are alike: layer0/head0, layer0/head1, ")
    assert said[1].endswith(", and 2 more")
    said = run(canvas, "edit.select_repeats", *canvas.space.selection)
    assert set(canvas.space.selection) == inside
    assert said[1] == "3 blocks of 7 operations are alike: layer0, layer1, layer2"
    said = run(canvas, "edit.select_repeats", *canvas.space.selection)
    assert said == ("info", "no block around what is selected is repeated")
    assert set(canvas.space.selection) == inside


def test_of_a_whole_block_its_own_kind_is_selected_not_what_is_in_it(canvas: Any) -> None:
    canvas.space.open_document(blocks())
    canvas.space.debugger.flush()
    whole = [name for name in canvas.space.shown.operations if name.startswith("layer1/")]
    assert "layer0, layer1, layer2" in run(canvas, "edit.select_repeats", *whole)[1]
