"""Damaged, cut off and malicious files: one clear line, no memory taken, nothing written."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import IO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant
from gradstep.core.io.disk.memory_budget import Budget, OverBudgetError
from gradstep.core.io.native import gradstep_file, npy, zip_archive
from gradstep.core.io.native.zip_archive import Archive

GOOD = gradstep_file.to_bytes(Document(initial={"v": Constant(np.arange(100.0))}, title="good"))


@given(st.integers(0, len(GOOD) - 1))
def test_every_truncation_is_refused(size: int) -> None:
    with pytest.raises(GradstepError) as caught:
        gradstep_file.from_bytes(GOOD[:size], "cut.gradstep")
    assert caught.value.kind == "FileError"
    assert caught.value.hint


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_a_changed_byte_never_escapes_as_another_error(place: int, change: int) -> None:
    data = bytearray(GOOD)
    data[place] ^= change
    try:
        gradstep_file.from_bytes(bytes(data))
    except GradstepError as error:
        # Most changes are harmless or refused; of one it is that an array seems to be huge.
        assert error.kind in ("FileError", "MemoryLimitError")  # noqa: PT017


@given(st.binary(max_size=200))
def test_noise_is_refused(noise: bytes) -> None:
    with pytest.raises(GradstepError):
        gradstep_file.from_bytes(noise)


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "a\\x", "C:x"])
def test_names_that_point_outside_are_refused(name: str) -> None:
    with pytest.raises(GradstepError, match="points outside"):
        Archive(_zip({name: b""}))


def test_two_parts_of_one_name_are_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        zipped.writestr("a", b"1")
        with pytest.warns(UserWarning, match="Duplicate"):
            zipped.writestr("a", b"2")
    with pytest.raises(GradstepError, match="same name"):
        Archive(buffer.getvalue())


def test_too_many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_archive, "MAX_MEMBERS", 3)
    with pytest.raises(GradstepError, match="4 parts"):
        Archive(_zip({str(i): b"" for i in range(4)}))


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    data = _zip({"tensors/a.npy": b"\0" * (1 << 21)}, zipfile.ZIP_DEFLATED)
    with pytest.raises(OverBudgetError, match=r"2\.0 MiB of it for its parts") as caught:
        Archive(data, Budget(1 << 20))
    assert caught.value.needed == 1 << 21


def test_a_text_is_refused_whose_records_would_be_too_large() -> None:
    """By its length before it is unpacked, and else by how many values there are in it."""
    budget = Budget(8000)
    with pytest.raises(OverBudgetError, match=r"of text"):
        Archive(_zip({"a": b"x" * 1001}), budget).json("a")
    with pytest.raises(OverBudgetError, match="what a describes"):
        Archive(_zip({"a": b"[" * 1000}), Budget(8000)).json("a")
    assert len(Archive(_zip({"a": b"x" * 1000}), Budget(8000)).json("a")) == 1000


def test_a_part_that_many_name_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """64 tensors and 64 functions, one member each: one array, one text."""
    reads: list[str] = []
    read = npy.read

    def counted(stream: IO[bytes], size: int, where: str) -> np.ndarray:
        reads.append(where)
        return read(stream, size, where)

    value = Constant(np.arange(100.0))
    document = Document(feeds={f"x{i}:0": value for i in range(64)})
    data = gradstep_file.to_bytes(document)
    monkeypatch.setattr(npy, "read", counted)
    again = gradstep_file.from_bytes(data)
    assert len(reads) == 1
    assert len({feed.array.ctypes.data for feed in again.feeds.values()}) == 1
    assert not any(feed.array.flags.writeable for feed in again.feeds.values())
    found = Archive(_zip({"code/f.py": b"pass"}))
    assert found.text("code/f.py") is found.text("code/f.py")


def test_a_part_longer_than_it_says_is_not_read_on() -> None:
    data = bytearray(_zip({"a": b"x" * 1000}, zipfile.ZIP_DEFLATED))
    central = data.rindex(b"PK\x01\x02")
    data[central + 24 : central + 28] = struct.pack("<I", 10)  # the declared size
    with pytest.raises(GradstepError, match="a is damaged"):
        Archive(bytes(data)).text("a")


def test_a_huge_declared_array_takes_no_memory() -> None:
    header = npy.to_bytes(np.zeros((3, 7), np.float32)).replace(b"(3, 7)", b"(300000, 700000)")
    tracemalloc.start()
    with pytest.raises(GradstepError, match=r"declares float32\[300000, 700000\]"):
        Archive(_zip({"t.npy": header})).tensor("t.npy")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_objects_are_never_loaded() -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(GradstepError, match="Python objects"):
        Archive(_zip({"t.npy": buffer.getvalue()})).tensor("t.npy")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not a NumPy array"),
        (b"\x93NUMPY\x09\x00", "not a NumPy array"),
        (npy.to_bytes(np.zeros(3))[:-1], "bytes"),
        (npy.to_bytes(np.zeros(3)).replace(b"(3,)", b"(-3,)"), "impossible shape"),
        (npy.to_bytes(np.zeros(3)).replace(b"'<f8'", b"'<zz'"), "not a NumPy array"),
        (npy.to_bytes(np.zeros(3)).replace(b"(3,)", b"(3, "), "not a NumPy array"),
        (npy.to_bytes(np.zeros((0, 3))).replace(b"(0, 3), ", b"(0,9**9)"), "not a NumPy array"),
        (
            npy.to_bytes(np.zeros((0, 3))).replace(
                b"(0, 3), }          ", b"(0, 4611686018427387904)}"
            ),
            "impossible shape",
        ),
    ],
)
def test_bad_arrays(data: bytes, said: str) -> None:
    with pytest.raises(GradstepError, match=said):
        Archive(_zip({"t.npy": data})).tensor("t.npy")


def test_an_encrypted_or_odd_part_is_an_error_of_the_file() -> None:
    data = bytearray(_zip({"a": b"x"}))
    central = data.rindex(b"PK\x01\x02")
    data[central + 8] |= 1  # "encrypted"
    with pytest.raises(GradstepError, match="a is damaged"):
        Archive(bytes(data)).text("a")


def test_fortran_order_is_read_right(tmp_path: Path) -> None:
    array = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    np.save(tmp_path / "a.npy", array)
    read = Archive(_zip({"a.npy": (tmp_path / "a.npy").read_bytes()})).tensor("a.npy")
    np.testing.assert_array_equal(read, array)


def test_what_does_not_get_smaller_is_not_packed() -> None:
    """Weights as training leaves them; zeros, counts and text are, and all come back."""
    weights = np.random.default_rng(1).standard_normal(50_000, np.float32).tobytes()
    members = {
        "counts": np.arange(50_000).tobytes(),
        "half": bytes(len(weights)) + weights,
        "text": b'{"name": "layer", "inputs": []}' * 5_000,
        "weights": weights,
    }
    data = zip_archive.pack(members)
    with zipfile.ZipFile(io.BytesIO(data)) as zipped:
        kinds = {info.filename: info.compress_type for info in zipped.infolist()}
        assert {name: zipped.read(name) for name in members} == members
    packed = {name for name, kind in kinds.items() if kind == zipfile.ZIP_DEFLATED}
    assert packed == {"counts", "half", "text"}


def _zip(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as zipped:
        for name, data in members.items():
            zipped.writestr(name, data)
    return buffer.getvalue()
