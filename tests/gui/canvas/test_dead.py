"""What a cond does not take, on the canvas."""

from __future__ import annotations

import numpy as np

from gradstep.core.document.document import View
from gradstep.core.graph.edits import rename
from gradstep.core.graph.model import Edge
from gradstep.core.host.tensor_reads import NO_ROOM
from gradstep.gui.canvas.interact import tooltips
from gradstep.gui.canvas.scene import hit_test
from gradstep.gui.model.value_cache import TensorValue
from tests.support import conds

WHY = "dead: branch not taken because positive is False"


def test_it_is_drawn_as_dead_and_says_why(canvas) -> None:
    space = canvas.space
    space.open_document(conds.document((-1, -2)))
    space.debugger.flush()
    facts = canvas.view.stage.facts
    assert not facts.untaken
    assert not facts.untaken_links.any()
    space.control("continue_")
    facts, visible = canvas.view.stage.facts, canvas.view.arrays.visible
    assert {visible.boxes[i].id for i in facts.untaken} == {"cond/scaled", "cond/switch_t"}
    wires = {visible.links[i].wires for i in np.flatnonzero(facts.untaken_links)}
    assert {(Edge("cond/Merge", 1),), (Edge("cond/scaled", 0),)} <= wires
    assert (Edge("cond/Merge", 0),) not in wires
    number = canvas.number("cond/scaled")
    assert [facts.reading(number, gradient).text for gradient in (False, True)] == ["dead"] * 2
    said = tooltips.text(canvas.view.stage, hit_test.Hit(box=number))
    assert said.count(WHY) == 2  # the value, the gradient


def test_a_box_with_nothing_but_dead_operations_is_dead(canvas) -> None:
    document = conds.document((-1, -2))
    graph = document.graph
    for name in ("scaled", "turned"):
        graph = rename(graph, f"cond/{name}", f"cond/{name}_branch/{name}")
    folded = View(collapsed=frozenset(("cond/scaled_branch", "cond/turned_branch")))
    canvas.space.open_document(document.with_(graph=graph, view=folded))
    canvas.space.debugger.flush()
    canvas.space.control("continue_")
    boxes = canvas.view.arrays.visible.boxes
    untaken = {boxes[i].id for i in canvas.view.stage.facts.untaken}
    assert untaken == {"cond/scaled_branch/", "cond/switch_t"}


def test_it_is_alive_when_it_is_taken(canvas) -> None:
    canvas.space.open_document(conds.document((1, 2)))
    canvas.space.debugger.flush()
    canvas.space.control("continue_")
    boxes = canvas.view.arrays.visible.boxes
    assert {boxes[i].id for i in canvas.view.stage.facts.untaken} == {
        "cond/turned",
        "cond/switch_f",
    }


def test_what_is_not_kept_of_an_iteration_is_said_on_its_node_and_in_its_tip(
    canvas, monkeypatch
) -> None:
    """However it came: its value is said to be gone, and not to be still to come."""
    space = canvas.space
    space.open_document(conds.document((1, 2)))
    space.debugger.flush()
    gone = TensorValue("cond/Merge:0", "dropped", why=NO_ROOM)
    monkeypatch.setattr(space, "value", lambda ref: gone)
    number = canvas.number("cond/Merge")
    assert canvas.view.stage.facts.reading(number, False).text == "not kept"
    said = tooltips.text(canvas.view.stage, hit_test.Hit(box=number))
    assert f"v not kept: {NO_ROOM}" in said
