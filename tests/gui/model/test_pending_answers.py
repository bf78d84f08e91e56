"""Answers that are awaited: those that count, and those that came too late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from gradstep.core.protocol.messages import FindMoments, Message, Moments
from gradstep.gui.model.pending_answers import PendingAnswers
from gradstep.gui.model.workspace import Workspace

REPLY = Moments(rows=[], count=0, runs=1)


class Asked:
    """A workspace that answers when it is told to."""

    def __init__(self) -> None:
        self.pending: list[tuple[str, Callable[..., None], Callable[[], bool]]] = []

    def request(
        self, message: FindMoments, _: object, then: Callable[..., None], wanted: Any
    ) -> None:
        self.pending.append((message.text, then, wanted))

    def answer(self, text: str) -> None:
        for each in [each for each in self.pending if each[0] == text]:
            self.pending.remove(each)
            each[1](REPLY, ())


def asked() -> tuple[Asked, PendingAnswers, list[str], Callable[[str], Any]]:
    space, taken = Asked(), list[str]()

    def taker(text: str) -> Callable[[Message, Any], None]:
        return lambda reply, buffers: taken.append(text)

    return space, PendingAnswers(cast("Workspace", space)), taken, taker


def test_several_questions_are_answered_in_any_order() -> None:
    space, answers, taken, taker = asked()
    for text in "ab":
        answers.ask(FindMoments(text=text), taker(text))
    assert answers.is_awaited
    space.answer("b")
    assert answers.is_awaited
    space.answer("a")
    assert (taken, answers.is_awaited) == (["b", "a"], False)


def test_what_was_asked_before_is_dropped_and_not_asked_again() -> None:
    space, answers, taken, taker = asked()
    answers.ask(FindMoments(text="a"), taker("a"))
    answers.ask_alone(FindMoments(text="b"), taker("b"))
    assert [wanted() for *_, wanted in space.pending] == [False, True]
    space.answer("a")
    assert (taken, answers.is_awaited) == ([], True)
    space.answer("b")
    assert (taken, answers.is_awaited) == (["b"], False)


def test_nothing_is_awaited_once_it_is_forgotten() -> None:
    space, answers, taken, taker = asked()
    answers.ask(FindMoments(text="a"), taker("a"))
    answers.forget()
    assert not answers.is_awaited
    space.answer("a")
    assert (taken, answers.is_awaited) == ([], False)


def test_an_answer_may_ask_the_next_question() -> None:
    space, answers, taken, taker = asked()
    answers.ask(FindMoments(text="a"), lambda *_: answers.ask(FindMoments(text="b"), taker("b")))
    space.answer("a")
    assert answers.is_awaited
    space.answer("b")
    assert taken == ["b"]


def test_what_gave_way_is_asked_again_only_while_it_is_of_use() -> None:
    space, answers, _, taker = asked()
    here = True
    answers.ask(FindMoments(text="a"), taker("a"), lambda: here)
    ((*_, wanted),) = space.pending
    assert wanted()
    here = False
    assert not wanted()
