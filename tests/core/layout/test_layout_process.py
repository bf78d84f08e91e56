"""Layout from another process: the same places, and an engine that hangs is given up."""

from __future__ import annotations

import time

import pytest

from gradstep.core.layout.box_diagram import Box
from gradstep.core.layout.layout_engines import layout
from gradstep.core.layout.layout_process import arrange, in_rows


def fan(readers: int) -> tuple[list[Box], list[tuple[str, str]]]:
    boxes = [Box("source", 172, 68), *(Box(f"r{i}", 172, 52) for i in range(readers))]
    return boxes, [("source", f"r{i}") for i in range(readers)]


def test_the_worker_gives_what_the_engine_gives() -> None:
    boxes, arrows = fan(5)
    assert arrange(boxes, arrows) == layout(boxes, arrows)


@pytest.mark.slow
def test_an_engine_over_its_time_is_replaced_by_our_own() -> None:
    boxes, arrows = fan(400)  # graphlay needs half a minute for it
    started = time.monotonic()
    places = arrange(boxes, arrows, limit=1.0, engine="graphlay")
    assert places == layout(boxes, arrows, "own")
    assert time.monotonic() - started < 15


def test_places_without_arrows_cover_every_box() -> None:
    boxes, _ = fan(10)
    assert set(in_rows(boxes)) == {box.id for box in boxes}
