"""gradstep profile, and run --fast."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.engine.passes.pass_pipeline import PASSES
from gradstep.core.graph.model import Constant
from gradstep.core.io.native.gradstep_file import load, save
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.cli.conftest import Cli
from tests.core.cli.test_run import GRAPHS
from tests.examples.build import FOLDER, THREADED

TUTORIAL = FOLDER / "tutorial.gradstep"
EXAMPLES = sorted(p for p in Path(FOLDER).glob("*.gradstep") if p.stem not in THREADED)
NAMES = [made.name for made in PASSES]


def test_the_object(cli: Cli) -> None:
    result = cli("profile", TUTORIAL, "--runs", 3, "--json")
    assert result.status == 0
    found = result.json
    assert (found["mode"], found["runs"], found["device"]["name"]) == ("recorded", 3, "cpu")
    assert found["seconds"] > 0
    rows = {row["op"]: row for row in found["rows"]}
    assert rows["a"] == {
        "op": "a",
        "type": "Mul",
        "phase": "forward",
        "origin": "a",
        "seconds": rows["a"]["seconds"],
        "bytes_made": 8,
        "bytes_read": 16,
        "calls": 1,
        "kernel": "",
        "differs": "",
        "also": [],
        "iterations": 0,
        "inside": [],
    }
    assert {phase["name"] for phase in found["phases"]} == {"forward", "backward", "update"}
    assert sum(phase["seconds"] for phase in found["phases"]) == pytest.approx(
        sum(row["seconds"] for row in found["rows"])
    )
    assert [(made["name"], made["on"]) for made in found["passes"]] == [(n, False) for n in NAMES]


def test_a_fast_profile_says_what_ran(cli: Cli) -> None:
    found = cli("profile", TUTORIAL, "--fast", "--runs", 1, "--json").json
    passes = {made["name"]: made for made in found["passes"]}
    assert found["mode"] == "fast"
    assert all(made["on"] for made in passes.values())
    simpler = passes["simpler forms"]
    assert simpler["steps_after"] < simpler["steps_before"]
    assert simpler["gone"]["gradients/e_grad/Identity"] == "is the same as gradients/a_grad/Mul_1"
    rows = {row["op"]: row for row in found["rows"]}
    assert "gradients/e_grad/Identity" not in rows
    assert "gradients/e_grad/Identity" in rows["gradients/a_grad/Mul_1"]["also"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_example_is_measured_fast(cli: Cli, path: Path) -> None:
    """A fast run writes to its variables, also to those that start as the document says."""
    result = cli("profile", path, "--fast", "--runs", 1, "--trust", "--json")
    recorded = cli("profile", path, "--runs", 1, "--trust", "--json")
    assert result.status == recorded.status, result.out
    if result.status == 0:
        assert {row["op"] for row in result.json["rows"]}
    else:  # the failure is the lesson
        assert result.json == recorded.json


def test_a_pass_left_out(cli: Cli) -> None:
    arguments = ("profile", TUTORIAL, "--fast", "--runs", 1, "--without", "simpler forms")
    found = cli(*arguments, "--json").json
    passes = {made["name"]: made for made in found["passes"]}
    assert [name for name, made in passes.items() if not made["on"]] == ["simpler forms"]
    assert "gradients/e_grad/Identity" in {row["op"] for row in found["rows"]}
    assert "simpler forms" in cli(*arguments).out


def test_the_table_is_by_time_with_totals(cli: Cli) -> None:
    result = cli("profile", TUTORIAL, "--fast", "--runs", 2)
    assert result.status == 0
    first, *rest = result.out.split("\n\n")
    assert first.startswith("fast on cpu, 2 runs: ")
    operations, phases, passes = rest
    header, *lines = operations.splitlines()
    assert header.split()[:4] == ["operation", "type", "phase", "time"]
    assert {"d", "a", "loss"} <= {line.split()[0] for line in lines}
    assert {line.split()[0] for line in phases.splitlines()[1:]} == {
        "forward",
        "backward",
        "update",
    }
    for name in NAMES:
        assert name in passes


def test_what_is_inside_a_loop_stands_below_it(cli: Cli) -> None:
    arguments = ("profile", FOLDER / "while_loop.gradstep", "--runs", 1)
    found = cli(*arguments, "--json").json
    loop = next(row for row in found["rows"] if row["op"] == "while/While")
    inside = {row["type"]: row for row in loop["inside"]}
    assert loop["iterations"] == inside["Mul"]["calls"] == inside["Less"]["calls"] - 1 == 3
    assert 0 < sum(row["seconds"] for row in loop["inside"]) <= loop["seconds"]
    for total in ("phases", "scopes"):  # which look into loops
        named = {group["name"]: group for group in found[total]}
        there = named["forward" if total == "phases" else "while"]
        assert there["calls"] > sum(row["calls"] for row in loop["inside"])
        assert there["seconds"] >= loop["seconds"]
    lines = cli(*arguments).out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("while/While "))
    below = [*itertools.takewhile(lambda line: line.startswith("  "), lines[at + 1 :])]
    assert lines[at].endswith("3 iterations")
    assert {line.split()[0] for line in below[:-1]} == {
        row["op"] for row in loop["inside"] if row["calls"]
    }
    assert below[-1].startswith("  from one iteration to the next")


QUEUES, DEADLOCK = (FOLDER / f"queue_{x}.gradstep" for x in ("train_validation", "deadlock"))


@pytest.mark.parametrize(
    ("path", "more", "status", "said"),
    [
        (QUEUES, ["--threads"], 0, "train/queue has 3 of 3, valid/queue has 3 of 3"),
        (QUEUES, ["--threads", "--fast"], 0, "train/queue has 3 of 3, valid/queue has 3 of 3"),
        (QUEUES, [], 1, "let the document's threads run: --threads; or run train/fill first"),
        (DEADLOCK, ["--threads"], 1, "let the queue hold as much as a run takes; or run reply"),
        (TUTORIAL, ["--threads"], 2, "leave --threads out"),
    ],
)
def test_threads_fill_the_queues_of_every_measured_run(
    cli: Cli, path: Path, more: list[str], status: int, said: str
) -> None:
    """Of each queue, more runs than it has elements."""
    result = cli("profile", path, "--runs", 3, *more, "--json")
    assert result.status == status
    found = result.json
    assert said in (found["text"] if status == 0 else found["error"]["hint"])
    if status == 0:
        assert [r["calls"] for r in found["rows"] if r["op"] == "train/batch"] == [1]


def test_scopes_hold_what_is_inside(cli: Cli, tmp_path: Path) -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(2,))
    with b.scope("net"):
        with b.scope("layer"):
            x = b.one("Exp", x, name="a")
        b.one("Tanh", x, name="b")
    document = Document(b.build(), feeds={"x": Constant([1.0, 2.0])})
    save(tmp_path / "net.gradstep", document)
    found = cli("profile", tmp_path / "net.gradstep", "--runs", 1, "--json").json
    seconds = {row["op"]: row["seconds"] for row in found["rows"]}
    scopes = {scope["name"]: scope for scope in found["scopes"]}
    assert scopes["net"]["seconds"] == pytest.approx(seconds["net/layer/a"] + seconds["net/b"])
    assert scopes["net"]["bytes_made"] == 16
    assert scopes["net/layer"]["calls"] == 1


def test_gradients_of_something_else(cli: Cli) -> None:
    path = FOLDER / "floor_identity.gradstep"
    document = load(path)
    (of,) = document.request.of
    (wrt, *_) = document.request.wrt
    asked = ("--of", of.short, "--wrt", wrt.short)
    found = cli("profile", path, *asked, "--runs", 1, "--json").json
    assert any(row["phase"] == "backward" for row in found["rows"])


def test_nothing_to_run_is_said(cli: Cli, tmp_path: Path) -> None:
    unknown = tmp_path / "unknown.pbtxt"
    unknown.write_text('node { name: "a" op: "Zorp" }')
    assert cli("profile", unknown, "--runs", 1).out.endswith("there is nothing to run\n")
    ran = cli("run", unknown)
    assert ran.status == 2
    assert "a is left out: Op type not registered 'Zorp'" in ran.err


def test_an_emulated_device_has_no_times(cli: Cli) -> None:
    result = cli("profile", TUTORIAL, "--device", "emulate:jax", "--json")
    assert result.status == 1
    assert "emulated device has no times" in result.json["error"]["message"]
    placed = cli("profile", TUTORIAL, "--place", "a=emulate:jax", "--json").json["error"]
    assert placed["message"].startswith("'emulate:jax' is emulated")
    assert "--place NAME=" in placed["hint"]


def test_a_failing_operation_is_named(cli: Cli) -> None:
    result = cli("profile", FOLDER / "gather.gradstep", "--json")
    assert result.status == 1
    assert result.json["error"]["node"] == "b"


@pytest.mark.parametrize("verb", ["profile", "run"])
def test_an_unknown_pass_and_one_near_it(cli: Cli, verb: str) -> None:
    result = cli(verb, TUTORIAL, "--fast", "--without", "dead codes", "--json")
    assert result.status == 1
    assert result.json["error"]["message"] == "there is no pass 'dead codes'"
    assert result.json["error"]["hint"] == "did you mean 'dead code'?"


@pytest.mark.parametrize("verb", ["profile", "run"])
def test_recorded_runs_have_no_passes_to_leave_out(cli: Cli, verb: str) -> None:
    result = cli(verb, TUTORIAL, "--without", "dead code")
    assert result.status == 2
    assert "add --fast" in result.err


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_fast_runs_give_the_same(cli: Cli, path: Path) -> None:
    """On one of two devices, in turn."""
    device = ("cpu", "emulate:torch")[EXAMPLES.index(path) % 2]
    feed = ("--feed", "indices=[0,4,1]") if path.stem == "gather" else ()
    arguments = ("run", path, "--runs", 3, "--device", device, "--trust", *feed, "--json")
    plain, fast = cli(*arguments), cli(*arguments, "--fast")
    assert fast.status == plain.status, fast.out
    if plain.status:  # the failure is the lesson
        assert fast.json == plain.json
    elif fast.json["rounding"]:
        assert _numbers(fast.json["runs"]) == pytest.approx(_numbers(plain.json["runs"]), rel=1e-5)
    else:
        assert fast.json == {**plain.json, "rounding": []}


def _numbers(found: Any) -> list[float]:
    """All that are in there, in order."""
    if isinstance(found, dict | list):
        parts = found.values() if isinstance(found, dict) else found
        return [number for part in parts for number in _numbers(part)]
    return [found] if isinstance(found, int | float) else []


@pytest.mark.parametrize("name", NAMES)
def test_fast_runs_without_a_pass_give_the_same(cli: Cli, name: str) -> None:
    arguments = ("run", TUTORIAL, "--runs", 3, "--json")
    fast = cli(*arguments, "--fast", "--without", name)
    assert fast.json["runs"] == cli(*arguments).json["runs"]


def test_a_fast_run_initialises_first(cli: Cli) -> None:
    path = GRAPHS / "simple_network_adam.pb"
    feeds = ("--feed", "data=[1,2]", "labels:0=[0,1]")
    arguments = ("run", path, "--fetch", "train", "c/read:0", *feeds, "--runs", 2, "--json")
    plain, fast = cli(*arguments), cli(*arguments, "--fast")
    assert plain.status == 0
    assert fast.json["runs"] == plain.json["runs"]


@pytest.fixture
def shared_weights(tmp_path: Path) -> Path:
    """x_i W for four inputs: passes make one product of them, which may be summed otherwise."""
    b = GraphBuilder()
    w = b.placeholder("w", shape=(8, 4))
    inputs = [b.placeholder(f"x{i}", shape=(3, 8)) for i in range(4)]
    b.one("AddN", *(b.one("MatMul", x, w) for x in inputs), name="y")
    random = np.random.default_rng(2)
    feeds = {"w": Constant(random.normal(size=(8, 4)).astype(np.float32))}
    feeds |= {x.name: Constant(random.normal(size=(3, 8)).astype(np.float32)) for x in inputs}
    path = tmp_path / "shared.gradstep"
    save(path, Document(b.build(), feeds=feeds))
    return path


def test_a_fast_run_says_what_may_round_otherwise(cli: Cli, shared_weights: Path) -> None:
    arguments = ("run", shared_weights, "--fetch", "y", "--fast")
    rounding = cli(*arguments, "--json").json["rounding"]
    assert rounding
    text = cli(*arguments).out
    for name in rounding:
        assert f'--without "{name}"' in text
    without = [part for name in rounding for part in ("--without", name)]
    exact = cli(*arguments, *without, "--json").json
    assert exact["rounding"] == []
    assert exact["runs"] == cli("run", shared_weights, "--fetch", "y", "--json").json["runs"]


def test_a_profile_says_which_passes_keep_the_bits(cli: Cli, shared_weights: Path) -> None:
    rounding = cli("run", shared_weights, "--fetch", "y", "--fast", "--json").json["rounding"]
    found = cli("profile", shared_weights, "--fast", "--runs", 1, "--json").json
    passes = {made["name"]: made for made in found["passes"]}
    assert [name for name, made in passes.items() if not made["same_bits"]] == rounding
    assert all(passes[name]["differs"] for name in rounding)
    same = cli("profile", TUTORIAL, "--fast", "--runs", 1, "--json").json["passes"]
    assert all(made["same_bits"] for made in same)


@pytest.mark.parametrize("verb", ["profile", "run"])
def test_kernels_by_name(cli: Cli, verb: str) -> None:
    assert cli(verb, TUTORIAL, "--runs", 1, "--kernels", "auto").status == 0
    unknown = cli(verb, TUTORIAL, "--kernels", "scpy", "--json")
    assert unknown.status == 1
    assert "SciPy" in unknown.json["error"]["hint"]
