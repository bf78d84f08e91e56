"""Into the iterations of a loop by F11: their values on the canvas, there and back, and out."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF

pytestmark = pytest.mark.xvfb


def is_open(user) -> bool:
    """Whether the loop's box is open."""
    return "while/Mul" in user.canvas.arrays.visible.number


@pytest.fixture
def loop(user, examples):
    """A user inside the first iteration of x to the power 3, with x = 2."""
    user.open(examples / "while_loop.gradstep")
    while user.workspace.stop.node != "while/While":
        user.key("F10")
    user.key("F11")
    return user


def place(user) -> tuple[int, int]:
    """Iteration and step of it, counted from 0."""
    inside = user.workspace.stop.inside[-1]
    return inside.iteration, inside.step


def go_to(user, node: str, key: str = "F10") -> None:
    user.key(key)
    while user.workspace.stop.node != node:
        user.key(key)


def test_into_the_iterations_of_a_loop_and_out(loop) -> None:
    user = loop
    assert place(user) == (0, 0)
    number = user.canvas.arrays.visible.number
    assert "while/Mul" in number, "its box is open"
    current = number[user.workspace.stop.node]
    assert user.canvas.stage.facts.current == current
    assert user.canvas.camera.visible.contains(user.canvas.box_rect(current))

    seen = []
    for iteration in range(2):
        go_to(user, "while/NextIteration")
        assert place(user)[0] == iteration
        assert f"iteration {iteration + 1}" in user.text("timeline.loop")
        assert user.shows_color(user.corner("while/NextIteration"), user.workspace.theme.current)
        seen.append(user.says("while/Mul"))
    assert ["value 2" in seen[0], "value 4" in seen[1]] == [True, True]

    go_to(user, "while/NextIteration", "Shift+F10")
    assert (place(user)[0], user.says("while/Mul")) == (0, seen[0])
    user.take_picture("stepping-into-a-loop")

    user.key("Shift+F11")
    assert (user.workspace.stop.node, user.workspace.stop.inside) == ("while/Exit", [])
    go_to(user, "y")
    assert "value 8" in user.says("while/Exit_1")


def test_the_box_opens_on_the_way_in_and_stays_as_it_is_put(loop) -> None:
    user = loop
    unfold = user.window.docks.by_id["timeline"].panel.unfold
    stack = user.workspace.undo_stack
    assert (is_open(user), unfold.isVisible(), stack.undoText()) == (True, False, "Open while")
    stack.undo()
    user.settle()
    assert (is_open(user), unfold.isVisible()) == (False, True)
    user.key("F11")
    assert not is_open(user), "closed by hand, while one was in it"
    user.click("timeline.unfold")
    assert (is_open(user), unfold.isVisible()) == (True, False)

    stack.undo()
    user.key("Shift+F11")
    assert (user.workspace.stop.inside, is_open(user)) == ([], False)
    user.key("Shift+F10")
    user.key("F11")
    assert is_open(user), "one came in anew"
    user.key("Shift+F11")
    assert is_open(user)


def test_another_iteration_is_chosen_on_the_frame(loop) -> None:
    user = loop
    user.key("F5")
    assert "value 8" in user.says("while/Mul")
    canvas = user.canvas
    frame = next(frame for frame in canvas.arrays.frames if frame.loop)
    canvas.camera.frame(QRectF(*frame.rect))
    shown = canvas.iterations.shown["while/While"]
    assert shown.word.text() == "while i < n · iteration"
    for wanted in ("value 4", "value 2"):
        user.click("canvas.iteration.while/While.back")
        user.settle()
        assert wanted in user.says("while/Mul")
    user.take_picture("another-iteration")
    user.click("canvas.iteration.while/While.drop")
    user.settle()
    assert "value 8" in user.says("while/Mul")
