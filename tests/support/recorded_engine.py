"""The engine's side of a recording, as a process in an engine's place: `python recorded_engine.py
FILE` answers each request as it was answered then, and one that nobody made then with Failed.

Requests are known by what they say, without their buffers, and without what is looked at, which
hangs on what is painted when. The same one, made again, gets the next answer that it got, at the
end the last one. Nothing runs: it only says again what was said.
"""

from __future__ import annotations

import sys
from collections import deque
from pathlib import Path

import msgspec
from msgspec import structs

from gradstep.core.protocol import framing
from gradstep.core.protocol.framing import Packet
from gradstep.core.protocol.message_base import kind_of
from gradstep.core.protocol.message_recording import read_recording
from gradstep.core.protocol.messages import Control, Edit, ErrorInfo, Failed, Message


def engine_of(recording: Path) -> list[str]:
    """The command that starts it."""
    return [sys.executable, "-P", __file__, str(recording)]


class RecordedEngine:
    """Answers of a recording, by request."""

    def __init__(self, recording: Path) -> None:
        packets = read_recording(recording)
        answers = {r.packet.request: r.packet for r in packets if not r.is_request}
        self._answers: dict[bytes, deque[Packet]] = {}
        for request in (r.packet for r in packets if r.is_request):
            if request.request in answers:
                known = self._answers.setdefault(_key(request.message), deque())
                known.append(answers[request.request])

    def answer(self, message: Message) -> Packet:
        """What `message` is answered with; its number is that of then."""
        known = self._answers.get(_key(message))
        if known is None:
            text = f"nobody asked {kind_of(message)} like this in the recording"
            return Packet(0, Failed(error=ErrorInfo(type="LookupError", message=text)))
        return known.popleft() if len(known) > 1 else known[0]


def _key(message: Message) -> bytes:
    if isinstance(message, Control | Edit):
        message = structs.replace(message, look=None)
    return msgspec.msgpack.encode(message)


def main(recording: Path) -> None:
    engine = RecordedEngine(recording)
    while (packet := framing.read_request(sys.stdin.buffer)) is not None:
        reply = engine.answer(packet.message)
        framing.write(sys.stdout.buffer, reply.message, reply.buffers, packet.request)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
