"""What is said of what watching costs, of given seconds; nothing is timed here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.watching import main, overheads, rows, table

FOUND = {
    "when": "isnan(loss)",
    "torch": "2.13.0",
    # The machine was slower in the second round, for all three alike.
    "seconds": {
        "without": [1.0, 3.0, 1.0],
        "with": [1.004, 3.012, 1.004],
        "followed": [1.02, 3.06, 1.02],
    },
    "itself": {"with": [0.003, 0.009, 0.003], "followed": [0.015, 0.045, 0.015]},
}


def test_steps_are_held_against_those_of_their_round() -> None:
    found = overheads(FOUND)
    assert {title: spread.median for title, spread in found.items()} == pytest.approx(
        {
            "watched": 0.4,
            "watched, itself": 0.3,
            "watched and followed": 2.0,
            "watched and followed, itself": 1.5,
        }
    )
    assert found["watched"].width == pytest.approx(0, abs=1e-9)


def test_the_target_is_of_steps_in_which_nothing_happens() -> None:
    assert [(row["name"], row["met"]) for row in rows(FOUND)] == [
        ("watched", True),
        ("watched, itself", True),
        ("watched and followed", None),
        ("watched and followed, itself", None),
    ]
    assert "watched +0.40 % (+0.40 … +0.40), target 1 %\n" in table(FOUND)
    assert table(FOUND).endswith("watched and followed, itself +1.50 % (+1.50 … +1.50)")


def test_a_target_can_be_missed() -> None:
    slower = {**FOUND, "itself": {**FOUND["itself"], "with": [0.03, 0.09, 0.03]}}
    assert [row["met"] for row in rows(slower)] == [True, False, None, None]


def test_an_interpreter_without_pytorch_is_no_figure(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no torch >&2; exit 1\n")
    python.chmod(0o755)
    assert main(["--python", str(python)]) == 1
    assert capfd.readouterr().out == ""
