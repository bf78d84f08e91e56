"""Trying mutants: which tests fail with each, the nearest tests first."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tests.mutation.areas import near
from tests.mutation.tree import mutated

_ZYGOTE = Path(__file__).with_name("zygote.py")
_PASSED, _FAILED, _INTERRUPTED, _NONE_LEFT = 0, 1, 2, 5  # pytest's exit codes
_OUT_OF_TIME = -9, -24  # by the clock, of CPU time


class BrokenError(Exception):
    """The tests could not be run at all."""


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int
    operator: str
    before: str
    after: str
    source: str


@dataclass(frozen=True)
class Outcome:
    """killed_by: the first test that failed, "time" for none in time; empty: it survived."""

    mutant: Mutant
    killed_by: str


class Bench:
    """One copy of the tree, and the Python that runs its tests. A context manager.

    patience: seconds of CPU time for a mutant, over three times what the tests take."""

    def __init__(self, root: Path, tests: Sequence[str], patience: float = 10) -> None:
        self._root = root
        self._tests = list(tests)
        self._patience = patience
        self._skipped: list[str] = []  # those that fail on the tree as it is
        self._limits = {"cpu": 1200, "wall": 1800}
        self._killers: dict[str, Counter[str]] = {}  # of each module

    def __enter__(self) -> Self:
        command = [sys.executable, str(_ZYGOTE)]
        self._zygote = subprocess.Popen(
            command, cwd=self._root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._zygote.communicate()

    def prepare(self) -> tuple[list[str], float]:
        """Run all tests on the tree as it is: those that fail, which count for nothing from here
        on, and CPU seconds. Raises BrokenError where they do not run."""
        answer = self._ask(self._tests, (), stop_at_first=False)
        if answer["code"] not in (_PASSED, _FAILED):
            log = (self._root / "mutate.log").read_text("utf-8", "replace")
            raise BrokenError(f"the tests do not run (pytest: {answer['code']})\n{log[-2000:]}")
        self._skipped = answer["failed"]
        seconds = answer["seconds"]
        allowed = self._patience + 3 * seconds
        self._limits = {"cpu": 1 + int(allowed), "wall": 60 + int(4 * allowed)}
        return self._skipped, seconds

    def outcome(self, mutant: Mutant) -> Outcome:
        killers = self._killers.setdefault(mutant.file, Counter())
        first = [name for name, _ in killers.most_common(20)]
        files = {name.partition("::")[0] for name in first[:5]}
        nearest = [t for t in self._tests if t in files or t in near(mutant.file, self._tests)]
        with mutated(self._root / mutant.file, mutant.source):
            for tests in (nearest, [t for t in self._tests if t not in nearest]):
                killer = self._killer(tests, first) if tests else ""
                if killer:
                    killers[killer] += 1
                    return Outcome(mutant, killer)
        return Outcome(mutant, "")

    def _killer(self, tests: list[str], first: Sequence[str]) -> str:
        answer = self._ask(tests, first, stop_at_first=True)
        code, failed = answer["code"], answer["failed"]
        if failed:
            return str(failed[0])
        if code in _OUT_OF_TIME:
            return "time"
        if code in (_PASSED, _NONE_LEFT):
            return ""
        return f"pytest's status {code}"  # Python itself fell, or pytest did

    def _ask(self, tests: list[str], first: Sequence[str], stop_at_first: bool) -> dict[str, Any]:
        request = {
            "tests": tests,
            "first": list(first),
            "skipped": self._skipped,
            "stop_at_first": stop_at_first,
            **self._limits,
        }
        assert self._zygote.stdin is not None
        assert self._zygote.stdout is not None
        self._zygote.stdin.write(json.dumps(request) + "\n")
        self._zygote.stdin.flush()
        line = self._zygote.stdout.readline()
        if not line:
            raise BrokenError("the Python that runs the tests has ended")
        answer: dict[str, Any] = json.loads(line)
        return answer
