"""A Python that has loaded what tests need and we did not write. For every line of standard input
(a request, JSON) it runs pytest in a child and answers with a line: to start anew each time would
take longer than most tests.

Run in the copy of the tree, by path: the copy's own packages are for the children alone.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Generator
from importlib.metadata import entry_points
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from _pytest.config import default_plugins

_OTHERS = (
    "numpy",
    "ml_dtypes",
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
    *("-q", "--tb=no", "--no-header", "--no-xvfb", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
_GRACE = 5  # seconds of CPU time from the signal to the end


class Trial:
    """What pytest is told, and what it tells: a JSON object a line in `pipe`.

    only: the tests to run, in this order; empty for all. watched: modules; of each test it is said
    which of their functions it has called, and how long it took."""

    def __init__(self, only: list[str], watched: list[str], pipe: int) -> None:
        self._only = {name: number for number, name in enumerate(only)}
        self._watched = {str(Path(name).resolve()): name for name in watched}
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
        if self._only:
            items[:] = [item for item in items if item.nodeid in self._only]
            items.sort(key=lambda item: self._only[item.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        if not self._watched:
            return (yield)
        called: set[tuple[str, int]] = set()

        def note(frame: FrameType, event: str, argument: object) -> None:
            code = frame.f_code
            if code.co_filename in self._watched:
                called.add((self._watched[code.co_filename], code.co_firstlineno))

        start = time.process_time()
        threading.settrace(note)
        sys.settrace(note)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            took = time.process_time() - start
            self._say(test=item.nodeid, took=took, called=sorted(called))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._say(failed=report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._say(failed=report.nodeid)

    def _say(self, **said: Any) -> None:
        os.write(self._pipe, f"{json.dumps(said)}\n".encode())


def main() -> None:
    sys.path[0] = os.getcwd()
    plugins = [point.module for point in entry_points(group="pytest11")]
    builtin = [f"_pytest.{name}" for name in default_plugins]
    for name in (*_OTHERS, *plugins, *builtin):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # pytest has all there is collected, five times, before it ends
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    for line in sys.stdin:
        answers.write(json.dumps(_answer(json.loads(line))) + "\n")


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    """{"code": pytest's exit code, negative for a signal; "said": what Trial says; "seconds": CPU
    time}."""
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
        said = [json.loads(line) for line in pipe]
    _, status = os.waitpid(child, 0)
    late.cancel()
    _kill(child)  # processes that it has left
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"code": os.waitstatus_to_exitcode(status), "said": said, "seconds": seconds}


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
    sys.dont_write_bytecode = bool(request["only"])
    options = [*_OPTIONS, *(["-x"] if request["only"] else [])]
    trial = Trial(request["only"], request["watched"], pipe)
    code = 70
    try:
        code = int(pytest.main([*options, *request["tests"]], plugins=[trial]))
        sys.stdout.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
