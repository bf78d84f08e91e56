"""The device panel: choosing devices, the columns, who made the difference, and what is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import Qt

from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol.messages import ComparedNode, Comparison, DeviceInfo, SideResult
from gradstep.gui.look.theme import ASSETS
from gradstep.gui.panels.device_diff.device_diff_model import DiffModel
from gradstep.gui.panels.device_diff.device_diff_panel import DeviceDiffPanel


def side(*values: float, text: str = "", status: str = "ok") -> SideResult:
    return SideResult(status=status, shape=[len(values)], values=list(values), text=text)


def node(name: str, verdict: str, left: SideResult, right: SideResult, **more: Any) -> ComparedNode:
    return ComparedNode(
        name=name, type="Neg", phase="forward", verdict=verdict, left=left, right=right, **more
    )


def comparison(right: str, *nodes: ComparedNode, measured: bool = False) -> Comparison:
    first = next((n.name for n in nodes if n.verdict == "differs"), None)
    return Comparison(
        left="cpu", right=right, measured=measured, source="H100" if measured else "a book",
        nodes=list(nodes), first_divergence=first,
    )  # fmt: skip


def test_columns_say_what_is_emulated_and_mark_what_differs(qapp: object) -> None:
    model = DiffModel()
    near = node("x", "close", side(1, 2), side(1, 2.0000001), created=1e-8, inherited=0.0)
    far = node("x", "differs", side(1, 2), side(1, 3), created=0.5, inherited=0.25)
    model.show([comparison("gpu", near, measured=True), comparison("emulate:jax", far)])
    assert list(model.headers[4:]) == [
        "CPU",
        "GPU · H100",
        "jax · emulated",
        "created",
        "inherited",
    ]
    assert model.cell(0, 0).tip == "differs"
    assert "first" in model.cell(0, 1).text
    assert (model.cell(0, 5).text, model.cell(0, 5).fill) == ("[1 2]", "")
    assert (model.cell(0, 6).text, model.cell(0, 6).fill) == ("[1 ‹3›]", "hatched")
    assert [model.cell(0, c).text for c in (7, 8)] == ["5.0e-01", "2.5e-01"]


def test_gather_raises_here_and_gives_zero_there(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("gather")
    bench.space.debugger.ask_devices()
    panel = show(DeviceDiffPanel(bench.space), 1100, 260)
    actions = {a.objectName().rpartition(".")[2]: a for a in panel.devices.menu().actions()}
    actions["emulate:tf-gpu"].setChecked(True)
    actions["emulate:cupy"].trigger()
    qtbot.mouseClick(panel.run, Qt.MouseButton.LeftButton)
    row = panel.model.row_of("b")
    texts = [panel.model.cell(row, c).text for c in (4, 5, 6)]
    assert texts == ["indices[2] = 6 is not in [0, 5)", "[1 2 0]", "[1 2 2]"]
    assert panel.model.cell(row, 5).fill == "hatched"
    assert "tf-gpu is emulated: TensorFlow" in panel.remarks.text()
    place = panel.table.visualRect(panel.model.index(row, 1)).center()
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert bench.space.selection == ("b",)
    bench.space.select(["params"])
    assert panel.table.currentIndex().row() == panel.model.row_of("params")


def compared(panel: DeviceDiffPanel, qtbot: Any) -> None:
    """With tf-gpu, which is what the panel offers."""
    assert panel.devices.chosen == ["emulate:tf-gpu"]
    qtbot.mouseClick(panel.run, Qt.MouseButton.LeftButton)


def test_what_waits_for_a_feed_is_not_compared_and_no_difference(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    document = read(ASSETS / "examples" / "tutorial.gradstep").with_(feeds={})
    bench.space.open_document(document)
    bench.space.debugger.flush()
    bench.space.debugger.ask_devices()
    panel = show(DeviceDiffPanel(bench.space), 1100, 260)
    compared(panel, qtbot)
    assert panel.summary.text().startswith("tf-gpu: no node differs (")
    assert "are not compared: they wait for a feed of data" in panel.remarks.text()
    shown = range(panel.model.rowCount())
    tones = {panel.model.cell(row, column).tone for row in shown for column in (0, 1, 4, 5)}
    assert not tones & {"problem"}


def test_a_long_sum_says_in_its_row_and_above_that_its_order_is_not_emulated(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    b = GraphBuilder()
    b.one("Sum", b.placeholder("x", shape=(1000,)), np.array([0], np.int32), name="s")
    feeds = {"x": Constant(np.ones(1000, np.float32))}
    bench.space.open_document(Document(b.build(), fetches=(TensorRef("s"),), feeds=feeds))
    bench.space.debugger.flush()
    bench.space.debugger.ask_devices()
    panel = show(DeviceDiffPanel(bench.space), 1100, 260)
    compared(panel, qtbot)
    assert panel.summary.text() == "tf-gpu: no node differs (1 emulated in part)"
    assert "the order of sums in s (1,000 terms)" in panel.remarks.text()
    cell = panel.model.cell(panel.model.row_of("s"), 5)
    assert "the order of 1,000 terms is not emulated" in cell.tip


def test_without_a_gpu_it_says_what_is_missing(bench: Any, show: Callable[..., Any]) -> None:
    bench.open("tutorial")
    missing = "CuPy is not installed. Install it."
    bench.space.debugger.devices = (
        DeviceInfo(name="cpu", kind="cpu", available=True, text="NumPy"),
        DeviceInfo(name="gpu", kind="gpu", available=False, text=missing),
        DeviceInfo(name="gpu:native", kind="gpu", available=False, text=missing),
        DeviceInfo(
            name="torch:cpu", kind="torch", available=False, text="PyTorch is not installed"
        ),
    )
    bench.space.devices_changed.emit()
    panel = show(DeviceDiffPanel(bench.space), 900, 240)
    assert panel.remarks.text().count(missing) == 1
    assert "GPU, gpu:native" in panel.remarks.text()
    assert "torch:cpu: PyTorch is not installed" in panel.remarks.text()
    actions = [a for a in panel.devices.menu().actions() if a.isCheckable()]
    assert [a.isEnabled() for a in actions] == [False, False, False]
    assert not panel.run.isEnabled()
