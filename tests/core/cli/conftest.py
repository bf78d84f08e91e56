"""The command line as a function: arguments in; exit status, output and errors out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from gradstep.core.cli.command_line import main
from gradstep.main import Gradstep


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on standard output; NaN is no JSON."""
        assert self.out.count("\n") == 1

        def refuse(word: str) -> None:
            raise AssertionError(f"{word} is no JSON")

        return json.loads(self.out, parse_constant=refuse)


Cli = Callable[..., Result]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    def call(*arguments: object) -> Result:
        status = main([str(a) for a in arguments], Gradstep())
        captured = capsys.readouterr()
        return Result(status, captured.out, captured.err)

    return call
