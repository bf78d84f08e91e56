"""Colour by cost on the canvas: shares that add up, seen and said, and gone when switched off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtGui import QImage

from gradstep.core.document.document import View
from gradstep.core.document.document_edits import rename_operation
from gradstep.core.protocol.messages import Progress
from gradstep.gui.actions import action_table
from gradstep.gui.canvas.interact import screen_reader, tooltips
from gradstep.gui.canvas.scene.hit_test import Hit
from gradstep.gui.canvas.view import GraphView
from gradstep.gui.look import theme
from tests.support.profiles import Measuring

TOTAL = 35 * 36 / 2  # microseconds of the 35 steps, which take 1, 2, 3 …
ROUNDED = 3  # of 255, by which a pixel differs of a line that is cut where a part is painted


@pytest.fixture
def measuring(canvas: Any) -> Measuring:
    made = Measuring(canvas.space.bridge, lambda: canvas.space.program.steps)
    canvas.open("tutorial")
    return made


def spent(canvas: Any, *names: str) -> float:
    """Microseconds of all steps that belong to some nodes."""
    steps = enumerate(canvas.space.program.steps, 1)
    return sum(number for number, step in steps if step.origin in names)


def share(canvas: Any, name: str) -> float:
    return float(canvas.view.stage.facts.shares.values[canvas.number(name)])


def test_nothing_is_coloured_at_first(canvas: Any, measuring: Measuring) -> None:
    canvas.space.profiler.measure()
    assert canvas.view.stage.facts.shares is None
    assert not canvas.view.legend.isVisible()


def test_the_action_measures_once_and_colours(canvas: Any, measuring: Measuring) -> None:
    assert action_table.run("view.colour_time", canvas.space)
    assert action_table.BY_ID["view.colour_time"].checked(canvas.space)
    assert share(canvas, "a") == pytest.approx(spent(canvas, "a") / TOTAL)
    assert share(canvas, "data") == 0
    action_table.run("view.colour_bytes", canvas.space)
    assert len(measuring.asked) == 1
    assert share(canvas, "a") == pytest.approx(3 / 35)
    action_table.run("view.colour_bytes", canvas.space)
    assert canvas.view.stage.facts.shares is None


def test_what_is_of_no_node_is_said(canvas: Any, measuring: Measuring) -> None:
    action_table.run("view.colour_time", canvas.space)
    shares = canvas.view.stage.facts.shares
    drawn = spent(canvas, *canvas.space.document.graph.operations) / TOTAL
    assert shares.values.sum() == pytest.approx(drawn)
    assert drawn < 1, "the powers of Adam's betas have no node"
    assert canvas.view.legend.remark() == f"recorded runs, {100 * (1 - drawn):.0f} % elsewhere"


def test_a_collapsed_scope_has_the_sum_of_what_is_in_it(canvas: Any, measuring: Measuring) -> None:
    document = canvas.space.document
    for old, new in (("d", "net/d"), ("e", "net/e")):
        document = rename_operation(document, old, new)
    canvas.space.open_document(document.with_(view=View(collapsed=frozenset({"net"}))))
    canvas.space.debugger.flush()
    action_table.run("view.colour_time", canvas.space)
    assert share(canvas, "net/") == pytest.approx(spent(canvas, "net/d", "net/e") / TOTAL)


@pytest.mark.parametrize("look", [theme.DARK, theme.LIGHT], ids=lambda t: t.name)
def test_the_hottest_node_is_tinted_and_says_its_share(
    canvas: Any, measuring: Measuring, look: theme.Theme
) -> None:
    canvas.space.set_theme(look)
    before = warmth(canvas, "c"), warmth(canvas, "data")
    action_table.run("view.colour_time", canvas.space)
    hot, cold = warmth(canvas, "c"), warmth(canvas, "data")
    assert hot > before[0] + 10, "orange: more red than blue"
    assert cold == before[1]
    number = canvas.number("c")
    text = f"{100 * spent(canvas, 'c') / TOTAL:.0f} %"
    assert canvas.view.stage.facts.shares.text(number) == text
    assert f"{text} of the time" in screen_reader.describe(canvas.view.stage, number)
    assert f"{text} of the time" in tooltips.text(canvas.view.stage, Hit(box=number))


def warmth(canvas: Any, name: str) -> int:
    """How much redder than blue the middle of a node's title row is."""
    x, y, width, _ = canvas.view.arrays.rects[canvas.number(name)]
    color = canvas.color(canvas.pixel((x + width * 0.45, y + 22)))
    return int(color.red() - color.blue())


