"""Point 6: an index out of range: an error here, a zero on TensorFlow's GPU, a wrap in CuPy."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.xvfb
MESSAGE = "indices[2] = 6 is not in [0, 5)"


@pytest.fixture
def gather(user):
    user.wait(lambda: user.window.is_drawn, "the examples' pictures")
    user.click("welcome.example.gather")
    user.wait(lambda: user.workspace.program is not None, "the example")
    user.settle()
    return user


def test_the_step_stops_and_says_which_index(gather) -> None:
    user = gather
    theme = user.workspace.theme
    assert not user.shows_color(user.corner("b"), theme.problem, reach=3)
    user.key("F5")
    assert user.text("status.state") == "Stopped at an error"
    assert user.workspace.stop.error.message == MESSAGE
    assert user.workspace.stop.error.index == [2]
    assert f"problem: {MESSAGE}" in user.says("b")
    assert user.shows_color(user.corner("b"), theme.problem, reach=3)
    assert user.text("inspector.error.card.text") == MESSAGE

    user.show_tab("Problems")
    view = user.find("problems.list")
    assert MESSAGE in view.model().index(0, 0).data()
    user.show_tab("Inspector")
    user.click("inspector.error.go")
    assert user.workspace.selection == ("indices",)
    marked = user.canvas.stage.facts.reading(user.canvas.arrays.visible.number["indices"], False)
    start, length = marked.marked
    assert marked.text[start : start + length].strip() == "6"
    user.take_picture("gather-error")


def test_the_comparison_lists_every_node_and_names_its_sources(gather) -> None:
    user = gather
    user.key("F5")
    user.click("inspector.error.compare")
    user.click("device_diff.devices")
    user.pick("device_diff.device.emulate:cupy")
    user.click("device_diff.compare")
    user.wait(lambda: len(user.workspace.comparisons) == 2, "the comparison")
    user.settle()
    remarks = user.text("device_diff.verdict")
    user.click("device_diff.every")
    headers, *rows = [user.headers("device_diff.table"), *user.table("device_diff.table")]
    tf, cupy = headers.index("tf-gpu · emulated"), headers.index("cupy · emulated")
    by_node = {row[1].partition(" ")[0]: row for row in rows}
    nodes = {"params", "indices", "axis", "b"} & set(user.workspace.document.graph.operations)
    assert nodes <= set(by_node)
    assert by_node["b"][headers.index("CPU")] == MESSAGE
    assert by_node["b"][tf] == "[1 2 0]"
    assert by_node["b"][cupy] == "[1 2 2]"
    assert "◂ first" in by_node["b"][1]
    table = user.find("device_diff.table")
    row = rows.index(by_node["b"])
    assert table.viewport().rect().contains(table.visualRect(table.model().index(row, 1)))
    assert "tf-gpu is emulated: " in remarks
    assert "cupy is emulated: " in remarks
    user.take_picture("gather-compared")
    user.click_row("device_diff.table", rows.index(by_node["indices"]))
    assert user.workspace.selection == ("indices",)
