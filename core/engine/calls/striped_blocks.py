"""Blocks of large tensors that several threads go through, each its own ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from gradstep.core.engine.calls.call_loop import Call, CallRun
from gradstep.core.thread_pool import run_tasks


class Stripes:
    """Calls of several steps as one. Each stripe, of steps and calls, depends on no other and has
    memory of its own."""

    def __init__(self, stripes: Iterable[Sequence[tuple[int, Call]]]) -> None:
        self._failed: dict[int, int] = {}
        self._tasks = [
            partial(
                self._run, number, CallRun([call for _, call in one]), [step for step, _ in one]
            )
            for number, one in enumerate(stripes)
        ]

    @property
    def failed(self) -> int:
        """The step that raised what a call of this has raised."""
        return self._failed[min(self._failed)]

    def _run(self, number: int, calls: CallRun, steps: Sequence[int]) -> None:
        done, error = calls.all()
        if error is not None:
            self._failed[number] = steps[done]
            raise error

    def __call__(self) -> None:
        self._failed.clear()
        run_tasks(self._tasks)  # raises what the first stripe raised that failed
