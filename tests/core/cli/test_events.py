"""gradstep events: what training logged is listed, and read back to the number."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

DIGITS = (
    FOLDER / "softmax_digits.gradstep",
    "--data", "images=@digits:images|scale(1/16)", "labels=@digits:labels|one_hot(10)",
)  # fmt: skip


def test_what_train_logs_is_read_back(cli: Cli, tmp_path: Path) -> None:
    words = ("--limit", 80, "--validate", 0.2, "--epochs", 2, "--every", 1, "--json")
    found = cli("train", *DIGITS, *words, "--logdir", tmp_path / "a").json
    cli("train", FOLDER / "tutorial.gradstep", "--steps", 3, "--logdir", tmp_path / "b")
    runs = cli("events", tmp_path, "--json").json["runs"]
    assert [run["run"] for run in runs] == ["a", "b"]
    loss, held = runs[0]["curves"]
    assert (loss["tag"], held["tag"]) == ("loss", "validation/loss")
    assert loss["steps"] == [shown["step"] for shown in found["shown"]]
    shown = [np.float32(s["values"]["loss"]["data"]) for s in found["shown"]]
    assert [np.float32(value) for value in loss["values"]] == shown
    assert held["steps"] == [each["step"] for each in found["validation"]] == [2, 4]
    text = cli("events", tmp_path).out
    assert text.splitlines()[0] == "a"
    assert "validation/loss  2" in text
    points = cli("events", tmp_path / "b", "--tag", "loss").out.splitlines()
    assert points[0] == "run,step,value"
    assert [line.split(",")[1] for line in points[1:]] == ["1", "2", "3"]


def test_what_cannot_be_read_is_said(cli: Cli, tmp_path: Path) -> None:
    cli("train", FOLDER / "tutorial.gradstep", "--steps", 3, "--logdir", tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-5])
    result = cli("events", tmp_path)
    assert result.status == 0
    assert "loss  2  " in result.out
    assert "cut off at byte" in result.err
    unknown = cli("events", tmp_path, "--tag", "los")
    assert unknown.status == 1
    assert "there is no curve 'los'" in unknown.err
    assert "loss" in unknown.err.splitlines()[-1]


def test_a_folder_that_goes_away_is_passed_over(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of other programs do in /tmp."""
    cli("train", FOLDER / "tutorial.gradstep", "--steps", 3, "--logdir", tmp_path / "logs")
    gone, scandir = tmp_path / "gone", os.scandir
    gone.mkdir()

    def scanned(path: Any = ".") -> Any:
        if Path(path) == gone:
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scanned)
    result = cli("events", tmp_path)
    assert result.status == 0, result.err
    assert "loss  3  " in result.out
