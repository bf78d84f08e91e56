"""The benchmarks' own arithmetic, order and answers; nothing is timed here."""

from __future__ import annotations

import io
import json
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.bench import __main__ as command
from tests.bench import (
    canvas,
    contestant,
    debug,
    engine,
    environments,
    missed,
    plot,
    racing,
    report,
    run,
    starting,
    train,
)
from tests.bench.agreement import disagreement
from tests.bench.choices import Choices
from tests.bench.environments import NotAvailableError
from tests.bench.implementations import IMPLEMENTATIONS
from tests.bench.interleaving import calibrate, interleave
from tests.bench.racing import Heat, Race
from tests.bench.rows import Row
from tests.bench.spread import Spread, ratio
from tests.bench.targets import (
    CANVAS,
    COMPILING,
    DEBUG,
    RATIOS,
    RUNNING,
    SIZES,
    STARTING,
    TITLES,
    TRAINING,
)
from tests.bench.worker import Worker, build, serve

# (workload, ours, peer) and threads, if not one -> target, as the project set them.
WANTED = {
    ("w1", "session", "torch"): 0.1,
    ("w1", "session", "jax"): 1.0,
    ("w1", "fast", "raw"): 1.02,
    ("w2", "fast", "raw"): 1.02,
    ("w4", "fast", "raw"): 1.02,
    ("w1", "fast", "torch"): 0.07,
    ("w1", "fast", "tf1"): 0.08,
    ("w1", "fast", "jax"): 0.75,
    ("w2", "fast", "torch"): 0.15,
    ("w2", "fast", "autograd"): 0.1,
    ("w3", "fast", "torch"): 0.28,
    ("w3", "fast", "jax"): 0.6,
    ("w4", "fast", "torch"): 1.0,
    ("w4", "fast", "torch", "default"): 1.0,
    ("w5", "fast", "torch"): 1.3,
    ("w5", "fast", "torch", "default"): 1.3,
    ("w5", "fast", "jax"): 1.3,
    ("w5", "kernels", "torch"): 1.0,
    ("w6", "fast", "torch"): 0.65,
    ("w7f", "fast", "torch"): 0.45,
    ("w7", "fast", "torch"): 0.45,
    ("w8", "fast", "torch"): 0.6,
    ("w8", "fast", "torch_coalesced"): 0.6,
    ("w8", "kernels", "torch"): 0.2,
    ("w8", "kernels", "torch_coalesced"): 0.2,
    ("w4", "recorded", "fast"): 1.05,
    ("w2", "recorded", "fast"): 1.1,
    ("w12", "recorded", "fast"): 1.15,
    ("w1", "native", "fast"): 0.12,
    ("w2", "native", "fast"): 0.12,
    ("w3", "native", "fast"): 0.9,
    ("w6", "native", "fast"): 0.95,
    ("w7f", "native", "fast"): 0.8,
    ("w7", "native", "fast"): 0.85,
    ("w1", "native", "torch"): 0.03,
    ("w1", "native", "jax"): 0.4,
    ("w2", "native", "torch"): 0.015,
    ("w2", "native", "jax"): 0.5,
    ("w3", "native", "torch"): 0.28,
    ("w3", "native", "jax"): 0.6,
    ("w6", "native", "torch"): 0.5,
    ("w6", "native", "jax"): 1.0,
    ("w7", "native", "torch"): 0.2,
    ("w7", "native", "jax"): 1.5,
    ("w7", "native", "torch", "default"): 0.2,
    ("w8", "native", "fast"): 0.5,
    ("w8", "native", "torch"): 0.2,
    ("w8", "native", "torch_coalesced"): 0.6,
    ("w9", "fast", "tf1"): 1.3,
    ("w9", "kernels", "tf1"): 1.3,
    ("w10", "fast", "tf1"): 1.3,
    ("w10", "kernels", "tf1"): 1.3,
    ("w11", "fast", "tf1"): 1.3,
    ("w11", "kernels", "tf1"): 1.3,
}