@pytest.mark.parametrize("scale", [0.05, 0.2, 0.45])
def test_the_share_is_written_in_far_views_too(
    canvas: Any, measuring: Measuring, scale: float
) -> None:
    canvas.view.camera.zoom_to(scale)
    plain = canvas.view.viewport().grab().toImage()
    action_table.run("view.colour_time", canvas.space)
    picture = canvas.view.viewport().grab().toImage()
    x, y, width, height = canvas.view.arrays.rects[canvas.number("c")]
    corner = canvas.pixel((x + width, y + height))
    around = [corner + QPoint(dx, dy) for dx in range(-30, -8) for dy in range(-5, 5)]
    changed = np.mean([picture.pixel(at) != plain.pixel(at) for at in around])
    assert changed > 0.9, "the label lies over the card's lower right corner"


def coloured(canvas: Any, scale: float) -> GraphView:
    """By time, the graph's middle in view."""
    view: GraphView = canvas.view
    view.camera.zoom_to(scale)
    view.camera.look_at(view.stage.area.center())
    action_table.run("view.colour_time", canvas.space)
    return view


@pytest.mark.parametrize("scale", [0.05, 0.1])
def test_a_part_that_is_painted_by_itself_has_the_labels_of_boxes_beside_it(
    canvas: Any, measuring: Measuring, scale: float
) -> None:
    view = coloured(canvas, scale)
    view.viewport().grab()
    for name in canvas.space.document.graph.operations:
        canvas.space.select([name])
        kept = view.viewport().grab().toImage()
        view.layers.refresh()
        assert kept == view.viewport().grab().toImage(), name


@pytest.mark.parametrize("scale", [0.05, 0.1, 0.45, 1.0])
def test_labels_beside_what_comes_into_view_are_there_while_a_node_is_dragged(
    canvas: Any, measuring: Measuring, scale: float
) -> None:
    view = coloured(canvas, scale)
    canvas.step(20)
    for name in canvas.space.document.graph.operations:
        left = view.box_rect(canvas.number(name)).left()
        view.camera.look_at(QPointF(left - (view.viewport().width() // 2 + 4) / scale, 0))
        view.layers.lift(np.arange(len(view.arrays.rects)) == canvas.number("c"))
        view.viewport().grab()
        canvas.space.debugger.flush()
        view.camera.look_at(view.stage.area.center())  # what is there comes into view
        kept = colours(view)
        view.layers.refresh()
        assert np.abs(kept - colours(view)).max() <= ROUNDED, name
        view.layers.lift(None)


def colours(view: GraphView) -> np.ndarray:
    image = view.viewport().grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return np.array(image.constBits()).astype(np.int16)


def test_the_legend_says_what_and_whether_it_still_holds(canvas: Any, measuring: Measuring) -> None:
    measuring.hold = True
    action_table.run("view.colour_time", canvas.space)
    legend = canvas.view.legend
    assert legend.isVisible()
    assert legend.accessibleName() == "Share of time: measuring…"
    measuring.answer()
    assert legend.accessibleName() == "Share of time: recorded runs, 26 % elsewhere"
    action_table.run("graph.no_optimizer", canvas.space)
    assert legend.accessibleName() == "Share of time: recorded runs, out of date"


def test_stepping_does_not_compute_shares_again(canvas: Any, measuring: Measuring) -> None:
    action_table.run("view.colour_time", canvas.space)
    first = canvas.view.stage.facts.shares
    canvas.step(2)
    assert canvas.view.stage.facts.shares is first


def test_progress_of_a_measurement_repaints_nothing(canvas: Any, measuring: Measuring) -> None:
    action_table.run("view.colour_time", canvas.space)
    measuring.hold = True
    canvas.space.profiler.measure()
    facts = canvas.view.stage.facts
    canvas.space.bridge.event_received.emit(Progress(text="Measuring", done=30, total=100))
    assert canvas.view.stage.facts is facts
    measuring.answer()
    assert canvas.view.stage.facts is not facts
