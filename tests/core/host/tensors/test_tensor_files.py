"""Files of slices are read back as what they were; nothing half-written is left."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, from_dtype

from gradstep.core.data.literal_values import read_literal
from gradstep.core.errors import GradstepError
from gradstep.core.host.tensors import element_chunks, tensor_files
from gradstep.core.io.disk.atomic_write import write_file

KINDS = ("f4", "f8", "i4", "u1", "?", "c8")


@given(st.data())
def test_what_is_saved_is_read_back(data: st.DataObject) -> None:
    kind = np.dtype(data.draw(st.sampled_from(KINDS)))
    shape = data.draw(array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))
    view = data.draw(arrays(kind, shape, elements=from_dtype(kind, allow_nan=True))).T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(element_chunks, "CHUNK", 8)
        npy, npz, text = (tensor_files.contents(view, "a/b:1", f) for f in (".npy", ".npz", "text"))
        table = tensor_files.contents(view, "a", ".csv").decode()
    found = np.load(io.BytesIO(npy), allow_pickle=False)
    np.testing.assert_array_equal(found, view)
    assert found.dtype == view.dtype
    np.testing.assert_array_equal(np.load(io.BytesIO(npz))["a.b_1"], view)
    names = {"array": np.array, "nan": np.nan, "inf": np.inf, **{k: np.dtype(k) for k in KINDS}}
    names |= {np.dtype(k).name: np.dtype(k) for k in KINDS}
    if view.size:
        np.testing.assert_array_equal(eval(text.decode(), {}, names), view)  # what users paste
        rows = [
            [kind.type(_python(x, kind)) for x in row] for row in csv.reader(io.StringIO(table))
        ]
        np.testing.assert_array_equal(np.array(rows).ravel(), view.ravel())


@pytest.mark.parametrize("kind", ["c8", "c16"])
def test_what_is_copied_of_complex_numbers_is_python(kind: str) -> None:
    view = np.array([[complex(0, np.inf), complex(np.nan, -np.inf)], [1 / 3, -2j]], kind)
    text = tensor_files.contents(view, "a", "text").decode()
    names = {"array": np.array, "nan": np.nan, "inf": np.inf}
    names |= {name: np.dtype(name) for name in ("complex64", "complex128")}
    for found in eval(text, {}, names), np.array(read_literal(text), kind):
        np.testing.assert_array_equal(found, view)


def _python(text: str, kind: np.dtype) -> object:
    return text == "True" if kind.kind == "b" else complex(text) if kind.kind == "c" else text


def test_texts_are_saved_as_csv_alone() -> None:
    view = np.array([b"a,b", b"c"], object)
    assert tensor_files.contents(view, "t", ".csv") == b'"a,b"\nc\n'
    with pytest.raises(GradstepError, match="texts are not saved in NumPy's files") as failure:
        tensor_files.contents(view, "t", ".npy")
    assert failure.value.hint


def test_formats_and_sizes_that_there_are_not() -> None:
    with pytest.raises(GradstepError) as failure:
        tensor_files.contents(np.zeros(1), "t", ".xlsx")
    assert ".npz" in failure.value.hint
    many = np.broadcast_to(np.float64(1), (10_000, 10_000))
    for format in ("text", ".npy"):
        with pytest.raises(GradstepError, match="too many"):
            tensor_files.contents(many, "t", format)


def test_a_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "t.npy"
    path.write_bytes(b"before")

    def half(stream: io.BufferedIOBase) -> None:
        stream.write(b"half")
        raise GradstepError("no more")

    with pytest.raises(GradstepError, match="no more"):
        write_file(path, half)
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["t.npy"]
    assert tensor_files.save(np.arange(3), "t", str(path), ".npy") == path.stat().st_size
    assert np.load(path).tolist() == [0, 1, 2]
    os.link(path, tmp_path / "other.npy")  # written in place
    tensor_files.save(np.arange(4), "t", str(path), ".npy")
    assert np.load(tmp_path / "other.npy").tolist() == [0, 1, 2, 3]
    with pytest.raises(GradstepError, match="the folder does not exist"):
        tensor_files.save(np.arange(3), "t", str(tmp_path / "no" / "t.npy"), ".npy")
