"""Checkpoints of TensorFlow are read as it wrote them, written as it does, and damage is said."""

from __future__ import annotations

import shutil
import struct
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.io.checksum import crc32c, masked, masked_checksum
from gradstep.core.io.disk.memory_budget import Budget, OverBudgetError
from gradstep.core.io.tensorflow.bundle_entries import Entry, entry_bytes, header_bytes
from gradstep.core.io.tensorflow.bundle_writer import write_bundle
from gradstep.core.io.tensorflow.graphdef_proto import message
from gradstep.core.io.tensorflow.ordered_code import Extent, slice_key
from gradstep.core.io.tensorflow.sorted_table import TRAILER
from gradstep.core.io.tensorflow.sorted_table_writer import table_bytes
from gradstep.core.io.tensorflow.tensor_bundle import TensorBundle
from tests.support.drawn_arrays import number_arrays

SAMPLES = Path(__file__).parents[3] / "data" / "checkpoints" / "bundles.zip"
THEIRS = {
    "objects": "ckpt-1",
    "partitioned": "model.ckpt",
    "saver": "model.ckpt-2",
    "shards": "model.ckpt",
    "types": "all",
}
INDEX, DATA = ".index", ".data-00000-of-00001"
DTYPES = [kind.numpy for kind in DType if not kind.numpy.hasobject]
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
NUMBERS = number_arrays(SHAPES)
TEXTS = hnp.arrays(object, SHAPES, elements=st.binary(max_size=9))
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda n: n[0] > "\0")


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each checkpoint that TensorFlow wrote."""
    folder = tmp_path_factory.mktemp("theirs")
    with zipfile.ZipFile(SAMPLES) as archive:
        archive.extractall(folder)
    return folder


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    return a.tolist() == b.tolist() if a.dtype == object else a.tobytes() == b.tobytes()


@pytest.mark.parametrize(("folder", "name"), THEIRS.items())
def test_what_tensorflow_wrote_is_read_as_it_reads_it(theirs: Path, folder: str, name: str) -> None:
    bundle = TensorBundle(theirs / folder / name)
    with np.load(theirs / folder / "expected.npz") as expected:
        there = {key.replace("|", "/"): expected[key] for key in expected}
    assert sorted(bundle.names) == sorted(there)
    for key, array in there.items():
        wanted = array.astype(object) if array.dtype.kind == "S" else array
        assert same_bits(bundle.read(key), wanted), key
        assert bundle.type_of(key) == (wanted.dtype, wanted.shape)


@pytest.mark.parametrize("folder", ["saver", "types"])
def test_the_bytes_are_those_that_tensorflow_writes(
    theirs: Path, tmp_path: Path, folder: str
) -> None:
    original = theirs / folder / THEIRS[folder]
    bundle = TensorBundle(original)
    write_bundle(str(tmp_path / "again"), {name: bundle.read(name) for name in bundle.names})
    for suffix in (INDEX, DATA):
        written = (tmp_path / f"again{suffix}").read_bytes()
        assert written == Path(f"{original}{suffix}").read_bytes()


def test_bfloat16_is_one_and_what_numpy_lacks_is_named(theirs: Path) -> None:
    bundle = TensorBundle(theirs / "halves/half.ckpt.index")
    with np.load(theirs / "halves/expected.npz") as expected:
        assert same_bits(bundle.read("bfloat16").astype(np.float32), expected["bfloat16"])
    assert bundle.type_of("bfloat16") == (DType.BFLOAT16.numpy, (2, 2))
    for ask in (bundle.read, bundle.type_of):
        with pytest.raises(GradstepError, match="holds 'float8' as DT_FLOAT8_E4"):
            ask("float8")


@given(st.dictionaries(NAMES, NUMBERS | TEXTS, max_size=6))
def test_what_is_written_is_read_to_the_bit(tensors: dict[str, np.ndarray]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_bundle(f"{folder}/some.ckpt", tensors)
        bundle = TensorBundle(f"{folder}/some.ckpt.index")
        assert set(bundle.names) == set(tensors)
        assert all(same_bits(bundle.read(name), array) for name, array in tensors.items())


# -- damage --------------------------------------------------------------------------------------


def everything(prefix: Path) -> dict[str, np.ndarray]:
    bundle = TensorBundle(prefix)
    return {name: bundle.read(name) for name in bundle.names}


def refused_or_same(prefix: Path, whole: dict[str, np.ndarray]) -> bool:
    """Whether it was refused; in one line, which names a file of it."""
    try:
        found = everything(prefix)
    except GradstepError as error:
        said, kind = error.message, error.kind
    else:
        assert found.keys() == whole.keys()
        assert all(same_bits(found[name], array) for name, array in whole.items())
        return False
    assert "\n" not in said
    assert prefix.name in said
    assert kind in ("FileError", "MemoryLimitError")
    return True


@pytest.fixture
def files(theirs: Path, tmp_path: Path) -> Callable[[str], tuple[Path, list[Path]]]:
    """What a checkpoint's files begin with, and copies of them to spoil."""

    def copy(folder: str) -> tuple[Path, list[Path]]:
        prefix = tmp_path / folder / THEIRS[folder]
        shutil.copytree(theirs / folder, prefix.parent)
        return prefix, sorted(prefix.parent.glob(f"{prefix.name}.*"))

    return copy


