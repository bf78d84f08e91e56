"""The inspector: rows, edits, overrides, the red card, errors, wires and derived operations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QInputDialog,
    QLabel,
    QLineEdit,
    QMenu,
)

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideKind
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Edge, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare import table
from gradstep.core.ops.declare.table import all_ops, lookup
from gradstep.core.protocol.messages import Why
from gradstep.gui import commands
from gradstep.gui.canvas.scene import node_values
from gradstep.gui.look.theme import LIGHT
from gradstep.gui.model.explanations import PAUSE
from gradstep.gui.panels.inspector.inspector_panel import InspectorPanel
from gradstep.gui.panels.widgets.card import Card
from gradstep.gui.panels.widgets.small_labels import Link, Text, Wrapped


def opened(bench: Any, show: Callable[..., Any], example: str, name: str) -> InspectorPanel:
    bench.open(example)
    bench.space.trust()
    bench.space.select([name])
    panel: InspectorPanel = show(InspectorPanel(bench.space), 328, 900)
    return panel


def find(qtbot: Any, panel: InspectorPanel, kind: type, name: str) -> Any:
    """The control of this name, once the panel shows what was last selected or edited."""
    qtbot.waitUntil(lambda: panel.is_current)
    return panel.findChild(kind, name)


def type_into(qtbot: Any, editor: QLineEdit, text: str) -> None:
    editor.setFocus()
    editor.selectAll()
    qtbot.keyClicks(editor, text)
    qtbot.keyClick(editor, Qt.Key.Key_Return)


def click(qtbot: Any, control: Any) -> None:
    qtbot.mouseClick(control, Qt.MouseButton.LeftButton)


def texts(panel: InspectorPanel) -> list[str]:
    return [label.text() for label in panel.findChildren(Text) if label.isVisible()]


def test_it_shows_type_inputs_and_formula(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = opened(bench, show, "tutorial", "d")
    assert panel.findChild(Wrapped, "inspector.type").text() == "AddV2 → float32[2]"
    click(qtbot, find(qtbot, panel, Link, "inspector.input.1"))
    assert bench.space.selection == ("c",)


def test_a_node_is_renamed_in_place(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = opened(bench, show, "tutorial", "d")
    type_into(qtbot, find(qtbot, panel, QLineEdit, "inspector.name"), "sum")
    assert bench.space.selection == ("sum",)
    editor = find(qtbot, panel, QLineEdit, "inspector.name")
    assert editor.text() == "sum"
    assert not editor.hasFocus(), "the keys are the canvas's again"
    type_into(qtbot, editor, "not a name!")
    assert "not a valid" in find(qtbot, panel, Wrapped, "inspector.name.reason").text()
    assert editor.text() == "not a name!", "to be mended"
    assert editor.hasFocus()
    editor.clearFocus()
    panel.restyle()
    assert editor.text() == "not a name!", "it was only left"
    assert panel.findChild(Wrapped, "inspector.name.reason").isVisible()
    editor.setFocus()
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert editor.text() == "sum"
    assert not panel.findChild(Wrapped, "inspector.name.reason").isVisible()
    assert not bench.messages


def test_what_is_fed_is_edited(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = opened(bench, show, "tutorial", "data")
    editor = find(qtbot, panel, QLineEdit, "inspector.value")
    assert editor.text() == "[1, 2]"
    type_into(qtbot, editor, "[3, nan]")
    np.testing.assert_array_equal(
        bench.space.document.feeds["data:0"].array, np.array([3, np.nan], np.float32)
    )
    editor = find(qtbot, panel, QLineEdit, "inspector.value")
    type_into(qtbot, editor, "[1, 2, 3]")
    assert "does not fit" in bench.messages[-1]
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert editor.text() == "[3, nan]"


@pytest.mark.parametrize(
    ("node", "name", "wrong", "right"),
    [
        ("data", "inspector.value", "[[2],[3]", "[2, 3]"),
        ("data", "inspector.value", "[1, 2, 3]", "[3, 4]"),
        ("c", "inspector.value", "@missing.npy", "[5, 6]"),
        ("data", "inspector.attr.shape", "[3, x]", "[3, 1]"),
    ],
)
def test_what_is_refused_stays_until_it_is_mended(
    bench: Any, show: Callable[..., Any], qtbot: Any, node: str, name: str, wrong: str, right: str
) -> None:
    panel = opened(bench, show, "tutorial", node)
    editor = find(qtbot, panel, QLineEdit, name)
    old = editor.text()

    def reason() -> str:
        label = panel.findChild(Wrapped, f"{name}.reason")
        return label.text() if label is not None and label.isVisible() else ""

    for _ in range(2):
        type_into(qtbot, editor, wrong)
        qtbot.waitUntil(lambda: bool(reason()))
        commands.toggle_breakpoint(bench.space, "e")  # whatever is shown anew
        panel.restyle()
        editor.clearFocus()
        assert editor.text() == wrong
        assert len(bench.messages) == 1, "leaving says nothing more"
        editor.setFocus()
        qtbot.keyClick(editor, Qt.Key.Key_Escape)
        assert editor.text() == old
        assert not reason()
        bench.messages.clear()
    edits = bench.space.undo_stack.count()
    type_into(qtbot, editor, wrong)
    qtbot.waitUntil(lambda: bool(reason()))
    assert bench.space.undo_stack.count() == edits
    type_into(qtbot, editor, right)
    assert not reason()
    assert bench.space.undo_stack.count() == edits + 1
    type_into(qtbot, editor, right + " ")
    qtbot.waitUntil(lambda: editor.text() == right)  # which says the same


def test_escape_puts_the_old_text_back(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = opened(bench, show, "tutorial", "c")
    editor = find(qtbot, panel, QLineEdit, "inspector.value")
    before = bench.space.document
    qtbot.keyClicks(editor, "xyz")
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert bench.space.document is before


def test_attributes_are_edited_by_kind(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = opened(bench, show, "tutorial", "data")
    type_into(qtbot, find(qtbot, panel, QLineEdit, "inspector.attr.shape"), "[3, 1]")
    assert bench.space.document.graph["data"].attrs["shape"] == Shape.of(3, 1)
    box = find(qtbot, panel, QComboBox, "inspector.attr.dtype")
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Down)
    assert bench.space.document.graph["data"].attrs["dtype"] is DType.FLOAT64
    bench.space.undo_stack.undo()
    bench.space.undo_stack.undo()
    assert bench.space.document.graph["data"].attrs["shape"] == Shape.of(2)


def test_a_flag_is_a_box(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    bench.open("tutorial")
    commands.add_node(bench.space, "MatMul", (0.0, 0.0))
    (name,) = bench.space.selection
    panel = show(InspectorPanel(bench.space), 328, 700)
    click(qtbot, find(qtbot, panel, QCheckBox, "inspector.attr.transpose_a"))
    assert bench.space.document.graph[name].attrs["transpose_a"] is True


def test_an_attribute_of_few_values_is_chosen_from_a_list(
    bench: Any, show: Callable[..., Any], qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    attrs = {"padding": str, "times": 2}
    choices = {"padding": ("SAME", "VALID"), "times": (1, 2, 3)}
    picky = replace(lookup("Tanh"), attrs=attrs, choices=choices)
    monkeypatch.setitem(table._TABLE, "Tanh", picky)
    commands.add_node(bench.space, "Tanh", (0.0, 0.0))
    (name,) = bench.space.selection
    assert bench.space.document.graph[name].attrs["padding"] == "SAME"
    panel = show(InspectorPanel(bench.space), 328, 700)
    box = find(qtbot, panel, QComboBox, "inspector.attr.padding")
    assert [box.itemText(i) for i in range(box.count())] == ["SAME", "VALID"]
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Down)
    assert bench.space.document.graph[name].attrs["padding"] == "VALID"
    box = find(qtbot, panel, QComboBox, "inspector.attr.times")
    assert box.currentText() == "2"
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Up)
    assert bench.space.document.graph[name].attrs["times"] == 1


def test_a_gradient_is_stopped_at_an_input(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, "tutorial", "e")
    click(qtbot, find(qtbot, panel, QCheckBox, "inspector.stop.0"))
    assert bench.space.document.request.stopped_edges == {Edge("e", 0)}
    assert find(qtbot, panel, QCheckBox, "inspector.stop.0").isChecked()


def test_the_boxes_show_the_stops_of_the_branch_that_is_shown(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, "tutorial", "e")
    space, before = bench.space, bench.space.document
    commands.edit_on_branch(space, "stop", "e<0")
    space.debugger.flush()
    box = find(qtbot, panel, QCheckBox, "inspector.stop.0")
    assert box.isChecked()
    assert "on a branch that leaves b1" in box.toolTip()
    click(qtbot, box)
    space.debugger.flush()
    assert space.document is before
    assert [b.text for b in space.stop.branches if b.current] == ["no stop e<0"]
    assert not find(qtbot, panel, QCheckBox, "inspector.stop.0").isChecked()
    commands.switch_branch(space, "b1")
    space.debugger.flush()
    space.select([], Edge("e", 0))
    assert find(qtbot, panel, QCheckBox, "inspector.wire.stop").isChecked()
    commands.switch_branch(space, "main")
    space.debugger.flush()
    wire = find(qtbot, panel, QCheckBox, "inspector.wire.stop")
    assert not wire.isChecked()
    click(qtbot, wire)
    assert space.document.request.stopped_edges == {Edge("e", 0)}


def entry(menu: QMenu, *path: str) -> Any:
    """The action at a path of titles."""
    action = next(a for a in menu.actions() if a.text() == path[0])
    submenu: Any = action.menu()
    return entry(submenu, *path[1:]) if len(path) > 1 else action


def menu_of(qtbot: Any, panel: InspectorPanel) -> QMenu:
    link = find(qtbot, panel, Link, "inspector.gradient")
    click(qtbot, link)
    menu: QMenu = link.findChild(QMenu)
    menu.hide()
    return menu


def test_gradients_and_attributes_are_tried_on_a_branch(
    bench: Any, show: Callable[..., Any], qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = bench.open("floor_ceil_cast")
    floor = next(op.name for op in document.graph if op.type == "Floor")
    panel = opened(bench, show, "floor_ceil_cast", floor)
    before = bench.space.document
    entry(menu_of(qtbot, panel), "Try on a branch", "Identity").trigger()
    assert bench.space.stop.branches[1].text == f"{floor} by Identity"
    entry(menu_of(qtbot, panel), "Try on a branch", "Native gradient").trigger()
    assert bench.space.stop.branches[2].text == f"{floor} native"
    assert bench.space.document is before
    bench.open("wrong_shape")
    node = next(op.name for op in bench.space.shown if op.type == "Mean")
    bench.space.select([node])
    offered = list[str]()

    def typed(*_: object, text: str) -> tuple[str, bool]:
        offered.append(text)
        return "true", True

    monkeypatch.setattr(QInputDialog, "getText", typed)
    for _ in range(2):
        link = find(qtbot, panel, Link, "inspector.attr.branch")
        click(qtbot, link)
        link.findChild(QMenu).actions()[0].trigger()
    assert bench.space.stop.branches[1].text == f"{node}.keep_dims = true"
    assert not bench.space.document.graph[node].attrs.get("keep_dims")
    assert offered == ["False", "True"], "as the branch that is shown has it"


def test_what_can_be_tried_is_offered_once_there_is_a_program(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    """The engine may take its time with a document, in which a node is looked at."""
    panel = opened(bench, show, "wrong_shape", "x")
    bench.space.open_document(bench.space.document)
    bench.space.select(["x"])
    panel.refresh()
    assert panel.attributes.findChild(Link, "inspector.attr.branch") is None
    bench.space.debugger.flush()
    assert find(qtbot, panel, Link, "inspector.attr.branch") is not None


@pytest.mark.slow
def test_the_gradient_menu_overrides_and_takes_back(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, "tutorial", "e")
    entry(menu_of(qtbot, panel), "Identity").trigger()
    wanted = Override("Identity", "e", OverrideKind.OP)
    assert bench.space.document.request.overrides == (wanted,)
    link = find(qtbot, panel, Link, "inspector.gradient")
    assert link.text() == "Identity (override) ▾"
    entry(menu_of(qtbot, panel), "Native gradient").trigger()
    assert find(qtbot, panel, Link, "inspector.gradient").text() == "native ▾"
    wider = ("Override more than this node", "every AddV2", "Identity")
    entry(menu_of(qtbot, panel), *wider).trigger()
    wide = Override("Identity", "AddV2", OverrideKind.TYPE)
    assert wide in bench.space.document.request.overrides
    entry(menu_of(qtbot, panel), "Replace with Python function…").trigger()
    assert (bench.space.selection, bench.views[-1]) == (("e",), ("pyfunc", ""))


@pytest.mark.slow
def test_the_red_card_explains_and_undoes(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = opened(bench, show, "override_add", "e")
    assert "trusted ✓" in texts(panel)
    commands.check_gradients(bench.space)
    find(qtbot, panel, Link, "inspector.card.show")
    assert panel.check.card.title.text() == "This override is not the gradient of e."
    assert "counts it twice" in panel.check.card.body.text()
    assert panel.check.model.cell(1, 2).text == "-2.0782"
    click(qtbot, panel.check.card.findChild(Link, "inspector.card.show"))
    assert bench.views[-1] == ("show", "gradients")
    click(qtbot, panel.check.card.findChild(Link, "inspector.card.native"))
    assert not bench.space.document.request.overrides[0].enabled
    find(qtbot, panel, Link, "inspector.gradient")
    assert not panel.code.isVisible()
    bench.space.debugger.flush()
    find(qtbot, panel, Link, "inspector.gradient")
    assert not panel.check.isVisible()


@pytest.mark.slow
def test_in_a_loop_the_card_is_about_the_iteration_that_is_shown(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    """In the first iteration the state is 0, in later ones it is not."""
    panel = opened(bench, show, "rnn", "rnn/while/Switch_2")
    space = bench.space
    bench.run(*["step"] * 4)
    while not space.stop.inside:
        bench.run("step_into")
    bench.run(*["step"] * 5)
    qtbot.waitUntil(lambda: panel.is_current and space.is_told)
    found = space.value("rnn/while/Switch_2")
    assert found is not None
    assert not found.array.any()
    card = panel.findChild(Card, "inspector.why_value")
    qtbot.waitUntil(lambda: "in iteration 1 of rnn/while/While, is zero" in card.body.text())
    assert card.isVisible()


def test_gradients_that_could_not_be_derived_say_why(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    """And not that none reaches a node."""
    panel = opened(bench, show, "tutorial", "c")
    commands.set_override(bench.space, Override("Identity", "a", OverrideKind.OP))
    bench.space.debugger.flush()
    qtbot.waitUntil(lambda: panel.is_current)
    said = " ".join(label.text() for label in panel.findChildren(QLabel) if label.isVisible())
    assert "None: Num gradients 1 generated for op 'a'" in said
    bench.space.undo_stack.undo()
    bench.space.select(["labels"])
    bench.space.debugger.flush()
    found = bench.space.gradient("labels")
    assert found is not None
    assert (found.state, found.why) == ("none", "")


def test_one_gradient_is_checked_from_the_inspector(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, "override_add", "a")
    click(qtbot, find(qtbot, panel, Link, "inspector.verdict.check"))
    find(qtbot, panel, Link, "inspector.verdict.check")
    lines = [w.text() for w in panel.verdict.findChildren(Wrapped)]
    assert all(line.startswith("✓ ok, off by ") for line in lines)
    assert all(line.endswith("(complex step)") for line in lines)
    assert len(lines) == 2
    bench.space.select(["e"])
    entry(menu_of(qtbot, panel), "Check this gradient").trigger()
    find(qtbot, panel, Link, "inspector.verdict.check")
    lines = [w.text() for w in panel.verdict.findChildren(Wrapped)]
    assert [line[:7] for line in lines] == ["× wrong"] * 3
    assert "at [1] (central differences)" in lines[0]
    assert not panel.check.table.isVisible()
    assert {node.node for node in bench.space.table.nodes} == {"a", "e"}


def test_a_node_without_floating_point_inputs_offers_no_check(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, "tutorial", "data")
    qtbot.waitUntil(lambda: panel.is_current)
    assert not panel.verdict.isVisible()


def test_code_that_is_not_trusted_says_so(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    document = bench.open("override_add")
    code = dict(document.code)
    item = code["CustomAdd"]
    code["CustomAdd"] = type(item)(item.name, item.kind, item.source + "# changed\n")
    bench.space.open_document(document.with_(code=code))
    bench.space.debugger.flush()
    bench.space.select(["e"])
    panel = show(InspectorPanel(bench.space), 328, 700)
    assert "restricted: does not run" in texts(panel)
    click(qtbot, find(qtbot, panel, Link, "inspector.code.trust"))
    assert bench.views[-1] == ("trust", "")


def test_what_arrives_and_from_where(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = opened(bench, show, "tutorial", "e")
    while (bench.space.stop.node, bench.space.stop.phase) != ("e", "backward"):
        bench.run("step")
    find(qtbot, panel, Link, "inspector.gradient")
    assert panel.gradient.header.title.text() == "dL/de arriving"
    assert panel.gradient.header.remark.text() == "from a (Mul)"
    assert panel.gradient.tiles.accessibleDescription() == "0.514 -0.951"
    assert panel.gradient.note.text() == ("∂L/∂e = d ⊙ ∂L/∂a = [1.06 1.96] ⊙ [0.485 -0.485]")


def test_a_failed_step_marks_the_element(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = opened(bench, show, "gather", "b")
    bench.run("continue_")
    go = find(qtbot, panel, Link, "inspector.error.go")
    assert panel.error.card.body.text() == "indices[2] = 6 is not in [0, 5)"
    assert panel.error.blamed.text() == "indices[2]"
    click(qtbot, go)
    assert bench.space.selection == ("indices",)


def test_a_waiting_step_says_what_to_do_in_its_card_and_captions_are_whole(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, "queue_deadlock", "answer")
    bench.run("continue_")
    find(qtbot, panel, Text, "")
    captions = panel.attributes.findChildren(Text)
    (long,) = (caption for caption in captions if caption.text() == "component_types")
    assert long.width() >= long.sizeHint().width()
    card = panel.error.card
    assert (card.title.text(), card.hint.text()) == ("answer waits", bench.space.stop.error.hint)
    assert card.hint.text()
    assert card.isAncestorOf(card.hint)


def test_an_unfed_placeholder_offers_to_be_fed(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, "tutorial", "labels")
    bench.space.edit("Empty", bench.space.document.with_(feeds={}))
    bench.run("continue_")
    assert bench.space.stop.error is None
    bench.space.select(["loss"])
    feed = find(qtbot, panel, Link, "inspector.error.feed")
    assert panel.error.card.title.text() == "loss waits"
    with qtbot.waitSignal(bench.space.view_requested) as asked:
        click(qtbot, feed)
    assert asked.args == ["value", ""]
    assert bench.space.selection in (("data",), ("labels",))


def test_what_is_wrong_with_a_drawn_node_is_said_at_it_before_the_run(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, "tutorial", "d")
    commands.set_attr(bench.space, "c", "shape", Shape.of(3))
    panel.refresh()
    assert panel.error.card.title.text() == "d cannot run"
    assert "[2] vs. [3]" in panel.error.card.body.text()
    bench.space.undo_stack.undo()
    panel.refresh()
    assert panel.error.isHidden()


def test_wires_and_derived_operations_are_shown_too(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, "tutorial", "e")
    bench.space.select([], Edge("a", 1))
    click(qtbot, find(qtbot, panel, QCheckBox, "inspector.wire.stop"))
    assert bench.space.document.request.stopped_edges == {Edge("a", 1)}
    bench.space.undo_stack.undo()
    bench.space.debugger.flush()
    step = next(s for s in bench.space.program.steps if s.phase == "backward" and s.origin == "a")
    bench.space.select([step.op])
    click(qtbot, find(qtbot, panel, Link, "inspector.origin"))
    assert bench.space.selection == ("a",)


def test_it_follows_the_current_step_unless_something_is_selected(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, "tutorial", "d")
    bench.run("run_to@a")
    assert find(qtbot, panel, QLineEdit, "inspector.name").text() == "d"
    bench.space.select([])
    assert find(qtbot, panel, QLineEdit, "inspector.name").text() == "a"
    bench.space.select(["c", "k"])
    find(qtbot, panel, QLineEdit, "inspector.name")
    assert panel.empty_text.startswith("2 nodes")


def test_the_theme_changes_in_place(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = opened(bench, show, "override_add", "e")
    dark = panel.grab().toImage()
    bench.space.set_theme(LIGHT)
    assert panel.grab().toImage() != dark


def test_a_long_name_does_not_widen_the_panel(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, "tutorial", "a")
    before = panel.value.minimumSizeHint().width()
    name = "a_name_of_" + 50 * "z"
    commands.rename(bench.space, "a", name)
    bench.space.debugger.flush()
    qtbot.waitUntil(lambda: name in panel.value.note.text())
    assert panel.value.minimumSizeHint().width() < before + 40


def test_the_gradient_of_each_loss_can_be_shown(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    """What feeds two losses has two gradients; the inspector says whose it shows, and everything
    that shows gradients shows the same one, also after the document is opened anew."""
    b = GraphBuilder()
    w = b.variable("w", shape=())
    b.one("Mul", w, 3.0, name="a")
    b.one("Square", w, name="b")
    losses = [Optimizer("GradientDescent", {"learning_rate": 0.1}, (TensorRef(n),)) for n in "ab"]
    initial = {"w": Constant(np.float32(5))}
    document = Document(b.build(), optimizers=tuple(losses), initial=initial)
    bench.space.open_document(document)
    bench.space.debugger.flush()
    bench.space.select(["w"])
    panel = show(InspectorPanel(bench.space), 328, 900)
    bench.run("continue_")

    def shown() -> tuple[str, float]:
        link = find(qtbot, panel, Link, "inspector.gradient_flow.other")
        return link.text(), float(bench.space.gradient("w:0").head[0])

    assert shown() == ("Show that of b", 3.0)
    click(qtbot, panel.gradient.other)
    assert shown() == ("Show that of a", 10.0)
    assert "Gradient of b by w arriving" in texts(panel)
    bench.space.control("restart")
    bench.space.edit("another run", bench.space.document.with_(targets=("a",)))
    bench.space.debugger.flush()
    bench.run("continue_")
    assert shown() == ("Show that of a", 10.0)
    bench.space.select(["a"])
    assert find(qtbot, panel, Link, "inspector.gradient_flow.other").isHidden()


FREE = {
    "container", "shared_name", "debug_name", "frame_name", "stack_name", "tensor_array_name",
    "end", "equation", "message", "output_stream", "placeholder", "template", "source", "tensor",
    "token", "vocab_file",
}  # fmt: skip


def test_only_what_may_be_anything_is_written_freely() -> None:
    """Any other text is chosen from those it may be; PrintV2's stream may be a file."""
    for definition in all_ops():
        texts_ = {n for n, v in definition.attrs.items() if v is str or type(v) is str}
        assert texts_ - definition.choices.keys() <= FREE, definition.type


