"""The training panel by clicks and keys: training, following, clicking a step, copying."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent, QGuiApplication, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QToolButton

from gradstep.core.document import document_edits
from gradstep.core.document.request_edits import toggle_stop
from gradstep.core.graph.model import Edge
from gradstep.core.protocol import messages as m
from gradstep.gui import commands
from gradstep.gui.actions import action_table
from gradstep.gui.actions.action_record import can_train
from gradstep.gui.look import theme
from gradstep.gui.look.plain_text import plain
from gradstep.gui.model import debugger
from gradstep.gui.model.training import Training
from gradstep.gui.panels.training.curve_list import Swatch
from gradstep.gui.panels.training.expression_dialog import ExpressionDialog
from gradstep.gui.panels.training.plot_groups import PlotKey, group_of
from gradstep.gui.panels.training.training_head import progress_words, read_steps
from gradstep.gui.panels.training.training_panel import LAYERS, TrainingPanel
from gradstep.gui.panels.widgets.check_box import Check
from gradstep.gui.panels.widgets.pill import Pill
from gradstep.gui.panels.widgets.small_labels import Link, Text, Wrapped

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


@pytest.fixture
def panel(bench: Any, show: Callable[..., Any]) -> Any:
    bench.open("softmax_digits")
    return show(TrainingPanel(bench.space), 1270, 260)


def click(panel: Any, step: int, height: float | None = None) -> None:
    """Press and release at a step of the first plot, in its middle or at a number."""
    view = next(iter(panel.plot._plots.values())).item.vb
    middle = sum(view.viewRange()[1]) / 2
    scene = view.mapViewToScene(QPointF(step + 1, middle if height is None else height))
    box = panel.plot._box
    here = QPointF(box.mapFromScene(scene))
    for kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonRelease):
        event = QMouseEvent(kind, here, box.viewport().mapToGlobal(here), LEFT, LEFT, NONE)
        QApplication.sendEvent(box.viewport(), event)


def numbers(training: Training, curve: int = 0) -> np.ndarray:
    return training.curves[curve].points.numbers


def test_nothing_is_drawn_before_there_is_something_to_draw(panel: Any) -> None:
    assert panel.plot is None
    assert "Train makes the steps" in panel.hint.text()
    assert [curve.title for curve in panel.training.curves] == ["loss"]


def test_what_is_held_back_is_dashed(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    """In the plot and beside its name, so that it is told apart without its colour."""
    bench.open("digits_in_batches")
    panel = show(TrainingPanel(bench.space), 1270, 260)
    panel.training.steps = 2
    panel.training.by_epochs = False
    commands.train(bench.space)
    plot = next(iter(panel.plot._plots.values()))
    styles = [line.opts["pen"].style() for _, *lines in plot._lines for line in lines]
    assert styles == [Qt.PenStyle.SolidLine] * 2 + [Qt.PenStyle.DashLine] * 2
    qtbot.wait(1)  # the rows of before are gone
    swatches = panel.curves.findChildren(Swatch)
    for swatch, dashed in zip(swatches, (False, True), strict=True):
        image = swatch.grab().toImage()
        assert (image.pixel(6, 6) != image.pixel(1, 6)) == dashed


def test_a_key_makes_200_steps_and_a_click_leads_to_one(bench: Any, panel: Any, qtbot: Any) -> None:
    assert action_table.run("run.train", bench.space)
    assert bench.views[-1] == ("show", "training")
    assert len(numbers(panel.training)) == 200
    assert bench.space.stop.run == 199
    assert panel.head.said.text().startswith("200 steps made")
    assert panel.curves.place.text() == "step 200 · debugger here"
    qtbot.wait(1)
    click(panel, 57)
    run = bench.space.stop.run
    assert abs(run - 57) <= 1, "as far as pixels tell them apart"
    assert bench.space.stop.step == len(bench.space.program.steps)
    assert float(bench.space.value("loss:0").head.item()) == numbers(panel.training)[run]
    assert panel.curves.place.text() == f"step {run + 1} · debugger here"


def test_training_goes_on_where_it_ended_and_begins_anew_on_another_document(
    bench: Any, panel: Any
) -> None:
    space, training = bench.space, panel.training
    training.steps = 30
    commands.train(space)
    commands.train(space)
    curve = training.curves[0]
    assert (curve.points.first, curve.points.stop, len(training.earlier)) == (0, 60, 0)
    bench.run("restart")
    commands.train(space)
    (before,) = training.earlier.points_of(curve.text)
    assert (curve.points.stop, before.stop) == (30, 60)
    np.testing.assert_array_equal(curve.points.numbers, before.numbers[:30])
    bias = np.full(10, 0.5, np.float32)
    space.edit("x", document_edits.set_initial(space.document, "softmax/bias", bias))
    space.debugger.flush()
    commands.train(space)
    assert (curve.points.first, curve.points.stop) == (30, 60)
    assert [b.stop for b in training.earlier.points_of(curve.text)] == [30, 60]
    bench.open("tutorial")
    assert [c.title for c in training.curves] == ["loss"]
    assert not len(training.curves[0].points)


@pytest.mark.slow
def test_more_is_followed_from_the_next_step_on(bench: Any, panel: Any) -> None:
    space, training = bench.space, panel.training
    training.steps = 5
    commands.train(space)
    space.select(["accuracy", "softmax/weights"])
    commands.follow_selected(space)
    commands.follow_gradients(space)
    commands.follow_selected(space)  # is there already
    training.always = True
    titles = ["loss", "accuracy", "‖softmax/weights‖", "‖∂ softmax/weights‖", "‖∂ softmax/bias‖"]
    assert [curve.title for curve in training.curves] == titles
    commands.train(space)
    points = [(c.points.first, c.points.stop) for c in training.curves]
    assert points == [(0, 10), *[(5, 10)] * 4]
    assert len(panel.plot._plots) == 3
    training.drop(training.curves[1])
    commands.train(space)
    assert [c.points.stop for c in training.curves] == [15] * 4


@pytest.mark.parametrize(
    ("until", "said"),
    [
        ("value < 2", "Stopped after "),
        ("loss < 2", "Stopped after "),
        ("lost < 2", "'lost' is not known"),
        ('x["nothing:0"] > 1', "runs do not compute 'nothing'"),
    ],
)
def test_a_condition_ends_it_or_is_said_to_be_wrong(
    bench: Any, panel: Any, qtbot: Any, until: str, said: str
) -> None:
    field = panel.findChild(QLineEdit, "training.until")
    qtbot.keyClicks(field, until)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert said in panel.head.said.text()
    if said == "Stopped after ":
        losses = numbers(panel.training)
        assert losses[-1] < 2 <= losses[-2]
        assert bench.space.stop.run == len(losses) - 1
    else:
        field.clear()
        qtbot.keyClicks(field, "loss < 1")
        assert panel.head.said.text() == ""


def test_curves_come_back_with_what_they_are_of(bench: Any, panel: Any, qtbot: Any) -> None:
    """What is deleted has no curve; an undo brings it back, with its points."""
    panel.training.follow_layers("gradient")
    panel.training.steps = 3
    commands.train(bench.space)
    before = [*panel.training.curves]
    name = next(curve.op for curve in before if curve.family == "gradient")
    bench.space.edit("x", document_edits.remove_operations(bench.space.document, [name]))
    qtbot.waitUntil(lambda: name not in {curve.op for curve in panel.training.curves})
    bench.space.undo_stack.undo()
    qtbot.waitUntil(lambda: {*panel.training.curves} == {*before})
    assert [len(curve.points) for curve in before] == [3] * len(before)


def test_a_click_never_leads_to_a_step_with_other_numbers_than_its_curve(
    bench: Any, panel: Any, qtbot: Any
) -> None:
    space, training = bench.space, panel.training
    training.steps = 100
    commands.train(space)
    bias = np.linspace(0, 9, 10, dtype=np.float32)
    space.edit("x", document_edits.set_initial(space.document, "softmax/bias", bias))
    space.debugger.flush()
    place = space.stop.run, space.stop.step
    click(panel, 57)
    assert (space.stop.run, space.stop.step) == place
    assert bench.messages[-1].endswith("the runs that are shown have none")
    assert training.curves[0].points.stop == 0
    bench.run("restart")
    commands.train(space)
    (before,) = training.earlier.points_of(training.curves[0].text)
    place = space.stop.run, space.stop.step
    click(panel, 3, before.at(3))
    assert (space.stop.run, space.stop.step) == place
    assert bench.messages[-1].startswith("Step 4 of “1 · GradientDescent, rate 0.5” is not among")
    click(panel, 3, numbers(training)[3])
    assert space.stop.run == 3
    assert float(space.value("loss:0").head.item()) == numbers(training)[3]


def test_a_button_that_cannot_train_says_what_it_lacks(bench: Any, panel: Any, qtbot: Any) -> None:
    commands.set_optimizers(bench.space, [])
    qtbot.waitUntil(lambda: not panel.head.train.isEnabled())
    assert "Not now: " in panel.head.train.toolTip()


def test_how_many_steps_is_read_as_people_write_it(panel: Any, qtbot: Any) -> None:
    assert [read_steps(t) for t in ("200", "10,000", "10 000", "1e6")] == [200, 10**4, 10**4, 10**6]
    assert not any(map(read_steps, ("0", "-1", "1.5", "x", "", "1e12", "nan", "inf")))
    field = panel.findChild(QLineEdit, "training.steps")
    field.selectAll()
    qtbot.keyClicks(field, "some")
    assert "whole number" in panel.head.said.text()
    field.clear()
    qtbot.keyClicks(field, "1e30")  # what it begins with could be made
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert panel.training.made == 0
    assert field.text() == "1e30"
    field.selectAll()
    qtbot.keyClicks(field, "12")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert panel.training.made == 12


def test_it_says_how_far_it_is(panel: Any) -> None:
    training = panel.training
    training.busy, training.made, training.total, training.rate = True, 1500, 100_000, 985.0
    words, _ = progress_words(training)
    assert words == "1,500 of 100,000 steps · 2 min left · 985 steps/s"
    training.busy = False


def test_curves_are_copied_as_csv_and_as_a_picture(bench: Any, panel: Any) -> None:
    panel.training.steps = 3
    commands.train(bench.space)
    bench.space.select(["accuracy"])
    commands.follow_selected(bench.space)
    commands.train(bench.space)
    panel.head.copy.copied.emit("csv")
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0] == "step,loss,accuracy"
    assert [line.split(",")[0] for line in lines[1:]] == ["1", "2", "3", "4", "5", "6"]
    assert lines[1].endswith(",")
    assert float(lines[4].split(",")[1]) == numbers(panel.training)[3]
    panel.head.copy.copied.emit("picture")
    image = QGuiApplication.clipboard().image()
    assert image.width() >= panel.plot.width()


def test_axes_smoothing_zoom_and_themes(bench: Any, panel: Any) -> None:
    panel.training.steps = 300
    commands.train(bench.space)
    plot = next(iter(panel.plot._plots.values()))
    line, smooth = plot._lines[0][1:]
    panel.head._log.click()
    np.testing.assert_allclose(line.yData, np.log10(numbers(panel.training)))
    panel.head._smoothing.setCurrentIndex(1)
    assert len(smooth.yData) == 300
    plot.item.vb.setXRange(100, 120, padding=0)
    plot.by_hand = True
    panel.plot.refresh()
    assert len(line.xData) < 60, "what is in view, and half as much on either side"
    drawn = line.xData
    plot.item.vb.setXRange(105, 125, padding=0)
    assert line.xData is drawn, "that is enough"
    numbers_seen = np.log10(numbers(panel.training))[103:126]
    assert plot.bounds[0] == numbers_seen.min(), "of what is in view"
    assert plot.bounds[1] < np.log10(numbers(panel.training)[85])
    plot.item.vb.setXRange(115, 135, padding=0)
    assert line.xData[-1] > drawn[-1]
    panel.plot.fit()
    assert len(line.xData) == 300
    bench.space.set_theme(theme.LIGHT)
    plot = next(iter(panel.plot._plots.values()))
    assert len(plot._lines[0][1].xData) == 300
    bench.space.set_theme(theme.DARK)


def test_an_engine_that_ends_leaves_the_curves(bench: Any, panel: Any) -> None:
    training = panel.training
    training.busy, training.total, training._chosen = True, 100, [*training.curves]
    training._note_points()
    assert not training._closely
    event = m.TrainingProgress(first=0, count=2, numbers=np.array([2.0, 1.0]).tobytes())
    bench.bridge.event_received.emit(event)
    training._take(m.Failed(error=m.ErrorInfo(type="EngineDied", message="it ended")), ())
    assert not training.busy
    assert numbers(training).tolist() == [2, 1]


@pytest.mark.slow
def test_the_wheel_zooms_all_plots_alike(bench: Any, panel: Any) -> None:
    commands.follow_gradients(bench.space)
    commands.train(bench.space)
    box = panel.plot._box
    views = [plot.item.vb for plot in panel.plot._plots.values()]
    here = QPointF(box.mapFromScene(views[0].sceneBoundingRect().center()))
    args = (box.viewport().mapToGlobal(here), QPoint(), QPoint(0, 240), Qt.MouseButton.NoButton)
    event = QWheelEvent(here, *args, NONE, Qt.ScrollPhase.NoScrollPhase, False)
    QApplication.sendEvent(box.viewport(), event)
    (low, high), *others = (view.viewRange()[0] for view in views)
    assert high - low < 190
    assert others == [[low, high]]


def test_what_is_fetched_and_no_number_is_not_followed(bench: Any, panel: Any) -> None:
    bench.open("summaries")
    assert bench.space.document.fetches
    assert panel.training.curves == []
    panel.training.steps = 2
    commands.train(bench.space)
    assert (panel.training.made, panel.training.failure) == (2, None)


def test_why_it_cannot_train_is_what_the_optimizer_waits_for(bench: Any, panel: Any) -> None:
    space = bench.space
    space.edit("x", document_edits.remove_operations(space.document, ["softmax/bias"]))
    space.debugger.flush()
    assert not panel.head.train.isEnabled()
    assert "mend what its loss waits for" in can_train.obstacle(space)
    space.edit("x", space.document.with_(optimizers=()))
    space.debugger.flush()
    assert "give the document an optimizer" in can_train.obstacle(space)


def test_text_that_is_followed_says_why_it_cannot_be_and_ends_nothing(
    bench: Any, panel: Any
) -> None:
    bench.open("summaries")
    bench.space.select(["merged"])
    commands.follow_selected(bench.space)
    panel.training.steps = 2
    commands.train(bench.space)
    assert (panel.training.failure, panel.training.ended, panel.training.made) == (None, "", 2)
    problem = panel.training.curves[-1].problem
    assert "is no number, and a curve has one at each step: follow a number" in problem


@pytest.fixture
def digits(bench: Any, show: Callable[..., Any]) -> Any:
    bench.open("cnn_digits")
    return show(TrainingPanel(bench.space), 1270, 560)


@pytest.mark.slow
def test_the_map_is_one_click_and_a_click_on_it_leads_to_the_step(
    bench: Any, digits: Any, qtbot: Any
) -> None:
    panel, training = digits, digits.training
    pill = panel.findChild(Pill, "training.view.map")
    pill.click()
    names = [curve.op for curve in training.follows("gradient")]
    assert names[0] == "conv1/kernel"
    assert len(names) == 6
    assert "map appears here" in panel.hint.text()
    training.steps, training.always = 12, True
    commands.train(bench.space)
    assert panel.pages.currentWidget() is panel.map
    qtbot.wait(1)
    flow = panel.map
    x, y = flow._x_of(4.5), flow.body.y() + 3.5 * flow.row_height
    qtbot.mouseMove(flow, QPoint(int(x), int(y)))
    assert flow._words().startswith("step 5 · conv2/bias · ")
    assert panel.curves.place.text() == "step 5"
    qtbot.mouseClick(flow, LEFT, pos=QPoint(int(x), int(y)))
    assert (bench.space.stop.run, bench.space.stop.op) == (4, "")
    norm = np.linalg.norm(bench.space.gradient("conv2/bias:0").head.astype(np.float64))
    np.testing.assert_allclose(training.follows("gradient")[3].points.at(4), norm, rtol=1e-6)
    assert panel.beside.isVisible(), "the card takes some of the width"
    start, stop = flow.view
    x = flow._x_of(4.5)
    flow.zoom(0.5, x)
    assert flow.view[1] - flow.view[0] == (stop - start) / 2
    assert flow.step_at(int(x)) == 4, "what is under the pointer stays there"
    qtbot.mouseDClick(flow, LEFT, pos=QPoint(int(x), int(y)))
    assert flow.view == (start, stop)
    pill.click()
    assert panel.pages.currentWidget() is panel.plot


@pytest.mark.slow
def test_layers_are_followed_by_kind_and_read_out_at_one_cursor(bench: Any, digits: Any) -> None:
    panel, training = digits, digits.training
    panel._offer()
    rows = {row.text(): row for row in panel.head.follow.menu().actions()}
    for words in LAYERS.values():
        rows[words].trigger()
    kinds = [group_of(curve) for curve in training.curves]
    assert not rows[LAYERS["saturated"]].isEnabled(), "there is no sigmoid"
    counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    assert counts == {"value": 1, "gradient": 6, "ratio": 6, "dead": 2, "size": 8, "rate": 1}
    training.steps = 5
    rows["All of it in every step, however long that takes"].trigger()
    commands.train(bench.space)
    rate = training.follows("rate")[0].points
    np.testing.assert_allclose(rate.numbers, np.float32(0.02))
    ratios = training.follows("ratio")[0].points
    assert ratios.steps.tolist() == [*range(5)]
    panel._hover(3)
    title, read = panel.plot._plots[PlotKey("rate")]._caption.texts
    assert (title, read) == ("learning rate", "step 4 · 0.02")
    panel.findChild(Pill, "training.view.split").click()
    assert {key.scope for key in panel.plot._plots} == {"loss", "conv1", "conv2", "dense", ""}
    heights = [p.item.vb.viewRange()[1] for k, p in panel.plot._plots.items() if k.group == "ratio"]
    assert len(heights) == 3
    assert heights[0] == heights[1] == heights[2]
    plot = panel.plot
    QApplication.processEvents()
    assert min(p.item.vb.height() for p in plot._plots.values()) > 30, "scrolled, and not flat"
    panel.findChild(Pill, "training.view.split").click()
    QApplication.processEvents()
    lowest = max(p.item.sceneBoundingRect().bottom() for p in plot._plots.values())
    assert plot._box.height() == plot.height(), "as high as there is room again"
    assert abs(plot._box.height() - lowest) < 8, "and filled"
    panel._offer()
    rows = {row.text(): row for row in panel.head.follow.menu().actions()}
    assert rows[LAYERS["size"]].isChecked()
    rows[LAYERS["size"]].trigger()
    assert not training.follows("size")


@pytest.mark.slow
def test_earlier_trainings_are_shown_hidden_and_dropped(bench: Any, panel: Any) -> None:
    training = panel.training
    training.steps = 5
    for _ in range(3):
        commands.train(bench.space)
        bench.run("restart")
    names = [each.name for each in training.earlier]
    assert [name[:2] for name in names] == ["2 ", "1 "]
    assert "rate" in names[0]
    loss = training.curves[0].text
    assert len(training.earlier.points_of(loss)) == 2
    panel.earlier.findChild(Check, "training.earlier.show.1").click()
    assert len(training.earlier.points_of(loss)) == 1
    panel.earlier.findChild(QToolButton, "training.earlier.drop.2").click()
    assert [each.name[:2] for each in training.earlier] == ["1 "]
    for _ in range(8):
        commands.train(bench.space)
        bench.run("restart")
    assert len(training.earlier) == 6
    bench.open("tutorial")
    assert not len(training.earlier)


def test_patience_is_said_in_the_head_and_ends_a_training(
    bench: Any, panel: Any, qtbot: Any
) -> None:
    field = panel.findChild(QLineEdit, "training.patience")
    qtbot.keyClicks(field, "soon")
    assert "whole number of steps" in panel.head.said.text()
    field.clear()
    qtbot.keyClicks(field, "3")
    assert panel.training.patience == 3
    (optimizer,) = bench.space.document.optimizers
    still = replace(optimizer, schedule="piecewise_constant([4], [0.5, 0])")
    commands.set_optimizers(bench.space, [still])
    bench.space.debugger.flush()
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert "no less loss in 3 steps" in panel.head.said.text()
    assert panel.training.made == 9, "five steps move it, the sixth is the first that stays"


def test_an_expression_is_offered_by_any_part_of_it_and_said_to_be_wrong_where_it_is_typed(
    panel: Any, qtbot: Any
) -> None:
    panel._ask_expression()
    dialog = panel.findChild(ExpressionDialog)
    completer = dialog.field.completer()
    completer.setCompletionPrefix("softmax/bias")
    offered = [completer.popup().model().index(row, 0).data() for row in range(3)]
    assert 'norm(grad["softmax/bias:0"])' in offered
    wrong, follow = dialog.findChild(QLabel, "training.expression.wrong"), dialog.finish
    for text, says in {
        "": "Type an expression",
        "norm(": "cannot evaluate",
        'x["nothing"]': "do not compute 'nothing'",
        'x["softmax/bias"]': "is 10 numbers",
        'grad["images"][0]': "no gradient of 'images'",
    }.items():
        dialog.field.setText(text)
        follow()
        assert says in wrong.text()
        assert not wrong.isHidden()
        assert dialog.isVisible()
    assert [curve.title for curve in panel.training.curves] == ["loss"]
    qtbot.keyClicks(dialog.field, " ")
    assert wrong.isHidden()
    dialog.field.setText(' norm(update["softmax/bias"]) ')
    follow()
    assert not dialog.isVisible()
    curve = panel.training.curves[-1]
    assert (curve.text, curve.tone) == ('norm(update["softmax/bias"])', "update")


def test_a_curve_that_an_edit_makes_wrong_says_so_and_the_rest_trains(
    bench: Any, panel: Any, qtbot: Any
) -> None:
    space, training = bench.space, panel.training
    text = 'norm(grad["softmax/bias:0"])'

    def problem_of(text: str) -> Any:
        (row,) = (row for row in panel.curves._rows if row._curve.text == text)
        return row.findChild(Wrapped, f"training.problem.{text}")

    commands.follow_expression(space, text)
    commands.follow_expression(space, "loss * 2")
    training.steps = 3
    wire = Edge("softmax/logits", 1)
    space.edit("stop", toggle_stop(space.document, wire))
    space.debugger.flush()
    qtbot.wait(1)
    assert "no gradient of 'softmax/bias'" in problem_of(text).text()
    commands.train(space)
    assert training.failure is None
    assert training.made == 3
    assert len(numbers(training)) == 3
    assert np.isfinite(numbers(training, 2)).all()
    assert "no gradient of 'softmax/bias'" in problem_of(text).text()
    space.undo_stack.undo()
    space.debugger.flush()
    commands.train(space)
    (row,) = (row for row in panel.curves._rows if row._curve.text == text)
    assert float(row.number.text()) > 0
    assert problem_of(text) is None


def test_of_a_row_of_edits_the_engine_gets_the_first_and_the_last_whatever_is_followed(
    bench: Any, panel: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that comes between two edits asks about the curves, and that must not hurry."""
    space, held = bench.space, list[Callable[[], None]]()
    commands.follow_expression(space, "loss * 2")
    qtbot.wait(2 * debugger.SETTLE)
    send, bench.bridge.asked = bench.bridge.send, []
    monkeypatch.setattr(bench.bridge, "send", lambda *asked: held.append(partial(send, *asked)))
    monkeypatch.setattr(debugger, "TOGETHER", 0)

    def given() -> list[type[m.Message]]:
        qtbot.wait(1)
        while held:
            held.pop(0)()
        return [type(each) for each in bench.bridge.asked]

    wires = [Edge("softmax/logits", place) for place in (1, 0)]
    for number, wire in enumerate([*wires, *wires]):
        space.edit("stop", toggle_stop(space.document, wire))
        if number == 0:
            qtbot.waitUntil(lambda: bool(held))
            monkeypatch.setattr(debugger, "SETTLE", 20_000)  # however busy the machine is
        else:
            assert given() == [m.Edit], "the first, and no question that would give it the next"
    space.debugger.flush()
    given()
    asked = given()
    assert (asked.count(m.Edit), asked.count(m.CheckCurves)) == (2, 1)


def test_a_long_name_of_an_earlier_training_leaves_room_for_its_number(
    bench: Any, panel: Any, qtbot: Any
) -> None:
    training = panel.training
    training.steps = 4
    commands.train(bench.space)
    bench.run("restart")
    commands.train(bench.space)
    (before,) = training.earlier
    before.name = "GradientDescent of all the weights there are, rate 0.5"
    panel.earlier.refresh(training.curves[0].text, anew=True)
    qtbot.wait(1)
    name = panel.earlier.findChild(Link, "training.earlier.name.1")
    (number,) = (text for text in panel.earlier._rows[0].findChildren(Text) if text.text())
    assert number.shown == number.text()
    assert name.shown.startswith("Gradient")
    assert name.shown.endswith("0.5")
    assert name.shown != name.text()
    QApplication.sendEvent(name, QEnterEvent(QPointF(1, 1), QPointF(1, 1), QPointF(1, 1)))
    assert name.toolTip() == plain(f"{before.name}\nCall it otherwise")
