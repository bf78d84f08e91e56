"""A pool of processes: results, errors and news; kills, retries, and stops that nobody heeds."""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.host.workers.worker_messages import Begin
from gradstep.core.host.workers.worker_pool import WorkerPool
from gradstep.core.program import sandbox
from tests.core.host.workers import worker_tasks as tasks

pytestmark = pytest.mark.usefixtures("forked_workers")

ROOT = Path(__file__).parents[4]
LONG = 60  # seconds; a busy machine starts a process slowly

News = list[tuple["Future[Any]", dict[str, Any]]]


@pytest.fixture(autouse=True)
def tests_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture
def heard() -> News:
    return []


@pytest.fixture
def pool(heard: News) -> Iterator[WorkerPool]:
    pool = WorkerPool(2, tell=lambda future, news: heard.append((future, news)), retries=1)
    yield pool
    pool.stop(grace=0)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def _wait_for(what: Any) -> None:
    deadline = time.monotonic() + LONG
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_results_errors_and_news_come_back(pool: WorkerPool, heard: News) -> None:
    doubled = [pool.submit(tasks.double, n) for n in range(5)]
    failed, fallen = pool.submit(tasks.fail, "no"), pool.submit(tasks.fall_over)
    assert [future.result(LONG) for future in doubled] == [0, 2, 4, 6, 8]
    error = failed.exception(LONG)
    assert isinstance(error, GradstepError)
    assert (error.message, error.kind, error.node, error.hint) == (
        "no", "ValueError", "w", "do something else",
    )  # fmt: skip
    error = fallen.exception(LONG)
    assert isinstance(error, GradstepError)
    assert error.kind == "InternalError"
    assert [news for future, news in heard if future is doubled[3]] == [{"begun": 1}, {"half": 3}]
    assert pool.submit(tasks.double, 9).result(LONG) == 18  # after errors it goes on


def test_jobs_one_after_another_take_one_process(pool: WorkerPool) -> None:
    assert len({pool.submit(tasks.process_number).result(LONG) for _ in range(4)}) == 1


def test_one_that_is_told_and_fails_costs_its_own_job_alone() -> None:
    def tell(future: Future[Any], news: dict[str, Any]) -> None:
        if "half" in news and future is first:
            raise ValueError("no ears")

    pool = WorkerPool(1, tell=tell)
    first = pool.submit(tasks.double, 4)
    assert isinstance(first.exception(LONG), ValueError)
    assert pool.submit(tasks.double, 5).result(LONG) == 10
    pool.shutdown()


def test_what_is_submitted_too_late_is_refused(pool: WorkerPool) -> None:
    pool.shutdown()
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.submit(tasks.double, 1)


@pytest.mark.slow
def test_a_killed_process_costs_what_it_did(pool: WorkerPool, heard: News, tmp_path: Path) -> None:
    flag = tmp_path / "died"
    future = pool.submit(tasks.die_once, str(flag))
    others = [pool.submit(tasks.double, n) for n in range(4)]
    assert future.result(LONG) != int(flag.read_text())
    assert [n["begun"] for f, n in heard if f is future] == [1, 2]
    assert [other.result(LONG) for other in others] == [0, 2, 4, 6]


@pytest.mark.slow
def test_one_that_ends_again_and_again_is_an_error(pool: WorkerPool, heard: News) -> None:
    future = pool.submit(tasks.die)
    error = future.exception(LONG)
    assert isinstance(error, GradstepError)
    assert error.kind == "WorkerLost"
    assert "exit status 7" in error.message
    assert len(heard) == 2  # one retry
    assert pool.submit(tasks.double, 1).result(LONG) == 2


def test_what_heeds_a_stop_ends_and_what_waits_is_cancelled(heard: News) -> None:
    pool = WorkerPool(1, tell=lambda future, news: heard.append((future, news)))
    running, waiting = pool.submit(tasks.heed), pool.submit(tasks.double, 1)
    _wait_for(lambda: len(heard) == 2)
    pool.stop(grace=LONG)
    error = running.exception(0)
    assert isinstance(error, GradstepError)
    assert error.kind == "CancelledError"
    assert waiting.cancelled()
    _wait_for(lambda: not _is_running(heard[1][1]["pid"]))
    with pytest.raises(RuntimeError):
        pool.submit(tasks.double, 1)


def test_what_heeds_no_stop_is_killed(heard: News) -> None:
    pool = WorkerPool(1, tell=lambda future, news: heard.append((future, news)))
    running = pool.submit(tasks.heed_nothing)
    _wait_for(lambda: len(heard) == 2)
    pool.stop(grace=0.1)
    error = running.exception(0)
    assert isinstance(error, GradstepError)
    assert error.kind == "CancelledError"  # it was asked to end, and begun no second time
    assert len(heard) == 2
    _wait_for(lambda: not _is_running(heard[1][1]["pid"]))


def test_shutdown_lets_what_was_asked_be_done(tmp_path: Path) -> None:
    done: queue.SimpleQueue[int] = queue.SimpleQueue()
    with WorkerPool(1) as pool:
        for n in range(3):
            pool.submit(tasks.double, n).add_done_callback(lambda f: done.put(f.result()))
        last = pool.submit(tasks.die_once, str(tmp_path / "flag"))  # begun again after the end
    assert last.done()
    assert [done.get_nowait() for _ in range(3)] == [0, 2, 4]


@pytest.mark.skipif(bool(sandbox.why_not()), reason="nothing can be confined here")
@pytest.mark.engine_process
def test_a_confined_process_has_no_secrets_and_writes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret")
    with WorkerPool(1, Begin(confined=True, read=(str(ROOT / "tests"),))) as pool:
        found = pool.submit(tasks.environment).result(LONG)
    assert found == {"token": False, "wrote": False, "numpy": False}