def test_captions_stand_at_the_left_whatever_is_beside_them(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.space.open_document(Document())
    commands.place(bench.space, "MatMul", (0.0, 0.0))
    panel = opened_here(bench, show)
    click(qtbot, find(qtbot, panel, Link, "inspector.attr.more"))
    box = find(qtbot, panel, QCheckBox, "inspector.attr.transpose_a")
    qtbot.waitUntil(lambda: box.isVisible() and box.width() < 100)
    captions = [t for t in panel.attributes.findChildren(Text) if t.text()]
    assert {caption.x() for caption in captions} == {0}
    caption = next(t for t in captions if t.text() == "transpose_a")
    assert box.x() < 120, "beside it, and not in the middle"
    assert abs(caption.geometry().center().y() - box.geometry().center().y()) <= 2


def test_every_open_input_says_so_in_full(bench: Any, show: Callable[..., Any]) -> None:
    bench.space.open_document(Document())
    commands.place(bench.space, "SparseSegmentMeanWithNumSegments", (0.0, 0.0))
    panel = opened_here(bench, show)
    missing = [t for t in panel.facts.findChildren(Text) if t.text() == "not wired"]
    assert len(missing) == 4
    for text in missing:
        assert text.width() >= text.fontMetrics().horizontalAdvance("not wired")
        assert panel.facts.rect().contains(text.mapTo(panel.facts, text.rect().bottomRight()))


def opened_here(bench: Any, show: Callable[..., Any]) -> InspectorPanel:
    """The inspector, narrow, on what is selected."""
    bench.space.debugger.flush()
    panel: InspectorPanel = show(InspectorPanel(bench.space), 260)
    panel.refresh()
    return panel


@pytest.mark.slow
def test_it_says_why_unasked(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    """Of the value, and of the gradient; with a way there, and along the path."""
    panel = opened(bench, show, "nan_gradient", "p")
    value, gradient = panel.reasons.value, panel.reasons.gradient
    assert not panel.reasons.isVisible()
    bench.run("continue_")
    qtbot.waitUntil(lambda: "makes the first infinity" in gradient.body.text())
    assert gradient.title.text() == "Why dL/dp is NaN"
    assert not value.isVisible()
    bench.space.select(["logp"])
    qtbot.waitUntil(lambda: value.isVisible() and "from p = 0" in value.body.text())
    assert value.title.text() == "Why logp is infinite"
    assert not gradient.isVisible()
    bench.space.select(["p"])
    qtbot.waitUntil(gradient.isVisible)
    panel.resize(240, panel.height())
    panel.grab()
    for link in gradient.findChildren(Link):
        assert link.width() == link.sizeHint().width(), "on a line of its own"
    click(qtbot, find(qtbot, panel, Link, "inspector.why_gradient.path"))
    assert bench.space.selection == ("loss", "term", "safe", "logp")
    bench.space.select(["p"])
    qtbot.waitUntil(gradient.isVisible)
    click(qtbot, find(qtbot, panel, Link, "inspector.why_gradient.first"))
    assert bench.space.stop.step == bench.step_of("logp") + 1
    assert bench.space.selection == ("logp",)


@pytest.mark.slow
def test_why_of_an_operation_on_the_way_back(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, "nan_gradient", "p")
    bench.run("continue_")
    bench.space.select(["gradients/logp_grad/Mul"])
    body = panel.reasons.value.body
    qtbot.waitUntil(lambda: "makes" in body.text())
    said = "in the gradient of logp its step Reciprocal makes the first infinity at index [0]"
    assert said in body.text()


@pytest.mark.slow
def test_a_question_is_asked_once_and_not_while_one_steps(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    opened(bench, show, "nan_gradient", "p")
    bench.run("continue_")
    asked = lambda: [m for m in bench.bridge.asked if isinstance(m, Why)]  # noqa: E731
    qtbot.waitUntil(lambda: len(asked()) == 1)
    bench.space.select(["logp"])
    bench.space.select(["p"])
    qtbot.wait(2 * PAUSE)
    assert len(asked()) == 1
    bench.run("step_back", "continue_", "step_back", "continue_")
    qtbot.waitUntil(lambda: len(asked()) > 1)
    qtbot.wait(2 * PAUSE)
    assert len(asked()) == 2


class Made(QObject):
    """Counts the widgets that are made while it looks: each is polished once."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Polish:
            self.names.append(watched.objectName() or type(watched).__name__)
        return False

    def during(self, qtbot: Any, panel: InspectorPanel, action: Callable[[], object]) -> list[str]:
        QApplication.instance().installEventFilter(self)
        action()
        qtbot.waitUntil(lambda: panel.is_current)
        qtbot.wait(1)
        QApplication.instance().removeEventFilter(self)
        return self.names


def test_a_node_of_a_kind_that_was_shown_fills_the_rows_that_there_are(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, "tutorial", "d")
    for name in ("a", "c", "d", "data", "d"):  # of each kind one
        bench.space.select([name])
        find(qtbot, panel, QLineEdit, "inspector.name")
    for name, said in (("a", "Mul → float32[2]"), ("data", ""), ("d", "AddV2 → float32[2]")):
        made = Made().during(qtbot, panel, lambda name=name: bench.space.select([name]))  # type: ignore[misc]
        assert not made, name
        assert said in ("", panel.findChild(Wrapped, "inspector.type").text())
        (field,) = panel.findChildren(QLineEdit, "inspector.name")
        assert field.text() == name
    assert not panel.findChildren(QLineEdit, "inspector.value"), "put aside, and found by nobody"
    click(qtbot, find(qtbot, panel, Link, "inspector.input.1"))
    assert bench.space.selection == ("c",), "a link leads where it says"


def test_what_was_typed_for_a_node_is_not_the_next_ones(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, "tutorial", "d")
    editor = find(qtbot, panel, QLineEdit, "inspector.name")
    editor.setFocus()
    editor.selectAll()
    qtbot.keyClicks(editor, "sum")
    bench.space.select(["a"])
    assert find(qtbot, panel, QLineEdit, "inspector.name").text() == "a"
    assert "sum" in bench.space.document.graph
    assert "d" not in bench.space.document.graph
    bench.space.undo_stack.undo()
    bench.space.select(["data"])
    value = find(qtbot, panel, QLineEdit, "inspector.value")
    value.setFocus()
    value.selectAll()
    qtbot.keyClicks(value, "[3, 4]")
    bench.space.select(["labels"])
    find(qtbot, panel, QLineEdit, "inspector.value")
    np.testing.assert_array_equal(
        bench.space.document.feeds["data:0"].array, np.array([3, 4], np.float32)
    )
    assert bench.space.document.feeds["labels:0"].array.tolist() != [3, 4]


def test_the_first_node_of_an_empty_document_is_laid_out(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.space.open_document(Document())
    panel = show(InspectorPanel(bench.space), 328, 900)
    qtbot.waitUntil(lambda: bool(panel.empty_text))
    commands.add_node(bench.space, "Placeholder", (0.0, 0.0))
    qtbot.waitUntil(lambda: panel.is_current)
    field = find(qtbot, panel, QLineEdit, "inspector.name")
    qtbot.waitUntil(lambda: not field.visibleRegion().isEmpty())


def test_a_type_is_said_whole_on_as_many_lines_as_it_needs(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, "while_loop", "while/While")
    panel.resize(240, 900)
    qtbot.waitUntil(lambda: panel.width() == 240)
    label = find(qtbot, panel, Wrapped, "inspector.type")
    assert label.text() == "While → int32[], float32[], variant[]"
    assert label.height() >= label.heightForWidth(label.width()) > 2 * label.fontMetrics().height()


def test_of_many_outputs_some_are_named(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    build = GraphBuilder()
    x = build.constant(np.zeros(40, np.float32), name="x")
    build.op("Split", build.constant(0), x, name="parts", num_split=20)
    bench.space.open_document(Document(build.build()))
    bench.space.select(["parts"])
    panel = show(InspectorPanel(bench.space), 328, 900)
    said = find(qtbot, panel, Wrapped, "inspector.type").text()
    assert said.startswith("Split → float32[2], ")
    assert said.endswith(", 12 more")


def test_it_says_of_a_gradient_what_the_canvas_says(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    """Also of a node whose first output has none, and another has: the loop."""
    panel = opened(bench, show, "while_loop", "x")
    bench.run("continue_")
    seen = set()
    for op in bench.space.document.graph:
        bench.space.select([op.name])
        qtbot.waitUntil(lambda: panel.is_current)
        drawn = node_values.gradient(bench.space, op).text
        flow = panel.gradient
        none = flow.note.isVisible() and flow.note.text().startswith("None")
        assert none is (drawn == "none"), op.name
        seen.add((flow.header.title.text(), none))
    assert ("dL/dWhile:1 arriving", False) in seen
    assert ("dL/dn arriving", True) in seen


def test_a_matrix_in_a_formula_keeps_its_rows(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    build = GraphBuilder()
    w, x = build.variable("W", shape=(2, 2)), build.placeholder("x", shape=(2, 1))
    y = build.one("MatMul", w, x, name="y")
    held = Constant(np.float32([[1, -2], [3, 4]]))
    document = Document(graph=build.build(), initial={"W": held}, fetches=(y.ref,))
    document = replace(document, feeds={"x:0": Constant(np.float32([[1], [2]]))})
    bench.space.open_document(document, None)
    bench.space.debugger.flush()
    bench.run("continue_")
    bench.space.select(["y"])
    panel = show(InspectorPanel(bench.space), 328, 900)
    qtbot.waitUntil(lambda: panel.is_current and bool(panel.value.note.text()))
    assert panel.value.note.text() == "y = W · x = [[1 -2][3 4]] · [[1][2]]"


def test_an_updated_value_has_the_digits_of_its_change(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("tutorial")
    commands.set_optimizers(bench.space, [Optimizer("Adam", {"learning_rate": 1.4e-4})])
    bench.space.debugger.flush()
    bench.run("continue_")
    bench.space.select(["k"])
    panel = show(InspectorPanel(bench.space), 328, 900)
    qtbot.waitUntil(lambda: panel.is_current)
    after = panel.change.note.text().partition("\n")[0].partition(" → ")[2]
    assert len(after) > len("[0.050 0.130]")
    shown = panel.value.tiles.accessibleDescription()
    assert f"[{shown}]" == after
    assert (
        node_values.value(bench.space, bench.space.shown["k"])
        .text.replace("[ ", "[")
        .replace(" ]", "]")
        == after
    )
