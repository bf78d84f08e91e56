"""Trying mutants: of the tests that call what was changed, which one fails first.

Those come first that have found mistakes in the same module already, then the quick ones. A test
that gets at a function through another process, or at a value that a cache kept, is not among its
callers; it might have noticed what is said to have survived.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tests.mutation.tree import mutated

_ZYGOTE = Path(__file__).with_name("zygote.py")
_PASSED, _FAILED = 0, 1  # pytest's exit codes
_ANY = 1200.0  # seconds for the tree as it is
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
    """killed_by: the first test that failed, "time" for none in time; empty: it survived. tests:
    how many could have failed, having called the function that was changed."""

    mutant: Mutant
    killed_by: str
    tests: int


class Bench:
    """One copy of the tree, and the Python that runs its tests. A context manager.

    patience: seconds of CPU time for a mutant, over three times what the tests take."""

    def __init__(
        self, root: Path, modules: Sequence[str], tests: Sequence[str], patience: float = 10
    ) -> None:
        self._root = root
        self._modules = list(modules)
        self._files = list(tests)
        self._patience = patience
        self._took: dict[str, float] = {}  # CPU seconds of those that pass, the quickest first
        self._callers: dict[tuple[str, int], set[str]] = {}  # of a module's function, by its line
        self._killers: dict[str, Counter[str]] = {}  # of each module

    def __enter__(self) -> Self:
        self._zygote = subprocess.Popen(
            [sys.executable, str(_ZYGOTE)],
            cwd=self._root,
            env={**os.environ, "PYTHONPATH": str(self._root.parent)},  # before what is installed
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._zygote.communicate()

    def prepare(self) -> tuple[list[str], float]:
        """Run all tests on the tree as it is: those that fail, which count for nothing from here
        on, and CPU seconds. Raises BrokenError where they do not run."""
        answer = self._ask(self._files)
        if answer["code"] not in (_PASSED, _FAILED):
            log = (self._root / "mutate.log").read_text("utf-8", "replace")
            raise BrokenError(f"the tests do not run (pytest: {answer['code']})\n{log[-2000:]}")
        failing = _failed(answer)
        took: dict[str, float] = {}
        for said in answer["said"]:
            if "test" in said and said["test"] not in failing:
                took[said["test"]] = float(said["took"])
                for file, line in said["called"]:
                    self._callers.setdefault((file, line), set()).add(said["test"])
        self._took = dict(sorted(took.items(), key=lambda item: item[1]))
        return failing, float(answer["seconds"])

    def outcome(self, mutant: Mutant) -> Outcome:
        path = self._root / mutant.file
        line = function_at(path.read_text("utf-8"), mutant.line)
        callers = self._callers.get((mutant.file, line), ())
        tests = [test for test in self._took if line == 0 or test in callers]
        if not tests:
            return Outcome(mutant, "", 0)
        killers = self._killers.setdefault(mutant.file, Counter())
        tests.sort(key=lambda test: -killers[test])
        with mutated(path, mutant.source):
            killer = self._killer(tests)
        killers.update([killer] if killer in tests else [])
        return Outcome(mutant, killer, len(tests))

    def _killer(self, tests: Sequence[str]) -> str:
        files = dict.fromkeys(test.partition("::")[0] for test in tests)
        answer = self._ask(list(files), tests)
        code, failed = answer["code"], _failed(answer)
        if failed:
            return failed[0]
        if code in _OUT_OF_TIME:
            return "time"
        if code == _PASSED:
            return ""
        return f"pytest's status {code}"  # what the tests share does not load, or Python fell

    def _ask(self, files: list[str], only: Sequence[str] = ()) -> dict[str, Any]:
        seconds = self._patience + 3 * sum(self._took[test] for test in only) if only else _ANY
        request = {
            "tests": files,
            "only": list(only),
            "watched": [] if only else self._modules,
            "cpu": 1 + int(seconds),
            "wall": 30 + int(4 * seconds),  # the machine may have other work
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


def _failed(answer: dict[str, Any]) -> list[str]:
    return [said["failed"] for said in answer["said"] if "failed" in said]


def function_at(source: str, line: int) -> int:
    """The first line of the function whose body `line` is in; 0 where it is in none: then it is
    run when the module is loaded."""
    found = 0
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.body[0].lineno <= line <= (
            node.end_lineno or 0
        ):
            found = max(found, min([node.lineno, *(each.lineno for each in node.decorator_list)]))
    return found
