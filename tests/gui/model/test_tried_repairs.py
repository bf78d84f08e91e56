"""Trials are asked for one by one, and for no longer than somebody looks at them."""

from __future__ import annotations

from typing import Any

import pytest

from gradstep.core.document.document import Document
from gradstep.core.protocol.messages import Explanation, RemedyInfo, Tried
from gradstep.gui import commands
from gradstep.gui.actions import action_record as when
from gradstep.gui.model.explanations import Answer
from gradstep.gui.model.workspace import Workspace

ONES = [RemedyInfo(kind="leak", names=[name], label=name) for name in ("a", "b", "c")]


@pytest.fixture
def asked(silent: None, monkeypatch: pytest.MonkeyPatch) -> tuple[Workspace, list[Any]]:
    """A workspace, and what to call with the answer to each request, in their order."""
    space, answers = Workspace(), list[Any]()
    space.open_document(Document())
    monkeypatch.setattr(space, "request", lambda message, buffers, then, _: answers.append(then))
    return space, answers


def test_the_next_is_tried_once_the_one_before_is_answered(
    asked: tuple[Workspace, list[Any]],
) -> None:
    space, answers = asked
    space.repairs.ask("a NaN", ONES)
    for done in range(3):
        assert len(answers) == done + 1
        assert space.repairs.found.count(None) == 3 - done
        answers[done](Tried(label=ONES[done].label, text=str(done), mends=True, rows=[]), ())
    assert len(answers) == 3
    assert [isinstance(one, Tried) and one.text for one in space.repairs.found] == ["0", "1", "2"]


def test_what_nobody_looks_at_any_more_is_not_tried(asked: tuple[Workspace, list[Any]]) -> None:
    space, answers = asked
    found = Explanation(
        state="nan", cause="log", node=None, index=None, path=[], text="a NaN", remedies=ONES
    )
    space.whys.said = Answer("loss", "", found)
    commands.try_offered(space)
    space.repairs.end()
    answers[0](Tried(label="a", text="late", mends=True, rows=[]), ())
    assert (len(answers), space.repairs.found) == (1, [])
    commands.try_offered(space)
    assert len(space.repairs.found) == 3, "they can be asked for again"
    space.stopped.emit()
    assert when.has_edits_to_try(space), "also from elsewhere in the runs"
    assert when.has_something_to_show(space)
    space.open_document(Document())
    assert not when.has_edits_to_try(space)
    assert not when.has_something_to_show(space)
    commands.try_offered(space)
    assert (space.repairs.title, space.repairs.found) == ("", []), "of another document"
