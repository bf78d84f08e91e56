"""Answers of checks that are known: of the very same document alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gradstep.core.document.document import Document
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_document import EngineDocument
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native.gradstep_file import load
from gradstep.core.protocol import messages as m
from tests.support import known_checks

EXAMPLES = Path(__file__).parents[2] / "assets" / "examples"


class Engine:
    """One, and how often it has really checked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.checks = 0
        real = {**EngineService._HANDLERS, m.CheckExpectations: self._checked}
        monkeypatch.setattr(known_checks, "_answers", {})
        monkeypatch.setattr(EngineService, "_HANDLERS", known_checks.handlers(real))
        self.given, self.service = EngineDocument(), EngineService(CpuOnly())
        self._real = EngineService._check_expectations

    def _checked(self, *request: Any) -> Any:
        self.checks += 1
        return self._real(*request)

    def open(self, document: Document) -> None:
        self.service.handle(*self.given.give(document, m.Open(keep_position=True)))

    def check(self, document: Document) -> Any:
        return self.service.handle(*self.given.about(document, m.CheckExpectations()))[0]


def test_a_document_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, tutorial = Engine(monkeypatch), load(EXAMPLES / "tutorial.gradstep")
    engine.open(tutorial)
    first = engine.check(tutorial)
    assert isinstance(first, m.Expectations)
    engine.given, engine.service = EngineDocument(), EngineService(CpuOnly())
    engine.open(tutorial)
    assert engine.check(tutorial) is first
    assert engine.checks == 1


def test_whatever_is_another_is_checked_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A difference to what is open, what an edit made of it, another document."""
    engine, tutorial = Engine(monkeypatch), load(EXAMPLES / "tutorial.gradstep")
    engine.open(tutorial)
    whole = engine.check(tutorial)
    fewer = tutorial.with_(expectations=tutorial.expectations[1:])
    assert engine.check(fewer).checked == whole.checked[1:]
    none = tutorial.with_(expectations=())
    engine.open(none)
    assert engine.check(none).checked == []
    engine.open(load(EXAMPLES / "gru.gradstep"))
    assert engine.check(load(EXAMPLES / "gru.gradstep")).checked != whole.checked
    assert engine.checks >= 4
