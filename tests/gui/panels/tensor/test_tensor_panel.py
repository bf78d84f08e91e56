"""The tensor panel: facts, the view that suits a tensor, slices, elements found, what is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication

from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.host.tensors.aggregate import NAN, ZERO
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol.messages import DescribeTensor, DrawTensor, ReadTable
from gradstep.gui import commands
from gradstep.gui.look.contrast import contrast
from gradstep.gui.look.theme import DARK, LIGHT, Theme
from gradstep.gui.panels.tensor import tensor_saving
from gradstep.gui.panels.tensor.element_grid import ElementGrid
from gradstep.gui.panels.tensor.table_pages import Rectangle
from gradstep.gui.panels.tensor.tensor_panel import TensorPanel
from tests.support import looping

NAN_AND_INF = np.array([1, np.nan, np.inf], np.float32)


def document_of(array: np.ndarray) -> Document:
    """One placeholder fed with `array`, and its negation."""
    attrs = {"dtype": DType.of(array.dtype), "shape": Shape(array.shape)}
    ops = [Operation("x", "Placeholder", attrs=attrs), Operation("y", "Neg", (TensorRef("x"),))]
    return Document(Graph.of(ops), feeds={"x:0": Constant(array)}, fetches=(TensorRef("y"),))


def look_at(bench: Any, array: np.ndarray) -> None:
    bench.space.open_document(document_of(array))
    bench.space.debugger.flush()
    bench.run("continue_")
    bench.space.select(["y"])


def opened(bench: Any, show: Callable[..., Any], array: np.ndarray) -> TensorPanel:
    look_at(bench, array)
    panel: TensorPanel = show(TensorPanel(bench.space), 900, 400)
    return panel


def press(qtbot: Any, panel: TensorPanel, name: str) -> None:
    button = panel.findChild(QAbstractButton, f"tensor.{name}")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def type_slice(qtbot: Any, panel: TensorPanel, text: str) -> None:
    field = panel.explorer.slicer.field
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)


def find(qtbot: Any, panel: TensorPanel, text: str, modifiers: Any = None) -> str:
    field = panel.explorer.finder.field
    field.setText(text)
    qtbot.keyClick(field, Qt.Key.Key_Return, modifiers or Qt.KeyboardModifier.NoModifier)
    return panel.explorer.said.text()


def text(grid: ElementGrid, row: int, column: int) -> str:
    """What a cell shows, once it is in view."""
    grid._pages.want(Rectangle(row, 1, column, 1))
    return grid.cell(row, column).text


def table(panel: TensorPanel) -> list[list[str]]:
    """What the table shows."""
    grid = panel.explorer.grid
    pages = grid._pages
    return [[text(grid, r, c) for c in range(pages.columns)] for r in range(pages.rows)]


# -- tables and slices ---------------------------------------------------------------------------


def test_all_of_a_cube_is_seen_and_sliced(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = opened(bench, show, np.arange(24, dtype=np.float32).reshape(4, 2, 3))
    assert table(panel)[0] == ["-0", "-1", "-2"]
    assert table(panel)[7] == ["-21", "-22", "-23"]
    assert panel.explorer.grid._row_label(7) == "3, 1"
    assert "float32[4, 2, 3]" in panel.facts.text()
    assert "min -23" in panel.facts.text()
    type_slice(qtbot, panel, "[0, :, ::2]")
    assert table(panel) == [["-0", "-2"], ["-3", "-5"]]
    qtbot.keyClick(panel.explorer.slicer.field, Qt.Key.Key_Home)
    qtbot.keyClick(panel.explorer.slicer.field, Qt.Key.Key_Up)
    assert table(panel) == [["-6", "-8"], ["-9", "-11"]]
    press(qtbot, panel, "swap")
    assert table(panel) == [["-6", "-9"], ["-8", "-11"]]
    assert panel.explorer.grid._row_label(1) == "2"
    type_slice(qtbot, panel, "[0, 5]")
    assert "5 is out of range: axis 1 has 2 elements" in panel.explorer.said.text()
    assert table(panel) == [["-6", "-9"], ["-8", "-11"]], "what was shown stays"


@pytest.mark.parametrize("shape", [(), (0,), (3,), (0, 2), (2, 3), (2, 0, 3), (2, 1, 3, 2)])
def test_every_rank_has_a_table(bench: Any, show: Callable[..., Any], shape: Any) -> None:
    array = np.arange(1, np.prod(shape) + 1, dtype=np.int32).reshape(shape)
    panel = opened(bench, show, array)
    assert [x for row in table(panel) for x in row] == [str(-x) for x in array.ravel()]
    assert not panel.grab().isNull()


@pytest.mark.slow
def test_only_what_is_in_view_crosses_the_pipe(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    """More elements than are measured unasked: a constant of one value, which the engine keeps as
    such."""
    large = np.broadcast_to(np.float32(2.5), (5_000, 5_000))
    attrs = {"dtype": DType.FLOAT32, "value": Constant(large)}
    graph = Graph.of([Operation("c", "Const", attrs=attrs)])
    bench.space.open_document(Document(graph, fetches=(TensorRef("c"),)))
    bench.space.debugger.flush()
    bench.run("continue_")
    received: list[int] = []
    handle = bench.bridge.service.handle

    def counted(*asked: Any) -> Any:
        reply, buffers = handle(*asked)
        received.append(sum(memoryview(b).nbytes for b in buffers))
        return reply, buffers

    bench.bridge.service.handle = counted
    panel: TensorPanel = show(TensorPanel(bench.space), 900, 400)
    bench.space.select(["c"])
    panel.grab()
    assert panel.explorer.kinds["heat_map"].isChecked()
    assert any(isinstance(m, DrawTensor) for m in bench.bridge.asked)
    assert not any(isinstance(m, DescribeTensor) for m in bench.bridge.asked)
    press(qtbot, panel, "table")
    grid = panel.explorer.grid
    qtbot.keyClick(grid, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    panel.grab()
    assert grid.current == (4_999, 4_999)
    assert text(grid, 4_999, 4_999) == "2.5"
    reads = [m for m in bench.bridge.asked if isinstance(m, ReadTable)]
    assert all(m.rows * m.columns < 5_000 for m in reads)
    assert sum(received) < 4 << 20


@pytest.mark.slow
def test_a_scroll_through_all_asks_for_the_newest_place_alone(
    bench: Any, show: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While an answer is awaited no question is sent, and of those that wait one is left."""
    panel = opened(bench, show, np.arange(400_000, dtype=np.float32).reshape(20_000, 20))
    panel.explorer.kinds["table"].click()
    sent: list[Any] = []
    monkeypatch.setattr(panel.explorer._questions, "_request", lambda *asked: sent.append(asked))
    for row in range(900, 20_000, 1_000):
        panel.explorer.grid.go_to(row, 0)
        panel.explorer.grid.grab()
    assert len(sent) == 1
    message, _, then, _ = sent[0]
    then(*bench.bridge.service.handle(message))
    assert len(sent) == 2
    assert sent[1][0].row > 19_800


