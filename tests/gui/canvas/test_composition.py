"""The parts of the canvas know what they work on, and none knows the view that builds them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtWidgets import QGraphicsScene, QGraphicsView

from gradstep.gui import canvas as package
from gradstep.gui.canvas.interact.gestures import Pan
from gradstep.gui.canvas.interact.overlay import Overlay
from gradstep.gui.canvas.scene.camera import Camera

ROOT = Path(*package.__path__)
DOOR, MODULE = "GraphView", "gradstep.gui.canvas.view"
QT_SIDE = {"view.py", "camera.py", "overlay.py"}  # the others ask these two for pixels and items


def names(code: str) -> Iterator[str]:
    """Every name that a module uses, imports, or quotes as an annotation."""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                yield name
            case ast.ImportFrom(module=str(module)):
                yield from (f"{module}.{alias.name}" for alias in node.names)
            case ast.Constant(value=str(text)):
                yield from text.split()


def knows_the_view(code: str) -> bool:
    found = set(names(code))
    return DOOR in found or any(f"{name}.".startswith(f"{MODULE}.") for name in found)


@pytest.mark.slow
def test_no_part_names_the_view() -> None:
    parts = [path for path in ROOT.rglob("*.py") if path != ROOT / "view.py"]
    assert len(parts) > 60
    assert [str(p) for p in parts if knows_the_view(p.read_text(encoding="utf-8"))] == []
    assert DOOR in (ROOT / "view.py").read_text(encoding="utf-8")


@pytest.mark.slow
def test_only_the_camera_and_the_overlay_wrap_a_view_of_qt() -> None:
    code = {path.name: path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py")}
    assert {name for name in code if "QGraphicsView" in names(code[name])} == QT_SIDE


@pytest.mark.parametrize(
    ("code", "is_seen"),
    [
        ("from gradstep.gui.canvas.view import GraphView", True),
        ("from gradstep.gui.canvas import view", True),
        ("import gradstep.gui.canvas.view", True),
        ("if TYPE_CHECKING:\n    from gradstep.gui.canvas.view import GraphView as View", True),
        ("def f(view: 'GraphView'): ...", True),
        ("def f(view: 'GraphView | None'): ...", True),
        ("def f():\n    from gradstep.gui.canvas.view import GraphView", True),
        ('"""`GraphView` is the door."""', False),
        ("from gradstep.gui.canvas.interact import viewport", False),
    ],
)
def test_a_part_that_names_it_is_seen(code: str, is_seen: bool) -> None:
    assert knows_the_view(code) is is_seen


def test_a_part_works_over_any_view(qtbot: Any) -> None:
    """As the hand that pans: a camera and an overlay are all it asks for."""
    scene = QGraphicsScene()
    view = QGraphicsView(scene)
    qtbot.addWidget(view)
    camera, overlay = Camera(view), Overlay(view)
    camera.frame(QRectF(0, 0, 100, 100))
    before, hand = camera.visible, Pan(camera, overlay, QPoint(10, 10))
    assert overlay.port.cursor().shape() is Qt.CursorShape.ClosedHandCursor
    hand.move(QPoint(40, 25), Qt.KeyboardModifier.NoModifier)
    assert camera.visible == before.translated(-30 / camera.scale, -15 / camera.scale)
    hand.release(QPoint(40, 25), Qt.KeyboardModifier.NoModifier)
    assert overlay.port.cursor().shape() is not Qt.CursorShape.ClosedHandCursor
