"""What the canvas shows, read from its pixels."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRectF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

from gradstep.core.document.document import Document, View
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.gui import commands
from gradstep.gui.canvas.interact import tooltips
from gradstep.gui.canvas.paint import picture_export
from gradstep.gui.canvas.scene.hit_test import Hit
from gradstep.gui.canvas.scene.level_of_detail import Detail
from gradstep.gui.look import theme


def distance(a: QColor, b: QColor) -> int:
    return sum(abs(x - y) for x, y in zip(a.getRgb()[:3], b.getRgb()[:3], strict=True))


def pixels(image: QImage) -> np.ndarray:
    """int16[height, width, 4]."""
    flat = np.array(image.constBits()).reshape(image.height(), image.width(), 4)
    return flat.astype(np.int16)


def glows(canvas, name: str) -> bool:
    """Whether the outline of a node has the colour of the current step."""
    x, y, width, _ = canvas.view.arrays.rects[canvas.number(name)]
    top = canvas.pixel((x + width * 0.4, y))
    return canvas.space.theme.current.name() in canvas.colors(top, 2)


def test_an_empty_canvas_is_background(canvas) -> None:
    assert canvas.color(QPoint(501, 301)) == theme.DARK.background


def test_an_empty_graph_says_how_to_begin(canvas) -> None:
    blank = pixels(canvas.view.grab().toImage())
    canvas.space.open_document(Document())
    written = pixels(canvas.view.grab().toImage())
    rows, columns = np.nonzero((written != blank).any(axis=2))
    middle = canvas.view.viewport().rect().center()
    assert abs((rows.min() + rows.max()) / 2 - middle.y()) < 40
    assert columns.max() - columns.min() > 200
    assert "Tab: add an operation" in canvas.view.accessibleDescription()
    commands.place(canvas.space, "Tanh", (9000.0, 9000.0))
    canvas.space.select([])
    QApplication.processEvents()
    assert "Tab" not in canvas.view.accessibleDescription()
    assert np.array_equal(pixels(canvas.view.grab().toImage()), blank)


@pytest.mark.parametrize("look", [theme.DARK, theme.LIGHT], ids=lambda t: t.name)
def test_a_node_has_a_stripe_of_its_family(canvas, look: theme.Theme) -> None:
    canvas.open("tutorial")
    canvas.space.set_theme(look)
    families = {"data": "muted", "c": "update", "a": "forward", "loss": "backward"}
    for name, token in families.items():
        x, y, *_ = canvas.view.arrays.rects[canvas.number(name)]
        seen = canvas.color(canvas.pixel((x + 1.5, y + 14)))
        nearest = min(families.values(), key=lambda t: distance(seen, getattr(look, t)))
        assert nearest == token, name


def test_only_the_current_node_glows(canvas) -> None:
    canvas.open("override_add")
    canvas.step_back_to("e")
    assert [n for n in canvas.view.arrays.visible.number if glows(canvas, n)] == ["e"]
    canvas.space.control("step_back")
    assert [n for n in canvas.view.arrays.visible.number if glows(canvas, n)] == ["a"]


def test_nothing_glows_at_the_end_of_a_run(canvas) -> None:
    canvas.open("tutorial")
    canvas.space.control("continue_")
    assert canvas.space.stop.reason == "end"
    assert not any(glows(canvas, n) for n in canvas.view.arrays.visible.number)


def test_gradient_flow_appears_beside_its_wire_once_it_flowed(canvas) -> None:
    canvas.open("tutorial")
    at = canvas.link("a", "loss")
    orange = theme.DARK.backward.name()
    assert orange not in canvas.colors(at, 10)
    canvas.step_back_to("e")
    assert orange in canvas.colors(at, 10)
    assert orange not in canvas.colors(canvas.link("k", "e"), 10)  # not there yet


def test_a_stopped_wire_bears_a_bar(canvas) -> None:
    canvas.open("tutorial")
    bar = canvas.link("c", "e")
    assert theme.DARK.backward.name() not in canvas.colors(bar)
    commands.toggle_stop(canvas.space, Edge("e", 0))
    assert theme.DARK.backward.name() in canvas.colors(bar)


def test_a_wire_without_gradient_is_dashed_and_says_why(canvas) -> None:
    canvas.open("tutorial")
    commands.toggle_stop(canvas.space, Edge("a", 1))
    canvas.space.control("step")
    facts = canvas.view.stage.facts
    links = canvas.view.arrays.visible.links
    dead = {str(links[i].wires[0]) for i in np.flatnonzero(facts.dead_links)}
    assert dead == {"a<1", "e<0", "e<1"}
    upstream = next(
        i for i in np.flatnonzero(facts.dead_links) if links[i].wires[0] == Edge("e", 1)
    )
    assert "a" in facts.why_dead(upstream)


def test_an_override_wears_its_name_and_a_breakpoint_its_dot(canvas) -> None:
    canvas.open("override_add")
    x, y, width, _ = canvas.view.arrays.rects[canvas.number("e")]
    badge, dot = canvas.pixel((x + width - 18, y)), canvas.pixel((x + 1, y + 1))
    assert theme.DARK.override.name() in canvas.colors(badge)
    assert theme.DARK.problem.name() not in canvas.colors(dot)
    commands.toggle_breakpoint(canvas.space, "e")
    assert theme.DARK.problem.name() in canvas.colors(dot)
    commands.use_native_gradient(canvas.space, "e")
    assert theme.DARK.override.name() not in canvas.colors(badge)


def test_a_failing_node_is_red_and_the_guilty_element_is_marked(canvas) -> None:
    canvas.open("gather")
    canvas.space.control("continue_")
    facts = canvas.view.stage.facts
    assert facts.problems[canvas.number("b")] == "indices[2] = 6 is not in [0, 5)"
    assert not glows(canvas, "b")
    reading = facts.reading(canvas.number("indices"), of_gradient=False)
    start, length = reading.marked
    assert reading.text[start : start + length] == "6"


def test_the_node_that_made_the_first_nan_is_marked(canvas, qtbot) -> None:
    canvas.open("nan_gradient")
    number = canvas.number("logp")
    assert not canvas.view.stage.facts.problems
    canvas.space.control("continue_")
    qtbot.waitUntil(lambda: bool(canvas.view.stage.facts.problems))
    assert canvas.view.stage.facts.problems == {number: "makes the first infinity of this run"}
    told = tooltips.text(canvas.view.stage, Hit(box=number))
    assert "problem: makes the first infinity of this run" in told
    x, y, width, _ = canvas.view.arrays.rects[number]
    assert theme.DARK.problem.name() in canvas.colors(canvas.pixel((x + width - 5, y)), 2)
    canvas.space.control("restart")
    qtbot.waitUntil(lambda: not canvas.view.stage.facts.problems)


def test_the_rows_show_value_and_gradient(canvas) -> None:
    canvas.open("tutorial")
    canvas.step_back_to("e")
    facts = canvas.view.stage.facts

    def rows(name: str) -> tuple[str, str]:
        number = canvas.number(name)
        return facts.reading(number, False).text, facts.reading(number, True).text

    assert rows("loss") == ("0.663694", "1")
    assert rows("d") == ("[ 1.060 1.960 ]", "[  0.053 -0.044 ]")
    assert rows("k") == ("[ 0.050 0.130 ]", "waiting")


def many(count: int) -> Document:
    ops = [Operation("n0", "Placeholder", attrs={"dtype": DType.FLOAT32, "shape": Shape.of(2)})]
    tanh = ((f"n{i}", TensorRef(f"n{max(0, i - 100)}")) for i in range(1, count))
    ops.extend(Operation(name, "Tanh", (source,)) for name, source in tanh)
    places = {f"n{i}": (i // 100 * 240.0, i % 100 * 100.0) for i in range(count)}
    return Document(graph=Graph.of(ops), view=View(positions=places))


@pytest.mark.slow
def test_ten_thousand_nodes_at_every_level_of_detail(canvas) -> None:
    canvas.space.open_document(many(10_000))
    for scale in (0.03, 0.2, 0.5, 1.0, 2.0):
        canvas.view.camera.zoom_to(scale)
        image = canvas.view.grab().toImage()
        different = {image.pixel(x, y) for x in range(0, 1000, 9) for y in range(0, 640, 7)}
        assert len(different) > 1, scale


def test_detail_grows_with_the_scale() -> None:
    details = [Detail.at(s) for s in (0.02, 0.12, 0.35, 0.6, 4.0)]
    assert details == [Detail.DOTS, Detail.SHAPES, Detail.NAMES, Detail.FULL, Detail.FULL]


def test_panning_and_coming_back_gives_the_same_pixels(canvas) -> None:
    canvas.open("override_add")
    canvas.step_back_to("e")
    before = canvas.view.grab().toImage()
    for way in (QPoint(310, 40), QPoint(-500, 90), QPoint(190, -130)):
        canvas.view.camera.pan(way)
        canvas.view.grab()
    assert canvas.view.grab().toImage() == before


def test_the_painter_paints_any_rectangle_as_part_of_the_whole(canvas) -> None:
    canvas.open("tutorial")
    painter_of = canvas.view.layers.painter
    canvas.view.grab()

    def painted(rect: QRectF) -> QImage:
        image = QImage(int(rect.width()), int(rect.height()), QImage.Format.Format_RGB32)
        painter = QPainter(image)
        painter.translate(-rect.topLeft())
        painter_of.background(painter, rect, 1.0)
        painter_of.paint(painter, rect, 1.0)
        painter.end()
        return image

    left, top, right, bottom = canvas.view.arrays.extent
    whole = painted(QRectF(left, top, right - left, bottom - top))
    part = painted(QRectF(left + 100, top + 50, 300, 200))
    different = np.abs(pixels(whole.copy(100, 50, 300, 200)) - pixels(part)).max(axis=2)
    assert different.max() <= 2  # smoothing rounds differently where Qt cuts a line
    assert (different > 0).mean() < 0.001


def test_pictures_of_the_graph(canvas) -> None:
    canvas.open("override_add")
    stage = canvas.view.stage
    png = picture_export.to_bytes(".png", stage.arrays, stage.facts, theme.LIGHT)
    svg = picture_export.to_bytes(".svg", stage.arrays, stage.facts, theme.LIGHT)
    assert QImage.fromData(png).pixelColor(3, 3) == theme.LIGHT.background
    assert "CustomAdd" in svg.decode()
    with pytest.raises(GradstepError, match="cannot be written as"):
        picture_export.to_bytes(".gif", stage.arrays, stage.facts, theme.LIGHT)


def test_names_and_values_are_read_from_half_the_distance(canvas) -> None:
    canvas.open("tutorial")
    canvas.space.control("continue_")
    canvas.view.camera.zoom_to(0.45)
    place = canvas.view.mapFromScene(canvas.view.box_rect(canvas.number("loss"))).boundingRect()
    inside = canvas.view.grab().toImage().copy(place.adjusted(6, 2, -4, -2))
    seen = pixels(inside.convertToFormat(QImage.Format.Format_RGB32))
    blue = np.abs(seen[..., 2::-1] - theme.DARK.forward.getRgb()[:3]).sum(axis=2) < 150
    assert blue.any(axis=1).sum() >= 6, "digits are as tall as can be read"
