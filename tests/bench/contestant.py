"""The driver's end of a worker process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from tests.bench.environments import python_of
from tests.bench.implementations import IMPLEMENTATIONS, Threads, variables
from tests.bench.program import Numbers
from tests.support.line_process import LineProcess


class ContestantError(Exception):
    """Why an implementation takes no part."""


# What would hold NumPy, and it alone, to less than the processor can do.
_KERNELS = ("OPENBLAS_", "NPY_DISABLE_", "NPY_ENABLE_")


def environment(threads: Threads = "one", **more: str) -> dict[str, str]:
    """The environment variables of a process that is timed."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHONPATH", *_KERNELS))}
    return kept | variables(threads) | more


class Contestant:
    """One implementation of one workload, in a process of its own while the `with` lasts: with one
    thread on one core, or with as many as its library takes on all.

    Raises environments.NotAvailableError where it has no environment.
    """

    def __init__(
        self, workload: str, implementation: str, may_install: bool, threads: Threads = "one"
    ) -> None:
        how = IMPLEMENTATIONS[implementation]
        python = python_of(how.environment, may_install)
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 (closed with the process)
        self._process = LineProcess(
            [str(python), "-m", "tests.bench.worker", workload, implementation, threads],
            self._log,
            environment(threads, **how.variables),
        )
        self.facts: Mapping[str, str] = {}
        self.busy = self.passed = 0.0  # seconds of CPU and of the clock, of all that was timed

    def check(self, steps: int) -> Sequence[Numbers]:
        """What the first steps compute."""
        answer = self._ask({"check": steps})
        self.facts = answer["facts"]
        numbers: Sequence[Numbers] = answer["numbers"]
        return numbers

    def seconds(self, steps: int) -> float:
        """Seconds that so many steps take: of CPU time with one thread, else of the clock."""
        answer = self._ask({"run": steps})
        self.busy += answer["busy"]
        self.passed += answer["passed"]
        return float(answer["seconds"])

    def _ask(self, command: Mapping[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] | None = self._process.tell(command)
        if answer is None:
            raise ContestantError(self._last_words())
        if "error" in answer:
            raise ContestantError(answer["error"])
        return answer

    def _last_words(self) -> str:
        self._log.seek(0)
        lines = [line for line in self._log.read().splitlines() if line.strip()]
        return lines[-1] if lines else f"ended with status {self._process.status}"

    def __enter__(self) -> Contestant:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.end()
        self._log.close()
