"""What is of a document's size is found out beside the main thread when a file is opened."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.document import required_python
from gradstep.core.document.document import Document, View
from gradstep.core.graph.block_kinds import BlockKinds
from gradstep.core.io.export_document import write
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.typing import missing_inputs
from gradstep.gui import commands
from gradstep.gui.automation.driver import Driver
from gradstep.gui.canvas.scene import box_placement, incremental_routing, visible_graph
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.model import foreseen
from tests.bench import training_graph

NODES = 300
# Each goes once through the whole graph, or writes all of it.
LARGE = (
    (visible_graph, "single_links"),
    (BlockKinds, "_found"),
    (gradstep_file, "_written"),
    (missing_inputs, "_find"),
    (required_python, "_may_ask"),
    (box_placement, "layout"),
    (incremental_routing, "routed"),
)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each was done in the main thread."""
    counts: Counter[str] = Counter()

    def counted(where: Any, name: str) -> None:
        made = getattr(where, name)

        def called(*arguments: Any) -> Any:
            main = threading.current_thread() is threading.main_thread()
            counts[f"{name} {'here' if main else 'beside'}"] += 1
            return made(*arguments)

        monkeypatch.setattr(where, name, called)

    for where, name in LARGE:
        counted(where, name)
    return counts


@pytest.mark.slow
def test_the_window_goes_through_nothing_large_when_a_file_is_opened(
    driver: Driver, tmp_path: Path, here: Counter[str]
) -> None:
    driver.open(training_graph.save(NODES, tmp_path))
    driver.settle()
    assert here["single_links here"] == here["_found here"] == here["_written here"] == 0
    assert here["_find here"] == here["_may_ask here"] == here["routed here"] == 0
    assert here["layout here"] == 0
    for _, name in LARGE:
        assert here[f"{name} beside"] >= 1, name
    assert driver.workspace.program is not None, "the engine read what was written beside"
    assert len(driver.window.canvas.arrays.visible.boxes) < NODES, "folded"


@pytest.mark.slow
def test_what_was_foreseen_is_of_the_document_as_it_was_read(
    driver: Driver, tmp_path: Path
) -> None:
    """And an edit at once is of what was edited."""
    space = driver.workspace
    path = training_graph.save(NODES, tmp_path)
    driver.open(path)
    first = driver.window.canvas.arrays.visible
    commands.rename(space, "shared/gain", "renamed")
    driver.settle()
    assert "renamed" in space.debugger.index.steps
    space.undo_stack.undo()
    driver.settle()
    space.open_document(space.document)
    driver.settle()
    assert driver.window.canvas.arrays.visible.boxes == first.boxes


@pytest.mark.slow
def test_what_somebody_arranged_is_put_together_beside(
    driver: Driver, tmp_path: Path, here: Counter[str]
) -> None:
    graph = training_graph.drawn(NODES).graph
    places = {name: (240.0 * (i % 9), 90.0 * (i // 9)) for i, name in enumerate(graph.operations)}
    path = tmp_path / "arranged.gradstep"
    write(path, Document(graph=graph, view=View(positions=places)))
    driver.open(path)
    driver.settle()
    assert (here["routed here"], here["routed beside"]) == (0, 1)
    shown = driver.window.canvas.arrays
    anew = SceneArrays.of(shown.visible, places)
    assert (shown.rects == anew.rects).all()
    assert np.array_equal(shown.routes.curves, anew.routes.curves)


@pytest.mark.slow
def test_a_heavy_document_is_seen_before_it_is_written(
    driver: Driver, tmp_path: Path, here: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreseen, "LIGHT", 0)
    driver.open(training_graph.save(NODES, tmp_path))
    driver.settle()
    assert (here["_written here"], here["_written beside"]) == (1, 0)
    assert driver.workspace.program is not None
