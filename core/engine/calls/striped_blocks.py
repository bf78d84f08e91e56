"""Blocks of large tensors that several threads go through, each its own ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from gradstep.core.engine.calls.call_loop import Call, CallRun
from gradstep.core.thread_pool import run_tasks


class Stripes:
    """Calls of several steps as one. Each stripe, of steps and calls, depends on no other and has
    memory of its own."""

    def __init__(self, stripes: Iterable[Sequence[tuple[int, Call]]]) -> None:
        self._failed: dict[int, int] = {}
        self._stripes = [*stripes]
        self._tasks = [
            partial(
                self._run, number, CallRun([call for _, call in one]), [step for step, _ in one]
            )
            for number, one in enumerate(self._stripes)
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

    def timed(self, clock: Callable[[], float]) -> Iterator[tuple[int, float]]:
        """The same once, and what each of its calls had of the seconds that it took: of step, and
        seconds. Threads work at the same time, so what each measures is scaled to the whole."""
        self._failed.clear()
        spans: list[list[float]] = [[] for _ in self._stripes]
        start = clock()
        run_tasks([partial(self._time, number, clock, own) for number, own in enumerate(spans)])
        share = (clock() - start) / (sum(map(sum, spans)) or 1.0)
        for stripe, own in zip(self._stripes, spans, strict=True):
            yield from ((step, span * share) for (step, _), span in zip(stripe, own, strict=True))

    def _time(self, number: int, clock: Callable[[], float], spans: list[float]) -> None:
        for step, call in self._stripes[number]:
            start = clock()
            try:
                call()
            except Exception:
                self._failed[number] = step
                raise
            spans.append(clock() - start)
