"""Every recorded entry is checked, or its reason is in the table; and the table can tell."""

from __future__ import annotations

import copy
import json
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from tests.oracle import compare, run
from tests.oracle.table import MISMATCH, NO_OP, OK, SKIPPED, Case, Row, names, registered, table
from tests.support import oracle
from tests.support.other_processors import other_processor
from tests.support.rounding import Rounding

# What the recorded entries need and the op table lacks. An op that is lost must not hide here.
MISSING = {"RandomGamma", "StridedSliceAssign"}


@dataclass
class Checked:
    """A case's rows, and the numbers that were compared for them: ours, theirs, what may differ."""

    rows: list[Row]
    numbers: list[tuple[np.ndarray, np.ndarray, Rounding | None]]


@cache
def checked(name: str) -> Checked:
    plain, numbers = compare._numbers, []

    def noting(found: np.ndarray, theirs: np.ndarray, rounding: Rounding | None) -> str:
        numbers.append((found.copy(), theirs, rounding))
        return plain(found, theirs, rounding)

    with patch.object(compare, "_numbers", noting):
        return Checked(table(name), numbers)


def wrong(rows: list[Row]) -> list[str]:
    return [f"{row.entry}: {row.detail}" for row in rows if row.result == MISMATCH]


@pytest.mark.parametrize("name", names())
def test_tensorflow_gives_the_same(name: str) -> None:
    rows = checked(name).rows
    assert wrong(rows) == []
    reasons = [row.detail for row in rows if row.result == SKIPPED]
    assert all(reasons)
    assert {r.removeprefix(f"{NO_OP}: ") for r in reasons if r.startswith(NO_OP)} <= MISSING


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.slow
def test_it_is_the_same_on_any_processor(seed: int) -> None:
    """Sums in another order and functions of another library are no mismatch. Each case is run on
    one of two."""
    with other_processor(seed):
        rows = [row for name in names()[seed::2] for row in table(name)]
    assert [
        f"{row.case}: {row.entry}: {row.detail}" for row in rows if row.result == MISMATCH
    ] == []


@pytest.mark.slow
def test_what_is_no_rounding_is_a_mismatch() -> None:
    """Every recorded tensor off by a hundred thousandth (a billionth in float64) is noticed, but
    for those that follow long sums or many steps."""
    noticed = Counter[str]()
    for found, theirs, rounding in (each for name in names() for each in checked(name).numbers):
        by = {"float32": 1e-5, "float64": 1e-9}.get(theirs.dtype.name)
        if by and np.isfinite(theirs).all() and theirs.any():
            noticed[theirs.dtype.name] += 1
            off = (theirs * (1 + by)).astype(theirs.dtype)
            noticed[f"{theirs.dtype.name} missed"] += not compare._numbers(found, off, rounding)
    for dtype in ("float32", "float64"):
        assert noticed[dtype] > 600
        assert noticed[f"{dtype} missed"] < 0.1 * noticed[dtype]


def test_every_case_of_the_index_has_checks() -> None:
    index = json.loads((oracle.CASES / "_index.json").read_text())["cases"]
    assert sorted(entry["case"] for entry in index) == names()
    assert [name for name in names() if not registered(name)] == []


def tampered(name: str, change: Any) -> list[Row]:
    recorded = copy.deepcopy(oracle.case(name))
    change(recorded)
    return table(name, recorded)


def entries(rows: list[Row]) -> list[str]:
    return [row.entry for row in rows if row.result == MISMATCH]


def test_another_number_is_a_mismatch() -> None:
    def change(recorded: dict[str, Any]) -> None:
        recorded["x*x"]["data"][0] += 1e-3

    assert entries(tampered("stop_gradient", change)) == ["x*x"]


def test_none_is_no_tensor_and_a_tensor_is_not_none() -> None:
    def change(recorded: dict[str, Any]) -> None:
        recorded["only_path"], recorded["x*x"] = recorded["x*x"], None

    assert entries(tampered("stop_gradient", change)) == ["only_path", "x*x"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("raised", "NotFoundError"),
        ("message", "indices[0] = -1 is not in [0, 4)\n\t [[{{node x}}]]"),
    ],
)
def test_another_error_is_a_mismatch(key: str, value: str) -> None:
    def change(recorded: dict[str, Any]) -> None:
        recorded["gather_negative"][key] = value

    assert entries(tampered("gather_out_of_range_cpu", change)) == ["gather_negative"]


def test_another_element_type_or_shape_is_a_mismatch() -> None:
    def change(recorded: dict[str, Any]) -> None:
        recorded["x*x"]["dtype"] = "float64"
        recorded["x*sg(x)"]["shape"] = [3, 1]

    assert entries(tampered("stop_gradient", change)) == ["x*sg(x)", "x*x"]


def test_an_entry_that_nothing_checks_is_a_mismatch() -> None:
    def change(recorded: dict[str, Any]) -> None:
        recorded["new"] = {"deep": [{"grad": None}], "note": "words"}

    rows = tampered("stop_gradient", change)
    assert entries(rows) == ["new / deep / 0 / grad"]
    assert [r.result for r in rows if r.entry == "new / note"] == [SKIPPED]


def test_a_check_that_breaks_is_a_mismatch_and_hides_no_other() -> None:
    def change(recorded: dict[str, Any]) -> None:
        del recorded["x*x"]

    rows = tampered("stop_gradient", change)
    assert "(stop_gradient)" in entries(rows)
    assert [row.result for row in rows if row.entry == "x*sg(x)"] == [OK]


def test_nothing_raised_where_tensorflow_raises() -> None:
    case = Case("c", {"e": {"raised": "ValueError", "message": "no"}})
    case.error(lambda: None, "e")
    assert "nothing was raised" in case.rows[0].detail


def test_an_op_that_is_missing_is_named() -> None:
    def lookup() -> None:
        raise GradstepError("op type 'Zeta9' is not available", kind="UnknownOpError")

    case = Case("c", {"e": 1.0})
    case.value(lookup, "e")
    assert (case.rows[0].result, case.rows[0].detail) == (SKIPPED, f"{NO_OP}: Zeta9")


def test_json_is_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["--json", "stop_gradient"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sorted(found) == ["cases", "mismatches", "skipped"]
    assert found["cases"] >= 10
    assert found["mismatches"] == []
    assert {"case", "entry", "reason"} == set(found["skipped"][0])


def test_the_table_has_a_line_for_each_entry(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["stop_gradient"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("stop_gradient: ")
    assert lines[1].split() == ["only_path", "None", "ok"]
    assert lines[-1].startswith("case files: 1, ")


def test_a_mismatch_is_the_exit_status(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = [Row("c", "e", "value", MISMATCH, "1, in TensorFlow 2")]
    monkeypatch.setattr(run, "table", lambda name: bad)
    assert run.main(["--json", "stop_gradient"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["mismatches"]
    assert found == {"case": "c", "entry": "e", "kind": "value", "difference": "1, in TensorFlow 2"}


def test_an_unknown_case_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["nope"]) == 2
    assert "no case 'nope'" in capsys.readouterr().err


def test_the_cases_lie_beside_their_graphs() -> None:
    assert (Path(oracle.CASES).parent / "graphs").is_dir()
