"""The workers of a Dask cluster behind the interface of a pool: `gradstep[cluster]`.

Dask's wire is pickle: whoever reaches the scheduler runs code there, and here. So plain tcp:// is
for this machine, and tls:// for others. Dask keeps what is asked, schedules it, and begins it again
when a worker is lost. What it cannot do is end what runs: that looks for an event, and its worker
ends itself where it does not heed that.
"""

from __future__ import annotations

import importlib
import os
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.host.workers.work_link import STOPPED, WorkLink, linked, stopped
from gradstep.core.host.workers.worker_pool import GRACE, Tell
from gradstep.core.host.workers.worker_process import lost
from gradstep.core.installation import extra_command

_PATIENCE = 10.0  # seconds that the scheduler gets to answer
_LOOK = 0.5  # seconds between two looks for the event: each is a question to the scheduler
_LATE = 5.0  # seconds that the last news get behind the result


Outcome = tuple[bool, Any, int]  # whether it was done, the result, how often it reported


@dataclass(eq=False)
class _Job:
    future: Future[Any] = field(default_factory=Future)
    heard: int = 0
    begun: int = 0
    outcome: Outcome | None = None


class DaskWorkers(Executor):
    """address: of the scheduler. tell: as of gradstep.core.host.workers.worker_pool.WorkerPool. ca,
    cert, key: files of TLS. Raises GradstepError (UnavailableError) where Dask is not installed,
    and where nobody answers."""

    def __init__(
        self, address: str, tell: Tell, ca: str = "", cert: str = "", key: str = ""
    ) -> None:
        dask = _dask()
        self._tell, self._topic = tell, f"gradstep-{uuid.uuid4().hex}"
        self._jobs: list[_Job] = []
        self._asked: list[Any] = []
        self._lock = threading.Lock()
        try:
            security = _security(dask, ca, cert, key) if address.startswith("tls:") else None
            self._client = dask.Client(
                address, security=security, timeout=_PATIENCE, set_as_default=False
            )
            self._stop = dask.Event(self._topic, client=self._client)
        except (OSError, ValueError, RuntimeError) as error:
            raise _unreachable(address, error) from None
        self._client.subscribe_topic(self._topic, self._hear)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """As of a WorkerPool; Gradstep is to be installed on the workers."""
        assert not kwargs
        job = _Job()
        job.future.set_running_or_notify_cancel()
        self._jobs.append(job)
        called = (fn.__module__, fn.__qualname__, [*args], self._topic, len(self._jobs) - 1)
        asked = self._client.submit(call, *called, pure=False)  # begun again where it is lost
        self._asked.append(asked)
        asked.add_done_callback(lambda done: self._finish(job, done))
        return job.future

    def stop(self, grace: float = GRACE) -> None:
        """End everything, as soon as it looks; what does not is ended with its worker, and no
        longer waited for."""
        self._stop.set()
        deadline = time.monotonic() + 2 * grace
        for job in self._jobs:
            while not job.future.done() and time.monotonic() < deadline:
                time.sleep(0.05)
        self._client.cancel(self._asked)
        for job in self._jobs:
            _settle(job, error=stopped())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, which goes on without us."""
        if cancel_futures:
            self.stop()
        for job in self._jobs if wait else ():
            job.future.exception()
        self._client.close()

    # -- in Dask's threads ---------------------------------------------------------------------

    def _hear(self, event: Any) -> None:
        """News of a job, which may come behind its end."""
        _, (number, news) = event
        job = self._jobs[number]
        if "begun" in news:
            job.begun += 1
            news = {"begun": job.begun}
        with self._lock:
            job.heard += 1
        self._tell(job.future, news)
        self._settle_if_whole(job)

    def _finish(self, job: _Job, done: Any) -> None:
        try:
            error = done.exception() if done.status != "cancelled" else stopped()
            if error is None:
                job.outcome = done.result()
                self._settle_if_whole(job)
                if not job.future.done():
                    clock = threading.Timer(_LATE, self._settle_if_whole, (job, True))
                    clock.daemon = True
                    clock.start()
            else:
                _settle(job, error=_said(error))
        except Exception as error:  # of a connection that is gone
            _settle(job, error=lost(f"{type(error).__name__}: {error}"))

    def _settle_if_whole(self, job: _Job, is_late: bool = False) -> None:
        with self._lock:
            outcome = job.outcome
            whole = outcome is not None and (is_late or job.heard >= outcome[2])
        if whole and outcome is not None:
            is_done, result, _ = outcome
            _settle(job, result, None if is_done else stopped())


def call(module: str, function: str, args: list[Any], topic: str, number: int) -> Outcome:
    """On a worker: what came of it. Raises what it raises, but for what it was asked to end."""
    dask = _dask()
    worker, told = dask.get_worker(), 0
    stop = _StopEvent(dask.Event(topic))

    def report(news: dict[str, Any]) -> None:
        nonlocal told
        told += 1
        worker.log_event(topic, (number, news))

    if stop.is_set():
        return False, None, told
    report({"begun": 1})
    try:
        with stop, linked(WorkLink(stop.is_set, report)):
            result = getattr(importlib.import_module(module), function)(*args)
    except GradstepError as error:
        if error.kind != STOPPED:
            raise
        return False, None, told
    return True, result, told


class _StopEvent:
    """The event, asked for now and then; inside of it, its worker ends where it is not heeded."""

    def __init__(self, event: Any) -> None:
        self._event, self._set, self._due = event, False, 0.0
        self._over = threading.Event()

    def is_set(self) -> bool:
        if not self._set and time.monotonic() >= self._due:
            self._set = self._event.is_set()
            self._due = time.monotonic() + _LOOK
        return self._set

    def __enter__(self) -> None:
        threading.Thread(target=self._watch, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def _watch(self) -> None:
        while not self._over.wait(_LOOK):
            try:
                if self._event.is_set() and not self._over.wait(GRACE):
                    os._exit(1)  # the nanny starts another one
            except Exception:  # the scheduler is gone, and its nanny ends the worker
                return


def _settle(job: _Job, result: Any = None, error: BaseException | None = None) -> None:
    """Once, whoever comes first."""
    try:
        if error is not None:
            job.future.set_exception(error)
        else:
            job.future.set_result(result)
    except Exception:  # concurrent.futures.InvalidStateError: it is settled
        return


def _said(error: BaseException) -> BaseException:
    """What users are told of an error of Dask's."""
    if isinstance(error, GradstepError):
        return error
    return lost(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")


def _dask() -> Any:
    try:
        import distributed
    except ImportError:
        raise GradstepError(
            "a cluster needs dask.distributed, which is not installed",
            kind="UnavailableError",
            hint=extra_command("cluster"),
        ) from None
    return distributed


def _security(dask: Any, ca: str, cert: str, key: str) -> Any:
    return dask.Security(
        tls_ca_file=ca or None,
        tls_client_cert=cert or None,
        tls_client_key=key or None,
        require_encryption=True,
    )


def _unreachable(address: str, error: Exception) -> GradstepError:
    return GradstepError(
        f"no scheduler of Dask answers at {address}: {' '.join(str(error).split())[:200]}",
        kind="UnavailableError",
        hint="start one with `dask scheduler --host 127.0.0.1`, and workers with `dask worker`",
    )
