"""The smallest graph of a wrong rule and of a device's difference: verbs and console."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradstep.core.cli.console.console import Console
from gradstep.core.cli.console.relayed_acts import answer_line
from gradstep.core.debug.concurrency.session_registry import FIRST, Sessions
from gradstep.core.document.document import Document
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.session_restore import begin
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.derive import derive
from gradstep.core.protocol import messages as m
from gradstep.gpu.devices import Devices
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"
WRONG, GATHER = EXAMPLES / "override_add.gradstep", EXAMPLES / "gather.gradstep"
NAN = EXAMPLES / "nan_gradient.gradstep"


def test_of_a_wrong_rule(cli: Cli, tmp_path: Path) -> None:
    small = tmp_path / "small.gradstep"
    said = cli("check", WRONG, "--trust", "--without", "all", "--reduce", small)
    assert said.out.endswith(f"5 operations show it: {small}\n")
    again = cli("check", small, "--trust", "--json").json
    (wrong,) = [tensor for tensor in again["nodes"] if tensor["name"] == "c"]
    assert (wrong["node"], wrong["gradient"], wrong["verdict"]) == ("e", "CustomAdd", "wrong")
    named = cli("check", WRONG, "--trust", "--node", "e", "--reduce", small, "--json")
    assert named.json["reduced"]["operations"] == 5


def test_where_no_rule_is_wrong_nothing_is_written(cli: Cli, tmp_path: Path) -> None:
    small = tmp_path / "small.gradstep"
    said = cli("check", EXAMPLES / "tutorial.gradstep", "--reduce", small)
    assert said.status != 0
    assert "no gradient rule differs from finite differences" in said.err
    assert not small.exists()
    refused = cli("check", EXAMPLES, "--reduce", small)
    assert "--reduce is about one document" in refused.err


def test_of_a_devices_difference(cli: Cli, tmp_path: Path) -> None:
    small, against = tmp_path / "small.gradstep", ("--against", "emulate:tf-gpu")
    said = cli("compare", GATHER, *against, "--reduce", small)
    assert said.out.endswith(f"4 operations show it: {small}\n")
    again = cli("compare", small, *against, "--json").json
    assert again["first_divergence"] == "b"
    assert "an index out of range gives 0" in again["text"]
    refused = cli("compare", GATHER, *against, "--node", "params", "--reduce", small)
    assert "params makes no difference" in refused.err
    two = cli("compare", GATHER, *against, *against, "--reduce", small)
    assert "--reduce is about one device" in two.err
    refused = cli("compare", GATHER, "--against", "recorded", "--reduce", small)
    assert "nobody knows whether a smaller graph would still show" in refused.err
    assert "compare with a device of this machine" in refused.err


def test_a_name_of_no_format_is_said_before_anything_is_looked_for(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradstep.core.cli.check.partial", lambda *_: None)
    said = cli("check", WRONG, "--trust", "--reduce", tmp_path / "small.xyz")
    assert "does not write .xyz files" in said.err


@pytest.fixture
def console() -> Console:
    program = derive(read(NAN), {})
    made = Console(Sessions({FIRST: begin(program, NumpyBackend())}), lambda _: program)
    made.execute("continue")
    return made


def test_the_console_writes_what_why_was_about(console: Console, tmp_path: Path) -> None:
    small = tmp_path / "small.gradstep"
    with pytest.raises(GradstepError, match="smallest needs a file, after a `why`"):
        console.execute(f"smallest {small}")
    console.execute("why grad p")
    assert console.execute(f"smallest {small}").text == f"3 operations show it: {small}"
    assert {op.type for op in read(small).graph} == {"Const", "Log"}


def test_of_a_recording_of_a_device(cli: Cli, tmp_path: Path) -> None:
    small, file = tmp_path / "small.gradstep", tmp_path / "there.gradrec"
    document = tmp_path / "casts.gradstep"
    b = GraphBuilder()
    far = b.one("Mul", b.constant(np.array([3e9, -1, 2], np.float32)), 2.0, name="far")
    b.one("Neg", b.one("Cast", far, name="b", DstT=DType.INT32), name="last")
    gradstep_file.save(document, Document(graph=b.build(), fetches=(TensorRef("last"),)))
    cli("compare", document, "--against", "emulate:tf-gpu", "--record", file)
    said = cli("compare", document, "--against", file, "--reduce", small)
    assert said.out.endswith(f"2 operations show it: {small}\n")
    again = cli("compare", small, "--against", "recorded", "--json").json
    assert again["first_divergence"] == "b"
    refused = cli("compare", document, "--against", file, "--node", "last", "--reduce", small)
    assert "last only carries on what others made" in refused.err
    other = tmp_path / "console.gradstep"
    script = f"smallest {other} device {file}"
    assert f"2 operations show it: {other}" in cli("debug", document, "--script", script).out
    assert read(other).recorded is not None


def test_the_console_writes_what_a_device_gives_otherwise(tmp_path: Path) -> None:
    small, program = tmp_path / "small.py", derive(read(GATHER), {})
    sessions = Sessions({FIRST: begin(program, NumpyBackend())})
    console = Console(sessions, lambda _: program, devices=Devices)
    said = console.execute(f"smallest {small} device emulate:tf-gpu")
    assert said.text == f"4 operations show it: {small}"
    assert "GatherV2" in small.read_text()


def test_the_console_writes_that_a_rule_is_wrong(tmp_path: Path) -> None:
    document = read(WRONG)
    program = derive(document, trusted=True)
    console = Console(Sessions({FIRST: begin(program, NumpyBackend())}), lambda _: program)
    small = tmp_path / "small.gradstep"
    assert "5 operations" in console.execute(f"smallest {small} rule e").text
    with pytest.raises(GradstepError, match="no gradient rule of a differs"):
        console.execute(f"smallest {small} rule a")


def test_a_branch_has_the_rules_of_its_edits(tmp_path: Path) -> None:
    program = derive(read(EXAMPLES / "tutorial.gradstep"), {})
    console = Console(Sessions({FIRST: begin(program, NumpyBackend())}), lambda _: program)
    small = tmp_path / "small.gradstep"
    console.execute("continue")
    console.execute("fork override e Mul")
    console.execute("continue")
    assert console.execute(f"smallest {small} rule e").text.endswith(f"show it: {small}")
    assert [one.gradient for one in read(small).request.overrides] == ["Mul"]


def test_in_the_window_it_is_left_to_the_window(console: Console) -> None:
    console.execute("why grad p")
    done, _ = answer_line(console.sessions, m.RunLine(line="smallest small.py"))
    assert (done.smallest, done.path) == (m.FindSmallest(of="loss", wrt="p"), "small.py")
    done, _ = answer_line(console.sessions, m.RunLine(line="smallest a.py device gpu a/b"))
    assert done.smallest == m.FindSmallest(against="gpu", node="a/b")
    with pytest.raises(GradstepError, match="does not write"):
        answer_line(console.sessions, m.RunLine(line="smallest small.xyz"))


@pytest.mark.parametrize(
    "words",
    [
        ["why", "{}", "--reduce", "{}"],
        ["check", "{}", "--reduce", "{}"],
        ["compare", "{}", "--against", "cpu", "--reduce", "{}"],
        ["compare", "{}", "--against", "cpu", "--record", "{}"],
        ["train", "{}", "--out", "{}"],
    ],
)
def test_the_document_itself_is_not_written_over(
    cli: Cli, tmp_path: Path, words: list[str]
) -> None:
    file = tmp_path / "net.gradstep"
    file.write_bytes((FOLDER / "nan_gradient.gradstep").read_bytes())
    result = cli(*(word.replace("{}", str(file)) for word in words))
    assert result.status == 2
    assert "is the document itself" in result.err
    assert file.read_bytes() == (FOLDER / "nan_gradient.gradstep").read_bytes()
