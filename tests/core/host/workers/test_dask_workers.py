"""A cluster of Dask's behind the interface of a pool, where it is installed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from gradstep.core.errors import GradstepError
from tests.core.host.workers import worker_tasks as tasks

distributed = pytest.importorskip("distributed")

LONG = 60  # seconds
pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's own


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a scheduler on this machine alone, with a worker in this process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, protocol="tcp",
            host="127.0.0.1", dashboard_address=None,
        )  # fmt: skip
        yield cluster.scheduler_address
        cluster.close()


def test_results_errors_news_and_a_stop(address: str) -> None:
    from gradstep.core.host.workers.dask_workers import DaskWorkers

    heard: list[tuple[Future[Any], dict[str, Any]]] = []
    workers = DaskWorkers(address, lambda future, news: heard.append((future, news)))
    doubled = [workers.submit(tasks.double, n) for n in range(3)]
    assert [future.result(LONG) for future in doubled] == [0, 2, 4]
    for number, future in enumerate(doubled):  # all that was said, before the result is there
        assert [news for of, news in heard if of is future] == [{"begun": 1}, {"half": number}]
    error = workers.submit(tasks.fail, "no").exception(LONG)
    assert isinstance(error, GradstepError)
    assert (error.message, error.node) == ("no", "w")
    running = workers.submit(tasks.heed)
    deadline = time.monotonic() + LONG
    while not any(future is running and "pid" in news for future, news in heard):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    workers.stop()
    ended = running.exception(0)
    assert isinstance(ended, GradstepError)
    assert ended.kind == "CancelledError"
    workers.shutdown()


def test_where_nobody_answers_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradstep.core.host.workers import dask_workers

    monkeypatch.setattr(dask_workers, "_PATIENCE", 0.5)
    with pytest.raises(
        GradstepError, match=r"no scheduler of Dask answers at tcp://127\.0\.0\.1:9"
    ):
        dask_workers.DaskWorkers("tcp://127.0.0.1:9", lambda future, news: None)
