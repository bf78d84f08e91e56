"""Arrays in files: read as they are meant, refused in one line with the place and what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from gradstep.core.data.array_files import Reading
from gradstep.core.data.value_text import read_value, typed_value
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.io.disk.memory_budget import Budget

IRIS = "sepal,petal,species\n5.1,1.4,0\n7.0,4.7,1\n6.3,6.0,2\n"


def value(place: str, folder: Path, *shape: int | None, dtype: DType = DType.FLOAT32) -> np.ndarray:
    return typed_value(f"@{place}", TensorType(dtype, Shape(shape)), "x", Reading(folder))


def refusal(
    place: str, folder: Path, *shape: int | None, dtype: DType = DType.FLOAT32
) -> GradstepError:
    with pytest.raises(GradstepError) as caught:
        value(place, folder, *shape, dtype=dtype)
    assert "\n" not in caught.value.message
    assert caught.value.hint
    return caught.value


def save_safetensors(path: Path, **tensors: np.ndarray) -> None:
    """As the format's page has it, from its own names of the element types."""
    names = {"float32": "F32", "int64": "I64", "uint16": "BF16", "bool": "BOOL"}
    header, data = dict[str, object](), b""
    for name, array in tensors.items():
        place = [len(data), len(data) + array.nbytes]
        kind = names[array.dtype.name]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": place}
        data += array.tobytes()
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def test_numpys_files(tmp_path: Path) -> None:
    array = np.arange(6.0).reshape(2, 3)
    np.save(tmp_path / "a.npy", np.asfortranarray(array))
    np.savez(tmp_path / "one.npz", x=array)
    np.savez_compressed(tmp_path / "two.npz", x=array, y=array + 1)
    for place in ("a.npy", "one.npz", "two.npz:x", str(tmp_path / "a.npy")):
        np.testing.assert_array_equal(value(place, tmp_path, None, 3), array)
    assert "two.npz:x; there are x, y" in refusal("two.npz", tmp_path, None, 3).hint
    assert "did you mean y" in refusal("two.npz:yy", tmp_path, None, 3).hint


def test_safetensors(tmp_path: Path) -> None:
    weights = np.arange(6, dtype=np.float32).reshape(2, 3)
    half = np.array([1.5, -2.0], np.float32)
    upper = (half.view(np.uint32) >> 16).astype(np.uint16)
    save_safetensors(tmp_path / "w.safetensors", w=weights, half=upper, n=np.array([3, 4]))
    np.testing.assert_array_equal(value("w.safetensors:w", tmp_path, 2, 3), weights)
    np.testing.assert_array_equal(value("w.safetensors:half", tmp_path, 2), half)
    assert value("w.safetensors:n", tmp_path, 2, dtype=DType.INT32).tolist() == [3, 4]
    assert "there are w, half, n" in refusal("w.safetensors", tmp_path, 2).hint


@pytest.mark.parametrize(
    ("columns", "shape", "expected"),
    [
        ("", (None, 3), [[5.1, 1.4, 0], [7.0, 4.7, 1], [6.3, 6.0, 2]]),
        (":sepal,petal", (3, 2), [[5.1, 1.4], [7.0, 4.7], [6.3, 6.0]]),
        (":sepal..petal", (None, 2), [[5.1, 1.4], [7.0, 4.7], [6.3, 6.0]]),
        (":2..3", (None, 2), [[1.4, 0], [4.7, 1], [6.0, 2]]),
        (":species", (None,), [0, 1, 2]),
        (":species", (None, 1), [[0], [1], [2]]),
        (":petal, sepal", (None, 2, 1), [[[1.4], [5.1]], [[4.7], [7.0]], [[6.0], [6.3]]]),
    ],
)
def test_columns_of_a_table(
    tmp_path: Path, columns: str, shape: tuple[int | None, ...], expected: list[object]
) -> None:
    """Rows take the shape of what they are for."""
    (tmp_path / "iris.csv").write_text(IRIS)
    found = value(f"iris.csv{columns}", tmp_path, *shape)
    np.testing.assert_array_equal(found, np.array(expected, np.float32))


