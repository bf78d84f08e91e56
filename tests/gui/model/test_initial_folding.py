"""A large graph that nobody arranged opens with its scopes folded, and unfolds one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradstep.core.document.document import Document, View
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.io.open_document import read
from gradstep.gui.automation.driver import Driver
from gradstep.gui.model.initial_folding import MANY, fold_scopes

GRAPHS = Path(__file__).parents[2] / "data" / "oracle" / "graphs"
ANYHOW = View()


def chain(count: int, view: View = ANYHOW) -> Document:
    ops = [Operation("a/0", "NoOp")]
    ops += [
        Operation(f"a/b/{i}", "Identity", (TensorRef("a/0" if i == 1 else f"a/b/{i - 1}"),))
        for i in range(1, count)
    ]
    return Document(graph=Graph.of(ops), view=view)


def test_only_a_large_graph_that_nobody_arranged_is_folded() -> None:
    assert fold_scopes(chain(MANY + 1)).view.collapsed == {"a", "a/b"}
    assert fold_scopes(chain(MANY)).view.collapsed == frozenset()
    arranged = chain(MANY + 1, View(positions={"a/0": (0.0, 0.0)}))
    assert fold_scopes(arranged) is arranged


@pytest.mark.slow
def test_an_imported_graph_opens_folded_and_unedited(driver: Driver) -> None:
    driver.open(GRAPHS / "simple_network_adam.pb")
    canvas = driver.window.canvas
    assert len(canvas.arrays) < MANY < len(driver.workspace.document.graph)
    assert not driver.workspace.is_changed
    assert canvas.camera.scale > 0.35  # names can be read


@pytest.mark.parametrize("back", ["edit.undo", "view.toggle_scope"])
@pytest.mark.slow
def test_a_scope_opens_in_view_and_closes_again(driver: Driver, back: str) -> None:
    driver.open(GRAPHS / "simple_network_adam.pb")
    canvas, before = driver.window.canvas, driver.window.canvas.arrays
    number = before.visible.number["train/"]
    driver.workspace.select(before.visible.boxes[number].members)
    driver.window.actions_.run("view.toggle_scope")
    driver.settle()
    inside = [i for i, box in enumerate(canvas.arrays.visible.boxes) if box.id.startswith("train/")]
    assert len(inside) > 1
    assert all(canvas.camera.visible.intersects(canvas.box_rect(i)) for i in inside)
    driver.workspace.select([canvas.arrays.visible.boxes[inside[-1]].members[0]])
    driver.window.actions_.run(back)
    driver.settle()
    assert canvas.arrays.visible.number.keys() == before.visible.number.keys()
    assert (canvas.arrays.rects == before.rects).all()


@pytest.mark.slow
def test_every_scope_at_once(driver: Driver) -> None:
    driver.open(GRAPHS / "simple_network_adam.pb")
    canvas, few = driver.window.canvas, len(driver.window.canvas.arrays)
    driver.window.actions_.run("view.open_scopes")
    whole = len(read(GRAPHS / "simple_network_adam.pb").graph)
    driver.wait(lambda: len(canvas.arrays) == whole, "all operations to be placed")
    driver.window.actions_.run("view.collapse_scopes")
    driver.wait(lambda: len(canvas.arrays) == few, "the scopes to fold")
