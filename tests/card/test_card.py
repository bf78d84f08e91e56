"""What `./dev gpu` does on a card, on a few operations and the stand-in that any machine has."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.ops.declare.table import OpDef, all_ops
from tests.card import __main__ as command
from tests.card import (
    cast_rows,
    example_trials,
    function_errors,
    host_counts,
    op_trials,
    recording,
    rule_rows,
    session_trials,
    stand_in_trials,
)
from tests.card.device import COUNTED, Device, open_device
from tests.card.journal import Journal
from tests.card.libraries import packed, unpacked
from tests.card.pool import Pool, worker
from tests.card.summary import is_clean, readable, summary
from tests.support.fake_cupy import FakeCupy
from tests.support.fake_xp import FakeArray


@pytest.fixture(scope="module")
def device() -> Device:
    return open_device("fake")


def broken(name: str, wrong: Callable[..., Any]) -> Device:
    """The stand-in, one function of which is not as it should be."""
    xp = type("Broken", (FakeCupy,), {name: staticmethod(wrong)})()
    return replace(open_device("fake"), xp=xp)


def test_runs_that_go_another_way_are_a_failure_but_for_those_that_are_known() -> None:
    def found(**runs: Any) -> dict[str, Any]:
        empty = {"refused": [], "differ": [], "more": {}, "left": 0, "failures": {}}
        return {**empty, "runs": runs}

    assert is_clean(found())
    assert is_clean(found(gather=[["end", "None"], ["exception", "6 is not in [0, 5)"]]))
    assert not is_clean(found(tutorial=[[0, "a:0", 1.0]]))


@pytest.mark.parametrize(
    "name", ["AddV2", "MatMul", "Softmax", "GatherV2", "ApplyAdam", "Cast", "ResourceApplyAdam"]
)
def test_every_sample_in_every_type_is_tried(device: Device, name: str) -> None:
    rows = op_trials.try_one(device, f"op|cupy|{name}")["rows"]
    assert {row["verdict"] for row in rows} == {"equal"}
    assert {"float16", "float32", "float64"} <= {row["dtype"] for row in rows}


def test_integers_complex_numbers_and_places_for_results_are_tried(device: Device) -> None:
    rows = op_trials.try_one(device, "op|cupy|AddV2")["rows"]
    assert {"complex64", "int32"} <= {row["dtype"] for row in rows}
    assert any(row.get("form") == "out" for row in rows)


def test_what_an_operation_does_not_take_is_no_refusal_of_the_device(device: Device) -> None:
    rows = op_trials.try_one(device, "op|cupy|Maximum")["rows"]
    assert "complex64" not in {row["dtype"] for row in rows}


def test_a_wrong_number_differs_and_is_shown() -> None:
    wrong = broken("tanh", lambda x: FakeArray(np.tanh(x.get()) * np.float16(1.01)))
    rows = op_trials.try_one(wrong, "op|cupy|Tanh")["rows"]
    plain = [row for row in rows if "form" not in row and row["dtype"] == "float32"]
    assert "differs" in {row["verdict"] for row in plain}
    found = summary({}, {"op|cupy|Tanh": {"rows": rows}}, 0)
    assert not is_clean(found)
    assert "here" in readable(found)
    assert found["ulp"]["Tanh"] > 1000


def test_rounding_is_close() -> None:
    def rounded(x: FakeArray) -> FakeArray:
        exact = np.exp(x.get())
        return FakeArray(np.nextafter(exact, 100) if exact.dtype.kind == "f" else exact)

    rows = op_trials.try_one(broken("exp", rounded), "op|cupy|Exp")["rows"]
    verdicts = {row["verdict"] for row in rows if "form" not in row and row["dtype"] == "float32"}
    assert verdicts == {"close"}


def test_a_call_that_the_device_does_not_take_is_a_refusal() -> None:
    def refuse(*_: Any) -> Any:
        raise TypeError("Unsupported type")

    rows = op_trials.try_one(broken("tanh", refuse), "op|cupy|Tanh")["rows"]
    assert {row["verdict"] for row in rows if "form" not in row} == {"refused"}
    assert "Unsupported type" in rows[0]["text"]


def test_an_example_is_run_in_lockstep_and_three_times(device: Device) -> None:
    found = example_trials.try_one(device, "example|cupy|tutorial")
    assert (found["differ"], found["refused"], found["apart"]) == ([], [], [])
    assert found["fetched"] >= 9


@pytest.mark.slow
def test_a_process_that_dies_costs_its_own_task(tmp_path: Path) -> None:
    results: dict[str, Any] = {}
    tasks = ["op|cupy|Neg", "memory|cupy|", "op|cupy|Abs"]  # the stand-in has no memory's limit
    start = partial(worker, "fake", tmp_path / "errors.log")
    pool = Pool(start, 1, 60, time.monotonic() + 120)
    pool.run(tasks, results.__setitem__)
    assert "rows" in results["op|cupy|Neg"]
    assert "rows" in results["op|cupy|Abs"]
    found = summary({}, results, 0)
    assert "ended with 1" in str(found["refused"])
    assert "free_all_blocks" in (tmp_path / "errors.log").read_text(encoding="utf-8")


def test_a_journal_goes_on_after_a_line_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "verify.jsonl"
    first = Journal(path, {"card": "one"})
    first.add("a", {"rows": []})
    first.add("b", {"rows": [1]})
    path.write_bytes(path.read_bytes()[:-4])
    second = Journal(path, {"card": "one"})
    assert second.results == {"a": {"rows": []}}
    second.add("b", 2)
    assert Journal(path, {"card": "one"}).results == {"a": {"rows": []}, "b": 2}
    assert Journal(path, {"card": "another"}).results == {}


def test_every_row_is_a_call_that_numpy_takes() -> None:
    for name, row in rule_rows.ROWS.items():
        if row.plain is not None:
            found = rule_rows.try_one("fake", f"rule|numpy|{name}")
            said = found.get("raised", "")
            assert not said.startswith(("TypeError", "AttributeError", "NameError")), (name, said)


def test_rows_tell_what_numpy_does() -> None:
    def of(name: str) -> Any:
        found = rule_rows.try_one("fake", f"rule|numpy|{name}")
        return found.get("raised") or unpacked(found["values"][0]).tolist()

    assert of("index -1") == [10, 30]
    assert of("index 3").startswith("IndexError")
    assert of("argmax nan one") == 1
    assert of("float //")[0] == 59


def test_arrays_come_back_from_a_recording_as_they_were(tmp_path: Path) -> None:
    rows = cast_rows.try_one("fake", "cast|numpy|float32")["rows"]
    long = {"on": "cpu", "values": [packed(np.arange(100.0))]}
    recording.write(tmp_path, {}, {"cast|numpy|float32": {"rows": rows}, "rule|numpy|x": long})
    table = json.loads((tmp_path / "card.json").read_text(encoding="utf-8"))["rows"]
    for kind, row in rows.items():
        (text,) = table[f"cast|numpy|float32|{kind}"]["values"]
        np.testing.assert_array_equal(recording.from_text(text), unpacked(row["values"][0]))
    with np.load(tmp_path / "card.npz") as arrays:
        assert arrays["rule|numpy|x|0"].tolist() == list(range(100))


def test_errors_are_in_units_of_the_last_place() -> None:
    x = np.array([1.0, 2.0, 4.0], np.float32)
    true = x.astype(np.float64)
    found = function_errors.errors(x, np.nextafter(x, np.float32(np.inf)), true)
    assert (found["max"], found["mean"]) == (1.0, 1.0)
    assert function_errors.errors(x, x, true)["max"] == 0


def test_a_run_of_a_network_waits_for_nothing() -> None:
    known = json.loads(host_counts.KNOWN.read_text(encoding="utf-8"))
    waits = {name: counts[COUNTED.index("waits")] for name, counts in known.items()}
    for name in ("batch_norm_updates", "softmax_digits", "cnn_digits", "tutorial"):
        assert waits[name] == 0, name
    assert waits["lstm"] <= 12


def op_counts() -> dict[str, list[int]]:
    known: dict[str, list[int]] = json.loads(host_counts.OPS_KNOWN.read_text(encoding="utf-8"))
    return known


def test_no_operation_takes_more_than_40_launches_and_a_fused_one_takes_one() -> None:
    launches = {name: counts[COUNTED.index("launches")] for name, counts in op_counts().items()}
    assert [name for name, n in launches.items() if n > 40] == []
    assert launches.keys() >= {*op_trials.types()}
    fused = {d.type for d in all_ops() if d.kernel.fused and not _has_complex_samples(d)}
    assert {"ApplyAdam", "ResourceApplyAdam", "Erf", "Betainc", "ReluGrad"} <= fused
    assert {launches[name] for name in fused} == {1}


def _has_complex_samples(definition: OpDef) -> bool:
    """Complex numbers take a launch for each function."""
    assert definition.samples is not None
    every = definition.samples(np.random.default_rng(7))
    return any(np.iscomplexobj(x) for sample in every for x in sample.inputs)


def test_an_operation_that_waits_says_what_for() -> None:
    waits = {name: counts[COUNTED.index("waits")] for name, counts in op_counts().items()}
    asking = {d.type for d in all_ops() if d.kernel.asks}
    assert [name for name, n in waits.items() if n and name not in asking] == []
    assert max(waits.values()) == 1


def test_a_wait_more_than_is_known_is_told() -> None:
    known = json.loads(host_counts.KNOWN.read_text(encoding="utf-8"))
    launches, waits, copies = known["lstm"]
    assert host_counts.more(known) == []
    assert host_counts.more({"lstm": [launches - 1, waits + 1, copies]}) == [
        ["lstm", "waits", waits, waits + 1]
    ]
    counted = {"launches": launches, "waits": waits + 1, "copies": copies}
    found = summary({}, {"example|cupy|lstm": counted}, 0)
    assert not is_clean(found)
    assert f"more: lstm waits {waits} {waits + 1}" in readable(found)


def test_a_known_difference_is_told_and_is_no_failure() -> None:
    row = {"sample": 0, "dtype": "float16", "verdict": "differs", "text": "a unit"}
    found = summary({}, {"op|cupy|FusedBatchNorm": {"rows": [row]}}, 0)
    assert is_clean(found)
    assert "excused: FusedBatchNorm float16" in readable(found)
    assert not is_clean(summary({}, {"op|cupy|Tanh": {"rows": [row]}}, 0))


def test_the_stand_in_takes_nothing_that_a_list_says_cupy_refuses() -> None:
    fake = open_device("fake")
    refused = ("x[NumPy]", "x + list", "sum of where", "argsort quicksort", "multiply.at", "text")
    for name in refused:
        assert stand_in_trials._outcome(fake.xp, stand_in_trials.CALLS[name]).startswith("raises")
    assert stand_in_trials.try_one(fake, "stand-in|cupy|")["verdict"] == "ok"


@pytest.mark.parametrize("kind", ["random", "fast", "placed"])
def test_random_programs_are_run_node_by_node_in_fast_plans_and_placed(
    device: Device, kind: str
) -> None:
    found = session_trials.try_one(device, f"{kind}|cupy|3")
    assert (found["wrong"], found["programs"]) == ([], session_trials.EACH)


@pytest.mark.parametrize("kind", ["random", "fast", "placed"])
def test_a_wrong_number_in_a_random_program_is_told(kind: str) -> None:
    wrong = broken("add", lambda x, y: FakeArray((x.get() + y.get())[..., None]))
    found = session_trials.try_one(wrong, f"{kind}|cupy|3")
    assert found["verdict"] == "differs"
    assert not is_clean(summary({}, {f"{kind}|cupy|3": found}, 0))


def test_without_a_place_for_results_it_verifies_and_keeps_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried: list[Path] = []

    def verify(options: argparse.Namespace, *_: object) -> bool:
        tried.append(options.out)
        return options.out.is_dir()

    monkeypatch.setattr(command, "_verify", verify)
    assert command.main(["--only", "Erf"]) == 0
    assert not tried[0].exists()
    for kept in ("--record", "--bench"):
        with pytest.raises(SystemExit):
            command.main([kept])
        assert "say where, with --out DIR" in capsys.readouterr().err


def test_what_all_operations_launch_and_wait_and_copy_is_added_up() -> None:
    row = {"verdict": "equal", "dtype": "float32"}
    rows = [{**row, "sample": n, **dict.fromkeys(COUNTED, n)} for n in (1, 2)]
    results = {f"op|cupy|{name}|all": {"rows": rows[:n]} for n, name in ((1, "Exp"), (2, "Erf"))}
    found = summary({}, results, 0)
    assert [found[name] for name in COUNTED] == [3, 3, 3]
    assert "waits" not in summary({}, {}, 0)
