"""gradstep sweep: rows of runs, failing settings, killed workers, Ctrl+C and going on, trust."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.cli import sweep
from gradstep.core.cli.runs import sweep_run
from gradstep.core.cli.runs.sweep_run import make_run
from gradstep.core.document.document import CodeKind, Document, Optimizer
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.host.workers import worker_pool
from gradstep.core.host.workers.work_link import STOPPED, WorkLink, linked
from gradstep.core.io.checkpoint_files import CheckpointFolder
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program import sandbox
from gradstep.core.sweep.sweep_folder import SweepFolder
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER
from tests.support.forked_engine import ForkedCommand, Server

pytestmark = pytest.mark.usefixtures("forked_workers")

ROOT = Path(__file__).parents[3]
TUTORIAL = FOLDER / "tutorial.gradstep"
DIGITS = (
    FOLDER / "softmax_digits.gradstep",
    "--data", "images=@digits:images|scale(1/16)", "labels=@digits:labels|one_hot(10)",
)  # fmt: skip
LONG = 60  # seconds


class InProcess(ThreadPoolExecutor):
    """What stands in for processes, or a cluster: the interface is that of concurrent.futures."""

    def __init__(self) -> None:
        super().__init__(1)

    def stop(self) -> None:
        self.shutdown(cancel_futures=True)


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process is started: what is about the runs themselves takes less time so."""
    monkeypatch.setattr(sweep, "open_workers", lambda args, folder, tell: InProcess())


def shrinking(folder: Path, **changes: Any) -> Path:
    """w ← w − rate·2w from 1, with noise of which there is none where its `scale` is 0."""
    g = GraphBuilder()
    w = g.variable("w", shape=())
    noise = g.one("RandomStandardNormal", g.constant(np.zeros(0, np.int32)), dtype=DType.FLOAT32)
    off = g.one("Mul", noise, g.constant(np.float32(0), name="scale"))
    g.one("AddV2", g.one("Square", w), off, name="loss")
    document = Document(
        graph=g.build(),
        request=GradientRequest(of=(TensorRef("loss"),), wrt=(TensorRef("w"),)),
        initial={"w": Constant(np.float32(1))},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.1}),),
    ).with_(**changes)
    gradstep_file.save(folder / "shrinking.gradstep", document)
    return folder / "shrinking.gradstep"


@pytest.mark.usefixtures("in_process")
def test_a_run_is_a_training_of_the_document_with_that_setting(cli: Cli, tmp_path: Path) -> None:
    file = shrinking(tmp_path)
    found = cli("sweep", file, "--set", "learning_rate=0.01,0.3", "--steps", 7, "--json").json
    assert [row["values"] for row in found["rows"]] == [
        {"learning_rate": "0.01"},
        {"learning_rate": "0.3"},
    ]
    for row, rate in zip(found["rows"], (0.01, 0.3), strict=True):
        document = gradstep_file.load(file)
        descent = Optimizer("GradientDescent", {"learning_rate": rate})
        gradstep_file.save(tmp_path / "one.gradstep", document.with_(optimizers=(descent,)))
        shown = cli("train", tmp_path / "one.gradstep", "--steps", 7, "--json").json["shown"]
        assert np.float32(row["loss"]) == np.float32(shown[-1]["values"]["loss"]["data"])
        assert (row["steps"], row["best_step"], row["best"]) == (7, 7, row["loss"])
    assert (found["best"], found["runs"], found["stopped"], found["out"]) == (2, 2, False, None)


@pytest.mark.usefixtures("in_process")
def test_a_failing_setting_is_a_row_and_the_others_go_on(cli: Cli, tmp_path: Path) -> None:
    rates = "learning_rate=0.1,words,1e30,0.2"
    result = cli(
        "sweep", shrinking(tmp_path), "--set", rates, "--steps", 9, "--out", tmp_path / "o"
    )
    assert result.status == 0
    lines = result.out.splitlines()
    assert [line.split()[1] for line in lines[1:5]] == ["0.2", "0.1", "words", "1e30"]
    assert "it is a number" in lines[3]
    assert "Infinite loss during training" in lines[4]
    assert result.err.count("failed:") == 2
    assert "run 2 (learning_rate=words) failed: learning_rate=words: it is a number" in result.err
    rows = SweepFolder.find(tmp_path / "o").rows()
    assert [row.error is None for row in rows] == [True, False, False, True]
    assert rows[2].steps > 0
    none = cli("sweep", shrinking(tmp_path), "--set", "learning_rate=a,b", "--json")
    assert none.status == 1
    assert none.json["best"] is None


