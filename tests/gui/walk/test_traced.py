"""A trace from PyTorch: a block of a ResNet closed and opened; a loop beside what was recorded."""

from __future__ import annotations

import pytest

from gradstep.core.io.open_document import read
from tests.traces.trace_archive import traces

pytestmark = pytest.mark.xvfb


def boxes(user, scope: str) -> set[str]:
    """What is seen of a scope."""
    return {name for name in user.canvas.arrays.visible.number if name.startswith(f"{scope}/")}


def choose(user, scope: str) -> None:
    user.workspace.select([n for n in user.workspace.shown.operations if n.startswith(f"{scope}/")])
    user.settle()


def enter(user, scope: str) -> None:
    """Open a closed scope, and bring what it is made of into view."""
    choose(user, scope)
    user.key("Return")
    user.settle()
    user.menu("View", "Show selection")
    user.settle()


def go(user, key: str, is_there) -> None:
    for _ in range(60):
        if is_there(user.workspace.stop):
            return
        user.key(key)
    raise AssertionError(user.workspace.stop)


def test_a_block_of_a_resnet_is_one_box_until_it_is_opened(user) -> None:
    user.open(traces() / "resnet18.gstrace")
    user.window.docks.by_id["note"].close()
    user.key("F5")
    user.settle()
    user.menu("View", "Collapse every scope")
    user.settle()
    enter(user, "layer1")
    choose(user, "layer1/0")
    assert boxes(user, "layer1") == {"layer1/0/", "layer1/1/"}
    user.take_picture("pytorch-block-closed")

    enter(user, "layer1/0")
    parts = ("conv1", "bn1", "relu", "conv2", "bn2", "add")
    assert boxes(user, "layer1") == {*(f"layer1/0/{part}/" for part in parts), "layer1/1/"}
    user.take_picture("pytorch-block-opened")


def test_an_iteration_of_a_loop_stands_beside_what_was_recorded_of_it(user) -> None:
    user.open(traces() / "scan.gstrace")
    user.window.docks.by_id["note"].close()
    go(user, "F10", lambda stop: stop.node == "l/weight")
    go(user, "F11", lambda stop: stop.inside)
    go(user, "F10", lambda stop: stop.inside[-1].iteration == 2)
    go(user, "F10", lambda stop: stop.node == "scan/mul/Mul")
    choose(user, "scan/tanh")
    user.menu("View", "Show selection")
    user.settle()
    assert "iteration 3" in user.text("timeline.loop")
    recorded = read(traces() / "scan.gstrace").recorded.iterations["scan/tanh/Tanh:0"]
    (time,) = (i for i, place in enumerate(recorded.places.array) if place.tolist() == [2])
    own = user.workspace.value("scan/tanh/Tanh:0").head
    assert own == pytest.approx(recorded.values.array[time], abs=1e-6)
    value, gradient = (user.find(f"inspector.recorded.{name}") for name in ("value", "gradient"))
    assert value.header.remark.text() == "iteration 3 · torch 2.13.0+cpu"
    assert gradient.header.remark.text() == "iteration 3"
    user.take_picture("pytorch-loop")
