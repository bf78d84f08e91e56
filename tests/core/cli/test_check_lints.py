"""The lints in `gradstep check`: said with their code, left out by it, of more runs than one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.core.cli.conftest import Cli

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"


def checked(cli: Cli, example: str, *words: str) -> dict[str, Any]:
    found = cli("check", EXAMPLES / f"{example}.gradstep", "--json", *words)
    assert found.status == 0
    return dict(found.json)


def codes(answer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(p["code"], p["severity"]) for p in answer["problems"]]


def test_findings_are_problems_and_none_of_them_fails_the_check(cli: Cli) -> None:
    found = checked(cli, "softmax_by_hand")
    assert codes(found) == [("softmax-twice", "warning"), ("log-by-hand", "warning")]
    assert found["conclusion"].startswith("passed: ")
    assert found["problems"][0]["node"] == "twice/each"
    assert found["problems"][0]["fix"] == "give it twice/logits, and keep twice/p for predictions"


def test_in_text_each_says_its_code(cli: Cli) -> None:
    said = cli("check", EXAMPLES / "softmax_by_hand.gradstep").out
    assert said.startswith("warning: twice/each: ")
    assert "predictions [softmax-twice]\n" in said


@pytest.mark.slow
def test_one_is_left_out_by_its_code_and_all_of_them_at_once(cli: Cli) -> None:
    one = checked(cli, "softmax_by_hand", "--without", "softmax-twice")
    assert codes(one) == [("log-by-hand", "warning")]
    assert codes(checked(cli, "softmax_by_hand", "--without", "all")) == []


def test_numbers_are_looked_at_in_as_many_runs_as_asked(cli: Cli) -> None:
    assert codes(checked(cli, "adam_freezing")) == []
    assert codes(checked(cli, "adam_freezing", "--lint-runs", "3")) == [
        ("moved-by-memory", "info"),
        ("moved-by-memory", "info"),
    ]


def test_a_lint_that_there_is_not_is_a_usage_error(cli: Cli) -> None:
    said = cli("check", EXAMPLES / "tutorial.gradstep", "--without", "softmax-twic")
    assert said.status == 2
    assert "there is no lint 'softmax-twic'" in said.err
    assert "did you mean softmax-twice?" in said.err
