"""Point 7: a network drawn from nothing, saved, and found again as it was."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint

from gradstep.core.document.document import Document
from gradstep.core.graph.model import TensorRef

pytestmark = pytest.mark.xvfb
X = np.float32([[1, 2], [3, 4]])
W = np.float32([[0.5], [-1]])


def add(user, key: str, type: str, name: str, at: QPoint) -> None:
    """Point somewhere, press a key, find an op type, and name what was added."""
    user.point_at(at)
    user.key(key)
    user.search(type)
    (new,) = user.workspace.selection
    assert user.workspace.document.graph[new].type == type
    user.type_into("inspector.name", name)
    assert user.workspace.selection == (name,)
    user.click_canvas(user.node(name))


def set_attribute(user, node: str, name: str, text: str) -> None:
    user.select(node)
    user.type_into(f"inspector.{name}", text)
    user.click_canvas(user.node(node))


def draw_product(user) -> None:
    """xw = x @ w on an empty page, by mouse and keys."""
    user.click("welcome.file.new")
    user.wait(lambda: user.workspace.is_open, "an empty graph")
    user.settle()
    assert "press Tab" in user.text("outline.empty")
    add(user, "Tab", "Placeholder", "x", QPoint(180, 160))
    add(user, "Shift+A", "VariableV2", "w", QPoint(180, 330))
    add(user, "Tab", "MatMul", "xw", QPoint(520, 240))
    set_attribute(user, "x", "attr.shape", "[2, 2]")
    set_attribute(user, "w", "attr.shape", "[2, 1]")
    user.drag(user.output("x"), user.input("xw", 0))
    user.drag(user.output("w"), user.input("xw", 1))


def draw_square(user) -> None:
    """y = xw², and the values that x is fed and w starts with."""
    add(user, "Tab", "Square", "y", QPoint(820, 240))
    user.drag(user.output("xw"), user.input("y", 0))
    set_attribute(user, "x", "value", "[[1, 2], [3, 4]]")
    set_attribute(user, "w", "value", "[[0.5], [-1]]")


def differentiate(user) -> None:
    user.select("y")
    user.menu("Graph", "Differentiate…")
    user.type_into("request_dialog.of", "y")
    user.type_into("request_dialog.wrt", "w")
    user.click("request_dialog.apply")


def same(document: Document, other: Document) -> bool:
    """Whether nothing differs, the order of the operations included."""
    ours, theirs = ({f.name: getattr(d, f.name) for f in fields(d)} for d in (document, other))
    ours["graph"], theirs["graph"] = list(document.graph), list(other.graph)
    return ours == theirs


def inputs(user, name: str) -> list[str | None]:
    refs = user.workspace.document.graph[name].inputs
    return [ref.short if ref is not None else None for ref in refs]


def test_drawn_from_nothing_undone_redone_saved_and_found_again(user, tmp_path) -> None:
    draw_product(user)
    draw_square(user)
    assert inputs(user, "xw") == ["x", "w"]
    assert inputs(user, "y") == ["xw"]
    assert not user.workspace.inference.problems
    assert str(user.workspace.inference.types[TensorRef("y")]) == "float32[2, 1]"
    differentiate(user)
    check_numbers(user)
    user.take_picture("building")
    delete_and_undo(user)
    undo_and_redo_everything(user)
    check_numbers(user)
    save_and_reopen(user, tmp_path / "drawn")


def check_numbers(user) -> None:
    user.key("F5")
    assert np.allclose(user.value("y"), (X @ W) ** 2)
    assert np.allclose(user.gradient("w"), X.T @ (2 * (X @ W)))


def delete_and_undo(user) -> None:
    done = user.workspace.document
    user.select("xw")
    user.key("Delete")
    assert "xw" not in user.workspace.document.graph
    assert inputs(user, "y") == [None]
    user.key("Ctrl+Z")
    assert same(user.workspace.document, done)


def undo_and_redo_everything(user) -> None:
    done, count = user.workspace.document, user.workspace.undo_stack.index()
    for _ in range(count):
        user.key("Ctrl+Z")
    assert not len(user.workspace.document.graph)
    assert not user.workspace.undo_stack.canUndo()
    for _ in range(count):
        user.key("Ctrl+Shift+Z")
    assert same(user.workspace.document, done)


def save_and_reopen(user, path: Path) -> None:
    user.drag(user.node("y"), user.node("y") + QPoint(40, 120))
    user.select("xw")
    user.key("F9")
    done = user.workspace.document
    user.name_file(path)
    user.key("Ctrl+S")
    assert path.with_suffix(".gradstep").exists()
    assert not user.window.isWindowModified()
    user.key("Ctrl+W")
    assert not user.workspace.is_open
    user.click(f"welcome.recent.{path.name}.gradstep")
    user.wait(lambda: user.workspace.is_open, "the file")
    user.settle()
    assert same(user.workspace.document, done)
    assert "breakpoint" in user.says("xw")
    user.key("F5")
    assert (user.workspace.stop.reason, user.workspace.stop.node) == ("breakpoint", "xw")


def test_shape_errors_show_while_drawing(user) -> None:
    draw_product(user)
    set_attribute(user, "w", "attr.shape", "[3, 1]")
    assert "problem: " in user.says("xw")
    assert user.shows_color(user.corner("xw"), user.workspace.theme.problem, reach=3)
    user.show_tab("Problems 1")
    shown = user.find("problems.list").model().index(0, 0).data()
    assert shown.startswith("xw. ")
    assert "[3, 1]" in shown or "3" in shown
    user.take_picture("building-shape-error")
    user.show_tab("Inspector")
    set_attribute(user, "w", "attr.shape", "[2, 1]")
    assert "problem" not in user.says("xw")

    add(user, "Tab", "Placeholder", "n", QPoint(180, 480))
    set_attribute(user, "n", "attr.shape", "[5]")
    before = user.workspace.document
    user.drag(user.output("n"), user.input("xw", 1))
    assert user.workspace.document is before, "a wire that cannot fit is not taken"
    assert user.sees("banner.message")
