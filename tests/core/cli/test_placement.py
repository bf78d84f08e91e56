"""`--place`: a run on several devices, and what it says of that."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import msgspec
import numpy as np
import pytest

import gradstep as gs
from gradstep.core.cli.command_line import main
from gradstep.core.cli.runs.tower_gradients import TowerOrder, compute_tower
from gradstep.core.engine.placed_backend import PlacedBackend
from gradstep.core.errors import GradstepError
from gradstep.core.host.workers.work_link import WorkLink, linked
from gradstep.main import Gradstep

pytestmark = pytest.mark.usefixtures("forked_workers")

FEEDS = ("data=1,2", "labels=0,1")
EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"
TUTORIAL = str(EXAMPLES / "tutorial.gradstep")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments], Gradstep()) == 0
    return capsys.readouterr().out


def test_a_run_gives_the_same_and_says_what_crossed(capsys: pytest.CaptureFixture[str]) -> None:
    alone = json.loads(run(capsys, "run", TUTORIAL, "--json"))
    both = run(capsys, "run", TUTORIAL, "--json", "--place", "d=emulate:torch", "a=emulate:torch")
    placed = json.loads(both)
    assert placed["runs"] == alone["runs"]
    assert "transfers" not in alone
    [(name, counts)] = placed["transfers"].items()
    assert name == "emulate:torch"
    assert counts["sent"] == 4  # data, c, e, and the gradient that reaches a
    assert counts["sent_bytes"] == 32
    text = run(capsys, "run", TUTORIAL, "--place", "d=emulate:torch", "a=emulate:torch")
    assert "emulate:torch: sent 4 values, 32 bytes; got" in text
    assert "emulated: " in text


def test_a_fast_run_sends_as_much_as_any(capsys: pytest.CaptureFixture[str]) -> None:
    place = ("--json", "--runs", "2", "--place", "d=emulate:torch", "a=emulate:torch")
    fast = json.loads(run(capsys, "run", TUTORIAL, "--fast", *place))
    recorded = json.loads(run(capsys, "run", TUTORIAL, *place))
    assert fast["transfers"] == recorded["transfers"]
    assert fast["transfers"]["emulate:torch"]["sent"] == 7  # data, which stays, and three twice
    assert fast["runs"] == recorded["runs"]


def test_a_training_says_what_crossed(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("train", TUTORIAL, "--steps", "3")
    place = ("--place", "d=emulate:torch")
    alone, placed = (json.loads(run(capsys, *words, "--json", *more)) for more in ((), place))
    assert placed["shown"] == alone["shown"]
    assert "transfers" not in alone
    assert placed["transfers"]["emulate:torch"]["sent"] == 1 + 3  # data, and c in each step
    assert "emulate:torch: sent 4 values, 32 bytes; got" in run(capsys, *words, *place)


def test_a_plan_says_where_its_steps_are_done(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("plan", TUTORIAL, "--fast", "--place", "d=emulate:torch")
    steps = json.loads(run(capsys, *words, "--json"))["steps"]
    placed = {step["op"]: step["device"] for step in steps if step["device"]}
    assert placed == dict.fromkeys(("d", "gradients/d_grad/Identity_1"), "emulate:torch")
    said = run(capsys, *words).splitlines()
    assert [" d " in line for line in said if " on emulate:torch" in line] == [True, False]


def test_a_plan_says_it_of_steps_in_loops(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("plan", str(EXAMPLES / "while_loop.gradstep"), "--place", "while/Mul=emulate:torch")
    steps = json.loads(run(capsys, *words, "--json"))["steps"]
    assert not any(step["device"] for step in steps)
    inside = [each for step in steps if step["body"] for each in step["body"]["steps"]]
    placed = {step["op"]: step["device"] for step in inside if step["device"]}
    assert placed.pop("while/Mul") == "emulate:torch"
    assert placed
    assert all(name.startswith("gradients/while/Mul_grad/") for name in placed)
    assert any(
        "while/Mul " in x and " on emulate:torch" in x for x in run(capsys, *words).splitlines()
    )


@pytest.mark.parametrize("verb", ["grad", "train", "profile"])
def test_verbs_that_run_follow_it(capsys: pytest.CaptureFixture[str], verb: str) -> None:
    assert main([verb, TUTORIAL, "--place", "d=nowhere"], Gradstep()) == 1
    assert "there is no device 'nowhere'" in capsys.readouterr().err


def test_gradients_are_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    alone = json.loads(run(capsys, "grad", TUTORIAL, "--json"))
    placed = json.loads(run(capsys, "grad", TUTORIAL, "--json", "--place", "a=emulate:torch"))
    assert placed["gradients"] == alone["gradients"]


def test_it_is_kept_in_a_document_and_taken_away(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kept, freed = str(tmp_path / "kept.gradstep"), str(tmp_path / "freed.gradstep")
    run(capsys, "convert", TUTORIAL, kept, "--place", "a=emulate:torch")
    assert "emulate:torch: sent" in run(capsys, "run", kept)
    run(capsys, "convert", kept, freed, "--place", "a=")
    assert "emulate" not in run(capsys, "run", freed)
    graph = str(tmp_path / "kept.pb")
    run(capsys, "convert", kept, graph)
    run(capsys, "convert", graph, kept)
    assert "EMULATE_TORCH" in Path(graph).read_bytes().decode(errors="ignore")
    assert "emulate:torch: sent" in run(capsys, "run", kept, "--fetch", "loss", "--feed", *FEEDS)


@pytest.fixture
def kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The tutorial, with an operation on a device that gives what the CPU gives."""
    path = str(tmp_path / "kept.gradstep")
    run(capsys, "convert", TUTORIAL, path, "--place", "a=emulate:torch")
    return path


