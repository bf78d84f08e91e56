"""All of the graph: Home and exported pictures have its links, and what is said at its edges."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest

from gradstep.core.document.document import Document, View
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.gui import commands
from gradstep.gui.canvas.paint import picture_export
from gradstep.gui.canvas.paint.graph_painter import GraphPainter
from gradstep.gui.canvas.paint.picture_export import LEAST, MARGIN
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.look import theme

SVG = "{http://www.w3.org/2000/svg}"


def document(places: dict[str, tuple[float, float]]) -> Document:
    """Operations in a row, each reading the one before."""
    ops: list[Operation] = []
    for name in places:
        attrs = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}
        before = Operation(name, "Placeholder", attrs=attrs)
        ops.append(Operation(name, "Tanh", (TensorRef(ops[-1].name),)) if ops else before)
    return Document(graph=Graph.of(ops), view=View(positions=places))


def swinging() -> Document:
    """The links lead to the left, so that they swing far out on both sides."""
    return document(
        {"a": (1_000.0, 0.0), "b": (300.0, 20.0), "c": (900.0, 300.0), "d": (0.0, 290.0)}
    )


def pixels(image: QImage) -> np.ndarray:
    rgb = image.convertToFormat(QImage.Format.Format_RGB32)
    return np.array(rgb.constBits()).reshape(image.height(), image.width(), 4)[..., :3]


def drawn(image: QImage, look: theme.Theme) -> np.ndarray:
    """bool[height, width]: where a picture is not background."""
    red, green, blue, _ = look.background.getRgb()
    return np.asarray((pixels(image) != (blue, green, red)).any(axis=2))


def open_swinging(canvas) -> None:
    canvas.space.open_document(swinging())
    canvas.space.debugger.flush()


def open_override(canvas) -> None:
    """A badge on the upper edge, gradients beside the links, a selection and a breakpoint."""
    canvas.open("override_add")
    canvas.step_back_to("e")
    commands.toggle_breakpoint(canvas.space, "data")
    canvas.space.select(["e"])


def open_updated(canvas) -> None:
    """What updates did, below the nodes."""
    canvas.open("tutorial")
    canvas.space.control("continue_")
    assert canvas.view.stage.facts.update(canvas.number("c")) is not None


def open_loop(canvas) -> None:
    """Frames with titles."""
    canvas.open("while_loop")


CANVASES = [open_swinging, open_override, open_updated, open_loop]


@pytest.mark.parametrize("show", CANVASES)
def test_nothing_is_cut_off(canvas, show: Callable[..., None]) -> None:
    """With much more room all around, the same is drawn."""
    show(canvas)
    cut = [scale for scale in (0.06, 0.2, 0.45, 2.0) if is_cut_off(canvas.view.stage, scale)]
    assert not cut


def is_cut_off(stage: SceneModel, scale: float) -> bool:
    look = theme.LIGHT
    usual = drawn(picture_export.image(stage.arrays, stage.facts, look, scale), look)
    more = round(200 / scale) * 1.0
    least = max(MARGIN, LEAST / scale)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(picture_export, "MARGIN", least + more)
        patch.setattr(picture_export, "LEAST", 0.0)
        roomy = drawn(picture_export.image(stage.arrays, stage.facts, look, scale), look)
    edge = round(more * scale)
    assert roomy.any()
    roomy[edge : edge + usual.shape[0], edge : edge + usual.shape[1]] = False
    return bool(roomy.any())


def test_home_shows_the_links_that_swing_out(canvas) -> None:
    open_swinging(canvas)
    canvas.view.camera.zoom_to(2.0)
    QTest.keyClick(canvas.view, Qt.Key.Key_Home)
    seen = canvas.view.camera.visible
    arrays = canvas.view.arrays
    boxes = arrays.rects
    for line in arrays.routes.lines(np.arange(len(arrays.routes)), 0.1):
        assert all(seen.contains(QPointF(x, y)) for x, y in line.tolist())
    beyond = max(line[:, 0].max() for line in arrays.routes.lines(np.arange(3), 0.1))
    assert beyond > (boxes[:, 0] + boxes[:, 2]).max() + 40, "they do swing out"


@pytest.mark.parametrize(("count", "apart"), [(1_000, 236.0), (10_000, 236.0)])
@pytest.mark.slow
def test_home_shows_all_of_a_long_chain(canvas, count: int, apart: float) -> None:
    places = {f"n{i}": (apart * i, 40.0 * (i % 2)) for i in range(count)}
    canvas.space.open_document(document(places))
    view = canvas.view
    assert view.camera.scale > 0.5, "at first one sees where it begins"
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert view.camera.visible.contains(view.stage.area)
    assert view.stage.area.width() > apart * (count - 1)
    middle = view.camera.visible.center() - view.stage.area.center()
    assert middle.manhattanLength() < 2 / view.camera.scale
    before = view.camera.scale
    view.camera.zoom(0.5, QPoint(500, 320))
    assert view.camera.scale < before, "and a little more around it"
    view.camera.zoom_to(4.0)
    last = view.box_rect(canvas.number(f"n{count - 1}"))
    view.camera.look_at(last.center())
    assert view.camera.visible.contains(last.center())
    assert view.viewport().rect().contains(canvas.middle(f"n{count - 1}"))


def test_zooming_out_ends_where_a_small_graph_is_lost(canvas) -> None:
    open_swinging(canvas)
    for _ in range(60):
        canvas.view.camera.zoom_out()
    assert canvas.view.camera.scale == pytest.approx(0.02)


def test_a_picture_as_vectors_has_curves(canvas) -> None:
    canvas.open("control_dependencies")
    view = canvas.space.document.view
    elsewhere = {name: (x - 5_000, y + 3_000) for name, (x, y) in view.positions.items()}
    commands.move_nodes(canvas.space, elsewhere)
    stage = canvas.view.stage
    text = picture_export.to_bytes(".svg", stage.arrays, stage.facts, theme.LIGHT).decode()
    root = ET.fromstring(text)
    paths = [path.attrib["d"].split() for path in root.iter(f"{SVG}path")]
    routes = stage.arrays.routes
    for number, (start, _) in enumerate(routes.ports.tolist()):
        begins = "M" + ",".join(f"{x:g}" for x in start)
        mine = [path for path in paths if path[0] == begins and path[1].startswith("C")]
        counts = {sum(part.startswith("C") for part in path) for path in mine}
        assert routes.counts[number] in counts, "each link is its cubic curves, and nothing else"
    points = {
        point for shape in root.iter(f"{SVG}polygon") for point in shape.attrib["points"].split()
    }
    tips = {",".join(f"{x:g}" for x in end) for _, end in routes.ports.tolist()}
    assert tips <= points, "each with its arrow"
    dashed = [g for g in root.iter(f"{SVG}g") if g.attrib.get("stroke-dasharray", "none") != "none"]
    controls = int(stage.arrays.visible.control.sum())
    assert controls > 0
    assert sum(len(list(g.iter(f"{SVG}path"))) for g in dashed) == controls


def test_a_small_picture_of_a_large_graph_has_all_its_links(
    canvas, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the canvas a far view leaves links out when there are very many."""
    monkeypatch.setattr("gradstep.gui.canvas.paint.graph_painter.MOST_FAR_LINKS", 6)
    places = {f"n{i}": (0.0 if i % 2 else 2_000.0, 100.0 * i) for i in range(60)}
    canvas.space.open_document(document(places))
    stage = canvas.view.stage
    exported = picture_export.image(stage.arrays, stage.facts, theme.LIGHT, 0.1)
    painter = GraphPainter(theme.LIGHT)
    painter.arrays = stage.arrays
    thinned = QImage(exported.size(), QImage.Format.Format_RGB32)
    thinned.fill(theme.LIGHT.background)
    with QPainter(thinned) as onto:
        onto.scale(0.1, 0.1)
        onto.translate(-stage.arrays.extent[0] + MARGIN, -stage.arrays.extent[1] + MARGIN)
        painter.paint(onto, canvas.view.stage.area, 0.1)
    between = slice(90, 130)  # pixels, of the two columns of boxes
    rows = [
        drawn(image, theme.LIGHT)[:, between].any(axis=1).sum() for image in (exported, thinned)
    ]
    assert rows[0] > 80
    assert 0 < rows[1] < 30
