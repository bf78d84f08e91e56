"""The threads that share large calls: how many, in whose context, whose failure; after a fork."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextvars import ContextVar
from functools import partial

import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.thread_pool import VARIABLE, run_tasks, thread_count

_SETTING: ContextVar[str] = ContextVar("setting", default="elsewhere")


@pytest.fixture(params=[1, 2, 3, 5])
def threads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv(VARIABLE, str(request.param))
    count: int = request.param
    return count


def test_each_task_is_done_once(threads: int) -> None:
    done: list[int] = []
    for _ in range(50):
        done.clear()
        run_tasks([partial(done.append, i) for i in range(7)])
        assert sorted(done) == [*range(7)]


def test_as_many_threads_work_as_are_asked_for(threads: int) -> None:
    """Each task waits for all the others, which only that many threads can do."""
    together = threading.Barrier(threads, timeout=20)
    names: list[str] = []

    def task() -> None:
        together.wait()
        names.append(threading.current_thread().name)

    run_tasks([task] * threads)
    assert len(set(names)) == threads


def test_what_the_callers_context_says_holds_in_every_thread(threads: int) -> None:
    _SETTING.set("here")
    seen: list[str] = []

    def task() -> None:
        time.sleep(0.002)  # so that others take the next ones
        seen.append(_SETTING.get())

    run_tasks([task] * 8)
    assert seen == ["here"] * 8


def test_the_first_failure_is_raised_when_all_tasks_are_done(threads: int) -> None:
    done: list[int] = []

    def task(number: int) -> None:
        time.sleep(0.001)
        done.append(number)
        if number in (2, 4):
            raise ValueError(f"task {number}")

    with pytest.raises(ValueError, match="task 2"):
        run_tasks([partial(task, i) for i in range(6)])
    assert sorted(done) == [*range(6)]


@pytest.mark.parametrize("wrong", ["0", "-1", "two", "1.5"])
def test_what_is_no_number_of_threads(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, wrong)
    with pytest.raises(GradstepError, match=f"GRADSTEP_THREADS is '{wrong}'") as caught:
        thread_count()
    assert "1 or more" in caught.value.hint


def test_by_default_as_many_as_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 3, 4}, raising=False)
    monkeypatch.delenv(VARIABLE, raising=False)
    assert thread_count() == 3


_FORKS = """
import os, threading
from gradstep.core.thread_pool import run_tasks
def meet():
    together = threading.Barrier(2, timeout=20)
    run_tasks([together.wait] * 2)
meet()
child = os.fork()
if child == 0:
    meet()
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_makes_threads_of_its_own() -> None:
    environment = {**os.environ, VARIABLE: "2"}
    command = [sys.executable, "-c", _FORKS]
    found = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert found.stdout.split() == ["7"]
