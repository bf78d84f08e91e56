"""A graph with tf.cond through every command."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradstep.core.io.native import gradstep_file
from tests.core.cli.conftest import Cli
from tests.support import conds

WHY = "branch not taken because positive is False"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cond.gradstep"
    gradstep_file.save(path, conds.document((-1, -2)))
    return path


def test_the_branch_that_is_not_taken(cli: Cli, file: Path) -> None:
    """Its values and gradients are said to be dead; to what only it reads the gradient is zero."""
    error = cli("run", file, "--fetch", "cond/scaled", "--json").json["error"]
    assert error["message"] == "Retval[0] does not have value"
    assert WHY in error["hint"]
    found = cli("grad", file, "--check", "--json").json
    assert {n: g["data"] for n, g in found["gradients"].items()} == {"x": [-2, -4], "w": [0, 0]}
    assert found["agrees"] == {"x": True, "w": True}
    because = cli("why", file, "--json").json["gradients"]["w"]
    assert (because["state"], because["cause"]) == ("zero", "untaken")
    assert because["node"] == "cond/scaled"
    script = "p cond/scaled; c; p cond/scaled; p cond/turned; g cond/scaled; g w"
    shown = cli("debug", file, "--script", script, "--json").json["commands"]
    assert "dead" not in shown[0]  # it is not settled at the start
    assert [shown[i]["dead"] for i in (2, 4)] == [WHY] * 2
    assert [shown[i]["value"]["data"] for i in (3, 5)] == [[1, 2], [0, 0]]
    assert f"dead: {WHY}" in cli("debug", file, "--script", script).out


def test_checks_and_comparisons_go_by_the_branch_that_is_taken(cli: Cli, file: Path) -> None:
    checked = cli("check", file, "--json")
    assert (checked.status, checked.json["problems"]) == (0, [])
    assert "cond/scaled" not in str(checked.json["gradcheck"])
    compared = cli("compare", file, "--against", "emulate:tf-gpu", "--json").json
    assert {node["verdict"] for node in compared["nodes"]} == {"equal", "dead"}
    scaled = next(n for n in compared["nodes"] if n["name"] == "cond/scaled")
    assert (scaled["verdict"], scaled["left"]["values"]) == ("dead", [])


@pytest.mark.parametrize("suffix", [".pb", ".pbtxt", ".py"])
def test_it_can_be_written(cli: Cli, file: Path, suffix: str, tmp_path: Path) -> None:
    other = tmp_path / f"other{suffix}"
    assert cli("convert", file, other).status == 0
    if suffix == ".py":
        assert "tf.raw_ops.Merge(inputs=[tensor('cond/turned'), " in other.read_text()
        return
    for x, loss in (("[-1,-2]", 5), ("[1,2]", 73)):
        fed = ("--feed", f"x={x}", "--init", "init", "--json")
        assert (
            cli("run", other, "--fetch", "loss", *fed).json["runs"][0]["fetches"]["loss"]["data"]
            == loss
        )
