"""A Python that has loaded what tests need and we did not write. For every line of standard input
(a request, JSON) it runs pytest in a child and answers with a line: to start anew each time would
take longer than most tests.

Run in the copy of the tree, by path: the copy's own packages are for the children alone.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
import threading
from typing import Any

import pytest

_OTHERS = (
    "numpy",
    "networkx",
    "msgspec",
    "hypothesis.stateful",
    "hypothesis.extra.numpy",
    "array_api_strict",
    "pytestqt",
    "PySide6.QtWidgets",
    "PySide6.QtSvg",
    "PySide6.QtTest",
)
_OPTIONS = (
    *("-q", "--tb=no", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
_GRACE = 5  # seconds of CPU time from the signal to the end


class Trial:
    """What pytest is told, and what it tells: a failed test is a line in `pipe`.

    first: tests to begin with; skipped: tests that fail anyway."""

    def __init__(self, first: list[str], skipped: list[str], pipe: int) -> None:
        self._first = {name: number for number, name in enumerate(first)}
        self._skipped = frozenset(skipped)
        self._pipe = pipe

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """The same examples each time; a smaller one that fails as well would tell nothing more."""
        from hypothesis import Phase, settings

        profile = settings(
            settings(),
            derandomize=True,
            database=None,
            max_examples=60,
            phases=(Phase.explicit, Phase.generate),
        )
        settings.register_profile("mutants", profile)
        settings.load_profile("mutants")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid not in self._skipped]
        items.sort(key=lambda item: self._first.get(item.nodeid, len(self._first)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._say(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._say(report.nodeid)

    def _say(self, name: str) -> None:
        os.write(self._pipe, f"{name}\n".encode())


def main() -> None:
    sys.path[0] = os.getcwd()
    for name in _OTHERS:
        importlib.import_module(name)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    for line in sys.stdin:
        answers.write(json.dumps(_answer(json.loads(line))) + "\n")


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    """{"code": pytest's exit code, negative for a signal; "failed": tests; "seconds": CPU time}."""
    read, write = os.pipe()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = os.fork()
    if child == 0:
        os.close(read)
        _test(request, write)
    os.close(write)
    late = threading.Timer(request["wall"], _kill, [child])
    late.start()
    with os.fdopen(read) as pipe:
        failed = pipe.read().split("\n")[:-1]
    _, status = os.waitpid(child, 0)
    late.cancel()
    _kill(child)  # processes that it has left
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"code": os.waitstatus_to_exitcode(status), "failed": failed, "seconds": seconds}


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def _test(request: dict[str, Any], pipe: int) -> None:
    os.setpgid(0, 0)
    log = os.open("mutate.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(log, stream)
    resource.setrlimit(resource.RLIMIT_CPU, (request["cpu"], request["cpu"] + _GRACE))
    sys.dont_write_bytecode = request["stop_at_first"]
    options = [*_OPTIONS, *(["-x"] if request["stop_at_first"] else [])]
    trial = Trial(request["first"], request["skipped"], pipe)
    code = 70
    try:
        code = int(pytest.main([*options, *request["tests"]], plugins=[trial]))
        sys.stdout.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
