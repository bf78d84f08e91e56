"""A graph with operations of types that Gradstep lacks: it opens, says so at them, runs, steps and
differentiates all else, and is written back as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.io.tensorflow import graphdef_export, graphdef_import
from gradstep.core.io.tensorflow.graphdef_proto import message
from tests.core.cli.conftest import Cli
from tests.support.comparable import comparable

LOOP = Path(__file__).parents[2] / "data" / "oracle" / "graphs" / "while_loop_forward.pb"
SAID = "Op type not registered 'Zorp': Gradstep has no operation of that type"
# x squared is summed twice: as it is, and behind an operation that nobody knows. Besides there are
# one that calls a function that is not there, one on a type of number that Gradstep lacks, and a
# cond.
GRAPH = """
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
node { name: "two" op: "Square" input: "x" $T }
node { name: "odd" op: "Zorp" input: "two" input: "x" device: "/cpu:0"
  attr { key: "how" value { func { name: "f" attr { key: "n" value { i: 3 } } } } }
  attr { key: "T" value { type: DT_QINT8 } }
  attr { key: "all" value { list { func { name: "f" } func { name: "f" } } } } }
node { name: "after" op: "Neg" input: "odd" $T }
node { name: "way" op: "Add" input: "after" input: "two" $T }
node { name: "called" op: "g" input: "after:0" input: "^two" }
node { name: "loop" op: "While" input: "x" attr { key: "body" value { func { name: "f" } } } }
node { name: "half" op: "Placeholder" attr { key: "dtype" value { type: DT_QINT8 } } }
node { name: "yes" op: "Placeholder" attr { key: "dtype" value { type: DT_BOOL } } }
node { name: "switch" op: "Switch" input: "x" input: "yes" $T }
node { name: "branch" op: "Zorp" input: "switch" }
node { name: "merge" op: "Merge" input: "branch" input: "switch:1"
  attr { key: "N" value { i: 2 } } $T }
library {
  function {
    signature { name: "f" input_arg { name: "a" type: DT_FLOAT } is_stateful: true }
    node_def { name: "n" op: "Neg" input: "a" }
    ret { key: "r" value: "n:y:0" }
    arg_attr { key: 0 value { attr { key: "_user" value { s: "a" } } } }
  }
}
"""
FLOAT = 'attr { key: "T" value { type: DT_FLOAT } }'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "odd.pbtxt"
    path.write_text(GRAPH.replace("$T", FLOAT))
    return path


def test_each_is_a_problem_at_its_node(cli: Cli, file: Path) -> None:
    found = cli("check", file, "--json").json["problems"]
    at = {problem["node"]: problem for problem in found}
    assert at.keys() == {"odd", "called", "branch", "half", "loop"}
    assert (at["odd"]["code"], at["odd"]["text"]) == ("unknown-op", SAID)
    assert at["odd"]["fix"].startswith("ask only for what does not need it, or feed 'odd:0'")
    assert at["loop"]["text"].startswith("While calls functions for its condition and its body")
    assert at["half"]["text"] == "attribute 'dtype': element type DT_QINT8 is not supported"
    script = cli(
        "debug", file, "--of", "two", "--wrt", "x", "--feed", "x=[1, 2]", "--script", "c; p two"
    )
    assert (script.status, "[1., 4.]" in script.out) == (0, True)


def test_what_nothing_needs_is_a_remark(cli: Cli, file: Path) -> None:
    asked = ("--of", "two", "--wrt", "x", "--feed", "x=[1, 2]")
    result = cli("check", file, *asked, "--json")
    assert (result.status, result.json["passed"]) == (0, True)
    assert {p["severity"] for p in result.json["problems"]} == {"info"}
    assert {p["fix"] for p in result.json["problems"]} == {"nothing that is run needs it"}

    result = cli("check", file, "--of", "after", "--wrt", "x", "--feed", "x=[1, 2]", "--json")
    severities = {p["node"]: p["severity"] for p in result.json["problems"]}
    assert (result.status, severities["odd"], severities["branch"]) == (1, "error", "info")


def test_a_saver_is_no_part_of_what_runs(cli: Cli, tmp_path: Path) -> None:
    """Where nothing is asked for, too: what it only reads, and what it gives to variables."""
    string = 'attr { key: "dtype" value { type: DT_STRING } }'
    float_ = string.replace("STRING", "FLOAT")
    graph = f"""
