"""Columns of Parquet files, as those of tables; pyarrow may be missing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from gradstep.core.data.array_files import Reading
from gradstep.core.data.value_text import read_value, typed_value
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType


@pytest.fixture
def save(tmp_path: Path) -> Any:
    """Write columns to t.parquet."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    def write(**columns: Any) -> None:
        parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")

    return write


def value(place: str, folder: Path, *shape: int | None, dtype: DType = DType.FLOAT32) -> Any:
    return typed_value(f"@{place}", TensorType(dtype, Shape(shape)), "x", Reading(folder))


def refusal(place: str, folder: Path, *shape: int | None) -> GradstepError:
    with pytest.raises(GradstepError) as caught:
        value(place, folder, *shape)
    assert "\n" not in caught.value.message
    assert caught.value.hint
    return caught.value


def test_it_is_said_what_to_install(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1" + bytes(20))
    error = refusal("t.parquet", tmp_path, 3)
    assert error.message.startswith("t.parquet is a Parquet file, and pyarrow")
    assert "parquet" in error.hint
    assert "CSV" in error.hint


def test_columns_as_of_a_table(tmp_path: Path, save: Any) -> None:
    save(a=[1.5, 2.5], b=[1, 2**53 + 1], c=[True, False], name=["Anna", None], d=[[1], [2]])
    np.testing.assert_array_equal(value("t.parquet:a,c", tmp_path, None, 2), [[1.5, 1], [2.5, 0]])
    np.testing.assert_array_equal(value("t.parquet:1..1", tmp_path, None), [1.5, 2.5])
    whole = value("t.parquet:b", tmp_path, None, dtype=DType.INT64)
    assert whole.tolist() == [1, 2**53 + 1], "to the last digit"
    assert value("t.parquet:name", tmp_path, None, dtype=DType.STRING).tolist() == ["Anna", ""]
    assert "no column 'e'" in refusal("t.parquet:e", tmp_path, None).message
    assert "column 'd' holds list" in refusal("t.parquet:d", tmp_path, None).message
    error = refusal("t.parquet", tmp_path, None, 5)
    assert error.message == "t.parquet: column 'name' holds string, no numbers"


def test_cells_that_are_missing(tmp_path: Path, save: Any) -> None:
    save(a=[1.0, None, 3.0], b=[1.0, 2.0, float("nan")])
    assert refusal("t.parquet:a", tmp_path, None).message == (
        "t.parquet: row 2, column 'a' is empty"
    )
    assert refusal("t.parquet:b", tmp_path, None).message == "t.parquet: row 3, column 'b' is NaN"
    kind = TensorType(DType.FLOAT32, Shape((None, 2)))
    found = read_value("@t.parquet", kind, "x", Reading(tmp_path, allow_nan=True))
    assert np.isnan(found).sum() == 2
    save(a=np.empty(0))
    assert refusal("t.parquet", tmp_path, None).message == "t.parquet: there are no rows"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.floats(0, 1), at=st.floats(0, 0.999), byte=st.integers(0, 255), whole=st.booleans())
def test_no_bytes_are_more_than_a_table_or_an_error(
    tmp_path: Path, save: Any, cut: float, at: float, byte: int, whole: bool
) -> None:
    save(a=[1.0, 2.0], b=[3.0, 4.0])
    path = tmp_path / "t.parquet"
    data = bytearray(path.read_bytes())
    data[int(at * len(data))] = byte
    path.write_bytes(data if whole else data[: int(cut * len(data))])
    found, said = found_or_said(lambda: value("t.parquet", tmp_path, None, None))
    assert "t.parquet" in said or "does not fit" in said or found.ndim == 2
    assert "\n" not in said


def found_or_said(read: Callable[[], Any]) -> tuple[Any, str]:
    """What is read, or the error's message."""
    try:
        return read(), ""
    except GradstepError as error:
        return None, error.message
