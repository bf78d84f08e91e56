"""Where an edit changes the picture, and which links are which then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage, QPainter

from gradstep.core.graph.model import Edge
from gradstep.gui import commands
from gradstep.gui.canvas.paint import changed_places as changed
from gradstep.gui.canvas.paint.changed_places import changed_places
from gradstep.gui.canvas.paint.graph_painter import GraphPainter
from gradstep.gui.canvas.paint.said_in_view import Said
from gradstep.gui.canvas.scene.rect_sides import sides_of
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.scene.scope_frames import Frame
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph
from gradstep.gui.look import theme

EVERYWHERE = QRectF(-1e6, -1e6, 2e6, 2e6)
SIDE = 260  # pixels of a picture of frames


def test_what_is_said_of_a_link_stays_with_it_when_one_before_it_goes(canvas: Any) -> None:
    canvas.open("tutorial")
    stage, space = canvas.view.stage, canvas.space
    before = stage.arrays
    wire = Edge("a", 0)
    gone = before.visible.link_of[wire]
    commands.disconnect(space, wire)
    now = stage.arrays
    found = changed_places(before, now, EVERYWHERE)
    assert found is not None
    assert found.now is not None
    old, new = before.visible.links, now.visible.links
    assert len(found.now) == len(new) == len(old) - 1
    assert gone not in found.now
    assert all(old[i].wires == new[j].wires for i, j in found.now.items())
    last = len(old) - 1
    said = Said({0: "box"}, {gone: "gone", last: "last"})
    assert found.renumbered(said) == Said({0: "box"}, {last - 1: "last"})
    x, y, width, height = before.rects[before.visible.box_of["a"]].tolist()
    assert any(place.contains(QRectF(x, y, width, height)) for place in found.places)
    left, top, right, bottom = before.routes.bounds[gone].tolist()
    link = QRectF(QPointF(left, top), QPointF(right, bottom))
    assert any(place.contains(link) for place in found.places)
    elsewhere = changed_places(before, now, EVERYWHERE.translated(1e7, 0))
    assert elsewhere is not None
    assert len(elsewhere.places) < len(found.places), "links that are out of sight are no matter"


def test_where_boxes_have_other_numbers_all_is_painted(canvas: Any) -> None:
    canvas.open("tutorial")
    before = canvas.view.stage.arrays
    assert changed_places(before, before, EVERYWHERE).places == []  # type: ignore[union-attr]
    commands.remove_nodes(canvas.space, ["a"])
    assert changed_places(before, canvas.view.stage.arrays, EVERYWHERE) is None


RECTS = st.tuples(*[st.integers(30, 90).map(float)] * 2, *[st.integers(60, 120).map(float)] * 2)
MORE = st.tuples(*[st.sampled_from([0.0, 0.0, 8.0, 40.0])] * 4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(RECTS, MORE), min_size=1, max_size=2), st.booleans())
def test_frames_look_otherwise_only_where_that_is_said(
    qapp: object, pairs: list[tuple[tuple[float, ...], tuple[float, ...]]], loop: bool
) -> None:
    rects = [[rect for rect, _ in pairs], [np.add(*pair).tolist() for pair in pairs]]
    before, now = (_framed(each, "loop" if loop else "") for each in rects)
    found = changed_places(before, now, EVERYWHERE)
    assert found is not None
    shown = [_painted(arrays) for arrays in (before, now)]
    differ = shown[0] != shown[1]
    for place in found.places:
        left, top, right, bottom = (int(max(side, 0)) for side in sides_of(place))
        differ[top:bottom, left:right] = False
    assert not differ.any()


def _framed(rects: Sequence[Sequence[float]], loop: str) -> SceneArrays:
    """Nothing but frames."""
    arrays = SceneArrays.of(VisibleGraph(), {})
    none = np.zeros(0, dtype=bool)
    frames = [
        Frame("WWWWWWWWWWWW", "s", none, cast("Any", tuple(rect)), True, loop) for rect in rects
    ]
    arrays.__dict__["frames"] = frames
    return arrays


def _painted(arrays: SceneArrays) -> np.ndarray:
    image = QImage(SIDE, SIDE, QImage.Format.Format_RGB32)
    image.fill(0)
    graph_painter = GraphPainter(theme.DARK)
    graph_painter.arrays = arrays
    painter = QPainter(image)
    graph_painter.paint_frames(painter, QRectF(0, 0, SIDE, SIDE), 1.0)
    painter.end()
    return np.array(image.constBits()).view(np.uint32).reshape(SIDE, SIDE)


def test_of_boxes_out_of_sight_any_number_may_be_others(
    canvas: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changed, "MANY", 0)
    canvas.open("tutorial")
    before = canvas.view.stage.arrays
    commands.rename(canvas.space, "a", "b")
    now = canvas.view.stage.arrays
    assert changed_places(before, now, EVERYWHERE) is None
    found = changed_places(before, now, EVERYWHERE.translated(1e7, 0))
    assert found is not None
    assert found.places == []