@pytest.fixture
def lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The tutorial, with an operation on a device that there is not."""
    path = str(tmp_path / "lost.gradstep")
    run(capsys, "convert", TUTORIAL, path, "--place", "a=nowhere")
    return path


def test_it_is_compared_on_one_device_after_the_other(
    capsys: pytest.CaptureFixture[str], kept: str
) -> None:
    one, other = (
        json.loads(run(capsys, "compare", file, "--against", "emulate:tf-gpu", "--json"))
        for file in (TUTORIAL, kept)
    )
    *sentences, last = other["sentences"]
    assert one["nodes"] == other["nodes"]
    assert one["sentences"] == sentences
    assert last.startswith("The placement of a is not followed: a comparison computes everything")
    assert last in other["text"]


@pytest.mark.parametrize("about", [(), ("--node", "a")])
def test_a_check_says_that_rules_are_checked_here(
    capsys: pytest.CaptureFixture[str], kept: str, about: tuple[str, ...]
) -> None:
    said = json.loads(run(capsys, "check", kept, "--json", *about))["text"]
    assert said.endswith(
        "The placement of a is not followed: gradients are checked in float64, on this processor."
    )
    assert "placement" not in run(capsys, "check", TUTORIAL, *about)


def test_a_format_is_imitated_here(capsys: pytest.CaptureFixture[str], kept: str) -> None:
    of = ("precision", "--format", "bfloat16")
    assert "The placement of a is not followed: formats are" in run(capsys, *of, kept)
    assert "placement" not in run(capsys, *of, TUTORIAL)


@pytest.mark.parametrize(
    "words", [["check", "--jacobian", "--node", "a"], ["check"], ["sweep", "--set", "k=1,2"]]
)
def test_what_checks_and_sweeps_run_follows_it(
    capsys: pytest.CaptureFixture[str], lost: str, words: list[str]
) -> None:
    verb, *rest = words
    assert main([verb, lost, *rest], Gradstep()) == 1
    said = capsys.readouterr()
    assert "there is no device 'nowhere'" in said.out + said.err


def test_a_sweep_places_what_it_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["sweep", TUTORIAL, "--set", "learning_rate=0.1", "--steps", "2", "--workers", "1"]
    out = str(tmp_path / "kept")
    alone = json.loads(run(capsys, *words, "--json"))
    placed = json.loads(run(capsys, *words, "--json", "--place", "a=emulate:torch", "--out", out))
    assert placed["best"] == alone["best"] == 1
    assert placed["rows"][0]["loss"] == alone["rows"][0]["loss"]
    assert "emulate:torch: sent" in run(capsys, "run", f"{out}/document.gradstep")
    assert main(["sweep", "--resume", out, "--place", "a="], Gradstep()) == 2
    assert "leave it away" in capsys.readouterr().err
    assert main([*words, "--place", "b=emulate:torch"], Gradstep()) == 1
    assert "no operation and no scope 'b'" in capsys.readouterr().err


def test_towers_follow_it(tmp_path: Path) -> None:
    rows = tmp_path / "rows.npz"
    np.savez(rows, data=[1.0, 2.0, 3.0, 4.0], labels=[0.0, 1.0, 0.0, 1.0])
    feeds = (f"--data=data=@{rows}:data", f"--data=labels=@{rows}:labels")
    words = [*feeds, "--batch=2", "--place=a=nowhere", "--", TUTORIAL]
    order = TowerOrder(words=words, step=0, part=0, parts=1, variables={})
    here = WorkLink(lambda: False, print, Gradstep().devices)
    with linked(here), pytest.raises(GradstepError, match="there is no device 'nowhere'"):
        compute_tower(msgspec.to_builtins(order))


def test_a_notebook_follows_it(kept: str, lost: str) -> None:
    with pytest.raises(GradstepError, match="there is no device 'nowhere'"):
        gs.open(lost)
    alone, placed = gs.open(TUTORIAL), gs.open(TUTORIAL, place={"a": "emulate:torch", "d": ""})
    assert alone.run("loss") == placed.run("loss") == gs.open(kept).run("loss")
    np.testing.assert_array_equal(placed.grad("loss", "c"), alone.grad("loss", "c"))
    backend = placed.debug()._threads.session.backend
    assert isinstance(backend, PlacedBackend)
    assert gs.open(lost, place={"a": ""}).run("loss") == alone.run("loss")
    with pytest.raises(GradstepError, match="c cannot be placed"):
        gs.open(TUTORIAL, place={"c": "emulate:torch"})


def test_it_is_debugged(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("continue\nprint loss\nquit\n"))
    said = run(capsys, "debug", TUTORIAL, "--place", "loss=emulate:torch")
    assert "0.66369" in said
