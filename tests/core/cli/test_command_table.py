"""The other verbs, bad files, and the command line as a process."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.cli import command_line as cli_main
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.main import Gradstep
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER
from tests.support import tensorflow_graphs
from tests.support.forked_engine import ForkedCommand, Server

ROOT = Path(__file__).parents[3]
GRAPHS = ROOT / "tests" / "data" / "oracle" / "graphs"
TUTORIAL = FOLDER / "tutorial.gradstep"


def test_compare_gather_with_an_emulated_gpu(cli: Cli) -> None:
    result = cli("compare", FOLDER / "gather.gradstep", "--against", "emulate:tf-gpu", "--json")
    assert result.status == 0
    assert result.json["measured"] is False
    assert result.json["first_divergence"] == "b"
    nodes = {node["name"]: node for node in result.json["nodes"]}
    assert nodes["b"]["verdict"] == "raises"
    assert nodes["b"]["right"]["values"] == [1, 2, 0]
    assert nodes["params"]["verdict"] == "equal"
    assert {"name", "type", "phase", "verdict", "created", "inherited"} <= set(nodes["b"])
    text = cli("compare", FOLDER / "gather.gradstep", "--against", "emulate:tf-gpu").out
    assert "Semantics, not rounding. First divergence: b (GatherV2): an index out of" in text
    assert "1 of 7 nodes differs." in text
    assert "emulated" in text


def test_compare_the_tutorial_with_itself(cli: Cli) -> None:
    result = cli("compare", TUTORIAL, "--against", "cpu:native", "--json")
    assert result.json["first_divergence"] is None
    assert {"forward", "backward"} <= {node["phase"] for node in result.json["nodes"]}


@pytest.mark.parametrize("suffix", ["gradstep", "pb", "pbtxt", "py", "dot"])
def test_convert(cli: Cli, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out.{suffix}"
    assert cli("convert", TUTORIAL, out, "--json").json["written"] == str(out)
    assert out.stat().st_size > 100
    if suffix in ("gradstep", "pb", "pbtxt"):
        assert set(read(TUTORIAL).graph.operations) <= set(read(out).graph.operations)


def test_queues_block_alone_and_are_filled_by_threads(cli: Cli) -> None:
    queue = GRAPHS / "fifo_queue.pb"
    alone = cli("run", queue, "--fetch", "deq", "--json")
    assert alone.status == 1
    assert alone.json["error"]["message"] == (
        "would block: queue 'q' has 0 of 1 element and nothing that is running can enqueue more"
    )
    hint = alone.json["error"]["hint"]
    assert "--threads; or run enq first" in hint
    fed = "x=[1, 2, 3]"
    runs = cli("run", queue, "--threads", "--fetch", "deq", "--runs", 4, "--feed", fed, "--json")
    assert [run["fetches"]["deq"]["data"] for run in runs.json["runs"]] == [1, 2, 3, 1]
    script = "step; step; thread enq; step; step; threads; print q; thread main; step; print deq"
    debug = cli("debug", queue, "--feed", fed, "--script", script)
    assert "waits: would block: queue 'q' has 0 of 1 element" in debug.out
    assert "q  3 of 3: [1.0, 2.0, 3.0]" in debug.out
    assert debug.out.rstrip().endswith("deq  float32[] 1.")


@pytest.mark.parametrize("out", ["a.onnx", "a.xyz", "a"])
def test_convert_to_an_unknown_format(cli: Cli, out: str) -> None:
    result = cli("convert", TUTORIAL, out)
    assert result.status == 2
    assert "it writes .gradstep, .pb" in result.err
    assert "later version" not in result.err


def test_doctor(cli: Cli) -> None:
    result = cli("doctor", "--json")
    assert result.status == 0
    checks = {check["name"]: check for check in result.json["checks"]}
    assert checks["Python"]["ok"]
    assert checks["Qt"]["ok"]
    assert checks["emulate:tf-gpu"]["ok"]
    assert "gpu" in checks


def test_shot_and_engine_usage(cli: Cli, tmp_path: Path) -> None:
    assert cli("shot", TUTORIAL, tmp_path / "a.jpg").status == 2
    assert "write shot.png" in cli("shot", TUTORIAL, "").err
    assert cli("shot", tmp_path / "none.gradstep", tmp_path / "a.png").status == 1
    assert cli("shot", TUTORIAL, tmp_path / "a.png", "--size", "big").status == 2
    assert cli("engine").status == 2


@pytest.mark.slow
def test_a_bug_is_said_in_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Gradstep) -> None:
        raise ZeroDivisionError("surprise")

    monkeypatch.setattr(Gradstep, "devices", broken)
    result = cli("doctor", "--json")
    assert result.status == 1
    assert result.json["error"]["type"] == "InternalError"
    monkeypatch.setenv("GRADSTEP_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        cli("doctor")


@pytest.mark.parametrize("verb", sorted(cli_main.VERBS))
def test_every_verb_explains_itself(
    cli: Cli, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        cli(verb, "--help")
    assert caught.value.code == 0
    assert f"usage: gradstep {verb}" in capsys.readouterr().out


BAD = ["cut", "bomb", "cycle", "missing", "folder", "suffix", "notes"]


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    """A folder of files that cannot be opened, each in its own way."""
    data = TUTORIAL.read_bytes()
    (tmp_path / "cut.gradstep").write_bytes(data[: len(data) // 2])
    (tmp_path / "notes.gradstep").write_bytes(b"just text")
    (tmp_path / "folder.gradstep").mkdir()
    (tmp_path / "suffix.h5").write_bytes(b"")
    (tmp_path / "cycle.pbtxt").write_text(
        'node { name: "a" op: "Neg" input: "b" } node { name: "b" op: "Neg" input: "a" }'
    )
    (tmp_path / "bomb.pbtxt").write_text(
        'node { name: "a" op: "Const" attr { key: "value" value { tensor { dtype: DT_FLOAT '
        "tensor_shape { dim { size: 999999999999 } } float_val: 0 float_val: 1 } } } }"
    )
    return tmp_path


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("verb", ["run", "grad", "check", "debug", "convert"])
def test_bad_files(cli: Cli, bad: Path, name: str, verb: str) -> None:
    path = next(bad.glob(f"{name}.*"), bad / f"{name}.gradstep")
    extra = [bad / "out.dot"] if verb == "convert" else []
    result = cli(verb, path, *extra)
    assert result.status == 1
    assert result.out == ""
    assert result.err.startswith("gradstep: ")
    assert len(result.err.splitlines()) == 2
    assert "Traceback" not in result.err


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["rn", "x.pb"], 2, "did you mean gradstep run?"),
        (["none.pb"], 1, "there is no file none.pb"),
        (["shot", "-", "x.jpg"], 2, "write x.png"),
        (["shot", "-", "x.png", "--scale", "0"], 2, "not a number from 0.1 to 8"),
        (["shot", "-", "x.png", "--scale", "nan"], 2, "not a number from 0.1 to 8"),
        (["shot", "-", "x.png", "--size", "9000x9"], 2, "more than 8192 pixels a side"),
    ],
)
def test_mistakes(cli: Cli, arguments: list[str], status: int, said: str) -> None:
    result = cli(*arguments)
    assert result.status == status
    assert said in result.err
    assert len(result.err.splitlines()) == 2


def _process(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "main.py", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")},
    )


@pytest.mark.slow
def test_the_process(capsys: pytest.CaptureFixture[str], engine_server: Server) -> None:
    done = _process("grad", str(TUTORIAL), "--of", "loss", "--wrt", "c", "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["gradients"]["c"]["data"] == [0.56751364, -0.99436176]
    for word, said in (("--version", "gradstep "), ("--help", "commands")):
        with pytest.raises(SystemExit, match=r"^0$"):
            cli_main.main([word], Gradstep())
        assert said in capsys.readouterr().out
    talked = ForkedCommand(engine_server, ["debug", TUTORIAL]).communicate("step\nquit\n")
    assert talked.returncode == 0
    assert "[step] run 1, step 1" in talked.stdout


@pytest.mark.slow
def test_running_stays_light() -> None:
    code = (
        "import sys; from gradstep.core.cli.command_line import main; "
        "from gradstep.main import Gradstep; "
        f"main(['run', {str(TUTORIAL)!r}, '--fetch', 'loss'], Gradstep()); "
        "heavy = {'PySide6', 'networkx', 'pyqtgraph', 'cupy', 'scipy', 'google', 'tensorboardX'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


HELP = """
import io, sys
from contextlib import redirect_stdout, suppress
from gradstep.core.cli.command_line import VERBS, main
from gradstep.main import Gradstep

