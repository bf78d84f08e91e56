"""Undo and redo, by any sequence of edits: every state comes back, and the clean one is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.model import Edge
from gradstep.core.io.disk.file_stamp import OnDisk
from gradstep.core.io.open_document import read
from gradstep.gui import commands
from gradstep.gui.model.workspace import Workspace

NAMES = st.sampled_from(["a", "b", "c", "d"])


class Undoing(RuleBasedStateMachine):
    """Every document that was in force, by its place on the stack, is what undo comes back to."""

    def __init__(self) -> None:
        super().__init__()
        self.space = Workspace()
        self.space.open_document(Document())
        self.seen: dict[int, Document] = {}

    @rule(name=NAMES)
    def add(self, name: str) -> None:
        self._edit(lambda: commands.add_node(self.space, "VariableV2", (0.0, 0.0), name))

    @precondition(lambda self: self.space.document.graph.operations)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.space.document.graph.operations)))
        self._edit(lambda: commands.remove_nodes(self.space, [name]))

    @precondition(lambda self: self.space.document.graph.operations)
    @rule(data=st.data(), size=st.integers(1, 4))
    def reshape(self, data: st.DataObject, size: int) -> None:
        name = data.draw(st.sampled_from(sorted(self.space.document.graph.operations)))
        shape = Shape.of(size)
        self._edit(lambda: commands.set_attr(self.space, name, "shape", shape))

    @rule()
    def undo(self) -> None:
        self.space.undo_stack.undo()

    @rule()
    def redo(self) -> None:
        self.space.undo_stack.redo()

    @rule()
    def look_elsewhere(self) -> None:
        """Selecting ends a round of merging."""
        self.space.select([])
        self.space.select(list(self.space.document.graph.operations)[:1])

    @invariant()
    def document_is_the_one_of_its_place(self) -> None:
        index = self.space.undo_stack.index()
        assert self.seen.setdefault(index, self.space.document) is self.space.document

    @invariant()
    def all_that_is_derived_fits_the_document(self) -> None:
        graph = self.space.document.graph
        assert set(self.space.inference.types) == {op.output() for op in graph}
        assert all(name in graph for name in self.space.selection)

    @invariant()
    def going_all_the_way_back_and_forth_changes_nothing(self) -> None:
        stack, here = self.space.undo_stack, self.space.document
        index = stack.index()
        stack.setIndex(0)
        assert not self.space.document.graph.operations
        stack.setIndex(index)
        assert self.space.document is here

    def _edit(self, command: Callable[[], object]) -> None:
        """An edit makes all that lies above it on the stack go, and takes its place."""
        command()
        index = self.space.undo_stack.index()
        self.seen = {place: d for place, d in self.seen.items() if place < index}

    def teardown(self) -> None:
        self.space.close()


@pytest.mark.slow
def test_undoing(silent: None) -> None:
    from hypothesis import settings
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(Undoing, settings=settings(max_examples=12, stateful_step_count=20))


@pytest.fixture
def space(silent: None) -> Workspace:
    space = Workspace()
    space.open_document(Document())
    commands.add_node(space, "VariableV2", (0.0, 0.0), "v")
    return space


def shape(space: Workspace) -> str:
    return str(space.document.graph["v"].attrs["shape"])


def test_edits_of_one_attribute_in_a_row_are_one_step(space: Workspace) -> None:
    for size in (3, 4, 5):
        commands.set_attr(space, "v", "shape", Shape.of(size))
    space.undo_stack.undo()
    assert shape(space) == "[2]"
    space.undo_stack.redo()
    assert shape(space) == "[5]"


def test_a_selection_between_two_edits_keeps_them_apart(space: Workspace) -> None:
    commands.set_attr(space, "v", "shape", Shape.of(3))
    space.select([])
    commands.set_attr(space, "v", "shape", Shape.of(4))
    space.undo_stack.undo()
    assert shape(space) == "[3]"


def test_saving_between_two_edits_keeps_them_apart(space: Workspace, tmp_path: Any) -> None:
    commands.set_attr(space, "v", "shape", Shape.of(3))
    space.saved(tmp_path / "v.gradstep")
    commands.set_attr(space, "v", "shape", Shape.of(4))
    assert space.is_changed
    space.undo_stack.undo()
    assert shape(space) == "[3]"
    assert not space.is_changed


def test_an_edit_that_changes_nothing_is_no_step(space: Workspace) -> None:
    count = space.undo_stack.count()
    space.edit("Nothing", space.document)
    assert space.undo_stack.count() == count


@pytest.mark.parametrize(
    ("example", "old", "new", "chosen", "edge"),
    [
        ("tutorial", "a", "sum", ("c", "a"), None),
        ("tutorial", "e", "f", (), Edge("e", 1)),
        ("name_scopes", "test/", "test/dense", ("test/dense/MatMul", "x"), None),
        ("rnn", "rnn/", "cell", ("rnn/while/Identity", "rnn/Const"), None),
    ],
)
def test_what_is_renamed_stays_selected(
    space: Workspace, examples: Path, example: str, old: str, new: str, chosen: Any, edge: Any
) -> None:
    space.open_document(read(examples / f"{example}.gradstep"))
    space.select(chosen, edge)
    was, told = (space.selection, space.selected_edge), []
    space.selection_changed.connect(lambda: told.append(space.selection))
    commands.rename(space, old, new)
    now = space.selection, space.selected_edge
    assert now != was
    assert len(space.selection) == len(chosen)
    assert {*space.selection} <= {*space.shown.operations}
    for _ in range(2):
        space.undo_stack.undo()
        assert (space.selection, space.selected_edge) == was
        space.undo_stack.redo()
        assert (space.selection, space.selected_edge) == now
    assert len(told) == 5, "it is never gone in between"


def test_a_rename_that_is_undone_selects_nothing_else(space: Workspace) -> None:
    commands.rename(space, "v", "w")
    assert space.selection == ("w",)
    commands.add_node(space, "Placeholder", (0.0, 0.0), "x")
    space.undo_stack.undo()
    space.select([])
    space.undo_stack.undo()
    assert space.selection == ()


def test_what_comes_back_is_selected_again_unless_something_else_is(
    space: Workspace, examples: Path
) -> None:
    space.open_document(read(examples / "tutorial.gradstep"))
    space.select(["c", "d"])
    commands.delete_selection(space)
    assert space.selection == ()
    for _ in range(2):
        space.undo_stack.undo()
        assert space.selection == ("c", "d")
        space.undo_stack.redo()
        assert space.selection == ()
    space.select(["labels"])
    space.undo_stack.undo()
    assert space.selection == ("labels",)
    space.select([], Edge("e", 1))
    commands.delete_selection(space)
    assert space.selected_edge is None
    space.undo_stack.undo()
    assert (space.selection, space.selected_edge) == ((), Edge("e", 1))


def test_a_rename_after_which_nothing_is_gone_brings_nothing_back(
    space: Workspace, examples: Path
) -> None:
    space.open_document(read(examples / "tutorial.gradstep"))
    for chosen, wire in ((["a"], None), ([], Edge("a", 1))):
        space.select(chosen, wire)
        commands.rename(space, "a", "sum")
        space.select([])
        space.undo_stack.undo()
        assert (space.selection, space.selected_edge) == ((), None)


def test_an_edit_that_changes_nothing_is_none(silent: None) -> None:
    space = Workspace()
    space.open_document(Document())
    commands.add_node(space, "VariableV2", (0.0, 0.0), "a")
    commands.toggle_breakpoint(space, "a")
    assert space.undo_stack.count() == 2, "what is only looked at is an edit, too"
    before = space.document
    commands.move_nodes(space, {"a": (0.0, 0.0)})
    commands.set_attr(space, "a", "shape", before.graph["a"].attrs["shape"])
    space.reload(before.with_(), OnDisk("0"))
    assert space.undo_stack.count() == 2
    assert space.document is before
    space.close()


def test_edits_that_are_one_and_lead_back_are_none(silent: None) -> None:
    space = Workspace()
    space.open_document(Document())
    for title in ("a", "b", ""):
        space.edit("Title", space.document.with_(title=title), "title")
    assert space.undo_stack.count() == 0
    assert not space.is_changed
    space.edit("Title", space.document.with_(title="c"), "title")
    assert space.undo_stack.count() == 1
    space.undo_stack.undo()
    assert not space.document.title
    space.close()
