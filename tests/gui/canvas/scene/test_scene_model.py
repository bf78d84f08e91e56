"""What an edit makes anew on the canvas, and what it leaves as it is."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from gradstep.core.document.document import Document, View
from gradstep.core.document.document_edits import rename_operation
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.ops.typing.flatten_loops import flatten_loops, original_edge, shown_as
from gradstep.gui import commands
from gradstep.gui.canvas.scene import box_placement, node_values, overlay_state
from gradstep.gui.canvas.scene.node_values import NodeValues
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.scene.scene_model import EARLIER
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph
from gradstep.gui.look.theme import ASSETS
from gradstep.gui.model.workspace import Workspace


def chain(count: int) -> Document:
    """Nobody arranged it."""
    ops = [Operation("n0", "Placeholder", attrs={"dtype": DType.FLOAT32, "shape": Shape.of(2)})]
    ops += [Operation(f"n{i}", "Tanh", (TensorRef(f"n{i - 1}"),)) for i in range(1, count)]
    return Document(graph=Graph.of(ops))


def test_a_stop_moves_nothing(canvas: Any) -> None:
    canvas.open("tutorial")
    arrays, facts = canvas.view.arrays, canvas.view.stage.facts
    for _ in range(2):
        commands.toggle_stop(canvas.space, Edge("a", 1))
        canvas.space.debugger.flush()
        assert canvas.view.arrays is arrays, "boxes and links are the same ones"
        assert canvas.view.stage.facts is not facts
        stopped = canvas.view.stage.facts.stopped_links
        wires = [arrays.visible.links[i].wires for i in np.flatnonzero(stopped)]
        assert wires in ([(Edge("a", 1),)], [])
    assert not stopped.any()


def test_a_selection_reads_no_box_again_but_where_values_were_lacking(
    canvas: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    canvas.open("tutorial")
    canvas.step(2)
    space, stage, read, lacks = canvas.space, canvas.view.stage, list[str](), set[str]()

    def reading(workspace: Workspace, op: Operation, room: int) -> NodeValues:
        read.append(op.name)
        workspace.debugger._values.lacked += op.name in lacks  # as one that looks in vain
        return node_values.value(workspace, op, room)

    monkeypatch.setattr(overlay_state, "value", reading)
    boxes = stage.arrays.visible.boxes

    def say(name: str) -> list[str]:
        """What all boxes say once another is selected, and of which that was read."""
        space.select([name])
        read.clear()
        for box in range(len(boxes)):
            assert stage.facts.reading(box, False, 12) is stage.facts.reading(box, False, 12)
        return read

    names = [box.members[0] for box in boxes]
    space.select([])
    canvas.step(1)  # stands elsewhere: all of it follows from that
    lacks |= {names[1]}
    assert say(names[0]) == names
    assert say(names[1]) == [names[1]]
    lacks.clear()
    assert say(names[2]) == [names[1]]
    assert say(names[0]) == []
    canvas.step(1)
    assert say(names[1]) == names
    commands.set_attr(space, names[0], "_note", "seen")
    assert say(names[2]) == names, "it may follow from the document"


@pytest.mark.slow
def test_a_graph_is_read_once_while_it_is_laid_out(
    canvas: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    of = VisibleGraph.of.__func__  # type: ignore[attr-defined]

    def counting(cls: type, *args: Any) -> VisibleGraph:
        made.append(1)
        found: VisibleGraph = of(cls, *args)
        return found

    monkeypatch.setattr(VisibleGraph, "of", classmethod(counting))
    canvas.space.open_document(chain(200))
    assert canvas.view.stage.laying_out
    qtbot.waitUntil(lambda: len(canvas.view.arrays) == 200, timeout=20_000)
    assert len(made) == 1


@pytest.mark.slow
def test_what_is_laid_out_beside_is_put_together_there(
    canvas: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Routing all links of a large graph takes half a second."""
    threads: list[bool] = []
    of = SceneArrays.of.__func__  # type: ignore[attr-defined]

    def watched(cls: type, visible: VisibleGraph, *args: Any) -> SceneArrays:
        threads.append(threading.current_thread() is threading.main_thread())
        found: SceneArrays = of(cls, visible, *args)
        return found

    monkeypatch.setattr(SceneArrays, "of", classmethod(watched))
    monkeypatch.setattr(box_placement, "known", lambda *_: pytest.fail("they are there"))
    canvas.space.open_document(chain(200))
    qtbot.waitUntil(lambda: len(canvas.view.arrays) == 200, timeout=20_000)
    assert threads == [False]
    shown = canvas.view.arrays
    found = shown.visible.__dict__.keys()
    assert found >= {"framing", "hubs", "wire_counts", "kinds", "link_of"}, "before it is painted"
    monkeypatch.undo()
    assert shown.centres is not None
    anew = of(SceneArrays, shown.visible, dict(shown.centres))
    assert np.array_equal(shown.rects, anew.rects)
    assert np.array_equal(shown.routes.curves, anew.routes.curves)
    commands.rename(canvas.space, "n7", "other")
    assert np.array_equal(canvas.view.arrays.rects, shown.rects), "where it was laid out"


