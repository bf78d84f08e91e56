"""What `./dev gpu --bench` does on a card, on the stand-in, in small sizes and with a clock of its
own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.bench import small_sizes
from tests.bench.environments import ROOT
from tests.bench.program import Program
from tests.card.journal import Journal
from tests.card.pool import library_of
from tests.card.speed import (
    agreeing,
    bench,
    bench_counts,
    bench_report,
    bench_tasks,
    page,
    timing,
    torch_counts,
)
from tests.card.speed.bench_worker import Bench
from tests.card.speed.clocks import Clock
from tests.card.speed.op_table import OP_ROWS


class Card:
    """A clock whose hands move when a step runs: asked for in 1 ms, done 4 ms later; every tenth
    takes 20 ms more there."""

    def __init__(self) -> None:
        self.now, self.done, self.steps, self.busy = 0.0, 0.0, 0, 0
        self.clock = Clock(self.wait, list, self.mark, lambda a, b: b[0] - a[0], self.work)

    def step(self) -> None:
        self.steps += 1
        self.now += 1e-3
        self.done = max(self.done, self.now) + (24e-3 if self.steps % 10 == 0 else 4e-3)

    def feed(self) -> None:
        self.now = self.done = max(self.now, self.done) + 7e-3

    def wait(self) -> None:
        self.now = max(self.now, self.done)

    def mark(self, event: list[float]) -> None:
        event.append(max(self.now, self.done))

    def work(self) -> None:
        self.busy += 1
        self.done = max(self.now, self.done) + 0.1


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> Card:
    found = Card()
    hands = SimpleNamespace(perf_counter=lambda: found.now)
    monkeypatch.setattr(timing, "time", hands)
    monkeypatch.setattr("tests.card.speed.clocks.time", hands)
    return found


def test_a_step_is_timed_by_events_by_the_clock_and_with_its_inputs(card: Card) -> None:
    found = timing.timed(Program(card.step, dict, feed=card.feed), card.clock, 3.0)
    assert found["wall"] == {"median": 0.005, "p95": 0.025}  # asked for, and waited for
    assert found["device"] == {"median": 0.004, "p95": 0.024}  # one behind the other
    assert found["through"] == pytest.approx(0.006, rel=0.05)
    assert found["fed"] == {"median": 0.012, "p95": 0.032}
    assert found["steps"] in (199, 200)  # of 5 ms, in a third of 3 s


def test_the_first_steps_are_not_timed(card: Card) -> None:
    def step() -> None:
        card.step()
        if card.steps <= 3:  # it compiles
            card.done += 10

    found = timing.timed(Program(step, dict), card.clock, 1.0)
    assert found["wall"]["p95"] < 0.1
    assert found["steps"] > 50  # as many as of the others there is time for
    assert "fed" not in found


def test_a_slow_step_is_timed_thrice_and_no_oftener(card: Card) -> None:
    def step() -> None:
        card.step()
        card.done += 5

    assert timing.timed(Program(step, dict), card.clock, 0.3)["steps"] == 3


def test_a_card_is_kept_busy_before_it_is_timed(card: Card) -> None:
    card.clock.warm(1.0)
    assert card.busy in (10, 11)
    Clock().warm(1.0)  # a processor needs no such thing


def test_our_side_is_timed_where_it_computes_what_the_peer_does() -> None:
    ours = Bench("fake", "cupy", "cpu")
    question: dict[str, Any] = {"task": "steps|cupy|w3|fast", "seconds": 0.02}
    first = ours.answer(question)
    assert first["alone"]
    assert first["facts"]["plan"] == "fast"
    assert first["wall"]["median"] > 0
    same = ours.answer({**question, "judge": first["numbers"]})
    assert "wall" in same
    assert "alone" not in same
    other = [{**numbers, "loss": numbers["loss"] * 1.01} for numbers in first["numbers"]]
    differs = ours.answer({**question, "judge": other})
    assert differs["differs"].startswith("step 1: loss is")
    assert "wall" not in differs
    recorded = ours.answer(
        {"task": "steps|cupy|w3|recorded", "judge": first["numbers"], "seconds": 0}
    )
    assert recorded["facts"]["plan"] == "recorded"


def test_what_fails_is_said_and_the_next_is_measured() -> None:
    ours = Bench("fake", "cupy", "cpu")
    failed = ours.answer({"task": "steps|cupy|w99|fast", "seconds": 0.02})
    assert failed["failed"].startswith("ModuleNotFoundError")
    assert "lost" not in failed
    assert "wall" in ours.answer({"task": "steps|cupy|w1|fast", "seconds": 0.02})


def test_a_device_that_answers_no_more_is_told() -> None:
    ours = Bench("fake", "cupy", "cpu")

    def wait() -> None:
        raise RuntimeError("an illegal memory access was encountered")

    ours._clock = replace(ours._clock, wait=wait)
    assert "illegal" in ours.answer({"task": "steps|cupy|w1|fast", "seconds": 0})["lost"]


def test_results_of_operations_are_held_to_the_peers() -> None:
    x = np.linspace(-1, 1, 1000, dtype=np.float32)
    there = [agreeing.digest(x)]
    assert agreeing.results_differ(there, [agreeing.digest(x)], 0) == ""
    assert "off by" in agreeing.results_differ(there, [agreeing.digest(x * 1.01)], 1e-3)
    assert "off by" in agreeing.results_differ(there, [agreeing.digest(x + np.nan)], 1e-3)
    assert "shape" in agreeing.results_differ(there, [agreeing.digest(x[:999])], 1e-3)
    one = x.copy()
    one[537] = 9  # at none of the places that are looked at
    assert "off by" in agreeing.results_differ(there, [agreeing.digest(one)], 1e-3)


def test_every_operation_of_the_table_runs(tmp_path: Path) -> None:
    """In a process whose sizes are small."""
    tasks = [task for task in bench_tasks.tasks() if task.startswith("op|cupy|")]
    assert len(tasks) == len(OP_ROWS) >= 40
    asked = "".join(json.dumps({"task": task, "compile": True}) + "\n" for task in tasks)
    done = subprocess.run(
        [sys.executable, "-m", "tests.card.speed.bench_worker", "fake", "cupy", "cpu"],
        input=asked,
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, small_sizes.VARIABLE: "1"},
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [t for t, a in zip(tasks, answers, strict=True) if a.keys() != {"took"}] == []


def test_calls_of_a_profile_are_counted_by_what_they_do() -> None:
    calls = [("cudaLaunchKernel", 5), ("cuLaunchKernelEx", 2), ("aten::mm", 3)]
    calls += [("cudaMemcpyAsync", 4), ("cudaStreamSynchronize", 1), ("cudaMalloc", 9)]
    assert torch_counts.of_calls(calls) == {"launches": 7, "waits": 1, "copies": 4}


def test_every_operation_says_what_it_moves_or_computes() -> None:
    assert [name for name, row in OP_ROWS.items() if not (row.flop or row.nbytes)] == []


class Scripted:
    """A process that answers what it is told to."""

    def __init__(self, answers: dict[str, Any], asked: list[dict[str, Any]], library: str) -> None:
        self._answers, self._asked, self._library = answers, asked, library
        self.lives = True

    def ask(self, question: dict[str, Any], seconds: float) -> dict[str, Any]:
        self._asked.append({**question, "asked of": self._library})
        found: dict[str, Any] = self._answers.get(question["task"], {"wall": {"median": 1.0}})
        return found

    def end(self) -> None:
        self.lives = False


def staged(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any]
) -> tuple[bench.Stage, list[dict[str, Any]], list[str]]:
    options = SimpleNamespace(small=True, seconds=0, workers=2, peer_python=None, out=Path())
    stage, asked, started = bench.Stage(options, "fake", "cpu"), list[dict[str, Any]](), list[str]()

    def start(self: bench.Stage, library: str) -> Scripted:
        started.append(library)
        return Scripted(answers, asked, library)

    monkeypatch.setattr(bench.Stage, "_started", start)
    return stage, asked, started


def test_a_bench_goes_on_where_it_was_and_gives_on_what_the_peer_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = [{"loss": 1.0}]
    journal = Journal(tmp_path / "bench.jsonl", {})
    journal.add("steps|torch|w1|eager", {"numbers": numbers})
    wanted = bench_tasks.tasks(["w1"])
    answers = {"steps|torch|w1|graph": {"failed": "capture", "lost": "capture"}}
    stage, asked, started = staged(monkeypatch, answers)
    stage.measure(wanted, journal, time.monotonic() + 60)
    assert [question["task"] for question in asked] == wanted[1:]
    assert [question["judge"] for question in asked] == [*[numbers] * 4, None]
    assert sorted(started) == ["cupy", "cupy-cub", "torch", "torch"]  # a capture failed
    again = Journal(tmp_path / "bench.jsonl", {})
    assert [*again.results] == wanted
    stage.measure(wanted, again, time.monotonic() + 60)
    assert len(asked) == 5
    stage.end()


def test_kernels_are_compiled_before_by_processes_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = bench_tasks.tasks(["w1", "Softmax"])
    answers = {"steps|cupy|w1|fast": {"died": "its process ended by signal 11"}}
    stage, asked, started = staged(monkeypatch, answers)
    stage.compile(wanted, time.monotonic() + 60)
    ours = [task for task in wanted if "|torch|" not in task]
    assert sorted(question["task"] for question in asked) == sorted(ours)
    assert all(question["compile"] for question in asked)
    assert [q for q in asked if q["asked of"] != library_of(q["task"])] == []
    assert "torch" not in started
    asked.clear()
    stage.compile(wanted, time.monotonic() - 1)
    assert asked == []


def test_a_bench_begins_nothing_after_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, asked, _ = staged(monkeypatch, {})
    journal = Journal(tmp_path / "bench.jsonl", {})
    stage.measure(bench_tasks.tasks(), journal, time.monotonic() - 1)
    assert asked == []
    found = bench_report.bench({}, bench_tasks.tasks(), journal.results)
    assert found["left"] == bench_tasks.tasks()


def some_bench() -> dict[str, Any]:
    def row(device: float, wall: float, **more: Any) -> dict[str, Any]:
        spread = {
            "device": {"median": device, "p95": device},
            "wall": {"median": wall, "p95": wall},
        }
        return {**spread, "numbers": [{"loss": 1.0}], **more}

    size = {"size": "2×2", "flop": 0.0, "bytes": 1e6}
    results: dict[str, Any] = {
        "steps|torch|w3|eager": row(1e-3, 2e-3, fed={"median": 3e-3, "p95": 3e-3}),
        "steps|torch|w3|graph": {
            "failed": "RuntimeError: it cannot be captured",
            "lost": "capture",
        },
        "steps|cupy|w3|fast": row(4e-3, 5e-3, fed={"median": 6e-3, "p95": 6e-3}),
        "steps|cupy|w3|recorded": {"differs": "step 1: loss is 2, not 1", "numbers": []},
        "op|torch|Softmax": row(1e-6, 1e-6, **size),
        "op|cupy|Softmax": row(4e-6, 5e-6, **size),
    }
    counts = {"launches": 12, "waits": 0, "copies": 1}
    results["count|torch|w3|eager"] = {"counts": counts}
    facts = {"device": "card", "name": "A card", "driver_version": "1.2", "torch": "2.11"}
    return bench_report.bench(facts, bench_tasks.tasks(["w3", "Softmax"]), results)


def test_a_table_divides_by_the_peer_and_says_what_is_missing() -> None:
    found = some_bench()
    assert found["faults"] == ["steps|cupy|w3|recorded"]
    assert found["left"] == ["steps|cupy-cub|w3|fast", "op|cupy-cub|Softmax"]
    assert "numbers" not in found["steps"]["w3"]["torch eager"]
    said = bench_report.readable(found)
    (steps,) = (line.split() for line in said.splitlines() if line.startswith("W3"))
    assert steps == ["W3", "4", "–", "2.5", "2", "–", "–"]
    (softmax,) = (line.split() for line in said.splitlines() if line.startswith("Softmax"))
    assert softmax == ["Softmax", "4", "250", "GB/s", "1e+03", "GB/s"]
    assert "w3 torch graph: failed: RuntimeError: it cannot be captured" in said
    assert "w3 cupy recorded: differs: step 1" in said
    blind = {**found, "counts": {"w3": {"failed": "the profiler saw no launch"}}}
    assert "w3 counts: failed: the profiler saw no launch" in bench_report.readable(blind)


def test_a_page_is_written_of_what_is_kept(tmp_path: Path) -> None:
    assert page.page(tmp_path) == ""
    found = {**some_bench(), "date": "2026-11-27"}
    (tmp_path / "a-bench-2026-11-27.json").write_text(json.dumps(found), encoding="utf-8")
    text = page.page(tmp_path)
    assert "## A card, 2026-11-27" in text
    ours = ", ".join(map(str, bench_counts.known()["w3 fast"]["step"]))
    assert f"| W3, softmax regression | 4 | – | 2.5 | 2 | – | – | {ours} | 12, 0, 1 |" in text
    assert "| Softmax | 2×2 | 4 | 250 GB/s | 1e+03 GB/s | – |" in text
    assert "- w3 by torch graph: failed: RuntimeError: it cannot be captured." in text


def test_the_page_is_what_the_kept_files_give() -> None:
    assert (page.PAGE.read_text(encoding="utf-8") if page.PAGE.exists() else "") == page.page()


@pytest.mark.slow
def test_a_bench_runs_from_its_command_to_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """PyTorch or not: without it its rows say so, and ours were held to nothing."""
    options = SimpleNamespace(
        out=tmp_path,
        only=["w3", "MatMul"],
        small=True,
        json=False,
        seconds=0,
        workers=1,
        peer_device="cpu",
        peer_python=None,
    )
    known = {"device": "fake"}
    assert bench.run(options, "fake", known, time.monotonic() + 300)
    found = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert found["facts"]["small"]
    assert found["steps"]["w3"]["cupy fast"]["wall"]["median"] > 0
    assert found["ops"]["MatMul"]["cupy"]["size"] == "32×32"
    assert "0 faults of ours, 0 not come to" in capsys.readouterr().out
    began = time.monotonic()
    assert bench.run(options, "fake", known, time.monotonic() + 300)
    assert time.monotonic() - began < 5  # nothing is measured again
