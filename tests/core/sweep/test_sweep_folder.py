"""The folder of a sweep: what was written is read, whatever was cut off, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.errors import GradstepError
from gradstep.core.protocol.message_parts import ErrorInfo
from gradstep.core.sweep.run_list import grid
from gradstep.core.sweep.setting_syntax import parse_setting
from gradstep.core.sweep.sweep_folder import SweepFolder
from gradstep.core.sweep.sweep_records import LOST, VERSION, RunRow, SweepRecord, best_of

SETTINGS = [parse_setting("learning_rate=1,2,3")]
RECORD = SweepRecord(VERSION, "a.gradstep", ["--steps=5"], SETTINGS, [*grid(SETTINGS, ())], 5)
ROWS = st.builds(
    RunRow,
    number=st.integers(1, 4),
    values=st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2),
    loss=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    error=st.none() | st.builds(ErrorInfo, type=st.just("E"), message=st.text(max_size=9)),
)


@pytest.fixture
def folder(tmp_path: Path) -> SweepFolder:
    return SweepFolder.begin(tmp_path / "sweep", RECORD, b"a document")


def test_it_is_found_as_it_was_begun(folder: SweepFolder) -> None:
    found = SweepFolder.find(folder.path)
    assert found.record == RECORD
    assert found.document.read_bytes() == b"a document"
    assert (found.rows(), found.begun(), len(found.curve(1))) == ([], set(), 0)
    with pytest.raises(GradstepError, match="holds a sweep already"):
        SweepFolder.begin(folder.path, RECORD, b"another")


@given(st.lists(ROWS, min_size=1, max_size=6), st.data())
def test_a_cut_loses_no_row_before_it_and_none_after(
    tmp_path_factory: pytest.TempPathFactory, rows: list[RunRow], data: st.DataObject
) -> None:
    folder = SweepFolder.begin(tmp_path_factory.mktemp("s") / "s", RECORD, b"")
    ends = []
    for row in rows:
        folder.add_row(row)
        ends.append((folder.path / "rows.jsonl").stat().st_size)
    newest = {row.number: row for row in rows}
    assert folder.rows() == [newest[n] for n in sorted(newest)]
    at = data.draw(st.integers(0, ends[-1]))
    path = folder.path / "rows.jsonl"
    path.write_bytes(path.read_bytes()[:at])
    whole = [row for row, end in zip(rows, ends, strict=True) if end - 1 <= at]
    left = {row.number: row for row in whole}
    assert folder.rows() == [left[n] for n in sorted(left)]
    last = RunRow(number=9, values={"x": "1"})
    folder.add_row(last)
    assert folder.rows() == [*(left[n] for n in sorted(left)), last]


@given(st.lists(st.tuples(st.integers(1, 99), st.floats()), min_size=1, max_size=5), st.data())
def test_a_curve_is_read_as_far_as_it_is_whole(
    tmp_path_factory: pytest.TempPathFactory, points: list[tuple[int, float]], data: st.DataObject
) -> None:
    folder = SweepFolder.begin(tmp_path_factory.mktemp("s") / "s", RECORD, b"")
    folder.begin_curve(2)
    folder.add_points(2, points[:1])
    folder.add_points(2, points[1:])
    assert np.array_equal(folder.curve(2), np.array(points, float), equal_nan=True)
    path = folder.path / "curves" / "2.csv"
    path.write_bytes(path.read_bytes()[: data.draw(st.integers(0, path.stat().st_size - 1))])
    found = folder.curve(2)
    assert len(found) < len(points)
    assert np.array_equal(found, np.array(points, float)[: len(found)], equal_nan=True)
    folder.begin_curve(2)
    assert folder.begun() == set()


def test_what_is_no_sweep_is_said(tmp_path: Path, folder: SweepFolder) -> None:
    with pytest.raises(GradstepError, match="no folder of a sweep"):
        SweepFolder.find(tmp_path / "elsewhere")
    for text in ("{", "[]", '{"version": 99}'):
        (folder.path / "sweep.json").write_text(text)
        with pytest.raises(GradstepError, match="cannot be understood"):
            SweepFolder.find(folder.path)
    (tmp_path / "file").write_text("")
    with pytest.raises(GradstepError, match="cannot write"):
        SweepFolder.begin(tmp_path / "file" / "in", RECORD, b"")


def test_the_best_is_of_those_that_did_not_fail() -> None:
    failed = RunRow(number=1, values={}, loss=0.1, error=ErrorInfo(type=LOST, message="m"))
    rows = [failed, RunRow(number=2, values={}, loss=0.5), RunRow(number=3, values={}, loss=0.4)]
    assert (best := best_of(rows)) is not None
    assert best.number == 3
    assert best_of([failed, RunRow(number=4, values={})]) is None
    assert not failed.is_final
    assert rows[1].is_final
