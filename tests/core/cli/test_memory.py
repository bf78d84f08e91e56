"""--memory: how much reading a file may take, on every verb that reads one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.core.cli.conftest import Cli

TUTORIAL = Path(__file__).parents[3] / "assets" / "examples" / "tutorial.gradstep"

VERBS = {
    "run": ["--fetch", "e"],
    "convert": ["-"],
    "check": [],
    "shot": ["out.png"],
    "debug": ["--script", "step"],
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_takes_more_is_refused(cli: Cli, verb: str) -> None:
    result = cli(verb, TUTORIAL, *VERBS[verb], "--memory", "1KiB", "--json")
    assert result.status == 1
    error = json.loads(result.out)["error"]
    assert error["type"] == "MemoryLimitError"
    assert "tutorial.gradstep: it takes" in error["message"]
    assert "the limit for a file is 1.0 KiB" in error["message"]
    assert "--memory" in error["hint"]


@pytest.mark.parametrize("size", ["1MiB", "1g", "0.5 GB", "1000000"])
def test_ways_to_write_a_size(cli: Cli, size: str) -> None:
    assert cli("run", TUTORIAL, "--fetch", "e", "--memory", size).status == 0


@pytest.mark.parametrize("size", ["", "much", "-1", "1XB", "1e9"])
def test_what_is_no_size(cli: Cli, size: str) -> None:
    result = cli("run", TUTORIAL, f"--memory={size}")
    assert result.status == 2
    assert "is not a size: write 4GiB or 512MiB" in result.err


def test_arrays_that_are_fed_count_as_well(cli: Cli, tmp_path: Path) -> None:
    array = np.arange(100_000, dtype=np.float32)
    np.save(tmp_path / "a.npy", array)
    np.savez(tmp_path / "a.npz", x=array)
    packed = f"data=@{tmp_path / 'a.npz'}"
    result = cli("run", TUTORIAL, "--feed", packed, "--memory", "100KB")
    assert result.status == 1
    assert "the limit for a file is 100 KiB" in result.err
    for feed in (packed, f"data=@{tmp_path / 'a.npy'}"):
        assert "Cannot feed value of shape (100000,)" in cli("run", TUTORIAL, "--feed", feed).err
