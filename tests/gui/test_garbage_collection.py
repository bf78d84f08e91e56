"""What is many stays unseen by the collector until nobody waits for the window."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QWidget

from gradstep.gui import garbage_collection
from gradstep.gui.garbage_collection import Collector
from gradstep.gui.model.background_work import Background, is_under_way


class Knot:
    """Holds itself."""

    def __init__(self) -> None:
        self.self = self


@pytest.fixture
def collector(
    qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Collector, list[float]]]:
    """And the time that it believes in."""
    now = [1000.0]
    monkeypatch.setattr(garbage_collection.time, "monotonic", lambda: now[0])
    window = QWidget()
    qtbot.addWidget(window)
    gc.collect()
    found = Collector(window)
    found._timer.stop()
    yield found, now
    gc.freeze()  # as the session had it


def paint(collector: Collector) -> None:
    QCoreApplication.sendEvent(collector.parent(), QEvent(QEvent.Type.UpdateRequest))


@pytest.mark.slow
def test_a_large_document_is_put_aside_until_nothing_is_painted(
    collector: tuple[Collector, list[float]], qtbot: Any
) -> None:
    keeper, now = collector
    document = [[i] for i in range(2 * garbage_collection.MANY)]
    knot = weakref.ref(Knot())
    keeper.collect()
    assert gc.get_freeze_count() > len(document)
    assert knot() is not None, "nobody looked"
    now[0] += garbage_collection.QUIET - 1
    paint(keeper)
    now[0] += 2
    keeper.collect()
    assert knot() is not None, "somebody was there a moment ago"
    now[0] += garbage_collection.QUIET
    keeper._is_idle = lambda: False
    keeper.collect()
    assert knot() is not None, "somebody waits for the engine"
    keeper._is_idle = lambda: True
    laid_out, background = threading.Event(), Background()
    background.run(laid_out.wait, lambda _: None, lambda error: None)
    keeper.collect()
    assert knot() is not None, "somebody waits for a large graph to be laid out"
    laid_out.set()
    qtbot.waitUntil(lambda: not is_under_way())
    keeper.collect()
    assert knot() is None


@pytest.mark.slow
def test_who_never_rests_is_kept_waiting_in_the_end(
    collector: tuple[Collector, list[float]],
) -> None:
    keeper, now = collector
    document = [[i] for i in range(2 * garbage_collection.MANY)]
    knot = weakref.ref(Knot())
    keeper.collect()
    now[0] += garbage_collection.LATEST + 1
    paint(keeper)
    keeper.collect()
    assert document
    assert knot() is None


def test_small_garbage_goes_at_once_and_is_not_kept_by_what_stays(
    collector: tuple[Collector, list[float]],
) -> None:
    keeper, _ = collector
    for _ in range(garbage_collection.FULL + 2):
        knot = weakref.ref(Knot())
        keeper.collect()
        assert knot() is None


@pytest.mark.slow
def test_what_came_in_the_place_of_as_much_is_put_aside_as_well(
    collector: tuple[Collector, list[float]],
) -> None:
    keeper, _ = collector
    document = [[i] for i in range(2 * garbage_collection.MANY)]
    keeper.collect()
    before = gc.get_freeze_count()
    for place in range(len(document)):  # an edit, of which Python counts what is left
        document[place] = [place]
    knot = weakref.ref(Knot())
    keeper.collect()
    assert knot() is not None, "nobody looked"
    assert gc.get_freeze_count() > before


def test_a_few_large_tables_are_put_aside_as_many_objects_are(
    collector: tuple[Collector, list[float]],
) -> None:
    keeper, _ = collector
    knot = weakref.ref(Knot())
    tables = [[None] * (garbage_collection.LARGE // 32) for _ in range(5)]
    keeper.collect()
    assert tables
    assert knot() is not None, "nobody looked"
    keeper._painted_at -= garbage_collection.QUIET + 1
    keeper.collect()
    assert knot() is None, "at rest all is looked at"


@pytest.mark.slow
def test_what_came_little_by_little_is_put_aside_where_it_is_many(
    collector: tuple[Collector, list[float]],
) -> None:
    keeper, _ = collector
    document: list[list[int]] = []
    for turn in range(garbage_collection.FULL):
        if turn == 2:
            knot = Knot()
            found = weakref.ref(knot)
        if turn == garbage_collection.FULL - 1:
            del knot
        document += ([i] for i in range(garbage_collection.MANY // 4))
        keeper.collect()
    assert gc.get_freeze_count() > len(document)
    assert found() is not None
    keeper._painted_at -= garbage_collection.QUIET + 1
    keeper.collect()
    assert found() is None, "at rest all is looked at"


@pytest.mark.parametrize("which", [1, 2])
def test_a_tuple_that_another_thread_is_making_stays_its_own(
    collector: tuple[Collector, list[float]], which: int
) -> None:
    """The thread goes on where it can: once a call of C has returned. which: of those that give
    all objects, in a round of the collector that counts the new and the old ones."""
    keeper, _ = collector
    keeper._count = garbage_collection.FULL - 1
    begun, may_go_on, made = threading.Event(), threading.Event(), list[object]()
    returned = 0

    def parts() -> Iterator[int]:
        yield 0
        begun.set()
        may_go_on.wait()
        yield from range(20)  # more than a tuple of unknown size has room for at first

    def make() -> None:
        try:
            made.append(tuple(parts()))
        except SystemError as error:
            made.append(error)

    def go_on(frame: object, event: str, function: object) -> None:
        nonlocal returned
        returned += event == "c_return" and function is gc.get_objects
        if returned == which:
            may_go_on.set()
            thread.join()

    thread = threading.Thread(target=make)
    thread.start()
    begun.wait()
    if which == 2:
        gc.collect(1)  # it is old from here on
    before = sys.getprofile()
    sys.setprofile(go_on)
    keeper.collect()
    sys.setprofile(before)
    may_go_on.set()
    thread.join()
    assert made == [(0, *range(20))]