def test_the_targets_are_those_that_were_set() -> None:
    found = {(r.workload, r.ours, r.peer, r.threads): r.target for r in RATIOS}
    assert found == {(*key, "one")[:4]: target for key, target in WANTED.items()}
    assert {t.key: t.target for t in (*COMPILING, *STARTING)} == {
        "record": 1.0,
        "record_growth": 2.2,
        "fast": 1.0,
        "fast_growth": 2.2,
        "stop": 0.1,
        "override": 0.1,
        "painted": 0.8,
        "seconds": 1.5,
        "deaf": 0.1,
        "heavy": 0,
    }
    # Of the canvas for 1,000 and 10,000 nodes; seconds but for the memory, which is in MiB.
    frames = {
        "first": (0.05, 0.1),
        "pan": (0.003, 0.003),
        "pan_slow": (0.012, 0.016),
        "zoom": (0.011, 0.011),
        "crisp": (0.025, 0.035),
        "drag": (0.003, 0.003),
        "memory": (45, 55),
    }
    for key, wanted in frames.items():
        found = {t.key: t.target for t in CANVAS}
        assert tuple(found[f"{key} {nodes}"] for nodes in SIZES) == wanted
    assert {t.key: t.target for t in DEBUG if t.key in ("breakpoints", "kept w4")} == {
        "breakpoints": 1.02,
        "kept w4": 1.20,
    }
    measures = (*COMPILING, *STARTING, *CANVAS, *DEBUG, *RUNNING, *TRAINING)
    names = [r.name for r in RATIOS] + [t.name for t in measures]
    assert len(set(names)) == len(names)


def test_a_ratio_is_that_of_each_round() -> None:
    theirs = [1.0, 10.0, 2.0, 4.0, 100.0]  # a machine that slows down for a while
    ours = [x * r for x, r in zip(theirs, (0.4, 0.5, 0.6, 0.45, 0.55), strict=True)]
    found = ratio(ours, theirs)
    assert (found.low, found.median, found.high) == pytest.approx((0.45, 0.5, 0.55))


def test_one_measurement_is_its_own_quartiles() -> None:
    assert Spread.of([3.0]) == Spread(3.0, 3.0, 3.0)
    assert Spread.of([1.0, 2.0, 3.0]) == Spread(2.0, 1.5, 2.5, count=3)


class FakeTimer:
    """A program whose steps take `seconds`, the first one more."""

    def __init__(self, name: str, seconds: float, log: list[str]) -> None:
        self.name, self.seconds, self.log = name, seconds, log
        self.extra = 5.0

    def __call__(self, steps: int) -> float:
        self.log.append(self.name)
        extra, self.extra = self.extra, 0.0
        return steps * self.seconds + extra


@pytest.mark.parametrize(("seconds", "steps"), [(1e-4, 1000), (0.02, 5), (3.0, 1)])
def test_a_round_takes_about_as_long_as_it_should(seconds: float, steps: int) -> None:
    assert calibrate(FakeTimer("a", seconds, []), 0.1) == steps


def test_programs_take_turns_and_each_is_first_once() -> None:
    log: list[str] = []
    timers: dict[str, Callable[[int], float]] = {
        name: FakeTimer(name, seconds, log)
        for name, seconds in (("a", 1.0), ("b", 2.0), ("c", 4.0))
    }
    found = interleave(timers, 3, 0.1)
    assert "".join(log[-9:]) == "abcbcacab"
    assert found == {"a": [1.0] * 3, "b": [2.0] * 3, "c": [4.0] * 3}


def test_numbers_agree_within_a_tolerance_and_nan_never_does() -> None:
    right = [{"loss": 2.0, "moved": 1.0}]
    assert disagreement(right, [{"loss": 2.0005, "moved": 1.002}]) == ""
    assert disagreement(right, [{"loss": 2.1, "moved": 1.0}]) == "step 1: loss is 2.1, not 2"
    assert "loss is nan" in disagreement(right, [{"loss": float("nan"), "moved": 1.0}])
    assert disagreement(right, [{"value": 2.0}]) != ""
    assert disagreement(right, []) == "0 steps in place of 1"


