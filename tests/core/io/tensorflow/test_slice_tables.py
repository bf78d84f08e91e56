"""Checkpoints of TensorFlow's first version are read as it wrote them, and damage is said."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.memory_budget import Budget, OverBudgetError
from gradstep.core.io.tensorflow.graphdef_proto import message
from gradstep.core.io.tensorflow.ordered_code import Extent, slice_key
from gradstep.core.io.tensorflow.packed_values import varints
from gradstep.core.io.tensorflow.slice_tables import SliceTables, is_slice_table
from gradstep.core.io.tensorflow.sorted_table_writer import table_bytes
from gradstep.core.ops.formats.protobuf import bytes_field, varint

SAMPLES = Path(__file__).parents[3] / "data" / "checkpoints" / "first_version.zip"
THEIRS = {
    "saver": "model.ckpt-2",
    "partitioned": "model.ckpt",
    "sharded": "model.ckpt",
    "types": "all",
}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each checkpoint that TensorFlow wrote."""
    folder = tmp_path_factory.mktemp("first")
    with zipfile.ZipFile(SAMPLES) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.parametrize(("folder", "name"), THEIRS.items())
def test_what_tensorflow_wrote_is_read(theirs: Path, folder: str, name: str) -> None:
    path = theirs / folder / name
    assert is_slice_table(path)
    tables = SliceTables(str(path), Budget())
    with np.load(theirs / folder / "expected.npz") as expected:
        there = {key.replace("|", "/"): expected[key] for key in expected}
    assert sorted(tables.names) == sorted(there)
    for key, array in there.items():
        found = tables.read(key)
        assert tables.type_of(key) == (found.dtype, found.shape)
        if array.dtype.kind == "S":
            assert found.tolist() == array.tolist()
        else:
            assert (found.dtype, found.shape) == (array.dtype, array.shape)
            assert found.tobytes() == array.tobytes(), key


@pytest.mark.parametrize("name", ["model.ckpt-00001-of-00002", "model.ckpt-?????-of-00002"])
def test_a_part_stands_for_all(theirs: Path, name: str) -> None:
    assert sorted(SliceTables(str(theirs / "sharded" / name), Budget()).names) == ["a", "b"]


def test_a_part_that_is_not_there_is_named(theirs: Path, tmp_path: Path) -> None:
    first = "model.ckpt-00000-of-00002"
    (tmp_path / first).write_bytes((theirs / "sharded" / first).read_bytes())
    with pytest.raises(GradstepError, match=r"model\.ckpt-00001-of-00002: there is no such file"):
        SliceTables(str(tmp_path / first), Budget())


def test_other_files_are_none(theirs: Path, tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(b"W")
    for path in (tmp_path, tmp_path / "short", tmp_path / "none", theirs / "types/expected.npz"):
        assert not is_slice_table(path)


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["saver", "types"])
def test_a_byte_that_changed_is_noticed_or_says_nothing(
    theirs: Path, tmp_path: Path, folder: str
) -> None:
    content = (theirs / folder / THEIRS[folder]).read_bytes()
    path = tmp_path / "some.ckpt"
    path.write_bytes(content)
    whole = everything(path)
    for at in range(0, len(content), 3):
        changed = bytearray(content)
        changed[at] ^= 1 << at % 8
        path.write_bytes(changed)
        try:
            found = everything(path)
        except GradstepError as error:
            said = error.message
        else:
            assert found == whole
            continue
        assert "\n" not in said
        assert "some.ckpt" in said


def everything(path: Path) -> dict[str, object]:
    tables = SliceTables(str(path), Budget())
    arrays = {name: tables.read(name) for name in tables.names}
    return {
        name: (array.dtype, array.tolist() if array.dtype == object else array.tobytes())
        for name, array in arrays.items()
    }


# -- what cannot be ------------------------------------------------------------------------------

WHOLE: tuple[Extent, ...] = ((0, -1),)
FLOAT = 1


def described(
    shape: int = 2, slices: tuple[tuple[Extent, ...], ...] = (WHOLE,), kind: int = FLOAT
) -> bytes:
    proto = message("SavedTensorSlices")()
    tensor = proto.meta.tensor.add(name="w", type=kind)
    tensor.shape.dim.add(size=shape)
    for extents in slices:
        part = tensor.slice.add()
        for at, length in extents:
            extent = part.extent.add(start=at)
            if length >= 0:
                extent.length = length
    return bytes(proto.SerializeToString())


def valued(content: bytes) -> bytes:
    """A slice of these values: fields of a TensorProto."""
    return bytes_field(2, bytes_field(3, content))


def written(folder: Path, entries: Mapping[bytes, bytes]) -> SliceTables:
    path = folder / "made.ckpt"
    path.write_bytes(table_bytes(sorted(entries.items())))
    return SliceTables(str(path), Budget())


TWO = valued(bytes_field(5, np.array([1, 2], np.float32).tobytes()))
KEY = slice_key(b"w", WHOLE)


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({KEY: TWO}, "does not say what it holds"),
        ({b"": described()}, r"lacks the part of 'w' at \[:\]"),
        ({b"": described(3), KEY: TWO}, r"gives 'w', \[3\], 2 values"),
        ({b"": described(), KEY: b"\xff"}, "the values of 'w' are none"),
        ({b"": described(), KEY: valued(bytes_field(5, b"123"))}, "the values of 'w' are none"),
        (
            {b"": described(kind=3), KEY: valued(bytes_field(7, b"\x80"))},
            "the values of 'w' are none",
        ),
        ({b"": described(kind=20), KEY: TWO}, "holds 'w' as DT_RESOURCE"),
        ({b"": described(2, (WHOLE, WHOLE)), KEY: TWO}, "parts of 'w' that do not fit together"),
        ({b"": described(1 << 40), KEY: TWO}, "4,096 GiB"),
        ({b"": described(-1), KEY: TWO}, "cannot hold 'w'"),
        ({b"": b"\xff"}, "cut off, or not a SavedTensorSlices"),
    ],
)
def test_what_cannot_be_is_said(tmp_path: Path, entries: dict[bytes, bytes], said: str) -> None:
    with pytest.raises(GradstepError, match=said) as caught:
        written(tmp_path, entries).read("w")
    assert "made.ckpt" in caught.value.message


def test_names_that_are_not_there_are_said_with_those_that_are(theirs: Path) -> None:
    with pytest.raises(GradstepError, match="no tensor named 'layer/v'") as caught:
        SliceTables(str(theirs / "saver/model.ckpt-2"), Budget()).read("layer/v")
    assert caught.value.hint.startswith("did you mean layer/b")


@given(hnp.arrays(np.uint64, st.integers(0, 60), elements=st.integers(0, 2**64 - 1)))
def test_numbers_of_any_length_stand_one_behind_the_other(numbers: np.ndarray) -> None:
    data = b"".join(map(varint, numbers.tolist()))
    assert varints(data).tolist() == numbers.tolist()


@pytest.mark.parametrize("data", [b"\x80", b"\x01\xff", b"\x80" * 10 + b"\x01"])
def test_numbers_that_are_none(data: bytes) -> None:
    with pytest.raises(ValueError, match="number"):
        varints(data)


def test_memory_is_asked_for(theirs: Path) -> None:
    with pytest.raises(OverBudgetError):
        SliceTables(str(theirs / "types/all"), Budget(1000))
