"""Packets: what is written is read; anything else is an error, never a hang or a wrong message."""

from __future__ import annotations

import contextlib
import io
from typing import get_args

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.errors import GradstepError
from gradstep.core.protocol import framing
from gradstep.core.protocol.messages import (
    BreakpointSpec,
    Compare,
    Control,
    ErrorInfo,
    Failed,
    ManageSessions,
    Message,
    Open,
    Output,
    Read,
    SetBreakpoints,
    Stats,
    TensorPart,
    Values,
)
from gradstep.core.protocol.vocabulary import SessionCommand

requests = st.one_of(
    st.builds(Open, trusted=st.booleans(), device=st.text()),
    st.builds(Control, command=st.text(), target=st.text()),
    st.builds(ManageSessions, command=st.sampled_from(get_args(SessionCommand))),
    st.builds(
        SetBreakpoints,
        breakpoints=st.lists(st.builds(BreakpointSpec, target=st.text(), condition=st.text())),
    ),
    st.builds(Read, refs=st.lists(st.text()), run=st.integers(-1, 1 << 40)),
    st.builds(Compare, against=st.lists(st.text())),
)
buffers = st.lists(st.binary(max_size=300), max_size=5)


def packed(message: Message, buffers: list[bytes], request: int = 0) -> bytes:
    stream = io.BytesIO()
    framing.write(stream, message, buffers, request)
    return stream.getvalue()


@given(requests, buffers, st.integers(0, 1 << 60))
def test_a_packet_comes_back_as_it_was_sent(
    message: Message, sent: list[bytes], number: int
) -> None:
    stream = io.BytesIO(packed(message, sent, number))
    packet = framing.read_request(stream)
    assert packet is not None
    assert (packet.message, packet.request) == (message, number)
    assert [bytes(buffer) for buffer in packet.buffers] == sent
    assert framing.read_request(stream) is None


@given(st.lists(st.tuples(requests, buffers), max_size=4))
def test_packets_follow_each_other(sent: list[tuple[Message, list[bytes]]]) -> None:
    stream = io.BytesIO(b"".join(packed(message, data) for message, data in sent))
    for message, data in sent:
        packet = framing.read_request(stream)
        assert packet is not None
        assert packet.message == message
        assert [bytes(buffer) for buffer in packet.buffers] == data
    assert framing.read_request(stream) is None


@given(requests, buffers, st.data())
def test_a_packet_that_was_cut_off_is_an_error(
    message: Message, sent: list[bytes], data: st.DataObject
) -> None:
    whole = packed(message, sent)
    cut = data.draw(st.integers(1, len(whole) - 1))
    with pytest.raises(GradstepError, match="stream is broken") as failure:
        framing.read_request(io.BytesIO(whole[:cut]))
    assert failure.value.kind == "ProtocolError"


@given(st.binary(min_size=1, max_size=400))
def test_garbage_is_an_error(garbage: bytes) -> None:
    with pytest.raises(GradstepError, match="stream is broken"):
        framing.read_request(io.BytesIO(garbage))


@given(requests, st.data())
def test_a_damaged_header_is_an_error_or_another_message(
    message: Message, data: st.DataObject
) -> None:
    whole = bytearray(packed(message, []))
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(GradstepError):  # and nothing else
        packet = framing.read_request(io.BytesIO(whole))
        assert packet is not None
        assert isinstance(packet.message, Message)


@pytest.mark.parametrize("length", [-1, framing.MAX_BUFFER + 1])
def test_absurd_lengths_are_refused_before_memory_is_taken(length: int) -> None:
    raw = msgspec.Raw(msgspec.msgpack.encode(Control(command="step")))
    header = msgspec.msgpack.encode(framing.Envelope(1, raw, [length]))
    stream = io.BytesIO(framing.MAGIC + len(header).to_bytes(4, "little") + header)
    with pytest.raises(GradstepError, match="a buffer of"):
        framing.read_request(stream)


def test_memory_is_taken_as_bytes_arrive() -> None:
    """A header that announces 8 GiB, and nothing behind it."""
    raw = msgspec.Raw(msgspec.msgpack.encode(Control(command="step")))
    header = msgspec.msgpack.encode(framing.Envelope(1, raw, [8 << 30]))
    stream = io.BytesIO(framing.MAGIC + len(header).to_bytes(4, "little") + header)
    with pytest.raises(GradstepError, match="end of the stream"):
        framing.read_request(stream)


def test_a_reply_is_not_a_request() -> None:
    with pytest.raises(GradstepError, match="cannot be understood"):
        framing.read_request(io.BytesIO(packed(Output(text="hello"), [])))


def test_a_word_of_another_version_is_named_and_the_next_message_read() -> None:
    newer = [ManageSessions(command="swap"), Control(command="step")]  # type: ignore[arg-type]
    stream = io.BytesIO(b"".join(packed(m, [b"buffer"], i) for i, m in enumerate(newer, 7)))
    with pytest.raises(
        framing.UnreadableMessageError, match=r"'swap' - at `\$\.command`"
    ) as caught:
        framing.read_request(stream)
    assert caught.value.request == 7
    assert "one version" in caught.value.hint
    packet = framing.read_request(stream)
    assert packet is not None
    assert packet.message == newer[1]
    state = TensorPart(ref="x:0", state="stale")  # type: ignore[arg-type]
    with pytest.raises(GradstepError, match="'stale'"):
        framing.read_answer(io.BytesIO(packed(Values(parts=[state]), [])))


def test_replies_keep_nan_and_infinity() -> None:
    stats = Stats(minimum=float("-inf"), mean=float("nan"), nans=2)
    sent = Values(parts=[TensorPart(ref="x:0", state="known", stats=stats)])
    packet = framing.read_answer(io.BytesIO(packed(sent, [])))
    assert packet is not None
    back = packet.message.parts[0].stats
    assert back.minimum == float("-inf")
    assert np.isnan(back.mean)


def test_arrays_are_sent_as_they_are() -> None:
    array = np.arange(12, dtype=np.float32)
    stream = io.BytesIO(packed(Failed(error=ErrorInfo(type="a", message="b")), [array.data]))
    packet = framing.read_answer(stream)
    assert packet is not None
    np.testing.assert_array_equal(np.frombuffer(packet.buffers[0], np.float32), array)
