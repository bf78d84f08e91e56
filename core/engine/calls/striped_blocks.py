"""Blocks of large tensors that several threads go through, each its own ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from gradstep.core.engine.calls.call_loop import Call, CallRun
from gradstep.core.thread_pool import run_tasks


class Stripes:
    """Calls of several steps as one. Each stripe, of steps and calls, depends on no other and has
    memory of its own. failed: the step that raised what a call of this has raised."""

    def __init__(self, stripes: Iterable[Sequence[tuple[int, Call]]]) -> None:
        self.failed = 0
        self._tasks = [
            partial(self._run, CallRun([call for _, call in stripe]), [step for step, _ in stripe])
            for stripe in stripes
        ]

    def _run(self, calls: CallRun, steps: Sequence[int]) -> None:
        done, error = calls.all()
        if error is not None:
            self.failed = steps[done]
            raise error

    def __call__(self) -> None:
        run_tasks(self._tasks)
