"""The process that runs one implementation of one workload, when and as long as it is told.

    PYTHON -m tests.bench.worker WORKLOAD IMPLEMENTATION THREADS

A command is one line of JSON, and so is the answer: {"check": steps} -> {"numbers": [per step]};
{"run": steps} -> {"busy": seconds of CPU time, "passed": of the clock, "seconds": the one that
counts: CPU time with one thread, the clock's with as many as there are}. The end of the input ends
the process.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
from typing import Any, TextIO

from tests.bench.implementations import IMPLEMENTATIONS
from tests.bench.program import Program

CHECK = "check"  # with a rate that moves the numbers
TIME = "time"  # with a rate so small that thousands of steps leave the numbers as they are


def build(workload: str, implementation: str, purpose: str) -> Program:
    """The program, its arrays made anew."""
    how = IMPLEMENTATIONS[implementation]
    module = importlib.import_module(f"tests.bench.workloads.{workload}")
    rate = module.RATES[purpose]
    program: Program = getattr(module, how.function)(rate, **how.options)
    return program


class Worker:
    """Answers commands."""

    def __init__(self, workload: str, implementation: str, threads: str = "one") -> None:
        self._names = workload, implementation
        self._counts = "busy" if threads == "one" else "passed"
        self._timed: Program | None = None

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        if "check" in command:
            return self._check(int(command["check"]))
        return self._run(int(command["run"]))

    def _check(self, steps: int) -> dict[str, Any]:
        program = build(*self._names, CHECK)
        numbers = []
        for _ in range(steps):
            program.step()
            program.finish()
            numbers.append(dict(program.numbers()))
        return {"numbers": numbers, "facts": dict(program.facts)}

    def _run(self, steps: int) -> dict[str, Any]:
        if self._timed is None:
            self._timed = build(*self._names, TIME)
        step = self._timed.step
        passed, busy = time.perf_counter(), time.process_time()
        for _ in range(steps):
            step()
        self._timed.finish()
        took = {"busy": time.process_time() - busy, "passed": time.perf_counter() - passed}
        return {**took, "seconds": took[self._counts]}


def serve(commands: TextIO, answers: TextIO, worker: Worker) -> None:
    for line in commands:
        try:
            answer = worker.answer(json.loads(line))
        except Exception as error:
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _pin() -> None:
    """To one core, so that no library uses more, and the driver and others have the rest."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


if __name__ == "__main__":
    if sys.argv[3] == "one":
        _pin()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    serve(sys.stdin, answers, Worker(*sys.argv[1:4]))