def test_who_computes_something_else_is_not_timed() -> None:
    right, wrong = [{"loss": 1.0}], [{"loss": 1.5}]
    absent = racing._outvoted({"fast": wrong, "raw": right, "torch": right})
    assert list(absent) == ["fast"]
    race = Race({"raw": [1.0], "torch": [1.0]}, absent)
    rows = {r.name: r for r in racing.rows({Heat("w4"): race})}
    row = rows[f"{TITLES['w4']}: plan / PyTorch eager"]
    assert (row.measured, row.met, row.fault) == (None, False, True)
    assert "step 1: loss is 1.5, not 1" in row.why


@pytest.mark.parametrize("workload", ["w1", "w2", "w4"])
@pytest.mark.slow
def test_hand_written_numpy_recorded_and_fast_compute_the_same(workload: str) -> None:
    numbers: dict[str, list[Mapping[str, float]]] = {}
    for name in ("raw", "recorded", "fast"):
        program = build(workload, name, "check")
        numbers[name] = []
        for _ in range(3):
            program.step()
            numbers[name].append(program.numbers())
    assert disagreement(numbers["raw"], numbers["recorded"]) == ""
    assert disagreement(numbers["raw"], numbers["fast"]) == ""


@pytest.mark.slow
def test_every_program_that_a_row_names_is_there() -> None:
    for row in RATIOS:
        for name in (row.ours, row.peer):
            how = IMPLEMENTATIONS[name]
            module = sys.modules.get(f"tests.bench.workloads.{row.workload}") or __import__(
                f"tests.bench.workloads.{row.workload}", fromlist=["RATES"]
            )
            assert callable(getattr(module, how.function))
            assert how.environment in (environments.OURS, *environments.ENVIRONMENTS)


def test_a_worker_answers_each_line_and_survives_an_error() -> None:
    answers = io.StringIO()
    commands = io.StringIO('{"check": 2}\n{"nonsense": 1}\n{"run": 3}\n')
    serve(commands, answers, Worker("w1", "raw"))
    checked, failed, timed = map(json.loads, answers.getvalue().splitlines())
    assert [sorted(x) for x in checked["numbers"]] == [["loss", "moved"]] * 2
    assert "KeyError" in failed["error"]
    assert timed["seconds"] > 0


def test_a_worker_process_is_started_asked_and_ended() -> None:
    with contestant.Contestant("w1", "raw", may_install=False) as one:
        (first,) = one.check(1)
        assert first["loss"] == pytest.approx(0.663694, abs=1e-6)  # of the tutorial
        assert one.seconds(2) > 0
        process = one._process
    assert process.status == 0