node {{ name: "v" op: "VariableV2" {float_} attr {{ key: "shape" value {{ shape {{ }} }} }} }}
node {{ name: "y" op: "Neg" input: "v" {FLOAT} }}
node {{ name: "path" op: "Placeholder" {string} }}
node {{ name: "remote" op: "StaticRegexFullMatch" input: "path" }}
node {{ name: "part" op: "StringJoin" input: "path" input: "remote" }}
node {{ name: "file" op: "ShardedFilename" input: "part" }}
node {{ name: "save" op: "SaveV2" input: "file" input: "v" }}
node {{ name: "merge" op: "MergeV2Checkpoints" input: "file" input: "^save" }}
node {{ name: "restore" op: "RestoreV2" input: "path" }}
node {{ name: "set" op: "Assign" input: "v" input: "restore" {FLOAT} }}
"""
    file = tmp_path / "saver.pbtxt"
    file.write_text(graph)
    found = cli("check", file, "--json").json["problems"]
    assert [p["node"] for p in found if p["code"] == "unknown-op"] == [
        "remote", "part", "file", "save", "merge", "restore"
    ]  # fmt: skip
    assert {p["severity"] for p in found if p["code"] == "unknown-op"} == {"info"}
    file.write_text(graph + f'node {{ name: "z" op: "Identity" input: "remote" {FLOAT} }}')
    found = cli("check", file, "--json").json["problems"]
    severities = {p["node"]: p["severity"] for p in found}
    assert (severities["remote"], severities["part"]) == ("warning", "info"), "z reads it"


def test_what_does_not_need_it_runs(cli: Cli, file: Path) -> None:
    feed = ("--feed", "x=[1, 2]", "--json")
    for fast in ((), ("--fast",)):
        result = cli("run", file, "--fetch", "two", *fast, *feed).json
        assert result["runs"][0]["fetches"]["two"]["data"] == [1, 4]
    assert cli("grad", file, "--of", "two", "--wrt", "x", *feed).json["gradients"]["x"] == {
        "dtype": "float32", "shape": [2], "data": [2, 4]
    }  # fmt: skip
    same = cli("compare", file, "--against", "cpu:native", "--of", "two", "--wrt", "x", *feed)
    assert same.json["first_divergence"] is None
    assert (
        cli("why", file, "--of", "two", "--wrt", "x", *feed).json["gradients"]["x"]["cause"] == ""
    )


@pytest.mark.parametrize("verb", [("run", "--fetch"), ("grad", "--wrt", "x", "--of")])
def test_what_needs_it_fails_there_in_one_line(cli: Cli, file: Path, verb: tuple[str, ...]) -> None:
    for name, node in (("way", "odd"), ("merge", "branch"), ("called", "odd")):
        feeds = ("--feed", "x=[1, 2]", "--feed", "yes=true")
        error = cli(verb[0], file, *verb[1:], name, *feeds, "--json").json["error"]
        assert (error["type"], error["message"], error["node"]) == ("UnknownOpError", SAID, node)
        assert f"feed '{node}:0'" in error["hint"]
    why = cli("why", file, "--of", "way", "--wrt", "x", "--json").json["gradients"]["x"]
    assert (why["state"], why["cause"], why["node"]) == ("none", "broken", "odd")
    assert why["path"] == ["way", "after", "odd"]


def test_it_can_be_fed(cli: Cli, file: Path) -> None:
    """What it would give has the feed's type then, and gradients end there."""
    feeds = ("--feed", "x=[1, 2]", "--feed", "odd=[0.5, 3]", "--json")
    run = cli("run", file, "--fetch", "way", *feeds).json["runs"][0]
    assert run["fetches"]["way"] == {"dtype": "float32", "shape": [2], "data": [0.5, 1]}
    wrt = ("--wrt", "x", "odd", "--check")
    found = cli("grad", file, "--of", "way", *wrt, *feeds).json
    assert {n: g["data"] for n, g in found["gradients"].items()} == {"x": [2, 4], "odd": [-1, -1]}
    assert found["agrees"] == {"x": True, "odd": True}


