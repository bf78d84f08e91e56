"""Tensors held against others, over the runs, and beside each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QMenu

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.history.recorded_run import RecordedRun
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.model import Constant
from gradstep.core.host.tensors.aggregate import ZERO
from gradstep.core.host.tensors.slice_syntax import all_of, parse_slice
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol.messages import OtherTensor
from gradstep.gui.look.theme import DARK, SMALL, mono
from gradstep.gui.model import number_text
from gradstep.gui.panels.tensor.comparison_menu import parse_moment, words
from gradstep.gui.panels.tensor.element_grid import ElementGrid
from gradstep.gui.panels.tensor.picture_legend import PictureLegend
from gradstep.gui.panels.tensor.side_panes import PaneHead, picks_like
from gradstep.gui.panels.tensor.table_pages import Rectangle
from gradstep.gui.panels.tensor.tensor_panel import TensorPanel

FIRST = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
RUNS = 4


def document(optimizer: str = "GradientDescent") -> Document:
    g = GraphBuilder()
    w = g.variable("w", shape=[3, 4])
    g.one("Mul", w, w, name="square")
    g.one("Neg", w, name="less")
    return Document(
        graph=g.build(),
        request=GradientRequest.to("square", "w"),
        initial={"w": Constant(FIRST)},
        optimizers=(Optimizer(optimizer, {"learning_rate": 0.1}),),
    )


def weights(run: int) -> np.ndarray:
    return FIRST * 0.8**run


@pytest.fixture
def panel(bench: Any, show: Callable[..., Any]) -> TensorPanel:
    """At the end of the last of some runs, with the table of the variable."""
    bench.space.open_document(document())
    bench.space.debugger.flush()
    end = len(bench.space.program.steps)
    bench.run(f"run_to@{RUNS - 1}:{end}")
    bench.space.select(["w"])
    made: TensorPanel = show(TensorPanel(bench.space), 1200, 400)
    return made


@pytest.fixture(scope="module")
def legend(qapp: Any) -> PictureLegend:
    return PictureLegend(lambda: DARK)


def table(grid: ElementGrid) -> np.ndarray:
    """What a table shows."""
    grid._pages.want(Rectangle(0, 1, 0, 1))
    pages = grid._pages
    rows = [[grid.cell(r, c).text for c in range(pages.columns)] for r in range(pages.rows)]
    return np.array(rows, float)


def choose(panel: TensorPanel, title: str) -> None:
    """An entry of the menu, which begins so."""
    menu = panel.findChild(QMenu, "tensor.minus_menu")
    menu.aboutToShow.emit()
    found = [action for action in menu.actions() if action.text().startswith(title)]
    assert found, [action.text() for action in menu.actions()]
    found[0].trigger()


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("One run earlier", weights(RUNS) - weights(RUNS - 1)),
        ("As the first run began", weights(RUNS) - FIRST),
        ("less:0", weights(RUNS) + weights(RUNS - 1)),
    ],
)
@pytest.mark.slow
def test_the_difference_is_chosen_from_a_menu(
    panel: TensorPanel, title: str, expected: np.ndarray
) -> None:
    choose(panel, title)
    np.testing.assert_allclose(table(panel.explorer.grid), expected, rtol=1e-4)
    panel.grab()
    least = float(panel.explorer.statistics.texts()["min"])
    assert least == pytest.approx(expected.min(), rel=1e-4), "of the difference"
    assert panel.explorer.minus.text().startswith("−")
    for kind in ("heat_map", "line", "histogram"):
        panel.explorer.kinds[kind].click()
        panel.grab()
        assert panel.explorer.said.text() == ""
    choose(panel, "Nothing")
    panel.explorer.kinds["table"].click()
    np.testing.assert_allclose(table(panel.explorer.grid), weights(RUNS), rtol=1e-4)


def test_what_another_framework_computed_is_offered_where_it_is_known(
    bench: Any, panel: TensorPanel
) -> None:
    told = RecordedRun("torch 2.13.0", values={"w:0": Constant(np.ones((3, 4), np.float32))})
    bench.space.edit("recorded", replace(bench.space.document, recorded=told))
    bench.space.select(["w"])
    now = table(panel.explorer.grid)
    choose(panel, "As torch 2.13.0 computed it")
    np.testing.assert_allclose(table(panel.explorer.grid), now - 1, rtol=1e-4)
    assert panel.explorer.minus.text() == "− recorded"
    bench.space.undo_stack.undo()
    menu = panel.findChild(QMenu, "tensor.minus_menu")
    menu.aboutToShow.emit()
    assert not [action for action in menu.actions() if "torch" in action.text()]


def test_as_it_is_now_stays_where_it_was(bench: Any, panel: TensorPanel) -> None:
    choose(panel, "As it is now")
    assert not table(panel.explorer.grid).any()
    bench.run(f"run_to@1:{len(bench.space.program.steps)}")
    found = table(panel.explorer.grid)
    np.testing.assert_allclose(found, weights(2) - weights(RUNS), rtol=1e-4)


def test_any_run_and_step_can_be_typed(panel: TensorPanel, qtbot: Any) -> None:
    menu = panel.findChild(QMenu, "tensor.minus_menu")
    menu.popup(QPoint(0, 0))
    field = menu.findChild(QLineEdit, "tensor.minus_moment")
    field.setText("last")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert panel.explorer.view is not None
    assert panel.explorer.view.minus is None, "that is none"
    field.setText("2:0")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    found = table(panel.explorer.grid)
    np.testing.assert_allclose(found, weights(RUNS) - weights(1), rtol=1e-4)


def test_what_is_not_there_is_said_until_it_is(bench: Any, panel: TensorPanel) -> None:
    choose(panel, "One run earlier")
    bench.run("run_to@0:1")
    panel.grab()
    assert "no run 1 before this one" in panel.explorer.said.text()
    bench.run(f"run_to@1:{len(bench.space.program.steps)}")
    panel.grab()
    assert panel.explorer.said.text() == ""
    np.testing.assert_allclose(table(panel.explorer.grid), weights(2) - weights(1), rtol=1e-4)


@given(run=st.integers(0, 10**6), step=st.none() | st.integers(0, 10**6))
def test_moments_are_read_as_they_are_written(run: int, step: int | None) -> None:
    text = f"{run + 1}" if step is None else f" {run + 1} : {step}"
    moment = parse_moment(text)
    assert moment == OtherTensor(run=run, step=-1 if step is None else step)
    said = words(moment)
    assert said == f"run {run + 1}" + ("" if step is None else f", step {step}")


@pytest.mark.parametrize("text", ["", "0", "a", "1:2:3", "-1", "1:-2"])
def test_what_is_no_moment(text: str) -> None:
    assert parse_moment(text) is None


# -- histories -------------------------------------------------------------------------------------


def test_a_click_in_the_history_goes_there(bench: Any, panel: TensorPanel, qtbot: Any) -> None:
    panel.explorer.kinds["history"].click()
    history = panel.explorer.history
    qtbot.waitUntil(lambda: history.plot is not None)
    norms = [np.linalg.norm(weights(run)) for run in range(RUNS + 1)]
    found = history._found
    assert found is not None
    np.testing.assert_allclose(found.values, norms, rtol=1e-5)
    history.what.setCurrentIndex(history.what.findData("maximum"))
    history.what.activated.emit(0)
    assert history._found is not None
    np.testing.assert_allclose(history._found.values, [weights(r).max() for r in range(RUNS + 1)],
                               rtol=1e-5)  # fmt: skip
    panel.grab()
    at = _where_it_stays(history.plot, QPointF(2.9, 0), qtbot)
    assert "run 2, step" in history.plot.said_at(at)
    assert not panel.explorer.finder.field.isVisible(), "no elements, and room for the plot"
    target, there = history.plot.viewport(), history.plot.mapFromScene(at)
    QTest.mouseMove(target, there)
    QTest.mouseClick(target, Qt.MouseButton.LeftButton, pos=there)
    assert (bench.space.stop.run, bench.space.stop.step) == _moment(history, 2)
    assert table_of(panel) == pytest.approx(weights(2), rel=1e-4)


@pytest.mark.parametrize(("least", "most"), [(1, 1.8), (1, 2.1), (0.5, 1.5), (1, 40), (1, 4000)])
def test_runs_are_counted_in_whole_numbers(
    bench: Any, panel: TensorPanel, qtbot: Any, least: float, most: float
) -> None:
    panel.explorer.kinds["history"].click()
    history = panel.explorer.history
    qtbot.waitUntil(lambda: history.plot is not None)
    axis = history.plot.plotItem.getAxis("bottom")
    levels = axis.tickValues(least, most, 700)
    ticks = [tick for _, found in levels for tick in found]
    assert ticks
    assert all(float(tick).is_integer() for tick in ticks), ticks


def test_names_beside_each_other_are_told_apart_by_their_ends(
    bench: Any, show: Callable[..., Any]
) -> None:
    """Where there is little room, as on a small screen; and numbers under the pictures whole."""
    head = PaneHead(lambda: DARK)
    head.say("layer/with/a/long/name/kernel/Adam_1", "float32[64, 10]  min -0.1  max 0.2", "update")
    show(head, 150, 24)
    assert head.title.shown.endswith("Adam_1")
    assert head.title.shown.startswith("layer")
    show(head, 600, 24)
    assert head.title.shown == "layer/with/a/long/name/kernel/Adam_1"
    assert head.facts.width() > 200


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.integers(160, 1400), st.booleans())
def test_numbers_under_a_picture_are_not_cut(
    legend: PictureLegend, low: float, high: float, width: int, has_zeros: bool
) -> None:
    legend.resize(width, 24)
    legend.show_map("grey", (low, high), frozenset({ZERO} if has_zeros else ()), "")
    first, last, bar = legend.ends
    metrics = QFontMetrics(mono(SMALL))
    texts = metrics.horizontalAdvance(first) + metrics.horizontalAdvance(last)
    assert float(first) == pytest.approx(low, rel=0.06)
    if bar:
        assert 12 + texts + 8 + bar <= width - 12
    if width >= 400:
        assert (first, last) == (number_text.scalar(low), number_text.scalar(high))


def _where_it_stays(plot: Any, point: QPointF, qtbot: Any) -> QPointF:
    """Where a point of a plot is in its scene, once room and ranges are given out."""
    found: list[QPointF] = []

    def is_settled() -> bool:
        plot.grab()
        found.append(plot.plotItem.vb.mapViewToScene(point))
        return len(found) > 1 and found[-1] == found[-2]

    qtbot.waitUntil(is_settled)
    return found[-1]


def _moment(history: Any, number: int) -> tuple[int, int]:
    return history._found.runs[number], history._found.steps[number]


def table_of(panel: TensorPanel) -> np.ndarray:
    panel.explorer.kinds["table"].click()
    return table(panel.explorer.grid)


# -- side by side ----------------------------------------------------------------------------------


def press(qtbot: Any, panel: TensorPanel, name: str) -> None:
    qtbot.mouseClick(panel.findChild(QAbstractButton, name), Qt.MouseButton.LeftButton)


def titles(panel: TensorPanel) -> list[str]:
    return [pane.head.title.text() for pane in panel.panes.panes]


@pytest.mark.slow
def test_value_gradient_update_and_slots(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    bench.space.open_document(document("Adam"))
    bench.space.debugger.flush()
    bench.run(f"run_to@0:{len(bench.space.program.steps)}")
    bench.space.select(["w"])
    panel: TensorPanel = show(TensorPanel(bench.space), 1400, 400)
    assert titles(panel) == []
    press(qtbot, panel, "tensor.side_by_side")
    panel.grab()
    assert titles(panel) == ["∂ gradient", "Δ update", "w/Adam", "w/Adam_1"]
    qtbot.waitUntil(lambda: all(pane.explorer.view for pane in panel.panes.panes))
    gradient, update, first, second = (table(p.explorer.grid) for p in panel.panes.panes)
    np.testing.assert_allclose(gradient, 2 * FIRST, rtol=1e-4)
    np.testing.assert_allclose(update, np.full((3, 4), -0.1), rtol=1e-3)
    np.testing.assert_allclose(first, 0.2 * FIRST, rtol=1e-4)
    np.testing.assert_allclose(second, 0.004 * FIRST**2, rtol=1e-3)
    assert "min -0.1" in panel.panes.panes[1].head.facts.text()
    press(qtbot, panel, "tensor.gradient")
    panel.grab()
    assert titles(panel)[0] == "value"
    press(qtbot, panel, "tensor.side_by_side")
    assert titles(panel) == []


def test_pinned_tensors_follow_the_slice_and_stay(
    bench: Any, panel: TensorPanel, qtbot: Any
) -> None:
    press(qtbot, panel, "tensor.pin")
    press(qtbot, panel, "tensor.pin")
    assert titles(panel) == ["w:0"], "once"
    bench.space.select(["less"])
    panel.grab()
    field = panel.explorer.slicer.field
    field.setText("[1, ::2]")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    panel.grab()
    (pinned,) = panel.panes.panes
    np.testing.assert_allclose(table(pinned.explorer.grid)[:, 0], weights(RUNS)[1, ::2], rtol=1e-4)
    np.testing.assert_allclose(
        table(panel.explorer.grid)[:, 0], -weights(RUNS - 1)[1, ::2], rtol=1e-4
    )
    panel.explorer.kinds["heat_map"].click()
    assert pinned.explorer.kinds["heat_map"].isChecked()
    panel.explorer.kinds["table"].click()
    bench.run(f"run_to@0:{len(bench.space.program.steps)}")
    panel.grab()
    np.testing.assert_allclose(table(pinned.explorer.grid)[:, 0], weights(1)[1, ::2], rtol=1e-4)
    press(qtbot, panel, "tensor.unpin")
    assert titles(panel) == []


def test_pins_are_of_one_document(bench: Any, panel: TensorPanel, qtbot: Any) -> None:
    press(qtbot, panel, "tensor.pin")
    bench.open("tutorial")
    panel.refresh()
    assert titles(panel) == []


@given(data=st.data())
def test_a_slice_of_one_shape_is_one_of_another_or_all(data: st.DataObject) -> None:
    shapes = st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple)
    one, other = data.draw(shapes), data.draw(shapes)
    text = ", ".join(data.draw(st.sampled_from((":", "0", "1:", "::2", "::-1"))) for _ in one)
    picks = parse_slice(f"[{text}]", one)
    found = picks_like(picks, other)
    assert found.shape == other
    assert picks_like(picks, one) == picks
    if len(one) != len(other):
        assert found == all_of(other)