HEAVY = {"numpy", "ml_dtypes", "PySide6", "msgspec"}
HEAVY |= {f"gradstep.core.{room}" for room in ("engine", "debug", "ops")}
for words in (["--version"], ["--help"], *([verb, "--help"] for verb in VERBS), ["rn", "x.pb"]):
    with redirect_stdout(io.StringIO()), suppress(SystemExit):
        main(words, Gradstep())
    loaded = sorted(HEAVY & sys.modules.keys())
    if loaded:
        sys.exit(f"{words} loads {loaded}")
print(len(VERBS))
"""


def test_help_loads_nothing_of_what_a_verb_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HELP], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(cli_main.VERBS)


@pytest.mark.parametrize(
    ("word", "status", "said"),
    [("rum", 2, "gradstep run"), ("frobnicate", 2, "--help"), ("lost.gradstep", 1, "no file")],
)
def test_a_first_word_that_is_neither_file_nor_command(
    cli: Cli, word: str, status: int, said: str
) -> None:
    result = cli(word)
    assert result.status == status
    assert said in result.err


needs_full = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="no device that is always full"
)


@needs_full
@pytest.mark.parametrize("verb", [["run", str(TUTORIAL)], ["run", "nope.pb"]])
@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_an_answer_that_cannot_be_written(
    cli: Cli, verb: list[str], flags: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open("/dev/full", "w") as full, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", full)
        done = cli(*verb, *flags)
    assert done.status == 1
    assert done.err.count("\n") <= 2
    assert done.err.startswith("gradstep: cannot ")


@needs_full
@pytest.mark.slow
def test_a_process_whose_answer_cannot_be_written() -> None:
    """What Python does as it ends says nothing more."""
    with open("/dev/full", "w") as full:
        command = [sys.executable, "main.py", "run", str(TUTORIAL), "--json"]
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr.count("\n") <= 2
    assert done.stderr.startswith("gradstep: cannot ")


def test_a_terminal_without_unicode_gets_escapes(tmp_path: Path) -> None:
    path = tmp_path / "odd.gradstep"
    value = {"value": Constant(np.float32(2))}
    gradstep_file.save(path, Document(graph=Graph.of([Operation("größe", "Const", attrs=value)])))
    said = []
    for words in ([], ["--json"]):
        ascii_only = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        with contextlib.redirect_stdout(ascii_only):
            assert cli_main.main(["run", str(path), *words], Gradstep()) == 0
        ascii_only.seek(0)
        said.append(ascii_only.read())
    assert said[0].startswith("gr\\xf6\\xdfe")
    assert json.loads(said[1])["runs"][0]["fetches"]["größe"]["data"] == 2


def test_a_cycle_is_named_where_it_keeps_a_graph_from_running(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "loop.gradstep"
    loop = [Operation("a", "Neg", (TensorRef("b"),)), Operation("b", "Neg", (TensorRef("a"),))]
    request = GradientRequest.to("b", "a")
    gradstep_file.save(path, Document(graph=Graph.of(loop), request=request))
    for verb in ("run", "grad"):
        assert "cycle: a ← b ← a" in cli(verb, path).err
    assert "part of a cycle or follows one" in cli("check", path).out


@pytest.mark.slow
def test_check_and_debug_warn_of_races(cli: Cli, tmp_path: Path) -> None:
    """An estimator's learning rate reads the step that its training counts."""
    file = tmp_path / "estimator.pb"
    file.write_bytes(tensorflow_graphs.graph_bytes("program_estimator"))
    checked = cli("check", file, "--json")
    (race,) = [p for p in checked.json["problems"] if p["code"] == "race"]
    assert (race["node"], race["severity"]) == ("ExponentialDecay/Cast_2", "warning")
    said = "warning: ExponentialDecay/Cast_2: no path orders 'ExponentialDecay/Cast_2', which reads"
    assert said in cli("check", file).out
    assert said in cli("debug", file, "--script", "continue").err


