"""Random edits, undone and done again, between drags and folded scopes: each scene is the one that
is made anew, and nothing stands elsewhere but what was moved."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from gradstep.core.document.document import View
from gradstep.core.document.document_edits import rename_scope
from gradstep.core.document.requests import whole_request
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.graph.scopes import parents
from gradstep.gui import commands
from gradstep.gui.canvas.scene import scene_model, scope_folding
from gradstep.gui.canvas.scene.scene_arrays import Movement, SceneArrays
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph
from gradstep.gui.panels.outline.outline_rows import Outline, outline_rows
from gradstep.gui.panels.widgets.row_list import walk
from tests.gui.canvas.test_same_picture import assert_same_scene

MOVES = 26
NAMES = ("x", "y", "s/x", "s/y", "t/x", "w", "n0", "n1")  # few, so that they are freed and taken
UNDOING = ("undo",) * 6 + ("redo",) * 4
DOINGS = (
    *("rename",) * 5, *("drag", "disconnect", "connect") * 2, "cancel", "remove", "add", "fold",
    "open", "stack", "stop", "mark", "scope", "select",
)  # fmt: skip
ARRAYS = (
    "kinds", "rows", "port_counts", "ends", "end_ports", "control", "wire_counts", "declared",
)  # fmt: skip

Places = dict[str, tuple[float, float]]


def drag(stage: SceneModel, random: Random, drops: bool) -> None:
    """Some boxes, to a few places one after the other."""
    start = stage.arrays
    if not len(start):
        return
    chosen = np.isin(np.arange(len(start)), random.choices(range(len(start)), k=2))
    moving = Movement(start, chosen)
    for _ in range(2):
        by = random.choice([-80.0, 8.0, 120.0]), random.choice([-64.0, 0.0, 200.0])
        stage.show(moving.by(*by))
    if drops:
        boxes = stage.arrays.from_below(chosen).tolist()
        stage.raise_boxes(boxes)
        stage.move(boxes, *by)
    else:
        stage.show(start)


def does(canvas: Any, random: Random, what: str) -> Callable[[], Any]:
    """What one of DOINGS does, to anything that it may be done to."""
    space, stage = canvas.space, canvas.view.stage
    document = space.document
    named = [name for name in NAMES if name in document.graph] if random.random() < 0.5 else []
    name = random.choice(named or [*document.graph.operations] or [""])
    op = document.graph.operations.get(name)
    scopes = sorted({scope for each in space.shown.operations for scope in parents(each)})
    scope, new = random.choice(scopes or [""]), random.choice(NAMES)
    wire = None if op is None or not op.inputs else Edge(name, random.randrange(len(op.inputs)))
    source = TensorRef(random.choice([*document.graph.operations] or [""]))
    closed = document.view.collapsed
    doings: dict[str, Callable[[], Any]] = {
        "undo": space.undo_stack.undo,
        "redo": space.undo_stack.redo,
        "drag": lambda: drag(stage, random, True),
        "cancel": lambda: drag(stage, random, False),
        "stack": space.stacks.toggle,
        "add": lambda: commands.add_node(space, "Neg", (300.0, 400.0), new),
        "open": lambda: commands.set_collapsed(space, closed - {scope}, ""),
    }
    if op is not None:
        doings |= {
            "rename": lambda: commands.rename(space, name, new),
            "remove": lambda: commands.remove_nodes(space, [name]),
            "mark": lambda: commands.set_attr(space, name, "_note", f"{random.random()}"),
            "select": lambda: space.select([name]),
        }
    if wire is not None:
        doings |= {
            "connect": lambda: commands.connect(space, source, wire),
            "disconnect": lambda: commands.disconnect(space, wire),
            "stop": lambda: commands.toggle_stop(space, wire),
        }
    if scope:
        doings |= {
            "fold": lambda: scope_folding.collapse(space, scope),
            "scope": lambda: space.edit("", rename_scope(document, scope, f"{scope}r")),
        }
    return doings.get(what, lambda: None)


def assert_as_made_anew(canvas: Any, outline: Outline) -> None:
    space, arrays = canvas.space, canvas.view.arrays
    document, shown = space.document, arrays.visible
    stacked = space.stacks.shown_by
    anew = VisibleGraph.of(space.shown, space.inference, whole_request(document), stacked)
    assert [box.id for box in shown.boxes] == [box.id for box in anew.boxes]
    places = {box.id: arrays.centre(i) for i, box in enumerate(shown.boxes)}
    given = document.view.positions
    assert {id: at for id, at in places.items() if at != given.get(id, at)} == {}
    assert_same_scene(arrays, SceneArrays.of(anew, places))
    for name in ("box_of", "number", "link_of"):
        assert getattr(shown, name) == getattr(anew, name), name
    for name in ARRAYS:
        assert np.array_equal(getattr(shown, name), getattr(anew, name)), name
    told = document, space.inference, space.program
    kept, new = (
        [row._replace(children=()) for row in walk(rows)]
        for rows in (outline.rows(*told), outline_rows(*told))
    )
    assert kept == new


def corners(stage: SceneModel) -> Places:
    found = stage.arrays.rects[:, :2].tolist()
    return {b.id: tuple(at) for b, at in zip(stage.arrays.visible.boxes, found, strict=True)}


@pytest.mark.parametrize(("arranged", "seed"), [(True, 3), (False, 5)])
@pytest.mark.parametrize("name", ["tutorial", "name_scopes", "while_loop", "rnn"])
@pytest.mark.slow
def test_scenes_are_those_made_anew(
    canvas: Any, name: str, arranged: bool, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one go, or in parts as those of large graphs."""
    if arranged:
        monkeypatch.setattr(scene_model, "LARGE", 0)
    canvas.open(name)
    space, stage, outline, random = canvas.space, canvas.view.stage, Outline(), Random(seed)
    if not arranged:
        space.open_document(space.document.with_(view=View()))
    stood: dict[int, Places] = {}  # by how much is done, of what can be undone
    for _ in range(MOVES):
        what = random.choice(DOINGS + UNDOING)
        done, closed, before = (
            space.undo_stack.index(), space.document.view.collapsed, corners(stage)
        )  # fmt: skip
        try:
            does(canvas, random, what)()
        except GradstepError:
            continue  # refused
        if random.random() < 0.5:
            space.debugger.flush()
        assert_as_made_anew(canvas, outline)
        now, index = corners(stage), space.undo_stack.index()
        if what in ("rename", "mark", "stop") and not closed:
            assert [*now.values()] == [*before.values()], "each by its number"
        if what == "stack" or closed != space.document.view.collapsed:
            stood = {}  # what nobody arranged is laid out anew
        elif what not in UNDOING:
            stood = {number: places for number, places in stood.items() if number <= done}
        elif index in stood:
            assert now == stood[index]
        stood[index] = now


