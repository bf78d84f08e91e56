"""Framing on a byte stream: one typed message with its raw buffers is one packet.

A packet is `GRD1`, the header's length (uint32, little-endian), the header (msgpack: request
number, message, length of each buffer), and then the buffers themselves, back to back. A reply
bears the number of its request; an event bears 0.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from typing import IO, Any

import msgspec

from gradstep.core.errors import GradstepError
from gradstep.core.json_text import UNREADABLE
from gradstep.core.persistent.joined_sequence import Joined
from gradstep.core.protocol.messages import Event, Message, Reply, Request

MAGIC = b"GRD1"
EVENT = 0  # request number of a packet that nobody asked for
MAX_HEADER = 256 << 20  # bytes; a program of a million steps is described in less
MAX_BUFFERS = 1 << 20
MAX_BUFFER = 16 << 30  # bytes; more than any one tensor that is asked for

_BROKEN = "the engine's stream is broken"
_PREFIX = struct.Struct("<4sI")
_CHUNK = 16 << 20  # memory is taken as bytes arrive, not as they are announced

Buffer = bytes | bytearray | memoryview


class Envelope(msgspec.Struct, frozen=True, array_like=True):
    """The header of a packet."""

    request: int
    message: msgspec.Raw
    lengths: list[int]


@dataclass(frozen=True, slots=True)
class Packet:
    """One message as it came, with its buffers. size: bytes of all."""

    request: int
    message: Any
    buffers: tuple[Buffer, ...] = ()
    size: int = 0


class UnreadableMessageError(GradstepError):
    """A packet was whole, and its message none that is known here, as another version may send. The
    stream goes on behind it. request: its number."""

    def __init__(self, request: int, why: str) -> None:
        super().__init__(
            f"{_BROKEN}: a message that cannot be understood: {why}",
            kind="ProtocolError",
            hint="window and engine have to be of one version of Gradstep",
        )
        self.request = request


def write(
    stream: IO[bytes], message: Message, buffers: Sequence[Buffer] = (), request: int = EVENT
) -> int:
    """Send one packet; how many bytes that were. Raises GradstepError when it is too large to be
    read, OSError when nobody reads. Buffers are written as they are, without a copy; they must be
    contiguous."""
    views = [_bytes_of(buffer) for buffer in buffers]
    raw = msgspec.Raw(msgspec.msgpack.encode(message, enc_hook=plain))
    header = msgspec.msgpack.encode(Envelope(request, raw, [view.nbytes for view in views]))
    _check_header(len(header))
    _check_lengths([view.nbytes for view in views])
    stream.write(_PREFIX.pack(MAGIC, len(header)) + header)
    for view in views:
        stream.write(view)
    stream.flush()
    return _PREFIX.size + len(header) + sum(view.nbytes for view in views)


def read_request(stream: IO[bytes]) -> Packet | None:
    """The next request, or None where the stream ends between packets. Raises GradstepError
    (ProtocolError) for anything that is not a whole, well-formed packet; UnreadableMessageError,
    which is one, for what comes in such a packet and is no request."""
    return _read(stream, _decoder(Request))


def read_answer(stream: IO[bytes]) -> Packet | None:
    """The next reply or event; as `read_request`."""
    return _read(stream, _decoder(Reply, Event))


def read_one_of(stream: IO[bytes], kinds: Any, most: int = MAX_BUFFER) -> Packet | None:
    """The next packet, of which the message is one of `kinds`, a type, and the buffers have `most`
    bytes in all; as `read_request`."""
    return _read(stream, _decoder_of(kinds), most)


def plain(value: object) -> object:
    """What stands for `value` in a message that has no form of its own there."""
    if isinstance(value, Joined):
        return [*value]
    raise NotImplementedError(f"{type(value).__name__} in a message")


@cache
def _decoder_of(kinds: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(kinds)


@cache
def _decoder(*bases: type[Message]) -> msgspec.msgpack.Decoder[Any]:
    """Of every message that derives from one of these."""
    kinds: list[Any] = [kind for base in bases for kind in base.kinds()]
    return msgspec.msgpack.Decoder(reduce(or_, kinds))


_ENVELOPE = msgspec.msgpack.Decoder(Envelope)


def _read(stream: IO[bytes], decoder: msgspec.msgpack.Decoder[Any], most: int = 0) -> Packet | None:
    prefix = _up_to(stream, _PREFIX.size)
    if not prefix:
        return None
    envelope, size = _envelope(stream, prefix)
    _check_lengths(envelope.lengths)
    if most and sum(envelope.lengths) > most:
        raise _broken(f"buffers of {sum(envelope.lengths)} bytes; the limit is {most}")
    buffers = tuple(_exactly(stream, n) for n in envelope.lengths)
    try:
        message = decoder.decode(envelope.message)
    except UNREADABLE as error:
        raise UnreadableMessageError(envelope.request, str(error)) from None
    return Packet(envelope.request, message, buffers, size + sum(envelope.lengths))


def _envelope(stream: IO[bytes], prefix: Buffer) -> tuple[Envelope, int]:
    """The header of a packet, and how many bytes that and the prefix have."""
    if len(prefix) < _PREFIX.size:
        raise _truncated()
    magic, length = _PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise _broken(f"{bytes(prefix)!r} where a message should begin")
    _check_header(length)
    try:
        return _ENVELOPE.decode(_exactly(stream, length)), _PREFIX.size + length
    except UNREADABLE as error:
        raise _broken(f"a header that cannot be understood: {error}") from None


def _exactly(stream: IO[bytes], size: int) -> memoryview:
    data = _up_to(stream, size)
    if len(data) < size:
        raise _truncated()
    return memoryview(data)


def _up_to(stream: IO[bytes], size: int) -> bytearray:
    """`size` bytes, or fewer where the stream ends."""
    data = bytearray()
    while len(data) < size:
        start = len(data)
        data.extend(bytes(min(size - start, _CHUNK)))
        filled = _fill(stream, memoryview(data)[start:])
        if start + filled < len(data):
            return data[: start + filled]
    return data


def _fill(stream: IO[bytes], view: memoryview) -> int:
    done = 0
    while done < len(view):
        count = stream.readinto(view[done:])  # type: ignore[attr-defined]
        if not count:
            break
        done += count
    return done


def _bytes_of(buffer: Buffer) -> memoryview:
    view = memoryview(buffer)
    return view.cast("B") if view.nbytes else memoryview(b"")


def _check_header(length: int) -> None:
    if length > MAX_HEADER:
        raise _broken(f"a header of {length} bytes; the limit is {MAX_HEADER}")


def _check_lengths(lengths: Sequence[int]) -> None:
    if len(lengths) > MAX_BUFFERS:
        raise _broken(f"{len(lengths)} buffers in one message; the limit is {MAX_BUFFERS}")
    for length in lengths:
        if not 0 <= length <= MAX_BUFFER:
            raise _broken(f"a buffer of {length} bytes; the limit is {MAX_BUFFER}")


def _truncated() -> GradstepError:
    return _broken("the end of the stream in the middle of a message")


def _broken(what: str) -> GradstepError:
    return GradstepError(f"{_BROKEN}: {what}", kind="ProtocolError", hint="Restart engine")
