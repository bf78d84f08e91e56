"""gradstep plan: the steps, the memory, and what passes did."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.native.gradstep_file import save
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

TUTORIAL = FOLDER / "tutorial.gradstep"
LOOP = FOLDER / "while_loop.gradstep"


def _readable(plan: Any) -> None:
    """Every slot that a step reads is there: from the start, or made before."""
    there = {v["slot"] for v in plan["values"] if v["first"] < 0}
    for number, step in enumerate(plan["steps"]):
        assert step["step"] == number
        assert there.issuperset(step["reads"])
        there.update(step["writes"])
        assert all(plan["values"][slot]["last"] >= number for slot in step["reads"])
        if step["body"] is not None:
            _readable(step["body"])


@pytest.mark.parametrize("speed", [[], ["--fast"]])
@pytest.mark.parametrize("path", [TUTORIAL, LOOP])
def test_steps_read_what_is_there_then(cli: Cli, path: Path, speed: list[str]) -> None:
    _readable(cli("plan", path, *speed, "--json").json)


def test_the_object(cli: Cli) -> None:
    found = cli("plan", TUTORIAL, "--json").json
    assert found["mode"] == "recorded"
    assert found["device"]["name"] == "cpu"
    assert found["passes"] == []
    steps = {step["op"]: step for step in found["steps"]}
    name = {value["slot"]: value["name"] for value in found["values"]}
    assert [name[slot] for slot in steps["a"]["reads"]] == ["d", "e"]
    assert (steps["a"]["type"], steps["a"]["phase"], steps["a"]["work"]) == (
        "Mul",
        "forward",
        "run",
    )
    assert steps["train/learning_rate"]["work"] == "once"
    assert steps["gradients/e_grad/Identity"]["work"] == "none"  # its input's bytes
    assert steps["gradients/a_grad/Mul"]["origin"] == "a"
    c = [value for value in found["values"] if value["variable"] == "c"]
    assert [value["version"] for value in c] == [0, 1]
    update = steps["train/update_c/ApplyAdam"]["step"]
    assert [(v["first"], v["last"]) for v in c] == [(-1, update), (update, len(found["steps"]))]
    (data,) = [value for value in found["values"] if value["name"] == "data"]
    assert (data["place"], data["dtype"], data["shape"], data["bytes"]) == (
        "fed",
        "float32",
        [2],
        8,
    )


@pytest.mark.parametrize("speed", [[], ["--fast"]])
def test_what_is_needed_at_once_lies_apart(cli: Cli, speed: list[str]) -> None:
    found = cli("plan", TUTORIAL, *speed, "--json").json
    memory = found["memory"]
    same = {step["writes"][0]: step["reads"][0] for step in found["steps"] if step["work"] == "none"
            and step["writes"]}  # fmt: skip
    placed = [v for v in found["values"] if v["place"] == "arena" and v["slot"] not in same]
    assert placed
    assert max(v["offset"] + v["bytes"] for v in placed) <= memory["arena_bytes"]
    for a, b in itertools.combinations(placed, 2):
        over = a["offset"] < b["offset"] + b["bytes"] and b["offset"] < a["offset"] + a["bytes"]
        assert not over or a["last"] <= b["first"] or b["last"] <= a["first"], (a, b)
    needed = [sum(v["bytes"] for v in placed if v["first"] <= i <= v["last"])
              for i in range(len(found["steps"]))]  # fmt: skip
    # At a step that writes over its input the two are one.
    assert memory["peak_bytes"] <= max(needed) <= memory["arena_bytes"]
    assert memory["peak_bytes"] >= max(v["bytes"] for v in placed)


def test_fast_plans_say_what_every_pass_did(cli: Cli) -> None:
    found = cli("plan", TUTORIAL, "--fast", "--json").json
    measured = cli("profile", TUTORIAL, "--fast", "--runs", 1, "--json").json
    assert found["passes"] == measured["passes"]
    assert [s["op"] for s in found["steps"]] == [row["op"] for row in measured["rows"]]
    gone = {v["name"] for v in found["values"] if v["place"] == "none"}
    assert "gradients/e_grad/Identity" in gone
    text = cli("plan", TUTORIAL, "--fast").out
    assert "simpler forms: 4 the same as others, 1 of another type now" in text
    assert "  gradients/e_grad/Identity is the same as gradients/a_grad/Mul_1" in text
    left_out = cli("plan", TUTORIAL, "--fast", "--without", "dead code", "--json").json["passes"]
    assert [made["name"] for made in left_out if not made["on"]] == ["dead code"]


def test_an_iteration_is_inside_its_loop(cli: Cli) -> None:
    found = cli("plan", LOOP, "--json").json
    (forward, _) = [s["body"] for s in found["steps"] if s["body"]]
    assert (forward["loop"], forward["split"]) == ("while/While", 2)
    assert [s["type"] for s in forward["steps"]][:2] == ["Less", "LoopCond"]
    assert forward["memory"]["arena_bytes"] > 0
    lines = cli("plan", LOOP).out.splitlines()
    inner = next(line for line in lines if "while/LoopCond" in line)
    assert inner.startswith("  1 ")


def test_what_is_fetched_alone(cli: Cli) -> None:
    found = cli("plan", TUTORIAL, "--fetch", "e", "--json").json
    assert [s["op"] for s in found["steps"]] == ["c", "k", "e"]
    of_gradient = cli("plan", TUTORIAL, "--fetch", "gradients/a_grad/Mul", "--json").json
    assert of_gradient["steps"][-1]["op"] == "gradients/a_grad/Mul"
    training = cli("plan", TUTORIAL, "--fetch", "train", "--json").json  # has no output
    assert training["steps"][-1]["op"] == "train"
    wrong = cli("plan", TUTORIAL, "--fetch", "los")
    assert wrong.status == 1
    assert "did you mean loss?" in wrong.err
    assert cli("plan", TUTORIAL, "--without", "dead code").status == 2


def _chain(folder: Path, length: int) -> Path:
    builder = GraphBuilder()
    at = builder.placeholder("x", shape=[2])
    with builder.scope("a_scope_with_a_long_name/and_one_inside_of_it"):
        for _ in range(length):
            at = builder.one("Tanh", at)
    path = folder / "chain.gradstep"
    fetches = (TensorRef(at.ref.op),)
    save(path, Document(graph=builder.build(), fetches=fetches))
    return path


def test_long_plans_are_cut_unless_all_is_asked_for(cli: Cli, tmp_path: Path) -> None:
    path, feed = _chain(tmp_path, 200), ("--feed", "x=[1, 2]")
    text = cli("plan", path, *feed).out
    assert "and 140 more steps (--all shows every one)" in text
    assert "the 40 largest of 201 values" in text
    assert "…" in text
    assert max(map(len, text.splitlines())) < 160
    whole = cli("plan", path, *feed, "--all").out
    assert "a_scope_with_a_long_name/and_one_inside_of_it/Tanh_199" in whole
    assert "…" not in whole
    assert len(cli("plan", path, *feed, "--json").json["steps"]) == 200


def test_shapes_follow_the_feeds(cli: Cli, tmp_path: Path) -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x")
    builder.one("Tanh", x, name="y")
    path = tmp_path / "open.gradstep"
    save(path, Document(graph=builder.build(), fetches=(TensorRef("y"),)))
    values = tmp_path / "x.npy"
    np.save(values, np.ones((3, 4), np.float32))
    found = cli("plan", path, "--feed", f"x=@{values}", "--json").json
    assert [value["shape"] for value in found["values"]] == [[3, 4], [3, 4]]


def test_a_step_that_cannot_run_says_why(cli: Cli, tmp_path: Path) -> None:
    path = _chain(tmp_path, 1)
    (x,) = cli("plan", path, "--fetch", "x", "--json").json["steps"]
    assert "feed" in x["fails"]
    assert f"fails: {x['fails']}" in cli("plan", path, "--fetch", "x").out
