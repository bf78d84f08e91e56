"""The device panel: choosing devices, the columns, who made the difference, and what is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import json
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol.messages import (
    ComparedNode,
    Comparison,
    DeviceInfo,
    FindSmallest,
    NodeDifference,
    SideResult,
)
from gradstep.gui import commands
from gradstep.gui.look.theme import ASSETS, DARK
from gradstep.gui.panels.device_diff.device_diff_model import DiffModel
from gradstep.gui.panels.device_diff.device_diff_panel import DeviceDiffPanel
from gradstep.gui.panels.device_diff.node_pane import NodePane


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


def test_of_a_loop_the_iteration_that_is_shown_is_said(qapp: object) -> None:
    model = DiffModel()
    far = node("while/x", "differs", side(1), side(2), iteration="iteration 1, 0")
    model.show([comparison("recorded", far, measured=True)])
    cell = model.cell(0, 2)
    assert (cell.text, cell.tip) == ("Neg ↻1, 0", "Neg, iteration 1, 0")
    pane = NodePane(lambda: DARK)
    pane.show_node(far, "CPU", "recorded")
    assert pane.head.remark.text() == "iteration 1, 0: recorded: differs"


def test_columns_say_what_is_emulated_and_mark_what_differs(qapp: object) -> None:
    model = DiffModel()
    near = node("x", "close", side(1, 2), side(1, 2.0000001), created=1e-8, inherited=0.0)
    metrics = {"max_abs": 1.0, "ulp_p99": 20.0, "share": 40.0}
    far = node(
        "x", "differs", side(1, 2), side(1, 3), created=0.5, inherited=0.25, metrics=metrics,
        rule="jax: TF32 (a book)", because="TF32",
    )  # fmt: skip
    model.show([comparison("gpu", near, measured=True), comparison("emulate:jax", far)])
    assert list(model.headers[3:]) == [
        "CPU", "GPU · H100", "jax · emulated", "Δ", "ULP p99", "created", "inherited", "budget",
        "rule", "phase",
    ]  # fmt: skip
    assert model.cell(0, 0).tip == "differs"
    assert "first" in model.cell(0, 1).text
    assert (model.cell(0, 4).text, model.cell(0, 4).fill) == ("[1 2]", "")
    assert (model.cell(0, 5).text, model.cell(0, 5).fill) == ("[1 ‹3›]", "hatched")
    assert [model.cell(0, c).text for c in range(6, 11)] == [
        "1.0e+00", "20", "5.0e-01", "2.5e-01", "40×",
    ]  # fmt: skip
    assert (model.cell(0, 11).text, model.cell(0, 11).tip) == ("TF32", "jax: TF32 (a book)")


def test_nodes_that_are_the_same_are_one_row_until_it_is_opened(qapp: object) -> None:
    model = DiffModel()
    same = [node(name, "equal", side(1), side(1)) for name in "abc"]
    open_ = node("d", "equal", side(1), side(1), unknown="the last bits")
    last = node("z", "differs", side(1), side(2))
    model.show([comparison("gpu", *same, open_, last, measured=True)])
    assert [model.cell(row, 1).text for row in range(model.rowCount())] == ["4 equal", "z  ◂ first"]
    assert model.cell(0, 2).text == "1 in part"
    assert [model.row_of(name) for name in ("b", "z", "q")] == [0, 1, -1]
    assert model.same == 4
    model.unfold(True)
    assert [model.cell(row, 1).text for row in range(4)] == [*"abcd"]


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
    texts = [panel.model.cell(row, c).text for c in (3, 4, 5)]
    assert texts == ["indices[2] = 6 is not in [0, 5)", "[1 2 0]", "[1 2 2]"]
    assert panel.model.cell(row, 4).fill == "hatched"
    panel.resize(2200, 260)
    QApplication.processEvents()
    table = panel.table
    for column in (1, 3, 4, 5):
        wanted = table.sizeHintForIndex(panel.model.index(row, column)).width()
        assert wanted <= table.columnWidth(column), "nothing is cut beside empty room"
    said = panel.verdict.text().split("\n")
    assert said[0].startswith("Semantics, not rounding. First divergence: b (GatherV2): an index")
    assert "tf-gpu is emulated: TensorFlow" in panel.verdict.text()
    place = panel.table.visualRect(panel.model.index(row, 1)).center()
    qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert bench.space.selection == ("b",)
    assert panel.side.currentWidget().widget() is panel.node
    assert "an index out of range gives 0" in panel.node.remark.text()
    assert bench.space.profiler.colouring == "difference"
    assert panel.tint.isChecked()
    qtbot.mouseClick(panel.back, Qt.MouseButton.LeftButton)
    assert panel.side.currentWidget().widget() is panel.verdict
    bench.space.select(["params"])
    assert panel.table.currentIndex().row() == panel.model.row_of("params") == 0
    panel.table.chosen.emit(0)  # those that are folded
    assert panel.every.isChecked()
    assert panel.model.cell(panel.model.row_of("params"), 1).text == "params"
    qtbot.mouseClick(panel.tint, Qt.MouseButton.LeftButton)
    assert bench.space.profiler.colouring == ""
    assert panel.go_on.isVisible()
    qtbot.mouseClick(panel.go_on, Qt.MouseButton.LeftButton)
    assert "CPU goes on" in panel.verdict.text() or "cpu goes on" in panel.verdict.text()
    assert not panel.go_on.isVisible()


def test_a_chosen_node_shows_its_worst_elements_ulps_and_nan(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    b = GraphBuilder()
    b.one("Cast", b.placeholder("x", shape=(5,)), DstT=DType.INT32, name="whole")
    product = b.one("MatMul", b.placeholder("m", shape=(8, 8)), np.eye(8, dtype=np.float32))
    b.one("Mul", product, 2.0, name="twice")
    feeds = {
        "x": Constant(np.array([1, np.nan, 2, 3, 4], np.float32)),
        "m": Constant(np.random.default_rng(0).normal(size=(8, 8)).astype(np.float32)),
    }
    fetches = (TensorRef("whole"), TensorRef("twice"))
    bench.space.open_document(Document(b.build(), fetches=fetches, feeds=feeds))
    bench.space.debugger.flush()
    bench.space.debugger.ask_devices()
    panel = show(DeviceDiffPanel(bench.space), 1100, 260)
    compared(panel, qtbot)
    panel.table.chosen.emit(panel.model.row_of("twice"))
    worst = panel.node.worst
    assert list(worst.headers) == ["element", "CPU", "tf-gpu", "float64"]
    assert worst.rowCount() == 5
    assert worst.cell(0, 1).text == worst.cell(0, 3).text  # CPU and float64 agree; TF32 does not
    assert worst.cell(0, 1).text != worst.cell(0, 2).text
    assert "Elements by distance in ULP: " in panel.node.ulps.accessibleName()
    assert not panel.node.places.isVisibleTo(panel.node)
    panel.table.chosen.emit(panel.model.row_of("whole"))
    assert worst.cell(0, 0).text == "[1]"
    assert not panel.node.ulps.isVisibleTo(panel.node)


def test_nan_on_one_side_has_its_place_in_the_mask(qtbot: Any, qapp: object) -> None:
    pane = NodePane(lambda: DARK)
    qtbot.addWidget(pane)
    detail = NodeDifference(
        output=0, worst=[], nonfinite_left=1, nonfinite_both=2, mask="l.b..b", ulps=[3]
    )
    pane.resize(300, 400)
    pane.show_node(node("x", "differs", side(*range(6)), side(*range(6)), detail=detail), "A", "B")
    assert pane.lost.text() == "NaN or infinite: 1 on A only, 0 on B only, 2 on both"
    pane.show()
    assert pane.places.columns() == 6
    assert pane.places.heightForWidth(20) == 27  # two in a row
    pane.grab()


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
    assert "are not compared: they wait for a feed of data" in panel.verdict.text()
    shown = range(panel.model.rowCount())
    tones = {panel.model.cell(row, column).tone for row in shown for column in (0, 1, 3, 4)}
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
    assert "the order of sums in s (1,000 terms)" in panel.verdict.text()
    panel.every.setChecked(True)
    cell = panel.model.cell(panel.model.row_of("s"), 4)
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
    assert panel.verdict.text().count(missing) == 1
    assert "GPU, gpu:native" in panel.verdict.text()
    assert "torch:cpu: PyTorch is not installed" in panel.verdict.text()
    actions = [a for a in panel.devices.menu().actions() if a.isCheckable()]
    assert [a.isEnabled() for a in actions] == [True, True, True, False, False, False]
    elsewhere = [action.text().partition(" ")[0] for action in actions[:3]]
    assert elsewhere == [
        "tutorial.cupy-host",
        "tutorial.gpu",
        "tutorial.torch-cpu",
    ]  # what these gave there
    assert not panel.run.isEnabled()


def test_the_smallest_graph_of_a_difference_is_one_click(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    """Of the first that is made, or of the chosen one if that makes one by itself."""
    bench.open("gather")
    bench.space.debugger.ask_devices()
    panel = show(DeviceDiffPanel(bench.space), 1200, 300)
    assert not panel.smallest.isVisible()
    asked: list[tuple[str, str]] = []
    bench.space.view_requested.connect(lambda what, target: asked.append((what, target)))
    commands.compare(bench.space, ["emulate:tf-gpu"])
    assert panel.smallest.isVisible()
    for chosen, wanted in ((), ""), (("params",), ""), (("b",), "b"):
        bench.space.select(list(chosen))
        qtbot.mouseClick(panel.smallest, Qt.MouseButton.LeftButton)
        what, target = asked[-1]
        question = json.decode(target.encode(), type=FindSmallest)
        assert what == "smallest"
        assert question == FindSmallest(left="cpu", against="emulate:tf-gpu", node=wanted)
    commands.compare(bench.space, ["emulate:tf-gpu", "emulate:jax"])
    assert not panel.smallest.isVisible(), "of which is not said"