@pytest.mark.parametrize("folder", ["shards", "types"])
def test_a_byte_that_changed_is_noticed_or_says_nothing(
    files: Callable[[str], tuple[Path, list[Path]]], folder: str
) -> None:
    prefix, parts = files(folder)
    whole = everything(prefix)
    silent = []
    for part in parts:
        content = part.read_bytes()
        for at in range(len(content)):
            changed = bytearray(content)
            changed[at] ^= 1 << at % 8
            part.write_bytes(changed)
            if not refused_or_same(prefix, whole):
                silent.append((part.suffix, at - len(content)))
        part.write_bytes(content)
    assert {suffix for suffix, _ in silent} == {INDEX}
    assert all(-100 < at < -8 for _, at in silent)  # the block without filters, and what fills up


@given(st.sampled_from(sorted(THEIRS)), st.data())
def test_what_is_cut_off_is_refused(theirs: Path, folder: str, data: st.DataObject) -> None:
    original = theirs / folder
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(original, place, dirs_exist_ok=True)
        prefix = Path(place) / THEIRS[folder]
        whole = everything(prefix)
        part = data.draw(st.sampled_from(sorted(prefix.parent.glob(f"{prefix.name}.*"))))
        content = part.read_bytes()
        part.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
        assert refused_or_same(prefix, whole)
        part.unlink()
        assert refused_or_same(prefix, whole)


def made(folder: Path, entries: Mapping[bytes, bytes], data: bytes = b"") -> Path:
    """A checkpoint of such an index."""
    prefix = folder / "made.ckpt"
    items = {b"": header_bytes(), **entries}
    (folder / f"made.ckpt{INDEX}").write_bytes(table_bytes(sorted(items.items())))
    (folder / f"made.ckpt{DATA}").write_bytes(data)
    return prefix


def with_slices(shape: tuple[int, ...], *slices: tuple[Extent, ...]) -> bytes:
    proto = message("BundleEntryProto")(dtype=1)
    proto.ParseFromString(entry_bytes(Entry(1, shape)))
    for extents in slices:
        part = proto.slices.add()
        for at, length in extents:
            extent = part.extent.add(start=at)
            if length >= 0:
                extent.length = length
    return bytes(proto.SerializeToString())


ROW = np.arange(3, dtype=np.float32).tobytes()
PART = Entry(1, (1, 3), 0, 0, len(ROW), masked(crc32c(ROW)))
FIRST, SECOND = ((0, 1), (0, -1)), ((1, 1), (0, 3))


def parted(*slices: tuple[Extent, ...], **stored: Entry) -> dict[bytes, bytes]:
    """A variable [2, 3] of these slices, with entries for the first and the second row."""
    there = {"first": PART, "second": PART} | stored
    keys = {"first": FIRST, "second": SECOND}
    parts = {slice_key(b"w", keys[name]): entry_bytes(part) for name, part in there.items()}
    return {b"w": with_slices((2, 3), *slices), **parts}


def test_a_slice_may_be_all_of_an_axis(tmp_path: Path) -> None:
    bundle = TensorBundle(made(tmp_path, parted(FIRST, SECOND), ROW))
    assert bundle.names == ["w"]
    assert bundle.read("w").tolist() == [[0, 1, 2], [0, 1, 2]]


