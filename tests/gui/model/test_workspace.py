"""The workspace: documents, edits, selection, and the engine's answers, without a window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.document import document_edits
from gradstep.core.errors import GradstepError
from gradstep.core.graph.changes import Changes
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.protocol.messages import Failed, Read, Values
from gradstep.gui import commands
from gradstep.gui.model.background_work import Background
from gradstep.gui.model.workspace import Workspace


def settle(qtbot: Any, space: Workspace) -> None:
    qtbot.waitUntil(lambda: space.is_idle, timeout=30_000)


@pytest.fixture
def opened(workspace: Workspace, qtbot: Any, examples: Path) -> Workspace:
    workspace.open_document(read(examples / "tutorial.gradstep"))
    settle(qtbot, workspace)
    return workspace


def number(space: Workspace, ref: str) -> np.ndarray[Any, Any]:
    found = space.value(ref)
    assert found is not None
    assert found.array is not None
    return found.array


def test_opening_shows_program_stop_and_fed_values(opened: Workspace) -> None:
    assert opened.is_open
    assert opened.program is not None
    assert opened.stop is not None
    assert opened.stop.reason == "entry"
    assert number(opened, "data").tolist() == [1.0, 2.0]
    waiting = opened.value("loss")
    assert waiting is not None
    assert waiting.state == "waiting"


def test_a_step_brings_values_and_gradients(opened: Workspace, qtbot: Any) -> None:
    opened.control("continue_")
    settle(qtbot, opened)
    assert number(opened, "loss") == pytest.approx(0.66369414)
    gradient = opened.gradient("c")
    assert gradient is not None
    assert gradient.head == pytest.approx([0.567514, -0.994362], abs=1e-6)


def test_a_tensor_without_gradient_says_none(opened: Workspace) -> None:
    found = opened.gradient("labels")
    assert found is not None
    assert found.state == "none"


def test_asking_for_an_unread_value_reads_it(opened: Workspace, qtbot: Any) -> None:
    opened.control("continue_")
    settle(qtbot, opened)
    assert opened.value("c/Adam:0") is None
    with qtbot.waitSignal(opened.values_changed):
        pass
    assert opened.value("c/Adam") is not None


def test_an_edit_reaches_the_engine_and_keeps_the_step(opened: Workspace, qtbot: Any) -> None:
    for _ in range(4):
        opened.control("step")
    settle(qtbot, opened)
    assert opened.stop is not None
    before = opened.stop.step
    commands.set_feed(opened, "data:0", np.array([3.0, 4.0], np.float32))
    settle(qtbot, opened)
    assert opened.stop.step == before
    assert number(opened, "data").tolist() == [3.0, 4.0]


def test_moving_a_node_does_not_bother_the_engine(opened: Workspace, qtbot: Any) -> None:
    stop = opened.stop
    commands.move_nodes(opened, {"c": (1.0, 2.0)})
    settle(qtbot, opened)
    assert opened.stop is stop


def test_a_breakpoint_stops_the_run(opened: Workspace, qtbot: Any) -> None:
    commands.toggle_breakpoint(opened, "e")
    opened.control("continue_")
    settle(qtbot, opened)
    assert opened.stop is not None
    assert (opened.stop.reason, opened.stop.node) == ("breakpoint", "e")


def test_a_stop_on_a_wire_is_seen_in_the_program(opened: Workspace, qtbot: Any) -> None:
    commands.toggle_stop(opened, Edge("e", 1))
    settle(qtbot, opened)
    assert opened.program is not None
    assert [(b.op, b.index) for b in opened.program.blocked] == [("e", 1)]
    found = opened.gradient("k")
    assert found is not None
    assert found.state == "none"


def test_changes_name_what_an_edit_did(opened: Workspace, qtbot: Any) -> None:
    with qtbot.waitSignal(opened.document_changed) as caught:
        commands.add_node(opened, "Tanh", (0.0, 0.0), "t", source=TensorRef("e"))
    assert caught.args == [Changes(added=frozenset({"t"}))]
    assert opened.selection == ("t",)


def test_shape_errors_show_while_drawing(opened: Workspace) -> None:
    commands.set_attr(opened, "c", "shape", Shape.of(3))
    assert [p.node for p in opened.inference.problems] == ["d", "e"]


def test_a_failing_command_says_why_and_changes_nothing(opened: Workspace, qtbot: Any) -> None:
    before = opened.document
    with qtbot.waitSignal(opened.message) as caught:
        commands.connect(opened, TensorRef("loss"), Edge("d", 0))
    level, text = caught.args
    assert level == "error"
    assert "cycle" in text
    assert opened.document is before


def test_selection_forgets_removed_nodes(opened: Workspace) -> None:
    opened.select(["c", "k"])
    commands.remove_nodes(opened, ["c"])
    assert opened.selection == ("k",)
    opened.select([], Edge("e", 1))
    commands.remove_nodes(opened, ["e"])
    assert opened.selected_edge is None


def test_selection_forgets_a_wire_that_is_deleted(opened: Workspace) -> None:
    opened.select([], Edge("e", 1))
    commands.delete_selection(opened)
    assert opened.shown["e"].inputs[1] is None
    assert opened.selected_edge is None, "or the inspector shows the nothing that is left of it"


def test_a_failed_request_reaches_its_asker(opened: Workspace, qtbot: Any) -> None:
    replies: list[object] = []
    opened.request(Read(refs=["loss:0"]), (), lambda reply, _: replies.append(reply))
    opened.request(Read(refs=["nothing:0"]), (), lambda reply, _: replies.append(reply))
    settle(qtbot, opened)
    assert isinstance(replies[0], Values)
    assert isinstance(replies[1], Failed | Values)


def test_a_file_that_cannot_be_read_leaves_the_document(opened: Workspace, qtbot: Any) -> None:
    before = opened.document
    with qtbot.waitSignal(opened.message, timeout=10_000) as caught:
        opened.open_path(Path("missing.gradstep"))
    assert caught.args is not None
    assert "no such file" in caught.args[1]
    assert opened.document is before


def test_comparing_devices_gives_a_row_for_each_node(
    workspace: Workspace, qtbot: Any, examples: Path
) -> None:
    workspace.open_document(read(examples / "gather.gradstep"))
    commands.compare(workspace, ["emulate:tf-gpu"])
    with qtbot.waitSignal(workspace.compared, timeout=30_000):
        pass
    (comparison,) = workspace.comparisons
    assert not comparison.measured
    assert comparison.first_divergence == "b"


@pytest.mark.slow
def test_an_override_in_force_is_checked_unasked(
    workspace: Workspace, qtbot: Any, examples: Path
) -> None:
    workspace.open_document(read(examples / "override_add.gradstep"))
    settle(qtbot, workspace)
    assert workspace.table is None
    workspace.control("continue_")
    qtbot.waitUntil(lambda: workspace.table is not None, timeout=30_000)
    assert workspace.table is not None
    assert workspace.table.supports == "native"
    commands.toggle_override(workspace, 0)
    settle(qtbot, workspace)
    assert workspace.table is None


def test_trust_is_asked_for_code_that_nobody_knows(
    workspace: Workspace, qtbot: Any, examples: Path
) -> None:
    document = read(examples / "override_add.gradstep")
    name = next(iter(document.code))
    item = document.code[name]
    foreign = document_edits.set_code(
        document, type(item)(name, item.kind, item.source + "# other\n")
    )
    workspace.open_document(foreign)
    assert not workspace.trusted
    workspace.control("continue_")
    settle(qtbot, workspace)
    assert workspace.program is not None
    assert "untrusted-code" in {p.type for p in workspace.program.problems}
    workspace.trust()
    settle(qtbot, workspace)
    assert workspace.program.problems == []
    workspace.open_document(foreign)
    assert workspace.trusted


def test_code_written_here_is_the_users_own(opened: Workspace, examples: Path) -> None:
    assert opened.trusted
    foreign = read(examples / "override_add.gradstep").code
    for item in foreign.values():
        commands.set_code(opened, type(item)(item.name, item.kind, item.source + "# mine\n"))
    assert opened.trusted


def test_errors_of_background_work_become_messages(workspace: Workspace, qtbot: Any) -> None:
    def fail() -> None:
        raise ValueError("odd")

    errors: list[GradstepError] = []
    Background(workspace).run(fail, lambda _: None, errors.append)
    qtbot.waitUntil(lambda: bool(errors))
    assert "ValueError: odd" in errors[0].message
