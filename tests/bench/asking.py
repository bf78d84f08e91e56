"""A measurement that a process of its own makes: it prints one JSON object, name -> values."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence

from tests.bench.environments import ROOT
from tests.bench.rows import Row
from tests.bench.spread import Spread
from tests.bench.targets import Measure

Values = Mapping[str, Sequence[float]]
_LONGEST = 900  # seconds until something is wrong


class NoAnswerError(Exception):
    """Why there are no values."""


def ask(module: str, *arguments: object, environment: Mapping[str, str]) -> Values:
    """What `python -m tests.bench.MODULE ARGUMENTS` measures. Raises NoAnswerError."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", f"tests.bench.{module}", *map(str, arguments)],
            cwd=ROOT,
            env=dict(environment),
            capture_output=True,
            text=True,
            timeout=_LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NoAnswerError(f"{module} took more than {_LONGEST} s") from None
    if done.returncode:
        raise NoAnswerError((done.stderr.strip().splitlines() or [f"{module} failed"])[-1])
    values: Values = json.loads(done.stdout)
    return values


def rows_of(targets: Sequence[Measure], values: Values) -> list[Row]:
    """A row for each target that there are values of."""
    return [
        Row(t.name, t.target, t.unit, Spread.of(values[t.key])) for t in targets if t.key in values
    ]


def rows_without(targets: Sequence[Measure], why: str) -> list[Row]:
    """The rows where there is nothing: something of ours does not work."""
    return [Row(t.name, t.target, t.unit, None, why, fault=True) for t in targets]