@pytest.mark.slow
def test_each_run_is_a_line_where_that_is_asked_for(cli: Cli, tmp_path: Path) -> None:
    words = ("sweep", shrinking(tmp_path), "--set", "learning_rate=0.1,a", "--steps", 3)
    *lines, last = map(json.loads, cli(*words, "--json", "--lines").out.splitlines())
    assert sorted(lines, key=lambda row: row["number"]) == last["rows"]
    assert "--lines is about --json" in cli(*words, "--lines").err


@pytest.mark.usefixtures("in_process")
def test_seeds_are_those_of_random_operations_and_of_generators(cli: Cli, tmp_path: Path) -> None:
    file = shrinking(tmp_path)

    def losses(*words: object) -> list[list[Any]]:
        found = cli("sweep", file, *words, "--seeds", 3, "--steps", 1, "--json").json["rows"]
        return [[row["seed"], row["loss"]] for row in found]

    assert len({loss for _, loss in losses()}) == 1  # the noise is off
    noisy = losses("--set", "scale=1")
    assert [seed for seed, _ in noisy] == [1, 2, 3]
    assert len({loss for _, loss in noisy}) == 3
    assert losses("--set", "scale=1") == noisy
    assert len({loss for _, loss in losses("--set", "w=normal(0, 1)")}) == 3


@pytest.mark.usefixtures("in_process")
def test_rows_are_fed_and_what_a_run_ends_with_is_kept(cli: Cli, tmp_path: Path) -> None:
    words = (*DIGITS, "--set", "batch=16,64", "--seeds", 2, "--shuffle", 1, "--validate", 0.2)
    found = cli("sweep", *words, "--steps", 5, "--out", tmp_path / "o", "--json").json["rows"]
    assert len({row["loss"] for row in found}) == 4
    assert all(row["validation"] > 0 for row in found)
    alone = cli("train", *DIGITS, "--batch", 64, "--shuffle", 3, "--validate", 0.2, "--steps", 5,
                "--checkpoint", tmp_path / "c", "--json").json  # fmt: skip
    loss = alone["shown"][-1]["values"]["loss"]["data"]
    assert np.float32(found[3]["loss"]) == np.float32(loss)
    kept = CheckpointFolder(SweepFolder.find(tmp_path / "o").checkpoint(4), 1).newest()
    same = CheckpointFolder(tmp_path / "c", 1).newest()
    assert kept is not None
    assert same is not None
    assert kept.step == 5
    assert all(
        np.array_equal(kept.variables[name], same.variables[name]) for name in same.variables
    )


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([TUTORIAL], "nothing varies"),
        ([TUTORIAL, "--set", "learning_rat=1"], "nothing is called 'learning_rat'"),
        ([TUTORIAL, "--set", "learning_rate"], "is not NAME=VALUES"),
        ([TUTORIAL, "--set", "learning_rate=1:2:log"], "does not say how many"),
        ([TUTORIAL, "--seeds", "3"], "would make the same run again"),
        ([TUTORIAL, "--set", "learning_rate=1,2", "--seed", "3"], "--seed is about --sample"),
        ([TUTORIAL, "--set", "learning_rate=1,2", "--batch", "3"], "--batch is about --data"),
        ([TUTORIAL, "--resume", "nowhere"], "--resume has the document"),
        (["--resume", "nowhere"], "nowhere is no folder of a sweep"),
        (["--resume", "nowhere", "--seeds", "2"], "--seeds is about a new sweep"),
        ([], "the document is missing"),
    ],
)
def test_what_makes_no_sweep_is_said(cli: Cli, words: list[object], message: str) -> None:
    result = cli("sweep", *words, "--steps", 2)
    assert message in result.err
    assert result.err.count("\n") <= 2
    assert result.status in (1, 2)


