"""`gradstep check` holds a document to what it says of its runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.graph.model import Constant
from gradstep.core.io.native import gradstep_file
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER


@pytest.mark.slow
def test_a_document_is_held_to_what_it_says(cli: Cli, tmp_path: Path) -> None:
    document = gradstep_file.load(FOLDER / "tutorial.gradstep")
    good = cli("check", FOLDER / "tutorial.gradstep", "--feed", "data=[9,9]", "--json")
    assert good.status == 0
    assert len(good.json["expectations"]) == len(document.expectations)
    assert all(e["ok"] for e in good.json["expectations"]), "of the file, whatever is fed besides"
    first, *rest = document.expectations
    wrong = replace(first, value=Constant(-1.0), other="")
    gradstep_file.save(tmp_path / "wrong.gradstep", document.with_(expectations=(wrong, *rest)))
    bad = cli("check", tmp_path / "wrong.gradstep", "--json")
    assert bad.status == 1
    assert [e["ok"] for e in bad.json["expectations"]] == [False, *(True for _ in rest)]
    assert bad.json["expectations"][0]["what"] == first.what
    assert "NOT OK" in cli("check", tmp_path / "wrong.gradstep").out


@pytest.mark.slow
def test_what_a_run_gives_is_written_down(cli: Cli, tmp_path: Path) -> None:
    """Values, gradients (and that there is none), comparisons, failures; of a later run, for other
    feeds, on another device. What is expected again takes the place of what was."""
    path, failing = tmp_path / "loop.gradstep", tmp_path / "failing.gradstep"
    bare = gradstep_file.load(FOLDER / "while_loop.gradstep").with_(expectations=())
    gradstep_file.save(path, bare)
    for arguments in (
        ["--value", "y", "--gradient", "x", "n", "--run", 2],
        ["--value", "y", "--feed", "n=0", "--text", "To the power 0."],
        ["--that", 'norm(grad["x"]) > 3', "--that", 'norm(grad["x"])'],
        ["--value", "y", "--feed", "n=0"],
    ):
        assert cli("expect", path, *arguments).status == 0
    gather = FOLDER / "gather.gradstep"
    assert cli("expect", gather, "--failure", "--out", failing).status == 0
    jax = ["--value", "b", "--device", "emulate:jax", "--out", failing]
    assert cli("expect", failing, *jax).status == 0
    found = gradstep_file.load(path).expectations
    assert [(e.what, e.kind.value, e.run, e.text) for e in found] == [
        ('x["y"]', "equals", 1, "What run 2 gives."),
        ('grad["x"]', "equals", 1, "What run 2 gives."),
        ('grad["n"]', "none", 1, "What run 2 gives."),
        ('x["y"]', "equals", 0, "To the power 0."),
        ('norm(grad["x"]) > 3', "holds", 0, "What run 1 gives."),
        ('norm(grad["x"])', "equals", 0, "What run 1 gives."),
    ]
    for each in (path, failing):
        checked = cli("check", each, "--json").json["expectations"]
        assert all(e["ok"] for e in checked)
    wrong = gradstep_file.load(path).with_(initial={"x": Constant(np.float32(3))})
    gradstep_file.save(path, wrong)
    kinds = [(e["kind"], e["ok"]) for e in cli("check", path, "--json").json["expectations"]]
    assert kinds == [
        ("equals", False),
        ("equals", False),
        ("none", True),
        ("equals", True),
        ("holds", True),
        ("equals", False),
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "status", "said"),
    [
        ("tutorial", [], 2, "write --value NAME"),
        ("tutorial", ["--value", "los"], 1, "did you mean loss"),
        ("tutorial", ["--that", "norm(grad["], 1, "cannot evaluate"),
        ("tutorial", ["--that", 'norm(grad["c"]) > 99'], 1, 'norm(grad["c"]) > 99 is False'),
        ("tutorial", ["--failure"], 1, "run 1 does not fail"),
        ("gather", ["--value", "b"], 1, "indices[2] = 6 is not in [0, 5)"),
        ("tutorial", ["--value", "c", "--run", "0"], 2, "not a positive whole number"),
    ],
)
def test_what_cannot_be_expected(
    cli: Cli, tmp_path: Path, name: str, arguments: list[str], status: int, said: str
) -> None:
    """The file stays as it was."""
    path = tmp_path / f"{name}.gradstep"
    path.write_bytes((FOLDER / path.name).read_bytes())
    result = cli("expect", path, *arguments)
    assert result.status == status
    assert said in result.err
    assert len(result.err.splitlines()) == 2
    assert path.read_bytes() == (FOLDER / path.name).read_bytes()