def test_compare_with_several_devices_one_after_the_other(cli: Cli) -> None:
    gather = FOLDER / "gather.gradstep"
    against = ("--against", "emulate:tf-gpu", "--against", "emulate:jax")
    found = cli("compare", gather, *against, "--json").json["comparisons"]
    assert [one["right"] for one in found] == ["emulate:tf-gpu", "emulate:jax"]
    assert found[0]["text"] == " ".join(found[0]["sentences"])
    text = cli("compare", gather, *against).out
    assert text.index("emulate:tf-gpu against cpu") < text.index("emulate:jax against cpu")


def test_compare_shows_what_differs_in_a_node(cli: Cli) -> None:
    text = cli("compare", TUTORIAL, "--against", "cpu:native", "--node", "loss").out
    assert text.startswith("loss (SoftmaxCrossEntropyWithLogits) on cpu and cpu:native: equal")
    wrong = cli("compare", TUTORIAL, "--against", "cpu:native", "--node", "nowhere")
    assert wrong.status == 1
    assert "there is no node 'nowhere'" in wrong.err


def test_compare_goes_on_past_a_failure(cli: Cli) -> None:
    gather = FOLDER / "gather.gradstep"
    text = cli("compare", gather, "--against", "emulate:jax", "--go-on").out
    assert "cpu goes on with what jax gave." in text
    assert "an input is not available" not in text
