"""docs/adding-a-message.md, followed to the letter: its question, asked from a workspace, through
the pipe, of an engine."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from gradstep.core.cancellation import check_cancelled
from gradstep.core.graph.model import TensorRef
from gradstep.core.host import engine_service
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.tensor_statistics import summarize
from gradstep.core.protocol import framing, messages, queries
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import Failed, Message
from gradstep.gui.commands import select_cuts_and_repeats
from gradstep.gui.model.workspace import Workspace

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "adding-a-message.md").read_text(encoding="utf-8")
RECORDS, METHOD, ROW, COMMAND = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
NAMES = re.findall(r"^class (\w+)\(", RECORDS, re.MULTILINE)


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
    named = {"summarize": summarize, "TensorRef": TensorRef, "check_cancelled": check_cancelled}
    here = {**vars(engine_service), **named}
    exec(dedent(METHOD), here)
    ((request, method),) = eval(f"{{{ROW}}}", here).items()
    monkeypatch.setitem(EngineService._HANDLERS, request, method)


@pytest.fixture
def command(records: dict[str, Any]) -> Callable[[Workspace], None]:
    here = {**vars(select_cuts_and_repeats), **records}
    exec(COMMAND, here)
    made: Callable[[Workspace], None] = here["select_largest"]
    return made


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said to the engine, and what it answers, goes through the pipe's packets."""
    handle = EngineService.handle

    def answer(
        service: EngineService, message: Message, buffers: Sequence[Buffer] = ()
    ) -> tuple[Message, tuple[Buffer, ...]]:
        asked = _through_pipe(framing.read_request, message, buffers)
        return _through_pipe(framing.read_answer, *handle(service, *asked))

    monkeypatch.setattr(EngineService, "handle", answer)


@pytest.mark.usefixtures("answered", "piped")
def test_the_pages_question_is_answered(bench: Any, command: Callable[[Workspace], None]) -> None:
    bench.open("tutorial")
    bench.space.select([])
    bench.run("continue_")
    command(bench.space)
    assert bench.messages == ["data holds the largest number: 2"]
    assert bench.space.selection == ("data",)


@pytest.mark.usefixtures("records")
def test_without_its_row_it_is_not() -> None:
    with pytest.raises(KeyError):
        EngineService(CpuOnly()).handle(messages.FindLargest(refs=[]))  # type: ignore[attr-defined]


@pytest.mark.usefixtures("answered", "piped")
def test_nothing_is_open(records: dict[str, Any]) -> None:
    reply, _ = EngineService(CpuOnly()).handle(records["FindLargest"](refs=["a:0"]))
    assert isinstance(reply, Failed)
    assert reply.error.message == "no document is open"


def test_the_page_names_files_that_are_there() -> None:
    for path in re.findall(r"\]\(\.\./([\w/]+\.py)\)", PAGE):
        assert (ROOT / path).is_file()
