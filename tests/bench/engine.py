"""The group `engine`: the workloads, and what compiling costs."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.bench import racing
from tests.bench.choices import Choices, say
from tests.bench.contestant import one_thread
from tests.bench.environments import ROOT
from tests.bench.racing import Race
from tests.bench.rows import Row
from tests.bench.spread import Spread
from tests.bench.targets import COMPILING


def rows(choices: Choices) -> tuple[list[Row], dict[str, Race]]:
    """The rows, and the races that most of them are about."""
    found = racing.races(choices)
    compiling = [] if choices.only else _compiling(choices)
    return racing.rows(found) + compiling, found


def _compiling(choices: Choices) -> list[Row]:
    say("differentiate and compile")
    repeats, budget = (1, 15.0) if choices.quick else (choices.repeats, 300.0)
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.compiling", str(repeats), str(budget)],
        cwd=ROOT,
        env=one_thread(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["it failed"])[-1]
        return [Row(t.name, t.target, t.unit, None, why, fault=True) for t in COMPILING]
    values = json.loads(done.stdout)
    return [
        Row(t.name, t.target, t.unit, Spread.of(values[t.key]))
        if t.key in values
        else Row(t.name, t.target, t.unit, None, f"none of it could begin in {budget:.0f} s")
        for t in COMPILING
    ]
