"""gradstep run: documents and GraphDefs, feeds, init, several runs, devices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.document.document import Document
from gradstep.core.document.document_edits import set_breakpoints
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, call_many
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

GRAPHS = Path(__file__).parents[2] / "data" / "oracle" / "graphs"
TUTORIAL = FOLDER / "tutorial.gradstep"
LOSS = pytest.approx(0.66369414)  # but for the last bits, which are the processor's


def test_the_tutorials_values(cli: Cli) -> None:
    result = cli("run", TUTORIAL, "--fetch", "loss", "a", "--json")
    assert result.status == 0
    (run,) = result.json["runs"]
    assert run["fetches"]["loss"] == {"dtype": "float32", "shape": [], "data": LOSS}
    assert run["fetches"]["a"]["data"] == pytest.approx([0.1166, 0.1764])
    assert result.json["device"]["name"] == "cpu"
    assert result.json["device"]["measured"] is True


def test_without_fetches_the_document_trains(cli: Cli) -> None:
    result = cli("run", TUTORIAL, "--runs", 4, "--json")
    losses = [run["fetches"]["loss"]["data"] for run in result.json["runs"]]
    assert losses[0] == LOSS
    assert sorted(losses, reverse=True) == losses
    assert len(set(losses)) == 4


def test_fetches_alone_update_nothing(cli: Cli) -> None:
    result = cli("run", TUTORIAL, "--fetch", "c", "--runs", 3, "--json")
    assert {str(run) for run in result.json["runs"]} == {
        str({"fetches": {"c": {"dtype": "float32", "shape": [2], "data": [0.06, -0.04]}}})
    }


def test_a_derived_gradient_can_be_fetched(cli: Cli) -> None:
    result = cli("run", TUTORIAL, "--fetch", "gradients/a_grad/Mul", "--json")
    assert result.status == 0
    assert len(result.json["runs"][0]["fetches"]["gradients/a_grad/Mul"]["data"]) == 2


def test_a_graphdef_with_its_own_adam(cli: Cli) -> None:
    path = GRAPHS / "simple_network_adam.pb"
    feeds = ("--feed", "data=[1,2]", "labels:0=[0,1]")
    result = cli(
        "run", path, "--fetch", "xent/value:0", "d_c:0", "--init", "init", *feeds, "--json"
    )
    fetched = result.json["runs"][0]["fetches"]
    assert fetched["xent/value:0"]["data"] == LOSS
    np.testing.assert_allclose(fetched["d_c:0"]["data"], [0.56751364, -0.99436176], rtol=1e-5)
    trained = cli("run", path, "--fetch", "train", "c/read:0", *feeds, "--runs", 2, "--json")
    last = trained.json["runs"][-1]["fetches"]
    assert last["train"] is None
    assert last["c/read:0"]["data"] != trained.json["runs"][0]["fetches"]["c/read:0"]["data"]


@pytest.mark.parametrize("suffix", ["pb", "pbtxt"])
def test_control_dependencies(cli: Cli, suffix: str) -> None:
    path = GRAPHS / f"control_deps_ref_y_identity.{suffix}"
    result = cli("run", path, "--fetch", "y:0", "--runs", 5, "--json")
    assert [r["fetches"]["y:0"]["data"] for r in result.json["runs"]] == [1, 2, 3, 4, 5]


def test_feeds_from_files(cli: Cli, tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", np.array([3, 4], np.float32))
    np.savez(tmp_path / "all.npz", here=np.array([1.0, 0.0]))
    result = cli(
        "run", TUTORIAL, "--fetch", "d", "labels", "--json",
        "--feed", f"data=@{tmp_path / 'd.npy'}", f"labels=@{tmp_path / 'all.npz'}:here",
    )  # fmt: skip
    fetched = result.json["runs"][0]["fetches"]
    assert fetched["d"]["data"] == [3.06, 3.96]
    assert fetched["labels"] == {"dtype": "float32", "shape": [2], "data": [1.0, 0.0]}


def test_nan_can_be_fed_on_purpose_and_is_written_as_a_string(cli: Cli) -> None:
    feed = ["--feed", "data=[nan, -inf]", "--allow-nan"]
    result = cli("run", TUTORIAL, "--fetch", "d", *feed, "--json")
    assert result.json["runs"][0]["fetches"]["d"]["data"] == ["NaN", "-Infinity"]


def test_text_for_people(cli: Cli) -> None:
    result = cli("run", TUTORIAL, "--fetch", "loss", "d")
    *words, number = result.out.splitlines()[0].split()
    assert words == ["loss", "float32[]"]
    assert float(number) == LOSS
    assert "float32[2]" in result.out


def test_gather_stops_on_the_cpu_and_names_the_index(cli: Cli) -> None:
    result = cli("run", FOLDER / "gather.gradstep", "--fetch", "b", "--json")
    assert result.status == 1
    error = result.json["error"]
    assert "indices[2] = 6 is not in [0, 5)" in error["message"]
    assert error["node"] == "b"
    assert error["index"] == [2]


def test_feeds_from_tables_and_generators(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n3,4\n5,6\n")
    given = {
        f"@{tmp_path / 't.csv'}:b": [4, 6],
        "range(2)": [0, 1],
        "normal(1, 2, seed=7)": [0.90610886, -1.4078047],
        "[1. 2.]": [1, 2],
    }
    for text, expected in given.items():
        found = cli("run", TUTORIAL, "--fetch", "data", "--feed", f"data={text}", "--json")
        data = found.json["runs"][0]["fetches"]["data"]["data"]
        assert data == pytest.approx(expected), text


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--fetch", "loss", "--feed", "data=normal(std=1)"], 2, "there are mean, stddev, seed"),
        (["--fetch", "loss", "--feed", "data=@{tmp}/t.csv:b"], 1, "row 3, column 'b' is empty"),
        (["--fetch", "loss", "--feed", "data=[1]"], 1, "give 'data' the shape [?], of any number"),
        (["--fetch", "lss"], 1, "did you mean loss"),
        (["--fetch", "loss:7"], 1, "outputs"),
        (["--fetch", "loss", "--feed", "data=[1,[2]]"], 1, "the rows differ in length"),
        (["--fetch", "loss", "--feed", "data=[1,2,3]"], 1, "Cannot feed value of shape (3,)"),
        (["--fetch", "loss", "--feed", "data=[1,nan]"], 1, "--allow-nan"),
        (["--fetch", "loss", "--feed", "dato=[1,2]"], 1, "dato"),
        (["--fetch", "loss", "--feed", "data"], 2, "NAME=VALUE"),
        (["--fetch", "loss", "--feed", "data=__import__('os')"], 2, "not a value"),
        (["--fetch", "loss", "--feed", "data=@none.npy"], 1, "no such file"),
        (["--fetch", "loss", "--feed", "data=@"], 2, "no file after @"),
        (["--fetch", "loss", "--feed", "data=@{tmp}/cut.npz:a"], 1, "cut.npz: is cut off"),
        (["--fetch", "loss", "--feed", "data=@{tmp}/cut.npz"], 1, "cut.npz: is cut off"),
        (["--fetch", "loss", "--feed", "data=@{tmp}/ok.npz"], 2, "write @"),
        (["--fetch", "loss", "--feed", "data=@{tmp}/ok.npz:aa"], 1, "did you mean a"),
        (["--fetch", "loss", "--feed", "data=@{tmp}/no.npz:a"], 1, "no.npz is not an .npz file"),
        (["--fetch", "loss", "--feed", "data=" + "[" * 999], 2, "…' is not a value"),
        (["--fetch", "loss", "--init", "nope"], 1, "nope"),
        (["--fetch", "loss", "--runs", "0"], 2, "positive"),
        (["--fetch", "loss", "--device", "tpu"], 1, "tpu"),
        (["--ftch", "loss"], 2, "unrecognized"),
    ],
)
def test_mistakes(cli: Cli, tmp_path: Path, arguments: list[Any], status: int, said: str) -> None:
    np.savez(tmp_path / "ok.npz", a=np.ones(2), b=np.ones(3))
    (tmp_path / "cut.npz").write_bytes((tmp_path / "ok.npz").read_bytes()[:200])
    (tmp_path / "no.npz").write_bytes(b"text")
    (tmp_path / "t.csv").write_text("a,b\n3,4\n5,\n")
    arguments = [argument.replace("{tmp}", str(tmp_path)) for argument in arguments]
    plain = cli("run", TUTORIAL, *arguments)
    assert plain.status == status
    assert plain.out == ""
    assert plain.err.startswith("gradstep: ")
    assert said in plain.err
    assert len(plain.err.splitlines()) <= 2
    as_json = cli("run", TUTORIAL, *arguments, "--json")
    assert as_json.status == status
    assert set(as_json.json["error"]) >= {"type", "message", "node", "hint"}


def test_a_document_that_says_what_it_gives_gives_that_alone(cli: Cli, tmp_path: Path) -> None:
    """And runs the rest beside it, of which nothing need have a value: a branch is not taken."""
    build = GraphBuilder()
    x, p = build.placeholder("x", "float32", (2,)), build.placeholder("p", "bool", ())
    no, yes = call_many("Switch", x, p, name="switch")
    tf.identity(no, name="nobody_reads_it")
    merged = call_many("Merge", no, tf.negative(yes), name="merge")
    y = tf.identity(merged[0], name="y")
    document = Document(graph=build.build(), fetches=(y.ref,))
    path = tmp_path / "cond.gradstep"
    gradstep_file.save(path, document)
    found = cli("run", path, "--feed", "x=[1, 2]", "p=true", "--json").json["runs"][0]["fetches"]
    assert {name: value["data"] for name, value in found.items()} == {"y": [-1, -2]}


def test_a_graph_without_anything_to_run(cli: Cli, tmp_path: Path) -> None:
    from gradstep.core.document.document import Document
    from gradstep.core.io.native import gradstep_file

    gradstep_file.save(tmp_path / "empty.gradstep", Document())
    result = cli("run", tmp_path / "empty.gradstep")
    assert result.status == 2
    assert "--fetch" in result.err


def test_breakpoints_that_write_do_so_in_runs_of_the_document(cli: Cli, tmp_path: Path) -> None:
    document = read(TUTORIAL)
    logs = [
        Breakpoint("loss", log='run {run}: {x["loss"]}'),
        Breakpoint("a", log="off", enabled=False),
        Breakpoint("d"),  # which would stop
    ]
    path = tmp_path / "logged.gradstep"
    path.write_bytes(gradstep_file.to_bytes(set_breakpoints(document, logs)))
    logged = cli("run", path, "--runs", 2, "--json")
    assert logged.err == "run 0: 0.663694\nrun 1: 0.663078\n"
    assert logged.json == cli("run", TUTORIAL, "--runs", 2, "--json").json
    assert cli("run", path, "--fetch", "a").err == ""