@pytest.mark.slow
def test_all_scopes_of_a_large_graph_are_opened_beside(
    canvas: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is visible then takes as long to be found as an answer may."""
    threads: list[bool] = []
    of = VisibleGraph.of.__func__  # type: ignore[attr-defined]

    def watched(cls: type, *args: Any) -> VisibleGraph:
        threads.append(threading.current_thread() is threading.main_thread())
        found: VisibleGraph = of(cls, *args)
        return found

    closed = frozenset(f"s{i}" for i in range(8))
    canvas.space.open_document(_in_scopes(chain(200)).with_(view=View(collapsed=closed)))
    stage, space = canvas.view.stage, canvas.space
    assert not stage.laying_out, "few boxes are there at once"
    monkeypatch.setattr(VisibleGraph, "of", classmethod(watched))
    stage.open_scopes()
    assert stage.laying_out
    assert threads in ([], [False])
    commands.toggle_breakpoint(space, "n0")
    assert stage.laying_out
    commands.rename(space, "s7/n7", "s7/other")  # what was begun shows another graph
    qtbot.waitUntil(lambda: len(stage.arrays) == 200, timeout=20_000)
    assert not stage.laying_out
    assert "s7/other" in stage.arrays.visible.number
    assert threads == [False, False]
    anew = of(VisibleGraph, space.shown, space.inference, space.document.request)
    shown = stage.arrays.visible
    assert (shown.boxes, shown.links, shown.on_path) == (anew.boxes, anew.links, anew.on_path)
    space.undo_stack.undo()
    space.undo_stack.undo()
    space.undo_stack.undo()
    assert len(stage.arrays) == 9
    assert not stage.laying_out


def _in_scopes(document: Document, row: int = 1) -> Document:
    """All but the first operation in eight scopes. row: how many next to each other are in one."""
    names = {f"n{i}": f"s{i // row % 8}/n{i}" for i in range(1, len(document.graph))}
    ops = [
        replace(
            op,
            name=names.get(op.name, op.name),
            inputs=tuple(map(partial(_named, names), op.inputs)),
        )
        for op in document.graph
    ]
    return Document(graph=Graph.of(ops))


def _named(names: dict[str, str], ref: TensorRef | None) -> TensorRef | None:
    return ref if ref is None else TensorRef(names.get(ref.op, ref.op), ref.index)


@pytest.mark.parametrize("name", ["while_loop", "rnn", "tutorial", "assign_in_loop"])
@pytest.mark.slow
def test_stops_are_found_on_their_links(canvas: Any, name: str) -> None:
    """Each wire and each tensor, also where loops read them, as a look at every link finds it."""
    document = read(ASSETS / "examples" / f"{name}.gradstep").with_(view=View())  # scopes open
    canvas.space.open_document(document)
    graph, visible = canvas.space.shown, canvas.view.arrays.visible
    wires = [wire for link in visible.links for wire in link.wires]
    read_inside = [wire for wire in wires if original_edge(document.graph, wire) != wire]
    assert bool(read_inside) == (name in ("while_loop", "rnn"))
    for wire in [*read_inside[:4], *wires[:: max(1, len(wires) // 8)]]:
        edge = original_edge(document.graph, wire)
        assert wire in shown_as(flatten_loops(document.graph), edge)
        for request in (
            {"stopped_edges": frozenset({edge})},
            {"stops": frozenset({graph.source(wire)})},
        ):
            changed = document.with_(request=document.request.__class__(**request))
            canvas.space.edit("Stop", changed)
            wanted = {
                number
                for number, link in enumerate(visible.links)
                for each in link.wires
                if original_edge(document.graph, each) in changed.request.stopped_edges
                or graph.source(each) in changed.request.stops
            }
            assert wanted
            assert {*np.flatnonzero(canvas.view.stage.facts.stopped_links)} == wanted
            canvas.space.undo_stack.undo()


def test_renaming_what_nobody_arranged_moves_nothing(canvas: Any) -> None:
    canvas.open("tutorial")
    space, stage = canvas.space, canvas.view.stage
    space.open_document(space.document.with_(view=View()))
    before = stage.arrays.rects.copy()
    for old, new in (("e", "other"), ("loss", "error"), ("other", "third")):
        commands.rename(space, old, new)
        assert np.array_equal(stage.arrays.rects, before), "each box where it was"
        assert new in stage.arrays.visible.number
    for _ in range(3):
        space.undo_stack.undo()
        assert np.array_equal(stage.arrays.rects, before)


def test_a_name_that_was_freed_brings_no_place_along(canvas: Any) -> None:
    """The one that is called so next stays where it is, in all that is undone and done again."""
    canvas.space.open_document(chain(5))
    space, stage = canvas.space, canvas.view.stage
    before, names = stage.arrays.rects, (("n1", "x"), ("n3", "n1"), ("x", "n3"), ("n4", "x"))
    for old, new in names:
        commands.rename(space, old, new)
        assert np.array_equal(stage.arrays.rects, before), f"{old} is {new} now"
    for step in (space.undo_stack.undo, space.undo_stack.redo):
        for _ in names:
            step()
            assert np.array_equal(stage.arrays.rects, before)


def test_a_move_between_renames_is_undone_where_layout_put_it(canvas: Any) -> None:
    canvas.space.open_document(chain(5))
    space, stage = canvas.space, canvas.view.stage
    before = stage.arrays.rects
    commands.rename(space, "n1", "x")
    stage.move([1], 8.0, 40.0)
    moved = stage.arrays.rects
    for old, new in (("x", "n1"), ("n3", "x")):
        commands.rename(space, old, new)
        assert np.array_equal(stage.arrays.rects, moved)
    for rects in (moved, moved, before, before):
        space.undo_stack.undo()
        assert np.array_equal(stage.arrays.rects, rects)


@pytest.mark.parametrize("by", ["one that layout placed", "one that was put somewhere"])
def test_who_takes_the_name_of_what_is_gone_takes_no_place_from_it(canvas: Any, by: str) -> None:
    canvas.space.open_document(chain(5))
    space, stage = canvas.space, canvas.view.stage
    before = stage.arrays.rects
    commands.remove_nodes(space, ["n2"])
    taker = "n4" if by == "one that layout placed" else "Add"
    if taker == "Add":
        commands.add_node(space, "Add", (40.0, 400.0))
    commands.rename(space, taker, "n2")
    stood = stage.arrays.rects
    commands.rename(space, "n2", "x")
    assert np.array_equal(stage.arrays.rects, stood)
    for _ in range(6):  # more scenes than are kept
        commands.disconnect(space, Edge("n1", 0))
        commands.connect(space, TensorRef("n0"), Edge("n1", 0))
    while space.undo_stack.canUndo():
        space.undo_stack.undo()
    assert np.array_equal(stage.arrays.rects, before)


@pytest.mark.slow
def test_what_had_no_places_yet_is_no_scene_to_go_back_to(canvas: Any, qtbot: Any) -> None:
    canvas.space.open_document(_in_scopes(chain(200)))
    stage, space = canvas.view.stage, canvas.space
    qtbot.waitUntil(lambda: len(stage.arrays) == 200, timeout=20_000)
    stage.collapse_scopes()
    assert len(stage.arrays) == 9
    space.undo_stack.undo()  # nobody arranged it: it is laid out beside, again
    qtbot.waitUntil(lambda: len(stage.arrays) == 200, timeout=20_000)
    commands.rename(space, "n0", "other")
    space.undo_stack.undo()
    assert len(stage.arrays) == 200


@pytest.mark.parametrize("arranged", [True, False])
def test_a_rename_moves_nothing_and_looks_for_no_place(
    canvas: Any, monkeypatch: pytest.MonkeyPatch, arranged: bool
) -> None:
    canvas.open("tutorial")
    if arranged:
        canvas.view.stage.move([0], 8.0, 0.0)
    stage, arrays = canvas.view.stage, canvas.view.arrays
    at = stage.places()["a"]
    monkeypatch.setattr(box_placement, "known", lambda *_: pytest.fail("it is looked for"))
    commands.rename(canvas.space, "a", "b_renamed")
    assert "b_renamed" in canvas.view.arrays.visible.number
    assert canvas.view.arrays.rects is arrays.rects
    assert canvas.view.arrays.routes is arrays.routes
    assert stage.places()["b_renamed"] == at
    canvas.space.undo_stack.undo()
    assert "a" in canvas.view.arrays.visible.number
    assert canvas.view.arrays.rects is arrays.rects
    monkeypatch.undo()
    if arranged:  # it goes where another document says, whatever it was called before
        moved = {**canvas.space.document.view.positions, "c_renamed": (5_000.0, 5_000.0)}
        del moved["a"]
        graph = rename_operation(canvas.space.document, "a", "c_renamed").graph
        document = canvas.space.document.with_(graph=graph)
        canvas.space.edit("", document.with_(view=replace(document.view, positions=moved)))
        number = canvas.view.arrays.visible.number["c_renamed"]
        assert canvas.view.arrays.centre(number) == (5_000.0, 5_000.0)


def test_who_edits_after_an_undone_rename_has_the_places_that_there_were(canvas: Any) -> None:
    canvas.open("tutorial")
    canvas.view.stage.move([0], 8.0, 0.0)
    commands.rename(canvas.space, "a", "b_renamed")
    canvas.space.undo_stack.undo()
    before = canvas.view.arrays
    commands.disconnect(canvas.space, Edge("a", 1))
    assert canvas.view.arrays is not before
    assert canvas.view.arrays.middles is before.middles, "nobody looked for them"


def test_what_is_undone_is_the_scene_that_there_was(canvas: Any) -> None:
    canvas.open("tutorial")
    space, view = canvas.space, canvas.view
    scenes = [view.arrays]
    commands.disconnect(space, Edge("a", 1))
    scenes.append(view.arrays)
    commands.rename(space, "a", "b_renamed")
    scenes.append(view.arrays)
    assert len({*map(id, scenes)}) == 3
    for scene in (scenes[1], scenes[0]):
        space.undo_stack.undo()
        assert view.arrays is scene
    for scene in scenes[1:]:
        space.undo_stack.redo()
        assert view.arrays is scene
    stage = view.stage
    stage.move([0], 8.0, 0.0)
    moved = view.arrays
    space.undo_stack.undo()
    assert np.array_equal(view.arrays.rects, scenes[2].rects), "it stands where it stood"
    space.undo_stack.redo()
    assert np.array_equal(view.arrays.rects, moved.rects)


def test_scenes_before_one_that_is_undone_and_done_again_are_kept(canvas: Any) -> None:
    canvas.open("tutorial")
    space, view, scenes = canvas.space, canvas.view, [canvas.view.arrays]
    for old, new in (("a", "a_renamed"), ("a_renamed", "b_renamed")):
        commands.rename(space, old, new)
        scenes.append(view.arrays)
    for _ in range(EARLIER):
        space.undo_stack.undo()
        space.undo_stack.redo()
    for scene in reversed(scenes[:-1]):
        space.undo_stack.undo()
        assert view.arrays is scene


def test_links_are_known_by_the_numbers_that_they_had_on_the_way_back(canvas: Any) -> None:
    canvas.open("tutorial")
    before = canvas.view.arrays.visible
    commands.disconnect(canvas.space, Edge("a", 1))
    after = canvas.view.arrays.visible
    there, back = after.numbers_in(before), before.numbers_in(after)
    assert [before.links[i][:4] for i in there] == [link[:4] for link in after.links]
    gone = [link.wires for link, number in zip(before.links, back, strict=True) if number < 0]
    assert gone == [(Edge("a", 1),)]
    kept = np.flatnonzero(back >= 0)
    assert there[back[kept]].tolist() == kept.tolist()
    assert before.numbers_in(before) is None


def test_an_edit_that_moves_nothing_finds_no_scopes_of_boxes_again(canvas: Any) -> None:
    """They are as many as the boxes are."""
    canvas.space.open_document(_in_scopes(chain(24), 3))
    stage = canvas.view.stage
    before = stage.arrays.scopes
    assert before[4] == "s1"
    commands.rename(canvas.space, "s1/n4", "s1/other")
    assert "s1/other" in stage.arrays.visible.number
    assert stage.arrays.scopes is before
    commands.rename(canvas.space, "s1/other", "other")
    number = stage.arrays.visible.number
    assert stage.arrays.scopes[number["other"]] == ""
    assert stage.arrays.scopes is not before


def test_a_frame_that_goes_says_nothing_of_its_boxes(canvas: Any) -> None:
    """As another box stands in it; the boxes are in the same scopes as before."""
    canvas.space.open_document(_in_scopes(chain(24), 3))
    stage = canvas.view.stage
    framing, frames = stage.arrays.visible.framing, len(stage.arrays.frames)
    assert "s5" in stage.arrays.scopes
    number = stage.arrays.visible.number
    (x, y, *_), (left, top, *_) = (
        stage.arrays.rects[number[name]].tolist() for name in ("s5/n16", "s1/n4")
    )
    stage.move([number["s1/n4"]], x - left, y - top)
    arrays = stage.arrays
    assert arrays.visible.framing is framing
    assert len(arrays.frames) < frames
    found = [""] * len(arrays)
    for frame in arrays.frames:
        for box in np.flatnonzero(frame.boxes).tolist():
            found[box] = frame.scope
    assert arrays.scopes == found