def test_a_peer_that_is_not_installed_costs_only_its_rows(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    with pytest.raises(NotAvailableError, match="not installed"):
        environments.python_of("torch", may_install=False)
    assert environments.python_of(environments.OURS, may_install=False) == Path(sys.executable)


ROWS = [
    Row("a", 1.0, "ratio", Spread(0.5, 0.4, 0.6)),
    Row("b", 1.5, "s", Spread(2.0, 1.9, 2.2)),
    Row("c", 0.2, "ratio", None, "no such library"),
    Row("d", 0.0, "count", Spread(0.0, 0.0, 0.0)),
]


def test_the_json_has_the_promised_shape(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine, "rows", lambda choices: (ROWS[:3], {}))
    monkeypatch.setattr(starting, "rows", lambda choices: ROWS[3:])
    monkeypatch.setattr(canvas, "rows", lambda choices: [])
    monkeypatch.setattr(debug, "rows", lambda choices: [])
    monkeypatch.setattr(run, "rows", lambda choices: [])
    monkeypatch.setattr(train, "rows", lambda choices: [])
    monkeypatch.setattr(report, "write", lambda rows, races: pytest.fail("--quick writes nothing"))
    assert command.main(["--quick", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(r["name"], r["value"], r["target"], r["met"]) for r in rows] == [
        ("a", 0.5, 1.0, True),
        ("b", 2.0, 1.5, False),
        ("c", None, 0.2, False),
        ("d", 0.0, 0.0, True),
    ]
    assert command.main(["start", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 1


def test_what_does_not_work_is_a_failure_and_what_is_missed_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = Row("a", 1.0, "ratio", None, "fast: it broke", fault=True)
    monkeypatch.setattr(engine, "rows", lambda choices: ([broken], {}))
    assert command.main(["engine"]) == 1
    assert command.main(["engine", "--only", "w99"]) == 2
    assert "no workload 'w99'" in capsys.readouterr().err


def test_quick_is_quicker() -> None:
    assert Choices(quick=True).rounds < Choices().rounds
    assert Choices(quick=True).seconds < Choices().seconds


def test_the_page_names_every_row_and_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(report, "PAGE", tmp_path / "benchmarks.md")
    monkeypatch.setattr(report, "PICTURE", tmp_path / "benchmarks.svg")
    monkeypatch.setattr(report, "NOTES", {"a": "never shown: it is met", "b": "for this reason"})
    report.write(ROWS, {Heat("w1"): Race({"raw": [2e-5, 3e-5], "fast": [1e-3]}, {}, {})})
    page = report.PAGE.read_text()
    assert "| b | ≤ 1.5 s | 2 s (1.9 s–2.2 s) | missed |" in page
    assert "| c | ≤ 0.2 | no such library | - |" in page
    assert "- b: for this reason" in page
    assert "never shown" not in page
    assert "25 µs" in page
    assert "NumPy" in page


def test_a_page_is_written_of_a_quiet_core_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written: list[str] = []
    monkeypatch.setattr(report, "write", lambda rows, races: written.append("page"))
    tight, wide = Spread(1.0, 0.99, 1.02, count=25), Spread(1.0, 0.8, 1.2, count=25)
    often = Spread(1.0, 0.8, 1.2, count=100)
    tables = {
        "quiet": ([tight] * 10, 1.01),
        "a row in ten is wide": ([*[tight] * 9, wide], 1.01),
        "wide": ([*[tight] * 8, wide, wide], 1.01),
        "wide, and measured often": ([*[tight] * 8, often, often], 1.01),
        "shared": ([tight] * 10, 1.5),
    }
    said = {}
    for name, (spreads, waited) in tables.items():
        rows = [Row(f"row {i}", 1.0, "ratio", spread) for i, spread in enumerate(spreads)]
        found = rows, {Heat("w1"): Race(waited=waited)}
        monkeypatch.setattr(command, "measured", lambda *_, found=found: found)
        assert command.main([]) == 0
        said[name] = capsys.readouterr().err
    assert written == ["page"] * 3
    assert said["quiet"] == said["a row in ten is wide"] == said["wide, and measured often"] == ""
    assert "2 of 10 ratios may be off by more than 10%, most of all 'row 8'" in said["wide"]
    assert "other programs had the core 33% of the time" in said["shared"]


def test_with_all_cores_the_clock_counts() -> None:
    took = {}
    for threads in ("one", "default"):
        answer = Worker("w1", "raw", threads).answer({"run": 3})
        took[threads] = answer["seconds"] == answer["busy" if threads == "one" else "passed"]
    assert took == {"one": True, "default": True}
    assert "OMP_NUM_THREADS" in contestant.environment()
    assert "XLA_FLAGS" not in contestant.environment("default")


def test_the_picture_is_a_picture_with_the_target_in_place() -> None:
    root = ET.fromstring(plot.plot(ROWS))
    name = "{http://www.w3.org/2000/svg}circle"
    xs = [float(circle.attrib["cx"]) for circle in root.iter(name)]
    assert len(xs) == 2  # of c nothing was measured; a target of 0 has no ratio
    assert xs[0] < plot.place(1) < xs[1]
    assert plot.place(1e6) == plot.place(8)


def test_every_explanation_is_of_a_row() -> None:
    measures = (*RATIOS, *COMPILING, *STARTING, *CANVAS, *DEBUG, *RUNNING, *TRAINING)
    assert set(missed.NOTES) <= {target.name for target in measures}