def test_a_large_scene_is_made_in_parts(canvas: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between which the window looks at what the user does; who asks for it has it at once."""
    canvas.open("tutorial")
    space, stage = canvas.space, canvas.view.stage
    monkeypatch.setattr(scene_model, "LARGE", 0)
    seen: list[object] = []
    stage.changed.connect(lambda: seen.append(stage.arrays))
    before, name = stage.arrays, [*space.document.graph.operations][-1]
    commands.rename(space, name, "other")
    assert stage.is_behind
    assert not seen, "it is not there yet"
    parts = 0
    while stage.is_behind:
        stage._go_on()
        parts += 1
    assert parts >= 4
    assert seen[-1] is stage.arrays is not before
    commands.rename(space, "other", "another")
    assert stage.is_behind
    assert "another" in stage.arrays.visible.box_of, "who asks has it"
    assert not stage.is_behind
    is_of_document: list[bool] = []
    stage.changed.connect(
        lambda: is_of_document.append(stage._arrays.visible.source.graph is space.shown)
    )
    commands.rename(space, "another", "third")
    stage._go_on()
    commands.rename(space, "third", "fourth")  # the one before is made to its end first
    assert is_of_document
    assert "fourth" in stage.arrays.visible.box_of
    assert all(is_of_document)
    assert_as_made_anew(canvas, Outline())


def test_a_large_scene_is_there_soon_by_itself(
    canvas: Any, monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    canvas.open("tutorial")
    space, stage = canvas.space, canvas.view.stage
    monkeypatch.setattr(scene_model, "LARGE", 0)
    commands.rename(space, [*space.document.graph.operations][-1], "other")
    qtbot.waitUntil(lambda: not stage.is_behind)
    assert "other" in stage._arrays.visible.box_of


def test_what_follows_from_places_goes_along_where_nothing_moves(canvas: Any) -> None:
    canvas.open("name_scopes")
    space, before = canvas.space, canvas.view.arrays
    assert before.extent
    assert before.scopes
    assert before.boxes_in(0, 0, 1, 1) is not None
    name = next(name for name in space.document.graph.operations if "/" in name)
    commands.rename(space, name, f"{name}_other")
    now = canvas.view.arrays
    assert now is not before
    for kept in ("_box_sides", "_link_sides", "frames", "scopes", "extent"):
        assert now.__dict__.get(kept) is before.__dict__[kept], kept
