"""Workers import each module of the tests once in all, before they collect."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support import shared_imports

Source = pytest.Config.ArgsSource


def imported(monkeypatch: pytest.MonkeyPatch, source: Source, **worker: Any) -> list[str]:
    names: list[str] = []

    def note(name: str) -> None:
        names.append(name)
        pytest.skip("a module may skip itself")

    monkeypatch.setattr(shared_imports.importlib, "import_module", note)
    config: Any = SimpleNamespace(args_source=source, **worker)
    shared_imports.import_share(config)
    return names


def worker(number: int, count: int) -> dict[str, Any]:
    return {"workerinput": {"workerid": f"gw{number}", "workercount": count}}


def test_each_module_is_one_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = [imported(monkeypatch, Source.TESTPATHS, **worker(i, 3)) for i in range(3)]
    names = [name for share in shares for name in share]
    assert len(set(names)) == len(names) > 500
    assert {__name__, "tests.test_circles", "tests.gui.walk.test_tutorial"} <= {*names}
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_who_is_alone_or_was_told_what_to_collect_imports_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert imported(monkeypatch, Source.TESTPATHS) == []
    assert imported(monkeypatch, Source.ARGS, **worker(0, 2)) == []
