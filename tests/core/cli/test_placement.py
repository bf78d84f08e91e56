"""`--place`: a run on several devices, and what it says of that."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from gradstep.core.cli.command_line import main
from gradstep.main import Gradstep

FEEDS = ("data=1,2", "labels=0,1")
TUTORIAL = str(Path(__file__).parents[3] / "assets" / "examples" / "tutorial.gradstep")


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
    assert fast["transfers"]["emulate:torch"]["sent"] == 8
    assert fast["runs"] == recorded["runs"]


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


def test_it_is_compared_as_ever(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    kept = str(tmp_path / "kept.gradstep")
    run(capsys, "convert", TUTORIAL, kept, "--place", "a=emulate:torch")
    one, other = (
        json.loads(run(capsys, "compare", file, "--against", "emulate:tf-gpu", "--json"))
        for file in (TUTORIAL, kept)
    )
    assert one == other


def test_it_is_debugged(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("continue\nprint loss\nquit\n"))
    said = run(capsys, "debug", TUTORIAL, "--place", "loss=emulate:torch")
    assert "0.66369" in said
