"""docs/adding-a-message.md, followed to the letter: its question, asked from a workspace, through
the pipe, of an engine."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from PySide6.QtCore import QTimer

from gradstep.core.graph.model import TensorRef
from gradstep.core.host import engine_service
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.tensor_statistics import summarize
from gradstep.core.io.native.gradstep_file import load
from gradstep.core.protocol import framing, messages, queries
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import Failed, Message
from gradstep.gui.commands import ask_structure
from gradstep.gui.model.engine_bridge import EngineBridge
from gradstep.gui.model.workspace import Workspace
from tests.support.deleting import delete

PAGE = (Path(__file__).parents[2] / "docs" / "adding-a-message.md").read_text(encoding="utf-8")
RECORDS, METHOD, ROW, COMMAND = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
NAMES = re.findall(r"^class (\w+)\(", RECORDS, re.MULTILINE)


class PipedService(EngineBridge):
    """An engine in the test's own process; what is said to it and what it answers goes through the
    same packets."""

    def start(self) -> None:
        self._service = EngineService(CpuOnly())
        self._set_state("ready")

    def send(self, message: Message, buffers: Sequence[Buffer] = (), then: Any = None) -> None:
        self._waiting.append(message)
        asked = _through_pipe(framing.read_request, message, buffers)
        answer = _through_pipe(framing.read_answer, *self._service.handle(*asked))
        QTimer.singleShot(0, self, partial(self._answered, message, then or _ignore, *answer))


def _ignore(*args: object) -> None:
    pass


def _through_pipe(
    read: Callable[[Any], framing.Packet | None], message: Message, buffers: Sequence[Buffer]
) -> tuple[Message, tuple[Buffer, ...]]:
    pipe = io.BytesIO()
    framing.write(pipe, message, buffers)
    pipe.seek(0)
    packet = read(pipe)
    assert packet is not None
    return packet.message, packet.buffers


@cache
def _made() -> dict[str, Any]:
    """The page's two records. Made once: msgspec keeps what it has decoded."""
    here: dict[str, Any] = dict(vars(queries))
    exec(RECORDS, here)
    framing._decoder.cache_clear()
    return {name: here[name] for name in NAMES}


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    for name, kind in _made().items():
        monkeypatch.setattr(messages, name, kind, raising=False)
    return _made()


@pytest.fixture
def answered(records: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's method, and its row."""
    here = {**vars(engine_service), "summarize": summarize, "TensorRef": TensorRef}
    exec(dedent(METHOD), here)
    ((request, method),) = eval(f"{{{ROW}}}", here).items()
    monkeypatch.setitem(EngineService._HANDLERS, request, method)


@pytest.fixture
def command(records: dict[str, Any]) -> Callable[[Workspace], None]:
    here = {**vars(ask_structure), **records}
    exec(COMMAND, here)
    made: Callable[[Workspace], None] = here["select_largest"]
    return made


@pytest.fixture
def space(qtbot: Any, monkeypatch: pytest.MonkeyPatch, examples: Path) -> Iterator[Workspace]:
    """The tutorial, as it is opened."""
    monkeypatch.setattr("gradstep.gui.model.workspace.EngineBridge", PipedService)
    made = Workspace()
    made.start()
    made.open_document(load(examples / "tutorial.gradstep"))
    qtbot.waitUntil(lambda: made.stop is not None and made.is_idle)
    yield made
    made.close()
    delete(made)


@pytest.mark.usefixtures("answered")
def test_the_pages_question_is_answered(
    space: Workspace, command: Callable[[Workspace], None], qtbot: Any
) -> None:
    told: list[tuple[str, str]] = []
    space.message.connect(lambda kind, text: told.append((kind, text)))
    space.select([])
    space.control("continue_")
    qtbot.waitUntil(lambda: space.stop is not None and space.stop.reason == "end")
    command(space)
    qtbot.waitUntil(lambda: bool(told))
    assert told == [("note", "data holds the largest number: 2")]
    assert space.selection == ("data",)


@pytest.mark.usefixtures("records")
def test_without_its_row_it_is_not() -> None:
    with pytest.raises(KeyError):
        EngineService(CpuOnly()).handle(messages.FindLargest(refs=[]))  # type: ignore[attr-defined]


@pytest.mark.usefixtures("answered")
def test_nothing_is_open(records: dict[str, Any]) -> None:
    request = _through_pipe(framing.read_request, records["FindLargest"](refs=["a:0"]), ())
    reply, _ = EngineService(CpuOnly()).handle(*request)
    assert isinstance(reply, Failed)
    assert reply.error.message == "no document is open"


def test_the_page_names_every_file_that_it_touches() -> None:
    for path in re.findall(r"\]\(\.\./([\w/]+\.py)\)", PAGE):
        assert (Path(__file__).parents[2] / path).is_file()