@pytest.mark.parametrize(
    "text",
    [
        IRIS,
        IRIS.replace(",", ";"),
        IRIS.replace("sepal", '"sepal"').replace("7.0", '"7.0"'),
        IRIS.replace("\n", "\r\n"),
        IRIS.replace("\n", "\n\n"),
        IRIS.replace(",", " , "),
        "\ufeff" + IRIS,
        IRIS.split("\n", 1)[1],
    ],
)
def test_tables_as_programs_write_them(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    expected = np.array([[5.1, 1.4], [7.0, 4.7], [6.3, 6.0]], np.float32)
    np.testing.assert_array_equal(value("t.csv:1,2", tmp_path, None, 2), expected)
    (tmp_path / "t.tsv").write_text(IRIS.replace(",", "\t"), encoding="utf-16")
    np.testing.assert_array_equal(value("t.tsv:1,2", tmp_path, None, 2), expected)


def test_labels_keep_every_digit_and_texts_are_texts(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,name\n9007199254740993,Anna\n2,Bo\n")
    whole = value("t.csv:id", tmp_path, None, dtype=DType.INT64)
    assert whole.tolist() == [9007199254740993, 2]
    names = value("t.csv:name", tmp_path, None, dtype=DType.STRING)
    assert names.tolist() == ["Anna", "Bo"]


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (IRIS + "1,2\n", "t.csv", "t.csv: row 5 has 2 cells, and row 1 has 3"),
        (IRIS + "\n1,2\n", "t.csv", "t.csv: row 6 has 2 cells"),
        (IRIS + "1,,2\n", "t.csv", "t.csv: row 5, column 'petal' is empty"),
        (IRIS + "1,nan,2\n", "t.csv", "t.csv: row 5, column 'petal' is NaN"),
        (IRIS + "1,n/a,2\n", "t.csv", "t.csv: row 5, column 'petal' is n/a"),
        (IRIS + "1,two,2\n", "t.csv", "t.csv: row 5, column 'petal' is 'two', which is no number"),
        ('a,b,c\n1,"x,y",2\n', "t.csv", "t.csv: row 2, column 'b' is 'x,y'"),
        ("1;2;3\n1;2;3,5\n", "t.csv", "t.csv: row 2, column 3 is '3,5'"),
        ("1.5,2.5,3.l\n1,2,3\n", "t.csv", "t.csv: row 1, column 3 is '3.l'"),
        (IRIS, "t.csv:petl", "t.csv: there is no column 'petl'"),
        (IRIS, "t.csv:4", "t.csv: there is no column '4'"),
        (IRIS, "t.csv:petal..sepal", "t.csv: column 'sepal' is before 'petal'"),
        ("a,a,b\n1,2,3\n", "t.csv:a", "t.csv: 2 columns are named 'a'"),
        (IRIS, "t.csv:sepal", "shape [3] does not fit [?, 3]"),
        ("", "t.csv", "t.csv: there are no rows"),
        ("a,b,c\n", "t.csv", "t.csv: there is a header, and there are no rows below it"),
    ],
)
def test_what_is_wrong_with_a_table(tmp_path: Path, text: str, place: str, said: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    error = refusal(place, tmp_path, None, 3)
    if "shape" in said:  # one column fits a matrix of one
        said = "shape [3, 1] does not fit [?, 3]"
    assert said in error.message


def test_cells_may_be_missing_where_nan_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(IRIS + "1,,2\n1,NA,nan\n")
    kind = TensorType(DType.FLOAT32, Shape((None, 3)))
    found = read_value("@t.csv", kind, "x", Reading(tmp_path, allow_nan=True))
    assert np.isnan(found).sum() == 3


def broken(folder: Path) -> dict[str, tuple[Callable[[], object], str]]:
    header = b'{"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}'
    start = len(header).to_bytes(8, "little") + header
    weights = folder / "w.safetensors"
    return {
        "none.npy": (lambda: None, "there is no such file"),
        "text.npy": (lambda: (folder / "text.npy").write_text("1 2"), "is not an .npy file"),
        "w.safetensors": (lambda: weights.write_bytes(start + bytes(8)), "declares 'w' as float32"),
        "w.safetensors:w": (
            lambda: weights.write_bytes(start.replace(b"F32", b"F8_")), "holds 'w' as 'F8_'"),
        "folder.csv": (lambda: (folder / "folder.csv").mkdir(), "it is a folder"),
        "latin.csv": (lambda: (folder / "latin.csv").write_bytes(b"\xe4,b\n1,2"), "not UTF-8"),
        "a.bin": (lambda: (folder / "a.bin").write_bytes(b"1"), "holds no array"),
        "o.npy": (
            lambda: np.save(folder / "o.npy", np.array([None]), allow_pickle=True),
            "holds Python objects"),
    }  # fmt: skip


@pytest.mark.parametrize("place", broken(Path()))
def test_what_is_wrong_with_a_file(tmp_path: Path, place: str) -> None:
    make, said = broken(tmp_path)[place]
    make()
    assert said in refusal(place, tmp_path, 4).message


def test_a_huge_file_is_refused_by_its_header(tmp_path: Path) -> None:
    """100 GB that are not read: for its shape where that does not fit, else for its size."""
    path = tmp_path / "huge.npy"
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (25_000_000, 1000)}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + 10**11)
    wrong = refusal("huge.npy", tmp_path, None, 784).message
    assert wrong == "shape [25000000, 1000] does not fit [?, 784]"
    assert "it takes 93 GiB of memory" in refusal("huge.npy", tmp_path, None, 1000).message


def test_a_table_counts_as_the_numbers_that_it_becomes(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("1," * 500 + "1\n")
    kind = TensorType(DType.FLOAT32, Shape((None,)))
    with pytest.raises(GradstepError, match=r"t\.csv: it takes 4\.9 KiB of memory"):
        read_value("@t.csv", kind, "x", Reading(tmp_path, Budget(3000)))


WHOLE = b'{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 80), at=st.integers(0, 70), byte=st.integers(0, 255), left=st.booleans())
def test_no_bytes_are_more_than_a_tensor_or_an_error(
    tmp_path: Path, cut: int, at: int, byte: int, left: bool
) -> None:
    data = bytearray(len(WHOLE).to_bytes(8, "little") + WHOLE + bytes(8))
    data[at % len(data)] = byte
    (tmp_path / "w.safetensors").write_bytes(data if left else data[:cut])
    try:
        found = value("w.safetensors", tmp_path, 2)
    except GradstepError:
        return
    assert found.shape == (2,)
