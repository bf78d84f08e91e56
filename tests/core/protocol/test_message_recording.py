"""A recording of messages: what it holds, where it ends, and what is none."""

from __future__ import annotations

import io
import stat
from pathlib import Path

import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.protocol import message_recording
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.framing import Packet
from gradstep.core.protocol.message_recording import (
    MessageRecorder,
    Recorded,
    read_recording,
    start_recording,
)

OPEN, OPENED = m.Control(command="step"), m.Output(text="printed")


def _recorded(path: Path, largest: int = message_recording.LARGEST) -> list[Recorded]:
    recorder = MessageRecorder(path.open("wb"), largest)
    recorder.add_request(m.Open(trusted=True), [b"document", b""], 1)
    recorder.add_answer(Packet(0, OPENED))
    recorder.add_answer(Packet(1, m.Done(), (b"\x00\x01",)))
    recorder.add_request(OPEN, (), 2)
    recorder.close()
    recorder.add_request(OPEN, (), 3)  # nobody listens any more
    return read_recording(path)


def test_packets_come_back_in_order_with_their_times(tmp_path: Path) -> None:
    found = _recorded(tmp_path / "a.rec")
    assert [(r.is_request, r.packet.request) for r in found] == [
        (True, 1), (False, 0), (False, 1), (True, 2),
    ]  # fmt: skip
    assert [r.packet.message for r in found] == [m.Open(trusted=True), OPENED, m.Done(), OPEN]
    assert [[*map(bytes, r.packet.buffers)] for r in found[:3]] == [
        [b"document", b""], [], [b"\x00\x01"],
    ]  # fmt: skip
    times = [r.seconds for r in found]
    assert times == sorted(times)
    assert times[0] >= 0


def test_it_is_bounded(tmp_path: Path) -> None:
    whole = [r.packet for r in _recorded(tmp_path / "whole.rec")]
    size, path = (tmp_path / "whole.rec").stat().st_size, tmp_path / "a.rec"
    assert [r.packet for r in _recorded(path, size + 9)] == whole
    for largest in (size + 8, size - 9, 100):
        cut = [r.packet for r in _recorded(path, largest)]
        assert cut == whole[: len(cut)] != whole
        assert path.stat().st_size <= largest


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: b"GRADSTEP RECORDING 2\n" + data[21:], "does not begin as one"),
        (lambda data: data[:21] + b"x" + data[22:], "b'x' where a packet should begin"),
        (lambda data: data[:-3], "the end of the stream in the middle of a message"),
        (lambda data: data[:21] + b"<" + data[22:], "a message that cannot be understood"),
        (lambda data: data[:30] + b"\xff" * 8 + data[38:], "where a message should begin"),
        (lambda data: data[:34] + b"\xff" * 4 + data[38:], "a header of 4294967295 bytes"),
    ],
)
def test_what_is_none_is_refused_as_on_the_pipe(tmp_path: Path, change, said: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "a.rec"
    _recorded(path)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(GradstepError) as caught:
        read_recording(path)
    assert said in caught.value.message


def test_there_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(GradstepError, match="No such file"):
        read_recording(tmp_path / "none.rec")


def test_each_engine_has_a_file_that_its_owner_alone_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(message_recording.VARIABLE, raising=False)
    assert start_recording() is None
    monkeypatch.setenv(message_recording.VARIABLE, str(tmp_path / "talk.rec"))
    monkeypatch.setattr(message_recording, "_numbers", iter((1, 2)))
    for _ in range(2):
        recorder = start_recording()
        assert recorder is not None
        recorder.add_request(OPEN, (), 1)
        recorder.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["talk-2.rec", "talk.rec"]
    assert stat.S_IMODE((tmp_path / "talk.rec").stat().st_mode) == 0o600


def test_nothing_else_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    document = tmp_path / "mine.gradstep"
    document.write_bytes(b"PK work")
    said = []
    for path in (document, tmp_path, tmp_path / "no" / "folder"):
        monkeypatch.setattr(message_recording, "_numbers", iter((1,)))
        monkeypatch.setenv(message_recording.VARIABLE, str(path))
        assert start_recording() is None
        said.append(caplog.messages[-1])
    assert document.read_bytes() == b"PK work"
    assert "is a file of another kind" in said[0]
    assert "No such file" in said[2]


def test_a_full_disk_ends_the_recording_alone() -> None:
    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            raise OSError(28, "No space left on device")

    recorder = MessageRecorder(Full())
    recorder.add_request(OPEN, (), 1)
    recorder.close()
