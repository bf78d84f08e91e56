"""The recording of a walk through the window, played to an engine service anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.host import stop_view
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.framing import Packet
from gradstep.core.protocol.message_recording import MessageRecorder, read_recording
from tests.support.replaying import differences

RECORDING = Path(__file__).parents[2] / "data" / "recordings" / "tutorial.rec"
# No value is left out because a busy machine took too long for it.
pytestmark = pytest.mark.usefixtures("patient")
MAKE_ANEW = "if that is meant: python -m tests.gui.recorded_walk makes the recording anew"


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stop_view, "BLINK", 60.0)


def test_the_engine_answers_as_it_was_recorded() -> None:
    found = differences(RECORDING, EngineService(CpuOnly()))
    assert not found, MAKE_ANEW


def test_a_recording_has_a_real_walk() -> None:
    requests = [r.packet.message for r in read_recording(RECORDING) if r.is_request]
    commands = [r.command for r in requests if isinstance(r, m.Control)]
    assert {"step", "continue_", "step_back"} <= {*commands}
    assert [type(r) for r in requests if isinstance(r, m.Open | m.Edit)] == [m.Open, m.Edit]


def test_another_answer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = EngineService.handle

    def wrong(self: EngineService, message: m.Message, buffers: Any = ()) -> Any:
        reply, sent = real(self, message, buffers)
        if isinstance(reply, m.Values):
            sent = (b"\x00\x00\x80\x3f" * 2, *sent[1:])
        elif isinstance(reply, m.Stopped) and reply.reason == "breakpoint":
            reply = m.Stopped(reason="step", run=0, step=0, runs=1)
        return reply, sent

    monkeypatch.setattr(EngineService, "handle", wrong)
    found = "\n".join(differences(RECORDING, EngineService(CpuOnly())))
    assert "Values" not in found
    assert "Read: data:0 is [1. 1.]" in found
    assert "Control.reason: step, and was breakpoint" in found


def test_no_python_runs_however_trusted_it_was(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    source = f"def f(x):\n    return x\nopen({str(mark)!r}, 'w').close()\n"
    builder = GraphBuilder()
    builder.one("PyFunc", builder.constant([1.0], name="a"), token="f", Tout=["float32"])
    document = Document(graph=builder.build(), code={"f": CodeItem("f", CodeKind.PYFUNC, source)})
    path = tmp_path / "a.rec"
    recorder = MessageRecorder(path.open("wb"))
    for number, message in enumerate(
        (m.Open(trusted=True), m.Control(command="continue_"), m.CheckExpectations(trusted=True))
    ):
        recorder.add_request(message, [gradstep_file.to_bytes(document)], number)
        recorder.add_answer(Packet(number, m.Done()))
    recorder.close()
    assert differences(path, EngineService(CpuOnly()))
    assert not mark.exists()
    EngineService(CpuOnly()).handle(m.Open(trusted=True), [gradstep_file.to_bytes(document)])
    assert mark.exists()  # so it would have been seen