def test_it_is_written_back_as_it_was(cli: Cli, file: Path, tmp_path: Path) -> None:
    first = read(file)
    for step in ("a.pb", "b.gradstep", "c.pbtxt"):
        before, file = file, tmp_path / step
        assert cli("convert", before, file).status == 0
        again = read(file)
        assert comparable(again.graph) == comparable(first.graph)
        assert again.functions == first.functions
    after = graphdef_export.to_graphdef(again)
    assert after == graphdef_export.to_graphdef(first)
    assert after.node[2].attr["how"].func.attr["n"].i == 3
    assert after.library.function[0].ret == {"r": "n:y:0"}
    script = cli("convert", file, "-").out
    assert "graph.create_op('Zorp', [tensor('two'), tensor('x')], attrs=attributes(" in script


def test_in_a_loop(cli: Cli, tmp_path: Path) -> None:
    """One that goes round with the others stops the loop; one that does not, nothing."""
    proto = message("GraphDef").FromString(LOOP.read_bytes())
    proto.node.add(name="while/odd", op="Zorp", input=["while/Identity_1"])
    for file, inputs in (("beside.pb", None), ("within.pb", "while/odd")):
        mul = next(node for node in proto.node if node.name == "while/mul")
        mul.input[0] = inputs or mul.input[0]
        (tmp_path / file).write_bytes(proto.SerializeToString())
    feeds = ("--feed", "x=3", "--feed", "n=4", "--json")
    beside, within = tmp_path / "beside.pb", tmp_path / "within.pb"
    assert [p["node"] for p in cli("check", beside, "--json").json["problems"]] == ["while/odd"]
    assert cli("run", beside, "--fetch", "y", *feeds).json["runs"][0]["fetches"]["y"]["data"] == 81
    found = cli("grad", beside, "--of", "y", "--wrt", "x", "--check", *feeds).json
    assert (found["gradients"]["x"]["data"], found["agrees"]["x"]) == (108, True)
    error = cli("run", within, "--fetch", "y", *feeds).json["error"]
    assert (error["message"], error["node"]) == (SAID, "while/odd")
    why = cli("why", within, "--of", "y", "--wrt", "x", *feeds).json["gradients"]["x"]
    assert (why["node"], why["path"][-1]) == ("while/odd", "while/While")
    document = read(within)
    again = graphdef_import.from_pb(graphdef_export.to_pb(document))
    assert comparable(again.graph) == comparable(document.graph)


@pytest.mark.parametrize("verb", [("grad",), ("grad", "--check"), ("why",), ("check",)])
def test_what_the_document_itself_feeds_need_not_be_known(
    cli: Cli, file: Path, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    """As in a trace, where what is recorded of an operation that nobody lowers is its feed."""
    document = read(file)
    feeds = {f"{name}:0": Constant(np.float32([1, 2])) for name in ("x", "odd")}
    request = GradientRequest(of=(TensorRef("way"),), wrt=(TensorRef("x"),))
    out = tmp_path / "fed.gradstep"
    out.write_bytes(gradstep_file.to_bytes(document.with_(feeds=feeds, request=request)))
    name, *rest = verb
    result = cli(name, out, *rest, "--json")
    assert result.status == 0, result.json
    if name == "grad":
        assert result.json["gradients"]["x"]["data"] == [2, 4]
