"""Where an edit changes the picture, and which links are which then."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPointF, QRectF

from gradstep.core.graph.model import Edge
from gradstep.gui import commands
from gradstep.gui.canvas.paint.changed_places import changed_places
from gradstep.gui.canvas.paint.said_in_view import Said

EVERYWHERE = QRectF(-1e6, -1e6, 2e6, 2e6)


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