def test_a_new_engine_is_asked_again(
    bench: Any, show: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the old one was asked is never answered; nothing waits for that."""
    panel = opened(bench, show, np.arange(400, dtype=np.float32).reshape(20, 20))
    explorer, asked = panel.explorer, list[Any]()
    explorer.kinds["table"].click()
    with monkeypatch.context() as dead:
        dead.setattr(explorer._questions, "_request", lambda *question: asked.append(question))
        explorer._choose_view(explorer.view)
        panel.grab()
    assert len(asked) == 1
    bench.bridge.state_changed.emit("starting")
    bench.bridge.state_changed.emit("ready")
    panel.grab()
    assert text(explorer.grid, 19, 19) == "-399"
    message, _, then, _ = asked[0]
    then(*bench.bridge.service.handle(message))  # comes after all: it is not listened to
    assert text(explorer.grid, 19, 19) == "-399"


def test_values_of_another_step_are_read_again(bench: Any, show: Callable[..., Any]) -> None:
    """Also where the first elements and all statistics stay: then nothing of the value that is
    kept tells that it is another."""

    def const(name: str, array: Any) -> Operation:
        array = np.asarray(array)
        attrs = {"dtype": DType.of(array.dtype), "value": Constant(array)}
        return Operation(name, "Const", attrs=attrs)

    refs = tuple(map(TensorRef, ("zeros", "shuffled", "axis")))
    ops = [
        const("zeros", np.zeros(100, np.int32)),
        const("range", np.arange(100, dtype=np.int32)),
        const("axis", np.int32(0)),
        Operation("shuffled", "RandomShuffle", (TensorRef("range"),), attrs={"seed": 5}),
        Operation("c", "ConcatV2", refs),
    ]
    bench.space.open_document(Document(Graph.of(ops), fetches=(TensorRef("c"),)))
    bench.space.debugger.flush()
    panel: TensorPanel = show(TensorPanel(bench.space), 900, 400)
    bench.space.select(["c"])
    seen = []
    for run in range(2):
        bench.run("continue_")
        if run == 0:
            panel.explorer.kinds["table"].click()
            panel.explorer.grid.go_to(199, 0)
        panel.grab()
        seen.append([text(panel.explorer.grid, row, 0) for row in range(190, 200)])
        frame = bench.bridge.service._session.frame()
        assert seen[-1] == [str(x) for x in frame.value("c")[190:]]
    assert seen[0] != seen[1]


def test_texts_are_a_table_alone(bench: Any, show: Callable[..., Any]) -> None:
    words = np.array([b"one", b"two"] * 50, object)
    attrs = {"dtype": DType.STRING, "value": Constant(words)}
    graph = Graph.of([Operation("c", "Const", attrs=attrs)])
    bench.space.open_document(Document(graph, fetches=(TensorRef("c"),)))
    bench.space.debugger.flush()
    bench.run("continue_")
    bench.space.select(["c"])
    panel: TensorPanel = show(TensorPanel(bench.space), 900, 400)
    assert [k for k, each in panel.explorer.kinds.items() if each.isEnabled()] == ["table"]
    assert text(panel.explorer.grid, 1, 0) == '"two"'
    assert panel.explorer.statistics.isHidden()


def test_wrong_elements_and_zeros_stand_out(bench: Any, show: Callable[..., Any]) -> None:
    panel = opened(bench, show, np.array([1, np.nan, np.inf, 0], np.float32))
    assert table(panel) == [["-1"], ["NaN"], ["-Inf"], ["-0"]]
    tones = [panel.explorer.grid.cell(row, 0).tone for row in range(4)]
    assert tones == ["forward", "problem", "problem", "faint"]
    assert "1 NaN  1 Inf  norm NaN  of the finite ones:  min -1  max" in panel.facts.text()


def test_the_offending_index_is_marked(bench: Any, show: Callable[..., Any]) -> None:
    bench.open("gather")
    bench.run("continue_")
    panel: TensorPanel = show(TensorPanel(bench.space), 900, 300)
    bench.space.select(["indices"])
    panel.grab()
    fills = [panel.explorer.grid.cell(row, 0).fill for row in range(3)]
    assert fills == ["", "", "problem_fill"]


def test_value_or_gradient(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    bench.open("tutorial")
    panel: TensorPanel = show(TensorPanel(bench.space), 900, 300)
    bench.space.select(["a"])
    assert "not computed" in panel.facts.text()
    bench.space.select(["c"])
    bench.run(f"run_to@0:{len(bench.space.program.steps)}")
    qtbot.mouseClick(panel.gradient, Qt.MouseButton.LeftButton)
    assert [float(row[0]) for row in table(panel)] == [0.567514, -0.994362]
    bench.space.select(["data"])
    assert "None" in panel.facts.text()
    assert table(panel) == []


def test_without_a_selection_it_shows_the_current_node(
    bench: Any, show: Callable[..., Any]
) -> None:
    panel: TensorPanel = show(TensorPanel(bench.space), 900, 300)
    assert "Select a node" in panel.empty_text
    bench.open("tutorial")
    bench.run("run_to@d")
    assert panel.facts.text().startswith("d ")


EVERY = [
    np.float32([]).reshape(0, 3),
    np.float32(2),
    np.float32([np.nan, np.inf, -np.inf]),
    np.zeros((2, 3, 4, 5, 2), np.float64),
    np.full((3, 3), 1.7e308),
    np.array([[True, False], [False, True]]),
    np.arange(-6, 6, dtype=np.int8).reshape(3, 4),
    np.array([[1 + 2j, np.nan]], np.complex64),
    np.zeros((8, 8, 4), np.uint8),
    np.zeros((4, 0, 8, 3), np.float32),
    np.array([2**63 - 1, -(2**63)], np.int64),
]


@pytest.mark.slow
def test_every_tensor_has_every_view(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel: TensorPanel = show(TensorPanel(bench.space), 700, 280)
    explorer = panel.explorer
    for array in EVERY:
        attrs = {"dtype": DType.of(array.dtype), "value": Constant(array)}
        graph = Graph.of([Operation("c", "Const", attrs=attrs)])
        bench.space.select([])
        bench.space.open_document(Document(graph, fetches=(TensorRef("c"),)))
        bench.space.debugger.flush()
        bench.run("continue_")
        bench.space.select(["c"])
        for kind in explorer.kinds:
            press(qtbot, panel, kind)
            assert explorer.view is not None
            assert explorer.view.kind == kind
            panel.grab()
            find(qtbot, panel, "max")
            for button in ("swap", "copy"):
                if panel.findChild(QAbstractButton, f"tensor.{button}").isVisible():
                    press(qtbot, panel, button)
                    assert "too many" not in explorer.said.text()
            panel.grab()


# -- views ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        ((8, 8), "table"),
        ((9, 9), "heat_map"),
        ((100,), "line"),
        ((1, 100), "line"),
        ((5, 8, 8, 1), "image"),
        ((5, 3, 8, 8), "image"),
        ((8, 8, 3), "image"),
        ((3, 3, 1, 6), "heat_map"),
        ((4, 6, 6, 16), "heat_map"),
        ((2, 0, 3), "table"),
    ],
)
def test_the_shape_chooses_the_view_at_first(
    bench: Any, show: Callable[..., Any], shape: tuple[int, ...], kind: str
) -> None:
    panel = opened(bench, show, np.ones(shape, np.float32))
    assert [name for name, each in panel.explorer.kinds.items() if each.isChecked()] == [kind]
    assert not panel.grab().isNull()


def test_the_choice_is_remembered_by_tensor(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, np.ones((9, 9), np.float32))
    press(qtbot, panel, "histogram")
    bench.space.select(["x"])
    assert panel.explorer.kinds["heat_map"].isChecked()
    bench.space.select(["y"])
    assert panel.explorer.kinds["histogram"].isChecked()


def test_nothing_is_asked_of_a_tensor_that_is_gone(
    bench: Any, show: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = opened(bench, show, np.ones((9, 9), np.float32))
    explorer, asked = panel.explorer, []
    monkeypatch.setattr(explorer._questions, "ask", lambda *question: asked.append(question))
    panel.resize(880, 390)
    QApplication.processEvents()
    assert asked, "the picture is made for the room that there is"
    asked.clear()
    explorer.show_tensor(None, "forward")
    explorer._stack.show()
    panel.resize(700, 300)
    QApplication.processEvents()
    assert not asked, "of another document's graph it would be an error"


def test_every_plane_of_a_kernel_is_drawn(bench: Any, show: Callable[..., Any]) -> None:
    array = np.arange(54, dtype=np.float32).reshape(3, 3, 1, 6)
    panel = opened(bench, show, array)
    panel.grab()
    picture = panel.explorer.pictures.picture.picture
    assert picture.values.shape == (6, 3, 3)
    np.testing.assert_array_equal(picture.values[5], -array[:, :, 0, 5])
    assert picture.label(5) == "0,5"


def test_what_black_and_white_stand_for_can_be_chosen(bench: Any, show: Callable[..., Any]) -> None:
    panel = opened(bench, show, -np.float32([0, 0.25, 0.5]).repeat(32).reshape(1, 6, 16, 1))
    panel.grab()
    pictures, box = panel.explorer.pictures, panel.explorer.slicer.range

    def whitest() -> int:
        return int(pictures.picture.picture.pixels[..., 0].max())

    assert whitest() in (127, 128), "0 to 1 suits what lies there"
    for name, white in (("byte", 0), ("all", 255)):
        box.setCurrentIndex(box.findData(name))
        box.activated.emit(box.currentIndex())
        assert whitest() == white
    assert pictures.legend.texts[0] == "0 to 0.5"


@pytest.mark.parametrize("first", [True, False])
def test_channels_first_and_last_are_colours(
    bench: Any, show: Callable[..., Any], first: bool
) -> None:
    pixels = np.zeros((4, 6, 3), np.float32)
    pixels[..., 0], pixels[1, 2] = -1, (0, -0.5, -1)
    panel = opened(bench, show, pixels.transpose(2, 0, 1) if first else pixels)
    panel.grab()
    drawn = panel.explorer.pictures.picture.picture.pixels
    assert drawn.shape == (1, 4, 6, 4)
    assert drawn[0, 0, 0].tolist() == [255, 0, 0, 255]
    assert drawn[0, 1, 2].tolist() == [0, 128, 255, 255]


def test_nan_infinity_and_zero_have_colours_of_their_own_and_a_legend(
    bench: Any, show: Callable[..., Any]
) -> None:
    array = np.ones((9, 9), np.float32)
    array[0, :4] = np.nan, np.inf, -np.inf, 0
    panel = opened(bench, show, array)
    panel.grab()
    pictures = panel.explorer.pictures
    kinds = pictures.picture.picture.kinds[0]
    assert kinds[0, :4].tolist() == [NAN, 3, 2, ZERO]
    colours = {tuple(pixel) for pixel in pictures.picture.picture.pixels.reshape(-1, 4).tolist()}
    assert len(colours) == 4, "NaN, infinite, zero, one"
    assert pictures.legend.texts[1:5] == ["NaN", "Inf", "-Inf", "zero"]


@pytest.mark.parametrize("chosen", [LIGHT, DARK], ids=["light", "dark"])
def test_where_a_picture_of_zeros_ends_is_seen(
    bench: Any, show: Callable[..., Any], chosen: Theme
) -> None:
    bench.space.set_theme(chosen)
    panel = opened(bench, show, np.zeros((40, 30), np.float32))
    panel.grab()
    view = panel.explorer.pictures.picture
    rect = view.plane_rect(0).toAlignedRect()
    image = view.grab().toImage()
    ground = image.pixelColor(rect.right() + 6, rect.center().y())
    for across in (rect.left() - 1, rect.right() + 1):
        edge = image.pixelColor(across, rect.center().y())
        assert contrast(edge, ground) >= 1.3


@pytest.mark.slow
def test_a_needle_in_a_haystack_is_seen(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    """More elements than pixels: the cell says the largest, and that it stands for many."""
    array = np.ones((2_000, 1_000), np.float32)
    array[1_234, 777], array[5, 5] = 1_000, np.nan
    panel = opened(bench, show, array)
    panel.grab()
    picture = panel.explorer.pictures.picture.picture
    down, across = picture.block
    assert down > 1
    assert picture.values[0, 1_234 // down, 777 // across] == -1_000
    assert picture.kinds[0, 5 // down, 5 // across] == NAN
    assert f"the largest of {down}×{across}" in panel.explorer.pictures.legend.texts[-1]
    assert find(qtbot, panel, "min") == "1 of 1: [1234, 777]"
    assert panel.explorer.pictures.picture._current == (0, 1_234 // down, 777 // across)


def test_pages_of_planes(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    array = np.arange(300 * 64, dtype=np.float32).reshape(300, 8, 8, 1)
    panel = opened(bench, show, array)
    panel.grab()
    pictures = panel.explorer.pictures
    shown = len(pictures.picture.picture.values)
    assert 1 < shown < 300
    assert f"0 to {shown - 1} of 300" in pictures.legend.texts[-1]
    qtbot.keyClick(pictures.picture, Qt.Key.Key_PageDown)
    assert pictures.picture.picture.first == shown
    find(qtbot, panel, "min")
    assert pictures.picture.picture.first <= 299 < pictures.picture.picture.first + shown


def test_a_double_click_leads_to_the_element_in_the_table(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = opened(bench, show, np.arange(200, dtype=np.float32).reshape(20, 10))
    panel.grab()
    view = panel.explorer.pictures.picture
    center = view.cell_rect(0, 13, 7).center().toPoint()
    qtbot.mouseDClick(view, Qt.MouseButton.LeftButton, pos=QPoint(center))
    assert panel.explorer.kinds["table"].isChecked()
    assert panel.explorer.grid.current == (13, 7)


# -- statistics and finding ----------------------------------------------------------------------


def test_statistics_are_of_the_slice(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = opened(bench, show, -np.arange(101 * 2, dtype=np.float32).reshape(101, 2))
    type_slice(qtbot, panel, "[:, 0]")
    texts = panel.explorer.statistics.texts()
    assert texts["elements"] == "101"
    assert (texts["min"], texts["median"], texts["max"]) == ("0", "100", "200")
    assert texts["zero"] == "1  0.99 %"


def test_a_norm_leaves_nothing_out(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = opened(bench, show, np.array([3, 4, np.inf], np.float32))
    texts = panel.explorer.statistics.texts()
    assert texts["norm"] == "Inf"
    assert [*texts].index("norm") < [*texts].index("of the finite") < [*texts].index("max")


def test_a_count_leads_to_such_an_element(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = opened(bench, show, NAN_AND_INF)
    panel.explorer.statistics._choose(1)  # NaN
    assert panel.explorer.said.text() == "1 of 1: [1]"
    assert panel.explorer.grid.current == (1, 0)


def test_next_and_previous(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = opened(bench, show, np.tile(np.float32([0, 5, -5]), (10, 1)))
    assert find(qtbot, panel, "> 3") == "1 of 10: [0, 2]"
    assert find(qtbot, panel, "> 3") == "2 of 10: [1, 2]"
    assert find(qtbot, panel, "> 3", Qt.KeyboardModifier.ShiftModifier) == "1 of 10: [0, 2]"
    press(qtbot, panel, "find_previous")
    assert panel.explorer.said.text() == "10 of 10: [9, 2]"
    assert panel.explorer.grid.current == (9, 2)
    assert find(qtbot, panel, "> 30") == "nowhere: > 30"
    assert "norm() is not of one element" in find(qtbot, panel, "norm(value) > 1")
    type_slice(qtbot, panel, "[::-1, 1:]")
    assert find(qtbot, panel, "> 3") == "2 of 10: [8, 2]", "on from [9, 2], which comes first now"


@pytest.mark.slow
def test_a_histogram_and_lines_say_what_they_leave_out(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    array = np.arange(10_000, dtype=np.float32)
    array[7] = np.nan
    panel = opened(bench, show, array)
    panel.grab()
    lines = panel.explorer.lines
    qtbot.waitUntil(lambda: lines.plot is not None, timeout=30_000)  # loaded beside the window
    assert lines.plot is not None
    assert lines.plot._least.shape[0] == 1
    assert float(np.nanmin(lines.plot._least)) == -9_999
    assert "a point is the range of" in lines.said.text()
    press(qtbot, panel, "histogram")
    panel.grab()
    histogram = panel.explorer.histogram
    assert histogram.plot is not None
    assert histogram.plot._counts.sum() == 9_999
    assert histogram.said.text() == "not counted: 1 NaN"
    height = histogram.plot.plotItem.listDataItems()[0].yData.max()
    press(qtbot, panel, "log")
    logarithm = histogram.plot.plotItem.listDataItems()[0].yData.max()
    assert logarithm == pytest.approx(np.log10(height + 1))


# -- copied and saved ----------------------------------------------------------------------------


def test_copies_are_numpys_text(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = opened(bench, show, np.arange(6, dtype=np.float32).reshape(2, 3))
    press(qtbot, panel, "copy")
    whole = "array([[-0., -1., -2.],\n       [-3., -4., -5.]], dtype=float32)"
    assert QGuiApplication.clipboard().text() == whole
    grid = panel.explorer.grid
    grid.setFocus()
    qtbot.keyClick(grid, Qt.Key.Key_Right)
    qtbot.keyClick(grid, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "-1.0"
    qtbot.keyClick(grid, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(grid, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "array([[-1.],\n       [-4.]], dtype=float32)"


@pytest.mark.parametrize("confined", [False, True])
def test_what_is_saved_is_the_slice(
    bench: Any, show: Callable[..., Any], qtbot: Any, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, confined: bool,
) -> None:  # fmt: skip
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    panel = opened(bench, show, array)
    type_slice(qtbot, panel, "[1:3, ::2]")
    press(qtbot, panel, "swap")  # of what is seen, not of the tensor
    bench.bridge.confined, bench.bridge.command = confined, tensor_saving.local_engine()
    for suffix in (".npy", ".npz", ".csv"):
        path = tmp_path / f"y{suffix}"
        monkeypatch.setattr(tensor_saving, "ask_save", lambda *_, path=path: path)
        press(qtbot, panel, "save")
        qtbot.waitUntil(lambda: panel.explorer.said.text().startswith("saved"))
        assert path.name in panel.explorer.said.text()
    expected = -array[1:3, ::2]
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), expected)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npz")["y"], expected)
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "y.csv", delimiter=","), expected)
    monkeypatch.setattr(tensor_saving, "ask_save", lambda *_: tmp_path / "no" / "y.npy")
    press(qtbot, panel, "save")
    qtbot.waitUntil(lambda: "the folder does not exist" in panel.explorer.said.text())


def test_a_picture_is_saved_as_it_is_shown(
    bench: Any, show: Callable[..., Any], qtbot: Any, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    panel = opened(bench, show, np.arange(200, dtype=np.float32).reshape(20, 10))
    panel.grab()
    monkeypatch.setattr(tensor_saving, "ask_save", lambda *_: tmp_path / "y.png")
    press(qtbot, panel, "save")
    qtbot.waitUntil(lambda: panel.explorer.said.text().startswith("saved"))
    assert (tmp_path / "y.png").read_bytes().startswith(b"\x89PNG")


def test_in_a_loop_it_is_the_iteration_that_was_chosen(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    builder = GraphBuilder()
    with builder.as_default():
        looping.power(builder)
    feeds = {"x:0": Constant(np.float32(2)), "n:0": Constant(np.int32(5))}
    fetches = (TensorRef("y"),)
    bench.space.open_document(Document(builder.build(), feeds=feeds, fetches=fetches))
    bench.space.debugger.flush()
    bench.run("continue_")
    bench.space.select(["while/times"])
    panel = show(TensorPanel(bench.space), 900, 400)
    qtbot.waitUntil(lambda: table(panel) == [["32"]])
    for number, wanted in ((0, "2"), (3, "16"), (None, "32")):
        commands.choose_iteration(bench.space, "while/While", number)
        qtbot.waitUntil(lambda wanted=wanted: table(panel) == [[wanted]])


@pytest.mark.parametrize("width", range(480, 1400, 90))
def test_the_ways_to_an_element_stand_beside_what_is_looked_for(
    bench: Any, show: Callable[..., Any], width: int
) -> None:
    """However narrow the panel, and whatever else there is on the lines."""
    panel = opened(bench, show, np.zeros((3, 4), np.float32))
    panel.resize(width, 400)
    QApplication.processEvents()
    finder = panel.explorer.finder
    parts = (finder.field, finder.previous, finder.next)
    places = {part.mapTo(panel, part.rect().center()).y() for part in parts}
    assert len(places) == 1


def test_in_a_low_panel_the_elements_get_lower_and_no_control_is_cut(
    bench: Any, show: Callable[..., Any]
) -> None:
    panel = opened(bench, show, np.arange(6.0, dtype=np.float32).reshape(2, 3))
    panel.resize(977, 144)
    controls = panel.value.parentWidget()
    QApplication.processEvents()
    assert controls.height() == controls.heightForWidth(controls.width())
    assert 0 < panel.panes.height() < 58