BIG = Entry(1, (1 << 40,), 0, 0, 1 << 42)


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (parted(FIRST), "lacks parts of 'w'"),
        (parted(FIRST, FIRST), "parts of 'w' that do not fit together"),
        (parted(FIRST, ((2, 1), (0, 3))), "lacks the part of 'w' at [2:3, 0:3]"),
        (parted(FIRST, SECOND, second=replace(PART, number=2)), "do not fit together"),
        (parted(FIRST, SECOND, second=replace(PART, shape=(3, 1))), "of another shape at [1:2"),
        ({b"w": entry_bytes(replace(PART, size=11))}, "gives 'w', DT_FLOAT[1, 3], 11 bytes"),
        ({b"w": entry_bytes(replace(PART, shard=1))}, "gives 'w'"),
        ({b"w": entry_bytes(replace(PART, offset=-1))}, "gives 'w'"),
        ({b"w": entry_bytes(replace(PART, offset=1))}, "'w' lies behind the end of made.ckpt.data"),
        ({b"w": entry_bytes(replace(PART, shape=(-1, -3)))}, "cannot hold 'w'"),
        ({b"w": entry_bytes(replace(PART, shape=(1,) * 40))}, "a tensor of 40 axes"),
        ({b"w": entry_bytes(replace(PART, checksum=1))}, "'w' has another checksum"),
        ({b"w": entry_bytes(replace(PART, number=7, shape=(20,)))}, "gives 'w', DT_STRING[20]"),
        ({b"w": entry_bytes(replace(PART, number=7))}, "texts of other lengths"),
        ({b"w": entry_bytes(replace(PART, number=20))}, "holds 'w' as DT_RESOURCE"),
        ({b"w": entry_bytes(BIG)}, "it takes 4,096 GiB of memory"),
        ({b"w": with_slices((1 << 40,), ((0, -1),))}, "it takes 4,096 GiB of memory"),
        ({b"": b"\x08\x01\x1a\x04\x08\x02\x10\x02"}, "wants a reader of version 2"),
        ({b"": b"\x08\x01\x10\x01\x1a\x02\x08\x01"}, "the highest byte first"),
        ({b"": b""}, "there are 0 files of data"),
        ({b"": b"\xff"}, "cut off, or not a BundleHeaderProto"),
        ({b"w": b"\xff"}, "cut off, or not a BundleEntryProto"),
        ({b"w": with_slices((1,)) + bytes(1 << 20)}, "has an entry of"),
    ],
)
def test_what_cannot_be_is_said(tmp_path: Path, entries: dict[bytes, bytes], said: str) -> None:
    with pytest.raises(GradstepError) as caught:
        everything(made(tmp_path, entries, ROW))
    assert said in caught.value.message
    assert "made.ckpt" in caught.value.message


def test_without_a_header_or_packed_it_is_refused(tmp_path: Path) -> None:
    index = tmp_path / f"some{INDEX}"
    index.write_bytes(table_bytes([(b"w", entry_bytes(PART))]))
    with pytest.raises(GradstepError, match="says nothing of its data"):
        TensorBundle(index)
    write_bundle(str(tmp_path / "some"), {"w": np.zeros(1)})
    content = bytearray(index.read_bytes())
    end = content.index(struct.pack("<II", 0, 1)) + 8  # of the first block
    content[end] = 2
    content[end + 1 : end + TRAILER] = masked_checksum(content[: end + 1])
    index.write_bytes(content)
    with pytest.raises(GradstepError, match="is packed by Zstandard"):
        TensorBundle(index)


def test_names_that_are_not_there_are_said_with_those_that_are(theirs: Path) -> None:
    with pytest.raises(GradstepError, match="no tensor named 'layer/v'") as caught:
        TensorBundle(theirs / "saver/model.ckpt-2").read("layer/v")
    assert caught.value.hint.startswith("did you mean layer/b")


@pytest.mark.slow
def test_many_names_take_memory_that_is_asked_for(tmp_path: Path) -> None:
    """Keys share their beginnings, so that a short file may say long ones."""
    long = b"k" * 4000
    entries = {long + struct.pack(">I", number): b"" for number in range(500)}
    prefix = made(tmp_path, entries)
    assert Path(f"{prefix}{INDEX}").stat().st_size < 1 << 18
    with pytest.raises(OverBudgetError):
        TensorBundle(prefix, Budget(1 << 20))
