"""Processes of this machine that do what they are asked, as concurrent.futures has it.

One that is killed costs what it was doing, which is begun again in a new one. What is asked to stop
gets some seconds for it, and is killed then.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.host.workers.work_link import stopped
from gradstep.core.host.workers.worker_messages import Begin, Work
from gradstep.core.host.workers.worker_process import LOST, WorkerProcess

GRACE = 5.0  # seconds that work has to end by itself
RETRIES = 2  # times that it is begun again

Tell = Callable[["Future[Any]", dict[str, Any]], None]


@dataclass(eq=False)
class _Job:
    work: Work
    future: Future[Any] = field(default_factory=Future)
    lost: int = 0


class WorkerPool(Executor):
    """count: of processes, started when there is something to do. begin: how they are confined.
    tell(future, news): called in a thread of the pool with what work reports, and with
    `{"begun": n}` when it is begun the n-th time."""

    def __init__(
        self,
        count: int,
        begin: Begin | None = None,
        tell: Tell = lambda future, news: None,
        retries: int = RETRIES,
    ) -> None:
        self._count, self._begin, self._tell, self._retries = count, begin or Begin(), tell, retries
        self._share = max(1, (os.cpu_count() or 1) // count)
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._hands: list[threading.Thread] = []
        self._busy: set[WorkerProcess] = set()
        self._open = 0  # jobs that are not done
        self._closed = False  # to more of them
        self._stopping = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """fn: a function of a module, which is called in another process; its arguments, and what
        it gives, are of what msgpack holds."""
        assert not kwargs
        job = _Job(Work(module=fn.__module__, function=fn.__qualname__, arguments=[*args]))
        with self._lock:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._open += 1
            self._jobs.put(job)
            if len(self._hands) < min(self._count, self._open):
                hand = threading.Thread(target=self._serve, daemon=True, name="worker")
                self._hands.append(hand)
                hand.start()
        return job.future

    def stop(self, grace: float = GRACE) -> None:
        """End everything: what waits is cancelled, what is being done is asked to end, and killed
        after `grace` seconds. Waits for that."""
        with self._lock:
            self._stopping = True
            busy = [*self._busy]
        for process in busy:
            process.stop()
        self._dismiss()
        deadline = time.monotonic() + grace
        for hand in self._hands:
            hand.join(max(0.0, deadline - time.monotonic()))
        with self._lock:
            left = [*self._busy]
        for process in left:
            process.kill()
        for hand in self._hands:
            hand.join()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let what was asked be done, or not; then no more."""
        if cancel_futures:
            self.stop()
            return
        self._dismiss()
        for hand in self._hands if wait else ():
            hand.join()

    def _dismiss(self) -> None:
        with self._lock:
            self._closed = True
            for _ in self._hands:
                self._jobs.put(None)

    def _serve(self) -> None:
        """One process after the other, as long as there is something to do."""
        process: WorkerProcess | None = None
        while (job := self._jobs.get()) is not None:
            if self._stopping:
                job.future.cancel()
            if job.future.set_running_or_notify_cancel():
                while not job.future.done():
                    process = self._do(job, process)
            with self._lock:
                self._open -= 1
        if process is not None:
            process.close()

    def _do(self, job: _Job, process: WorkerProcess | None) -> WorkerProcess | None:
        """Have it done, as far as that goes; the process that did it, unless it is gone."""
        try:
            process = process or WorkerProcess(self._begin, self._share)
            self._enter(process)
            self._tell(job.future, {"begun": job.lost + 1})
            job.future.set_result(process.do(job.work, lambda n: self._tell(job.future, n)))
        except GradstepError as error:
            if error.kind == LOST:
                self._leave(process)
                process = None
            self._note_failure(job, error)
        except Exception as error:  # of who is told: the process is in the midst of its work
            self._leave(process)
            if process is not None:
                process.close()
                process = None
            job.future.set_exception(error)
        self._leave(process)
        return process

    def _enter(self, process: WorkerProcess) -> None:
        """From here on it is stopped with all others. Raises GradstepError where that was asked."""
        with self._lock:
            if self._stopping:
                raise stopped()
            self._busy.add(process)

    def _leave(self, process: WorkerProcess | None) -> None:
        with self._lock:
            self._busy -= {process}

    def _note_failure(self, job: _Job, error: GradstepError) -> None:
        job.lost += error.kind == LOST
        if self._stopping:
            job.future.set_exception(stopped())
        elif error.kind != LOST or job.lost > self._retries:
            job.future.set_exception(error)
