"""What the window sends of a document, and what it does where the engine holds another one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
import pytest
from msgspec import UNSET
from PySide6.QtCore import QCoreApplication, QTimer

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Edge
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.session_journal import SessionJournal
from gradstep.core.io.native import gradstep_file
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.core.protocol import messages as m
from gradstep.gui.model import debugger as debugger_module
from gradstep.gui.model.debugger import Debugger


class Bridge:
    """An engine in this process that answers when it is told to, and can be replaced."""

    confined = False
    is_idle = True

    def __init__(self) -> None:
        self.service = EngineService(CpuOnly())
        self.journal = SessionJournal()
        self.asked: list[m.Message] = []
        self._waiting: list[tuple[m.Message, Callable[[], None]]] = []
        self.holds_back = False

    @property
    def is_read(self) -> bool:
        return any(isinstance(message, m.Read | m.Notate) for message, _ in self._waiting)

    def lend(self, columns: Iterable[str]) -> None:
        """Its files are here."""

    def send(
        self,
        message: m.Message,
        buffers: Sequence[Any] = (),
        then: Callable[..., None] = lambda *_: None,
    ) -> None:
        self.asked.append(message)
        answer = lambda: self._answer(message, [bytes(b) for b in buffers], then)  # noqa: E731
        self._waiting.append((message, answer))
        if not self.holds_back:
            self.go_on()

    def go_on(self) -> None:
        while self._waiting:
            self.answer_one()

    def answer_one(self) -> None:
        self._waiting.pop(0)[1]()

    def restart(self, then: Callable[..., None]) -> None:
        self._waiting.clear()
        self.holds_back = False
        self.service = EngineService(CpuOnly())
        for message, buffers in self.journal.replay():
            then(*self.service.handle(message, buffers))

    def forget(self) -> None:
        self.journal = SessionJournal()

    def permit(self, permission: Permission, then: Callable[..., None]) -> None:
        self.journal, self.confined = self.journal.permitted(permission), False
        self.restart(then)

    def _answer(self, message: m.Message, buffers: list[bytes], then: Callable[..., None]) -> None:
        reply, received = self.service.handle(message, buffers)
        self.journal = self.journal.after(message, buffers, reply, received)
        then(reply, received)

    def given(self) -> list[type[m.Message]]:
        return [type(each) for each in self.asked if isinstance(each, m.Open | m.Edit)]


@pytest.fixture
def tutorial() -> Document:
    return gradstep_file.load(EXAMPLES / "tutorial.gradstep")


@pytest.fixture
def debugger(qapp: object, tutorial: Document) -> Iterator[Debugger]:
    bridge: Any = Bridge()
    made = Debugger(bridge)
    made.show(tutorial, Permission.REFUSED, soon=False)
    made.flush()
    yield made
    made.deleteLater()


LOADED = 20_000  # milliseconds that a loaded machine may take


def bridge_of(debugger: Debugger) -> Bridge:
    bridge: Any = debugger._bridge
    return bridge


def edit(debugger: Debugger, document: Document) -> None:
    debugger.show(document, Permission.REFUSED)
    debugger.flush()


def holds(debugger: Debugger, document: Document) -> bool:
    """Whether the engine runs this document, and the window shows what it made of it."""
    loaded = bridge_of(debugger).service._loaded
    assert loaded is not None
    assert debugger.program is not None
    blocked = [(edge.op, edge.index) for edge in debugger.program.blocked]
    edges = document.request.stopped_edges
    return loaded.document.request == document.request and blocked == [
        (edge.op, edge.index) for edge in edges
    ]


def test_edits_are_sent_as_edits(debugger: Debugger, tutorial: Document) -> None:
    stopped = document_edits.toggle_stop(tutorial, Edge("a", 0))
    edit(debugger, stopped)
    assert holds(debugger, stopped)
    edit(debugger, tutorial)
    assert holds(debugger, tutorial)
    assert bridge_of(debugger).given() == [m.Open, m.Edit, m.Edit]
    debugger.show(stopped, Permission.REFUSED, soon=False)
    debugger.flush()
    assert bridge_of(debugger).given()[-1] is m.Open, "another document"


def test_what_looked_at_steps_do_comes_with_an_edit(
    debugger: Debugger, tutorial: Document, qtbot: Any
) -> None:
    bridge, said = bridge_of(debugger), debugger.notations
    said.text("a")
    qtbot.waitUntil(lambda: said.text("a") != "")
    seen: list[tuple[str, bool]] = []
    debugger.program_changed.connect(lambda: seen.append((said.text("a"), "a" in said._known)))
    edit(debugger, document_edits.rename_operation(tutorial, "e", "gain"))
    qtbot.wait(1)
    assert seen == [(said.text("a"), True)]
    assert "gain" in said.text("a")
    assert [type(each) for each in bridge.asked].count(m.Notate) == 1


def test_an_engine_that_holds_something_else_gets_the_whole(
    debugger: Debugger, tutorial: Document
) -> None:
    bridge_of(debugger).service = EngineService(CpuOnly())
    stopped = document_edits.toggle_stop(tutorial, Edge("a", 0))
    edit(debugger, stopped)
    assert bridge_of(debugger).given() == [m.Open, m.Edit, m.Open]
    assert holds(debugger, stopped)
    edit(debugger, tutorial)
    assert holds(debugger, tutorial)
    assert bridge_of(debugger).given()[-1] is m.Edit


def test_an_edit_that_was_on_its_way_to_an_engine_that_is_replaced_is_not_lost(
    debugger: Debugger, tutorial: Document
) -> None:
    bridge = bridge_of(debugger)
    bridge.holds_back = True
    stopped = document_edits.toggle_stop(tutorial, Edge("a", 0))
    edit(debugger, stopped)
    debugger.restart()
    assert holds(debugger, stopped)


@pytest.mark.parametrize("edits", [0, 1])
def test_a_document_that_was_on_its_way_there_stands_where_no_other_stood(
    debugger: Debugger, tutorial: Document, edits: int
) -> None:
    bridge, stopped = bridge_of(debugger), document_edits.toggle_stop(tutorial, Edge("a", 0))
    debugger.control("continue_")
    bridge.holds_back = True
    debugger.show(stopped, Permission.REFUSED, soon=False)
    debugger.flush()
    if edits:
        edit(debugger, tutorial)
    shown = list[object]()
    debugger.program_changed.connect(lambda: shown.append(debugger._document))
    debugger.restart()
    assert holds(debugger, tutorial if edits else stopped)
    assert debugger.stop is not None
    assert (debugger.stop.run, debugger.stop.step) == (0, 0)
    assert len(shown) == 1, "and nothing of the other document"


def test_nor_is_one_lost_where_the_user_decides_about_python_meanwhile(
    debugger: Debugger,
) -> None:
    bridge = bridge_of(debugger)
    bridge.confined = True
    custom = gradstep_file.load(EXAMPLES / "override_add.gradstep")
    debugger.show(custom, Permission.REFUSED, soon=False)
    debugger.flush()
    bridge.holds_back = True
    stopped = document_edits.toggle_stop(custom, Edge("a", 0))
    edit(debugger, stopped)
    debugger.retrust(Permission.FULL)  # in another process
    assert holds(debugger, stopped)


def test_after_an_edit_that_failed_the_whole_is_sent(
    debugger: Debugger, tutorial: Document
) -> None:
    debugger.use("gpu")  # which is not there
    assert debugger.program is None
    debugger.device = "cpu"
    edit(debugger, document_edits.toggle_stop(tutorial, Edge("a", 0)))
    assert bridge_of(debugger).given() == [m.Open, m.Edit, m.Open]
    assert debugger.program is not None


def test_a_restarted_engine_goes_on_with_edits(debugger: Debugger, tutorial: Document) -> None:
    stopped = document_edits.toggle_stop(tutorial, Edge("a", 0))
    edit(debugger, stopped)
    debugger.control("step")
    debugger.restart()
    assert holds(debugger, stopped)
    assert debugger.stop is not None
    assert debugger.stop.step == 1
    edit(debugger, tutorial)
    assert holds(debugger, tutorial)
    assert bridge_of(debugger).given() == [m.Open, m.Edit, m.Edit]


def test_expectations_of_what_the_engine_holds_are_checked_by_a_difference(
    debugger: Debugger, tutorial: Document
) -> None:
    bridge, replies = bridge_of(debugger), list[m.Message]()
    take: Any = lambda reply, buffers: replies.append(reply)  # noqa: E731
    debugger.request_of(tutorial, m.CheckExpectations(), take)
    bridge.service = EngineService(CpuOnly())
    debugger.request_of(tutorial, m.CheckExpectations(), take)
    asked = [each for each in bridge.asked if isinstance(each, m.CheckExpectations)]
    assert [each.base for each in asked] == [1, 1, -1]
    assert replies[0] == replies[1]
    assert isinstance(replies[0], m.Expectations)


def test_what_changed_makes_the_program_that_a_new_window_would_be_told(
    debugger: Debugger, tutorial: Document
) -> None:
    before = debugger.program
    assert before is not None
    steps = {step.op: step for step in before.steps}
    stopped = document_edits.toggle_stop(tutorial, Edge("a", 0))
    edit(debugger, stopped)
    fresh = EngineService(CpuOnly()).handle(m.Open(), [gradstep_file.to_bytes(stopped)])[0]
    assert isinstance(fresh, m.Opened)
    assert debugger.program is not None
    assert msgspec.structs.replace(debugger.program, number=fresh.program.number) == fresh.program
    assert all(step is steps[step.op] for step in debugger.program.steps), "and was told before"


def test_an_answer_about_another_program_brings_the_whole(
    debugger: Debugger, tutorial: Document
) -> None:
    stopped = document_edits.toggle_stop(tutorial, Edge("a", 0))
    told = bridge_of(debugger).service._told
    told.whole(bridge_of(debugger).service._session)  # which nobody heard
    edit(debugger, stopped)
    assert holds(debugger, stopped)
    assert bridge_of(debugger).given() == [m.Open, m.Edit, m.Open]


class StillAsking(CpuOnly):
    """The devices of a machine one of which answers the second time."""

    answers = 0

    def describe(self, patience_s: float) -> list[m.DeviceInfo]:
        self.answers += 1
        waits = self.answers == 1
        text = "still asking" if waits else "PyTorch 2.13"
        torch = m.DeviceInfo(
            name="torch:cuda", kind="torch", available=not waits, text=text, asking=waits or UNSET
        )
        return [*super().describe(patience_s), torch]


def test_a_device_that_has_not_answered_is_asked_about_again_and_then_no_more(
    qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debugger_module, "ASK_AGAIN", 1)
    bridge, devices = Bridge(), StillAsking()
    bridge.service = EngineService(devices)
    debugger = Debugger(bridge)
    said: list[str] = []
    debugger.devices_changed.connect(lambda: said.append(debugger.devices[-1].text))
    debugger.ask_devices()
    assert not debugger.devices[-1].available
    qtbot.waitUntil(lambda: debugger.devices[-1].available, timeout=20_000)
    qtbot.wait(20)
    assert said == ["still asking", "PyTorch 2.13"]
    assert devices.answers == 2


def looked_at(debugger: Debugger, qtbot: Any) -> Bridge:
    """An engine that was asked twice for words, and has answered neither."""
    bridge = bridge_of(debugger)
    debugger.control("run")
    bridge.holds_back = True
    for count, op in enumerate(("d", "loss")):
        debugger.notations.text(op)
        qtbot.waitUntil(lambda count=count: len(bridge._waiting) == count + 1)
    return bridge


def test_what_one_look_asks_for_is_told_at_once(debugger: Debugger, qtbot: Any) -> None:
    bridge = looked_at(debugger, qtbot)
    told: list[bool] = []
    debugger.values_changed.connect(lambda: told.append(bridge.is_read))
    bridge.answer_one()
    QTimer.singleShot(debugger_module.TICK * 2, bridge.answer_one)
    qtbot.waitUntil(lambda: bool(told))
    assert told == [False]


def test_what_is_here_does_not_wait_for_long(debugger: Debugger, qtbot: Any) -> None:
    bridge = looked_at(debugger, qtbot)
    told: list[bool] = []
    debugger.values_changed.connect(lambda: told.append(bridge.is_read))
    bridge.answer_one()
    qtbot.waitUntil(lambda: bool(told))
    assert told == [True]


def test_the_first_of_some_edits_is_given_at_once_and_the_last_at_a_pause(
    debugger: Debugger, tutorial: Document, qtbot: Any
) -> None:
    bridge = bridge_of(debugger)
    first, last = (document_edits.toggle_stop(tutorial, Edge(name, 0)) for name in "ae")
    qtbot.wait(2 * debugger_module.SETTLE)
    for document in (first, tutorial, last):
        debugger.show(document, Permission.REFUSED)
        QCoreApplication.processEvents()
        assert bridge.given() == [m.Open, m.Edit], "the first, and no other yet"
        assert holds(debugger, first)
    qtbot.waitUntil(lambda: debugger.is_idle)
    assert bridge.given() == [m.Open, m.Edit, m.Edit]
    assert holds(debugger, last)


def test_while_one_is_looked_at_no_other_is_given_at_once(
    debugger: Debugger, tutorial: Document, qtbot: Any
) -> None:
    bridge = bridge_of(debugger)
    bridge.holds_back = True
    for document in (document_edits.toggle_stop(tutorial, Edge("a", 0)), tutorial):
        qtbot.wait(2 * debugger_module.SETTLE)
        debugger.show(document, Permission.REFUSED)
        QCoreApplication.processEvents()
    assert bridge.given() == [m.Open, m.Edit]
    assert debugger.is_edited


def test_an_edit_and_its_answer_are_told_together_where_that_comes_soon(
    debugger: Debugger, tutorial: Document, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bridge, told = bridge_of(debugger), list[bool]()
    debugger.told.connect(lambda: told.append(debugger.awaits_program))
    stopped = document_edits.disconnect(tutorial, Edge("loss", 0))
    monkeypatch.setattr(debugger_module, "TOGETHER", LOADED)
    debugger._expected.setInterval(LOADED)
    for document in (stopped, tutorial):
        qtbot.wait(2 * debugger_module.SETTLE)
        told.clear()
        debugger.show(document, Permission.REFUSED)
        assert debugger.is_telling
        qtbot.waitUntil(lambda: debugger.is_idle)
        assert told == [False]
        assert not debugger.is_telling
    debugger._expected.setInterval(0)
    bridge.holds_back = True
    qtbot.wait(2 * debugger_module.SETTLE)
    debugger.show(stopped, Permission.REFUSED)
    qtbot.waitUntil(lambda: len(told) == 2)
    assert told[-1], "that of the edit alone, for nobody waits for long"
    assert not debugger.is_telling
    bridge.go_on()
    assert told[-1] is False


def test_nobody_waits_for_an_engine_that_took_long_with_the_last_edit(
    debugger: Debugger, tutorial: Document, qtbot: Any
) -> None:
    bridge = bridge_of(debugger)
    bridge.holds_back = True
    edit(debugger, document_edits.toggle_stop(tutorial, Edge("a", 0)))
    qtbot.wait(2 * debugger_module.SETTLE)
    bridge.go_on()
    debugger.show(tutorial, Permission.REFUSED)
    assert debugger.is_edited
    assert not debugger.is_telling


def test_an_edit_that_the_engine_need_not_know_of_is_told_at_once(
    debugger: Debugger, tutorial: Document, qtbot: Any
) -> None:
    told, debugger._answered = list[bool](), 0.0  # however long this machine took
    qtbot.wait(2 * debugger_module.SETTLE)
    debugger.told.connect(lambda: told.append(True))
    debugger.show(document_edits.move(tutorial, {"a": (1.0, 2.0)}), Permission.REFUSED)
    qtbot.waitUntil(lambda: bool(told))
    assert told == [True]
    assert bridge_of(debugger).given() == [m.Open]


def give_way(debugger: Debugger, times: int) -> None:
    """The engine gives the next questions up."""
    service, left = bridge_of(debugger).service, [times]

    def is_awaited(kinds: object) -> bool:
        left[0] -= 1
        return left[0] >= 0

    service._is_awaited = is_awaited


def test_what_gave_way_is_asked_again_as_long_as_it_is_wanted(debugger: Debugger) -> None:
    replies: list[m.Message] = []
    give_way(debugger, 2)
    wanted = [True, False]
    message = m.FindBottlenecks(wrt="c")
    debugger.request(message, (), lambda reply, _: replies.append(reply), lambda: wanted.pop(0))
    assert [*map(type, replies)] == [m.GaveWay], "who asked has gone on, and knows"
    assert bridge_of(debugger).asked.count(message) == 2
    give_way(debugger, 3)
    debugger.request(message, (), lambda reply, _: replies.append(reply))
    assert isinstance(replies[-1], m.Bottlenecks), "nothing is lost"
    assert bridge_of(debugger).asked.count(message) == 2 + 4


def test_what_gave_way_to_another_document_is_over(debugger: Debugger, tutorial: Document) -> None:
    """It would be answered of that one."""
    bridge, replies = bridge_of(debugger), list[m.Message]()
    bridge.holds_back = True
    message = m.FindBottlenecks(wrt="c")
    debugger.request(message, (), lambda reply, _: replies.append(reply))
    give_way(debugger, 1)
    debugger.show(tutorial, Permission.REFUSED, soon=False)
    bridge.answer_one()
    [reply] = replies
    assert isinstance(reply, m.Failed)
    assert reply.error.message == "it was given up, as another document was opened"
    assert bridge.asked.count(message) == 1


def test_nobody_waits_to_show_another_document(
    debugger: Debugger, tutorial: Document, qtbot: Any
) -> None:
    qtbot.wait(2 * debugger_module.SETTLE)
    edited = document_edits.toggle_stop(tutorial, Edge("a", 0))
    for document in (tutorial, None):
        debugger.show(edited, Permission.REFUSED)
        debugger._expected.start()
        assert debugger.is_telling
        debugger.show(document, Permission.REFUSED, soon=False)
        assert not debugger.is_telling


@pytest.mark.parametrize(
    "ask",
    [
        lambda debugger: debugger.check(),
        lambda debugger: debugger.check("a"),
        lambda debugger: debugger.compare(["tf-gpu"]),
        lambda debugger: debugger.compare_moments(m.Moment(run=0), m.Moment(run=1)),
    ],
)
def test_it_is_no_failure_of_another_document_that_a_check_gave_way_to_it(
    debugger: Debugger, tutorial: Document, ask: Callable[[Debugger], None]
) -> None:
    bridge, errors = bridge_of(debugger), list[object]()
    debugger.failed.connect(errors.append)
    bridge.holds_back = True
    ask(debugger)
    give_way(debugger, 1)
    debugger.show(tutorial, Permission.REFUSED, soon=False)
    bridge.answer_one()
    assert (debugger.failure, errors) == (None, [])
