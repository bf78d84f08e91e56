"""Looking for the native extension: what is there is used, and what is not right is not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gradstep.core import native_extension
from gradstep.core.engine.calls import native_table
from gradstep.core.engine.calls.call_loop import CallRun
from gradstep.core.native_extension import extension


@pytest.fixture(autouse=True)
def looked_for_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(native_extension.SWITCH, raising=False)
    extension.cache_clear()
    yield
    extension.cache_clear()


class PythonTable:
    """A table as the extension makes them, of calls of which the first is native."""

    def __init__(self, calls: list[Any]) -> None:
        self.calls, self.native = calls, min(len(calls), 1)

    def run(self, start: int, stop: int) -> tuple[int, Exception | None]:
        for number, call in enumerate(self.calls[start:stop]):
            try:
                call()
            except Exception as error:
                return number, error
        return stop - start, None

    def call(self, row: int) -> None:
        self.calls[row]()


def install(monkeypatch: pytest.MonkeyPatch, found: Any) -> None:
    def load(name: str) -> Any:
        assert name == "gradstep_native"
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(native_extension.importlib, "import_module", load)


def test_what_is_not_installed_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, ModuleNotFoundError("no", name="gradstep_native"))
    assert (extension().make, extension().why_not) == (None, "not installed")


def test_what_does_not_load_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, ImportError("libm.so.7: no such file"))
    assert extension().make is None
    assert "libm.so.7" in extension().why_not


def test_what_computes_otherwise_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(Table=PythonTable, find_difference=lambda: "add of float32")
    install(monkeypatch, module)
    assert extension().make is None
    assert "add of float32" in extension().why_not
    assert native_table.table_of([lambda: None]) is None


def test_what_is_there_makes_the_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, SimpleNamespace(Table=PythonTable, find_difference=lambda: ""))
    done: list[int] = []

    def fail() -> None:
        raise ValueError

    run = CallRun([partial(done.append, 0), partial(done.append, 1), fail, partial(done.append, 3)])
    assert run.between(0, 2)() == (2, None)
    made, error = run.all()
    assert (made, type(error)) == (2, ValueError)
    run.each()[3]()
    assert done == [0, 1, 0, 1, 3]


def test_nothing_to_gain_makes_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, SimpleNamespace(Table=PythonTable, find_difference=lambda: ""))
    assert native_table.table_of([]) is None
    x = np.ones(2)
    CallRun([partial(np.add, x, x, x)]).all()
    assert x.tolist() == [2, 2]
