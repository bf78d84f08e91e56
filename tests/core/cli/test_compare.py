"""`gradstep compare`: devices, and what one gave elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.cli.conftest import Cli

GATHER = Path(__file__).parents[3] / "assets" / "examples" / "gather.gradstep"


def test_a_recording_is_compared_with_wherever_it_is(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "there.gradrec"
    made = cli("compare", GATHER, "--against", "emulate:jax", "--record", file)
    assert made.status == 0
    assert made.out.endswith(f"written to {file}\n")
    live = cli("compare", GATHER, "--against", "emulate:jax", "--json").json
    alone = cli("compare", file, "--json").json
    beside = cli("compare", GATHER, "--against", file, "--json").json
    assert alone == beside
    assert alone["right"].startswith("emulate:jax, recorded 2")
    assert [n["right"] for n in alone["nodes"]] == [n["right"] for n in live["nodes"]]
    assert alone["first_divergence"] == live["first_divergence"] == "b"
    assert cli("run", file, "--json").json == cli("run", GATHER, "--json").json


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "there is nothing to compare with"),
        (("--against", "cpu", "--against", "emulate:jax", "--record", "a.gradrec"), "one device"),
        (("--against", "a.gradrec", "--record", "b.gradrec"), "one device"),
        (("--against", "a.gradrec"), "there is no such file"),
    ],
)
def test_what_cannot_be_asked(cli: Cli, words: tuple[str, ...], said: str) -> None:
    refused = cli("compare", GATHER, *words)
    assert refused.status != 0
    assert said in refused.err
    assert refused.err.count("\n") <= 2
