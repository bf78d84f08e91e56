"""Drawing a block: its settings are asked for, tried out and taken; undo takes all of it back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox

from gradstep.core.document.document import Document
from gradstep.core.layers.block_table import find_block
from gradstep.core.ops.build.variable import is_trainable
from gradstep.gui import commands
from gradstep.gui.automation.driver import Driver
from gradstep.gui.canvas.interact.search_entries import operations
from gradstep.gui.dialogs.block_dialog import BlockDialog
from gradstep.gui.dialogs.request_dialog import RequestDialog
from gradstep.gui.model.workspace import Workspace


@pytest.fixture
def space(qapp: Any) -> Iterator[Workspace]:
    """An empty document, without a window and an engine."""
    made = Workspace()
    made.open_document(Document())
    yield made
    made.close()


@pytest.fixture
def ask(space: Workspace, qtbot: Any) -> Callable[[str], Any]:
    def asked(name: str) -> BlockDialog:
        dialog = BlockDialog(space, find_block(name), (0, 0))
        qtbot.addWidget(dialog)
        return dialog

    return asked


def field(dialog: Any, name: str) -> Any:
    return dialog.fields[name].widget


def outcome(dialog: Any) -> str:
    return str(dialog._outcome.text())


@pytest.mark.slow
def test_settings_are_typed_tried_out_and_taken(driver: Driver) -> None:
    """In the window, with the keyboard; undo takes the block away whole."""
    driver.workspace.open_document(Document())
    driver.window.canvas.add("meshgrid")  # it has none
    assert "meshgrid/x" in driver.workspace.document.graph
    driver.workspace.open_document(Document())
    driver.window.canvas.add("dense")
    (dialog,) = (d for d in driver.window.findChildren(BlockDialog) if d.isVisible())
    assert "kernel [4, 3], bias [3]: 15 numbers" in outcome(dialog)
    units = field(dialog, "units")
    units.selectAll()
    QTest.keyClicks(units, "5")
    assert "Gives float32[2, 5]" in outcome(dialog)
    field(dialog, "activation").setCurrentText("relu")
    QTest.keyClick(dialog, Qt.Key.Key_Return)
    driver.settle()
    document = driver.workspace.document
    assert document.graph["dense/Relu"].type == "Relu"
    assert document.initial["dense/kernel"].array.shape == (4, 5)
    assert not driver.workspace.inference.problems
    driver.workspace.undo_stack.undo()
    assert len(driver.workspace.document.graph) == len(driver.workspace.document.initial) == 0
    driver.workspace.undo_stack.redo()
    assert driver.workspace.document is document


@pytest.mark.parametrize(
    ("name", "key", "text", "says"),
    [
        ("dense", "units", "0", "units cannot be 0: it is a whole number of at least 1"),
        ("dense", "units", "three", "units cannot be 'three': it is a whole number"),
        ("dropout", "rate", "1", "rate cannot be 1.0: it is a number of at least 0 and below 1"),
        ("conv2d", "kernel_size", "3", "The `kernel_size` argument must be a tuple of 2 integers."),
        ("towers", "network", "nowhere", "'nowhere' cannot be applied as a network: there is no"),
    ],
)
def test_what_cannot_be_is_said_and_not_added(
    space: Workspace, ask: Callable[[str], Any], name: str, key: str, text: str, says: str
) -> None:
    dialog = ask(name)
    widget = field(dialog, key)
    (widget.setEditText if isinstance(widget, QComboBox) else widget.setText)(text)
    assert outcome(dialog).startswith(says)
    assert not dialog._add.isEnabled()
    dialog.finish()
    assert len(space.document.graph) == 0


def test_the_search_menu_asks_as_well(space: Workspace, qtbot: Any) -> None:
    (entry,) = (e for e in operations(space, (8.0, 16.0)) if e.title == "dense")
    with qtbot.waitSignal(space.block_requested) as asked:
        entry.choose()
    assert asked.args == [find_block("dense"), (8.0, 16.0), None]


def test_weights_are_shared_with_a_block_that_is_there(
    space: Workspace, ask: Callable[[str], Any]
) -> None:
    commands.add_block(space, "dense", (0, 0))
    space.select([])
    dialog = ask("dense")
    dialog.reuse.setCurrentText("dense")
    assert "Makes" not in outcome(dialog)
    field(dialog, "units").setText("4")
    assert outcome(dialog).startswith("Trying to share variable dense/kernel, but specified shape")
    field(dialog, "units").setText("3")
    dialog.finish()
    assert [*space.document.initial] == ["dense/kernel", "dense/bias"]
    graph = space.document.graph
    assert graph["dense_1/MatMul"].inputs[1] == graph["dense/MatMul"].inputs[1]


def test_a_block_reads_what_the_selected_box_gives(space: Workspace) -> None:
    scope = commands.add_block(space, "lstm_cell", (0, 0))
    graph = space.document.graph
    read = [ref.op for ref in commands.block_sources(space)]
    assert [graph[name].type for name in read] == ["Mul"]  # h; nothing else is read by nobody
    space.select([f"{scope}/inputs", f"{scope}/h"])  # nodes, not the box
    assert [ref.op for ref in commands.block_sources(space)] == [*space.selection]


@pytest.mark.parametrize("run", [True, False])
def test_updates_are_offered(space: Workspace, ask: Callable[[str], Any], run: bool) -> None:
    dialog = ask("batch_norm")
    assert not dialog.updates.isHidden()
    dialog.updates.setChecked(run)
    dialog.finish()
    assert len(space.document.targets) == (2 if run else 0)
    fixed = [op.name for op in space.document.graph if op.type == "VariableV2"
             and not is_trainable(op)]  # fmt: skip
    assert fixed == ["batch_norm/moving_mean", "batch_norm/moving_variance"]
    assert RequestDialog(space).wrt.text() == "batch_norm/gamma, batch_norm/beta"
