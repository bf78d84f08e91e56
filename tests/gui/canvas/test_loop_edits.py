"""What can and cannot be done by hand to the nodes inside a loop, and to loops as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Constant, Edge, TensorRef
from gradstep.gui import commands
from gradstep.gui.canvas.scene.wire_compatibility import Wiring
from gradstep.gui.frame.finder_entries import node_finder
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel
from gradstep.gui.panels.outline.outline_rows import outline_rows
from tests.core.document.test_loop_edits import power

INNER = "while/times"


@pytest.fixture
def looped(canvas: Any) -> Any:
    canvas.space.open_document(power())
    canvas.space.debugger.flush()
    return canvas


def slope(canvas: Any) -> float:
    canvas.space.debugger.flush()
    canvas.space.control("continue_")
    return float(canvas.space.gradient("x").array)


def test_nodes_inside_are_added_wired_and_set_like_others(looped: Any) -> None:
    space = looped.space
    factor = TensorRef("while/times/Enter")
    commands.add_node(space, "Square", (0, 0), source=factor)
    assert space.selection == ("while/Square",)
    commands.connect(space, TensorRef("while/Square"), Edge(INNER, 1))
    assert slope(looped) == 64 * 7
    commands.add_source(space, "Const", (0, 0), Edge(INNER, 1))
    assert space.selection == ("while/Const_3",)
    commands.set_attr(space, "while/Const_3", "value", Constant(np.float32(3)))
    assert slope(looped) == 27
    commands.rename(space, INNER, "while/product")
    commands.disconnect(space, Edge("while/product", 1))
    looped.space.debugger.flush()
    assert [problem.node for problem in space.inference.problems] == ["while/product"]
    commands.connect(space, TensorRef("x"), Edge("while/product", 1))
    assert slope(looped) == 4
    assert not looped.said


def test_what_is_added_goes_where_the_selection_is(looped: Any) -> None:
    space = looped.space
    space.select([INNER])
    assert commands.add_node(space, "Neg", (0, 0)) == "while/Neg"
    space.select([INNER, "loss"])
    assert commands.add_node(space, "Neg", (0, 0)) == "Neg"
    space.select([INNER])
    assert commands.add_node(space, "VariableV2", (0, 0)) == "VariableV2"


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda space: commands.rewire(space, Edge(INNER, 0), Edge("loss", 0)), "a while loop"),
        (lambda space: commands.rewire(space, Edge("loss", 0), Edge(INNER, 0)), "close a cycle"),
        (lambda space: commands.remove_nodes(space, ["while/Merge"]), "holds the loop"),
    ],
)
def test_what_would_break_the_loop_is_refused_in_plain_words(
    looped: Any, edit: Callable[[Workspace], None], words: str
) -> None:
    before = looped.space.document
    edit(looped.space)
    assert looped.space.document is before
    assert [kind for kind, _ in looped.said] == ["error"]
    assert words in looped.said[0][1]


def test_wires_lead_into_a_loop_and_not_out_of_it(looped: Any) -> None:
    space = looped.space

    def refusal(source: str, edge: Edge) -> str:
        error = Wiring(space.document.graph, space.inference).refusal(TensorRef(source), edge)
        return "" if error is None else error.message

    assert "is in a while loop" in refusal(INNER, Edge("loss", 0))
    assert "close a cycle" in refusal("loss", Edge(INNER, 0))
    assert "close a cycle" in refusal("while/NextIteration_1", Edge(INNER, 0))
    assert refusal("x", Edge(INNER, 0)) == ""
    assert refusal("while/Identity_1", Edge(INNER, 1)) == ""
    assert "float32" in refusal("while/Identity", Edge(INNER, 1))


def test_a_cast_is_offered_only_where_it_makes_the_wire_fit(looped: Any) -> None:
    """Whatever is refused for where it leads stays refused."""
    space, offered = looped.space, 0
    wiring = Wiring(space.document.graph, space.inference)
    ops = [*within(space.document.graph)]
    for source in (TensorRef(op.name) for op in ops):
        for edge in (Edge(op.name, i) for op in ops for i in range(len(op.inputs))):
            error, cast = wiring.refusal(source, edge), wiring.cast(source, edge)
            if error is not None and cast is not None:
                offered += 1
                assert "cycle" not in error.message
                assert "is in a while loop" not in error.message
                assert "own output" not in error.message
    assert offered


def test_inner_nodes_are_found_listed_and_looked_at(looped: Any) -> None:
    space = looped.space
    finder = node_finder(space, looped.view)
    finder.field.setText("times")
    assert finder.texts()[0] == INNER
    rows = [*outline_rows(space.document, space.inference, space.program, "times")]
    names = [leaf.name for row in rows for leaf in _leaves(row)]
    assert names.count(INNER) == 1
    space.select([INNER])
    commands.select_inputs(space)
    assert {INNER, "while/times/Enter", "factor", "x"} <= set(space.selection)
    panel = InspectorPanel(space)
    space.select([INNER])
    panel.refresh()
    assert panel.findChild(object, "inspector.name").text() == INNER
    panel.findChild(object, "inspector.loop").click()
    assert space.selection == ("while/While",)
    panel.close()


def _leaves(row: Any) -> list[Any]:
    return [leaf for child in row.children for leaf in _leaves(child)] if row.children else [row]


def test_a_stop_inside_takes_effect_and_is_drawn(looped: Any) -> None:
    space, visible = looped.space, looped.view.arrays.visible
    assert slope(looped) == 32
    for edge, left in ((Edge(INNER, 1), 8), (Edge("while/times/Enter", 0), 8)):
        commands.toggle_stop(space, edge)
        assert slope(looped) == left, "the way through x alone"
        stopped = np.flatnonzero(looped.view.stage.facts.stopped_links)
        assert edge in {wire for link in stopped for wire in visible.links[link].wires}
        commands.toggle_stop(space, edge)
        assert slope(looped) == 32


def test_a_copy_of_a_loop_computes_the_same_and_undo_takes_it_away(looped: Any) -> None:
    space = looped.space
    before = space.document
    commands.move_nodes(space, {INNER: (10.0, 20.0)})
    commands.select_scope(space, "while")
    commands.duplicate_selection(space)
    space.debugger.flush()
    names = [op.name for op in within(space.document.graph)]
    assert len({name.lower() for name in names}) == len(names)
    x, y = space.document.view.positions["while_1/times"]
    assert x - 10.0 == y - 20.0 > 0, "beside"
    fetches = [TensorRef(name) for name in ("loss", "while_1/Exit_1")]
    assert Session(space.document.graph).run(fetches, {TensorRef("x"): np.float32(1)}) == [8, 8]
    commands.toggle_stop(space, Edge("while_1/times", 0))
    commands.toggle_breakpoint(space, "while_1/times")
    commands.rename(space, "factor", "twice")
    commands.remove_nodes(space, ["while_1/While"])
    assert not space.document.request.stopped_edges
    assert not space.document.breakpoints
    assert "while_1/times" not in space.document.view.positions
    assert slope(looped) == 32
    while space.undo_stack.canUndo():
        space.undo_stack.undo()
    assert space.document.graph is before.graph
