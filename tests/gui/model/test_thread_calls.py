"""Threads call back in the main thread, and nothing of Qt's is ever taken down beside it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QObject

from gradstep.core.protocol.messages import Control, Message
from gradstep.gui.model.background_work import Background
from gradstep.gui.model.engine_bridge import EngineBridge
from gradstep.gui.model.thread_calls import ThreadCalls, call_soon
from tests.support.deleting import delete

Note = Callable[..., None]


class Probe:
    """Notes in which thread it is taken down."""

    def __init__(self, gone: list[threading.Thread]) -> None:
        self._gone = gone

    def __call__(self, *_: object) -> None:
        pass

    def __del__(self) -> None:
        self._gone.append(threading.current_thread())


def test_calls_come_in_the_order_in_which_they_were_asked_for(qtbot: Any) -> None:
    owner, seen = QObject(), []
    calls = ThreadCalls(owner)
    for name in "ab":
        kept = calls.keep(lambda number, name=name: seen.append((name, number)))
        threading.Thread(target=lambda kept=kept: [kept(number) for number in range(3)]).start()
    once = calls.keep(lambda: seen.append("once"), once=True)
    for _ in range(2):
        once()
    qtbot.waitUntil(lambda: len(seen) == 7)
    assert [x for x in seen if x[0] == "a"] == [("a", 0), ("a", 1), ("a", 2)]
    calls.forget()
    kept(9)
    call_soon(seen.append, "last")
    qtbot.waitUntil(lambda: seen[-1] == "last")
    assert len(seen) == 8
    delete(owner)


def test_what_one_call_raises_keeps_no_other_from_being_made(qtbot: Any) -> None:
    seen: list[int] = []

    def fail() -> None:
        raise ValueError

    with qtbot.capture_exceptions() as exceptions:
        for call in (lambda: seen.append(1), fail, lambda: seen.append(2)):
            call_soon(call)
        qtbot.waitUntil(lambda: seen == [1, 2])
    assert [kind for kind, *_ in exceptions] == [ValueError]


@pytest.mark.parametrize("deleted", [True, False])
def test_work_that_outlives_its_window_takes_nothing_down(qtbot: Any, deleted: bool) -> None:
    gone: list[threading.Thread] = []
    go, owner = threading.Event(), QObject()
    background = Background(owner)
    work, then = Probe(gone), Probe(gone)
    background.run(lambda work=work: [go.wait(), work()], then, then)
    del work, then
    if deleted:
        delete(owner)
    del background, owner
    go.set()
    qtbot.waitUntil(lambda: len(gone) == 2)
    assert set(gone) == {threading.main_thread()}


def test_replies_of_an_engine_take_nothing_down(qtbot: Any) -> None:
    gone: list[threading.Thread] = []
    bridge = EngineBridge()
    bridge.start()
    then = Probe(gone)
    replied: list[Message] = []
    bridge.send(Control(command="pause"), (), then)
    bridge.send(Control(command="pause"), (), lambda reply, _: replied.append(reply))
    del then
    qtbot.waitUntil(lambda: bool(replied))
    then = Probe(gone)
    bridge.send(Control(command="pause"), (), then)
    del then
    bridge.close()
    delete(bridge)
    qtbot.waitUntil(lambda: len(gone) == 2)
    assert set(gone) == {threading.main_thread()}
