r"""What a window and its engine said to each other, in a file: GRADSTEP_RECORD=FILE keeps it.

The file begins with `GRADSTEP RECORDING 1\n`. Then, for each packet, in the order in which the
window sent or got it: one byte (`>` a request, `<` a reply or an event), the seconds since the
recording began (float64, little-endian), and the packet as it is on the pipe (see
gradstep.core.protocol.framing). `.` in that byte's place says that there was more than LARGEST
bytes, and that the rest is missing. The first engine process of a window's process writes to FILE,
the second one to FILE-2 (`talk-2.rec` of `talk.rec`), and so on. It holds the documents that were
open, whole: nobody but its owner may read it.

Reading one decodes it as the engine and the window decode what comes over the pipe, within the same
limits; it runs nothing.
"""

from __future__ import annotations

import io
import itertools
import logging
import os
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from gradstep.core.errors import GradstepError
from gradstep.core.protocol import framing
from gradstep.core.protocol.framing import Buffer, Packet
from gradstep.core.protocol.messages import Message

VARIABLE = "GRADSTEP_RECORD"
LARGEST = 256 << 20  # bytes of a recording
_MAGIC = b"GRADSTEP RECORDING 1\n"
_HEAD = struct.Struct("<cd")
_REQUEST, _ANSWER, _CUT = b">", b"<", b"."

_LOG = logging.getLogger("gradstep.host")
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Recorded:
    """One packet, and when it passed: seconds since the recording began."""

    seconds: float
    is_request: bool
    packet: Packet


class MessageRecorder:
    """Writes a recording; from any thread. What cannot be written is said in the log, and ends
    it: the session goes on."""

    def __init__(self, stream: IO[bytes], largest: int = LARGEST) -> None:
        self._stream: IO[bytes] | None = stream
        self._largest = largest
        self._left = largest - len(_MAGIC) - _HEAD.size  # the last one for _CUT
        self._lock = threading.Lock()
        self._start = time.perf_counter()
        self._put(_MAGIC)

    def add_request(self, message: Message, buffers: Sequence[Buffer], number: int) -> None:
        """The window is about to send this."""
        self._add(_REQUEST, message, buffers, number)

    def add_answer(self, packet: Packet) -> None:
        """The window got this."""
        self._add(_ANSWER, packet.message, packet.buffers, packet.request)

    def close(self) -> None:
        """Nothing more comes."""
        with self._lock:
            self._end()

    def _add(self, kind: bytes, message: Message, buffers: Sequence[Buffer], number: int) -> None:
        with self._lock:
            if self._stream is None:
                return
            packet = io.BytesIO()
            framing.write(packet, message, buffers, number)
            seconds = time.perf_counter() - self._start
            self._left -= _HEAD.size + packet.getbuffer().nbytes
            if self._left < 0:
                _LOG.warning("the recording ends here: it may have %d bytes", self._largest)
                self._put(_HEAD.pack(_CUT, seconds))
                self._end()
            else:
                self._put(_HEAD.pack(kind, seconds) + packet.getbuffer())

    def _put(self, data: bytes) -> None:
        try:
            if self._stream is not None:
                self._stream.write(data)
                self._stream.flush()
        except OSError as error:
            _LOG.warning("the recording could not be written: %s", error.strerror)
            self._end()

    def _end(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            with suppress(OSError):
                stream.close()


def start_recording() -> MessageRecorder | None:
    """A recording of what is said to the engine that is about to be started, where GRADSTEP_RECORD
    names a file for it."""
    name = os.environ.get(VARIABLE, "")
    if not name:
        return None
    path, number = Path(name), next(_numbers)
    if number > 1:
        path = path.with_name(f"{path.stem}-{number}{path.suffix}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    try:
        if not _may_be_replaced(path):
            _LOG.warning("there is no recording: %s is a file of another kind", path)
            return None
        return MessageRecorder(os.fdopen(os.open(path, flags, 0o600), "wb"))
    except OSError as error:
        _LOG.warning("there is no recording: %s: %s", path, error.strerror)
        return None


def _may_be_replaced(path: Path) -> bool:
    """Whether nothing is there, or a recording."""
    if not path.exists():
        return True
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(len(_MAGIC)) in (b"", _MAGIC)


def read_recording(path: Path) -> list[Recorded]:
    """All that a recording holds, up to where it was cut off. Raises GradstepError (ProtocolError,
    FileError) for what is none."""
    try:
        with closing(path.open("rb")) as stream:
            if os.fstat(stream.fileno()).st_size > LARGEST:
                raise _no_recording(path, f"it has more than {LARGEST} bytes")
            if stream.read(len(_MAGIC)) != _MAGIC:
                raise _no_recording(path, "it does not begin as one")
            return list(_packets(stream, path))
    except OSError as error:
        raise _no_recording(path, error.strerror or str(error)) from None


def _packets(stream: IO[bytes], path: Path) -> Iterator[Recorded]:
    while len(head := stream.read(_HEAD.size)) == _HEAD.size:
        kind, seconds = _HEAD.unpack(head)
        if kind == _CUT:
            return
        if kind not in (_REQUEST, _ANSWER):
            raise _no_recording(path, f"{kind!r} where a packet should begin")
        is_request = kind == _REQUEST
        packet = framing.read_request(stream) if is_request else framing.read_answer(stream)
        if packet is None:
            return
        yield Recorded(seconds, is_request, packet)


def _no_recording(path: Path, why: str) -> GradstepError:
    return GradstepError(
        f"{path} is no recording: {why}",
        kind="FileError",
        hint=f"{VARIABLE}=FILE writes one while the window is used",
    )
