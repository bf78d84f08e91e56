"""What an engine makes of the answers that it waits for, whatever they are."""

from __future__ import annotations

import threading
import time

import msgspec
import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.host.borrowed_files import BorrowedFiles
from gradstep.core.protocol import messages as m

FLOATS = TensorType(DType.FLOAT32, Shape.of(None, 2))


def borrowed(reply: m.FileRows, *buffers: bytes, number: int = 1) -> BorrowedFiles:
    """Asked once, it is answered so, under that number."""

    def answer(wanted: m.FileWanted) -> None:
        files.supply(msgspec.structs.replace(reply, number=number), buffers)
        files.supply(m.FileRows(number=wanted.number, dtype="int8", shape=[1]), [b"\x07"])

    files = BorrowedFiles(answer, lambda: False)
    return files


def test_rows_are_as_they_were_sent() -> None:
    rows = np.arange(4, dtype="<f8").tobytes()
    found = borrowed(m.FileRows(number=0, dtype="float64", shape=[2, 2]), rows).rows("@a", FLOATS)
    np.testing.assert_array_equal(found, [[0.0, 1.0], [2.0, 3.0]])
    assert not found.flags.writeable


def test_texts_stay_texts_and_bytes_bytes() -> None:
    sent = msgspec.msgpack.encode(["a", b"b"])
    found = borrowed(m.FileRows(number=0, dtype="string", shape=[2]), sent).rows("@a", FLOATS)
    assert found.tolist() == ["a", b"b"]


def test_the_answer_to_a_question_that_was_given_up_is_passed_over() -> None:
    old = m.FileRows(number=0, dtype="int8", shape=[1])
    found = borrowed(old, b"\x01", number=99).rows("@a", FLOATS)
    assert found.tolist() == [7]


@pytest.mark.parametrize(
    ("reply", "buffers"),
    [
        (m.FileRows(number=0, dtype="float64", shape=[3]), [bytes(16)]),
        (m.FileRows(number=0, dtype="float64", shape=[-1, 2]), [bytes(16)]),
        (m.FileRows(number=0, dtype="float64", shape=[1 << 40, 1 << 40]), [bytes(16)]),
        (m.FileRows(number=0, dtype="float65", shape=[2]), [bytes(16)]),
        (m.FileRows(number=0, dtype="string", shape=[2]), [b"\xc1"]),
        (m.FileRows(number=0, dtype="string", shape=[2]), [msgspec.msgpack.encode(["a"])]),
        (m.FileRows(number=0, dtype="float64", shape=[2]), []),
    ],
)
def test_what_is_no_array_is_said(reply: m.FileRows, buffers: list[bytes]) -> None:
    with pytest.raises(GradstepError, match="no array"):
        borrowed(reply, *buffers).rows("@a", FLOATS)


def test_a_pause_ends_the_waiting() -> None:
    over = threading.Event()
    files = BorrowedFiles(lambda wanted: None, over.is_set)
    threading.Timer(0.2, over.set).start()
    began = time.monotonic()
    with pytest.raises(GradstepError, match="was not waited for"):
        files.stamp("@a.csv")
    assert 0.1 < time.monotonic() - began < 10