@pytest.mark.slow
def test_a_killed_worker_costs_nothing_but_its_steps(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes as users have them; one is killed as it begins a run."""
    killed: list[int] = []
    tell = worker_pool.WorkerPool.__init__

    def init(self: worker_pool.WorkerPool, count: int, begin: Any, hear: Any) -> None:
        def heard(future: Any, news: Any) -> None:
            if not killed and "begun" in news:
                killed.extend(process.pid for process in self._busy)
                os.kill(killed[0], signal.SIGKILL)
            hear(future, news)

        tell(self, count, begin, heard)

    monkeypatch.setattr(worker_pool.WorkerPool, "__init__", init)
    rates = "learning_rate=0.01:0.4:log4"
    words = ("sweep", shrinking(tmp_path), "--set", rates, "--steps", 300, "--json")
    found = cli(*words, "--workers", 2, "--out", tmp_path / "o").json["rows"]
    assert killed
    assert [row["error"] for row in found] == [None] * 4
    assert sorted(row["tries"] for row in found) == [1, 1, 1, 2]
    monkeypatch.setattr(sweep, "open_workers", lambda args, folder, tell: InProcess())
    undisturbed = cli(*words).json["rows"]
    assert [row["loss"] for row in found] == [row["loss"] for row in undisturbed]
    for number in range(1, 5):
        steps = SweepFolder.find(tmp_path / "o").curve(number)[:, 0].tolist()
        assert steps == [*range(1, 301)]  # none twice


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_over_and_resume_makes_the_rest(
    cli: Cli, tmp_path: Path, engine_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, out = shrinking(tmp_path), tmp_path / "o"
    rates = "learning_rate=0.01:0.03:log8"
    words = ("sweep", file, "--set", rates, "--set", "scale=0", "--steps", 500, "--workers", 1)
    process = ForkedCommand(engine_server, [*words, "--out", out])
    deadline = time.monotonic() + LONG
    while not (out / "rows.jsonl").exists():
        assert process.poll() is None, process.communicate().stderr
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    done = process.communicate()
    said = done.stdout + done.stderr
    before = SweepFolder.find(out).rows()
    if len(before) == 8:
        pytest.skip("it was over before it could be stopped")
    assert done.returncode == 130
    assert (
        f"{len(before)} of 8 runs are over; gradstep sweep --resume {out} makes the others" in said
    )
    monkeypatch.setattr(sweep, "open_workers", lambda args, folder, tell: InProcess())
    result = cli("sweep", "--resume", out, "--json").json
    assert len(result["rows"]) == 8
    assert SweepFolder.find(out).rows()[: len(before)] == before  # made no second time
    assert all(row["steps"] == 500 for row in result["rows"])


@pytest.mark.slow
def test_it_ends_while_nothing_is_over(tmp_path: Path, cli: Cli) -> None:
    """A run looks each 50 steps whether it is to end."""
    out = tmp_path / "o"
    began = time.monotonic()

    def interrupt() -> None:
        while not (out / "curves" / "1.csv").exists() and time.monotonic() - began < LONG:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    words = ("--set", "learning_rate=0.01", "--steps", 100_000_000, "--workers", 1, "--out", out)
    result = cli("sweep", shrinking(tmp_path), *words)
    assert result.status == 130
    assert "0 of 1 runs are over" in result.out
    assert time.monotonic() - began < LONG


def test_a_run_looks_each_50_steps_whether_to_end(tmp_path: Path) -> None:
    looks, news = [False, False, False, True], list[dict[str, Any]]()
    order = {
        "spec": {"number": 1, "values": {}},
        "file": str(shrinking(tmp_path)),
        "arguments": ["--steps=100000"],
    }
    with (
        linked(WorkLink(lambda: len(looks) < 2 or looks.pop(0), news.append)),
        pytest.raises(GradstepError) as caught,
    ):
        make_run(order)
    assert caught.value.kind == STOPPED
    assert news[-1]["step"] == 150


def test_a_long_run_says_how_far_it_is_before_its_second_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep_run, "_INTERVAL", 0.0)  # seconds: at each step
    news = list[dict[str, Any]]()
    order = {
        "spec": {"number": 1, "values": {}},
        "file": str(shrinking(tmp_path)),
        "arguments": ["--steps=1000000000"],
    }
    with (
        linked(WorkLink(lambda: len(news) > 2, news.append)),
        pytest.raises(GradstepError),
    ):
        make_run(order)
    assert [(each["step"], len(each["points"])) for each in news[:3]] == [(1, 1), (2, 0), (3, 0)]


@pytest.mark.slow
def test_it_ends_with_its_input(tmp_path: Path, engine_server: Server) -> None:
    """As a window that is gone lets it end: cooperatively, with what is over kept."""
    file, out = shrinking(tmp_path), tmp_path / "o"
    words = ("sweep", file, "--set=learning_rate=0.01", "--steps=2000000", "--out", out)
    process = ForkedCommand(engine_server, [*words, "--end-with-input", "--json"])
    deadline = time.monotonic() + LONG
    while not (out / "curves" / "1.csv").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    done = process.communicate()  # closes its input
    assert json.loads(done.stdout)["stopped"]
    assert done.returncode == 130


@pytest.mark.slow
def test_words_of_a_folder_give_no_trust(cli: Cli, tmp_path: Path) -> None:
    """Who sends a folder says nothing of what may run here: --trust is no part of it."""
    out = tmp_path / "o"
    file = FOLDER / "override_add.gradstep"
    words = ("sweep", file, "--set", "learning_rate=0.1", "--steps", 1, "--out", out, "--trust")
    assert cli(*words, "--workers", 1).status == 0
    assert "--trust" not in (out / "sweep.json").read_text()
    assert SweepFolder.find(out).record.arguments == ["--steps=1"]


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("word", ["--trust", "--trus", "--code={code}", "--sandbox"])
def test_a_folder_that_was_changed_gives_no_trust_either(
    cli: Cli, tmp_path: Path, word: str
) -> None:
    document = gradstep_file.load(FOLDER / "override_add.gradstep")
    code = {
        name: type(item)(
            item.name, item.kind, item.source + f"\nopen({str(tmp_path / 'ran')!r}, 'w')"
        )
        for name, item in document.code.items()
    }
    file, out = tmp_path / "theirs.gradstep", tmp_path / "o"
    gradstep_file.save(file, document.with_(code=code))
    (tmp_path / "code.py").write_text("\n".join(item.source for item in code.values()))
    cli("sweep", file, "--set", "learning_rate=0.1", "--steps", 1, "--out", out)
    (out / "rows.jsonl").unlink()
    record = json.loads((out / "sweep.json").read_text())
    record["arguments"].append(word.format(code=tmp_path / "code.py"))
    (out / "sweep.json").write_text(json.dumps(record))
    (row,) = cli("sweep", "--resume", out, "--json").json["rows"]
    assert "is not trusted" in row["error"]["message"]
    assert not (tmp_path / "ran").exists()


SOURCE = """
import os
def forward(c, k, d):
    for path in ({secret!r}, {beside!r}):
        try:
            open(path, "a").close()
        except OSError:
            continue
        raise ValueError("it could write " + path)
    if "MY_TOKEN" in os.environ:
        raise ValueError("it has the token")
    return c + k
"""


@pytest.mark.skipif(bool(sandbox.why_not()), reason="nothing can be confined here")
@pytest.mark.slow
@pytest.mark.engine_process
def test_the_sandbox_holds_in_the_workers(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret")
    document = gradstep_file.load(FOLDER / "override_add.gradstep")
    name, item = next(i for i in document.code.items() if i[1].kind is CodeKind.PYFUNC)
    source = SOURCE.format(secret=str(tmp_path / "secret"), beside=str(tmp_path / "o" / "x"))
    code = {**document.code, name: type(item)(item.name, item.kind, source)}
    file = tmp_path / "python.gradstep"
    gradstep_file.save(file, document.with_(code=code))
    words = ("sweep", file, "--set", "learning_rate=0.1,0.2", "--steps", 3, "--workers", 1)
    confined = cli(*words, "--sandbox", "--out", tmp_path / "o", "--json").json["rows"]
    assert [row["error"] for row in confined] == [None, None]
    monkeypatch.setattr(sweep, "open_workers", lambda args, folder, tell: InProcess())
    untrusted = cli(*words, "--json").json["rows"]
    assert all("is not trusted" in row["error"]["message"] for row in untrusted)
    free = cli(*words, "--trust", "--json").json["rows"]
    assert "it could write" in free[0]["error"]["message"]


def test_a_cluster_is_an_extra(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    words = ("sweep", TUTORIAL, "--set", "learning_rate=1,2", "--cluster", "tcp://127.0.0.1:1")
    result = cli(*words)
    assert "a cluster needs dask.distributed" in result.err
    assert "cluster" in result.err.splitlines()[1]
    assert "--cluster has others" in cli(*words, "--sandbox").err


@pytest.mark.usefixtures("in_process")
def test_the_settings_of_an_optimizer_that_is_named(cli: Cli, tmp_path: Path) -> None:
    """A document without one; it stands in the folder's document for --resume."""
    file, out = tmp_path / "none.gradstep", tmp_path / "swept"
    gradstep_file.save(file, gradstep_file.load(TUTORIAL).with_(optimizers=()))
    named = ("--optimizer", "GradientDescent(0.1)", "--set", "learning_rate=0.1,0.3")
    done = cli("sweep", file, *named, "--steps", 3, "--out", out, "--json")
    assert not done.status, done.err
    losses = [row["loss"] for row in done.json["rows"]]
    own = cli("train", file, "--optimizer", "GradientDescent(0.3)", "--steps", 3, "--json").json
    assert losses[1] == pytest.approx(own["shown"][-1]["values"]["loss"]["data"])
    assert losses[0] != losses[1]
    assert cli("sweep", "--resume", out, "--optimizer", "Adam").status == 2
