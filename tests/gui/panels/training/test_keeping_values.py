"""Keeping what was trained as what the document's variables start with: Training panel and menu."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.gui.actions import action_table
from gradstep.gui.panels.training.training_panel import TrainingPanel

KEEP = "graph.keep_values"
NAMES = ("softmax/weights", "softmax/bias")


@pytest.fixture
def panel(bench: Any, show: Callable[..., Any]) -> Any:
    bench.open("softmax_digits")
    return show(TrainingPanel(bench.space), 1270, 260)


def held(space: Any) -> list[np.ndarray]:
    return [space.value(name).array for name in NAMES]


def starts(space: Any) -> list[np.ndarray]:
    return [space.document.initial[name].array for name in NAMES]


def place(space: Any) -> tuple[int, int, int]:
    return space.stop.run, space.stop.step, space.stop.runs


def test_what_was_trained_is_what_the_document_begins_with(panel: Any, bench: Any) -> None:
    space, document = bench.space, bench.space.document
    assert panel.head.keep.isHidden(), "nothing was trained"
    panel.training.steps = 21
    action_table.run("run.train", space)
    bench.space.control("run_to", "19:50")
    kept = [array.copy() for array in held(space)[1:]]  # weights are too many to be shown whole
    space.control("run_to", "20:50")
    loss = float(space.value("loss").array)
    space.control("run_to", "19:50")

    assert not panel.head.keep.isHidden()
    panel.head.keep.click()
    assert bench.messages[-1] == (
        "softmax/weights, softmax/bias start with what they held in run 20; "
        "runs begin anew from there"
    )
    np.testing.assert_array_equal(starts(space)[1], kept[0])
    assert place(space) == (0, 0, 1), "or the runs would be made once more, from there"
    assert space.undo_stack.undoText() == "Keep values of run 20"
    space.control("continue_")
    assert float(space.value("loss").array) == pytest.approx(loss, rel=1e-6)

    space.undo_stack.undo()
    assert space.document is document


def test_there_is_nothing_to_keep_before_something_was_learned(bench: Any) -> None:
    bench.open("softmax_digits")
    space, document = bench.space, bench.space.document
    for _ in range(3):
        space.control("step")
    before = place(space)
    assert action_table.run(KEEP, space)
    assert bench.messages[-1].startswith("Nothing to keep: every variable holds here what it")
    assert (space.document, place(space)) == (document, before)


def test_a_document_without_variables_says_so(bench: Any) -> None:
    bench.open("gather")
    assert not action_table.run(KEEP, bench.space)
    obstacle = action_table.BY_ID[KEEP].obstacle(bench.space)
    assert obstacle == "Keep values as initial values: the document has no variables"


def test_what_has_no_value_and_what_is_no_number_is_said(bench: Any) -> None:
    builder = GraphBuilder()
    a, _ = (builder.variable(name, shape=(2,)) for name in "ab")
    value = builder.constant(np.array([1, np.inf], np.float32), name="value")
    builder.one("Assign", a, value, name="set")
    document = Document(graph=builder.build(), targets=("set",))
    bench.space.open_document(document)
    bench.space.debugger.flush()
    action_table.run(KEEP, bench.space)
    said = "nothing to keep: no variable has a value here, a is not initialized. Step until it has"
    assert bench.messages[-1] == said
    bench.space.control("continue_")
    action_table.run(KEEP, bench.space)
    assert bench.messages[-1].endswith(
        "; not every number is finite in a; without a value here, and as before: b"
    )
    assert [*bench.space.document.initial] == ["a"]
    assert bench.space.document.initial["a"].array.tolist() == [1.0, np.inf]
