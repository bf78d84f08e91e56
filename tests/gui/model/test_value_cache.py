"""Which values are fetched when the debugger moves: few ahead, of many those that are looked at."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gradstep.core.protocol.messages import (
    ErrorInfo,
    Failed,
    Message,
    Read,
    Stats,
    TensorPart,
    Values,
)
from gradstep.core.protocol.tensor_bytes import pack
from gradstep.gui.model.value_cache import ALL, CHUNK, ValueCache

FEW = [f"n{i}:0" for i in range(ALL)]
MANY = [f"n{i}:0" for i in range(ALL + 1)]
FULL = [f"n{i}:0" for i in range(2 * CHUNK)]


class Engine:
    """Notes what is asked of it; answers, when told to, that nothing is computed yet."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.answers: list[Callable[..., None]] = []
        self.waiting: list[Callable[[], None]] = []
        self.cache = ValueCache(self.request, lambda: None, self.waiting.append)

    def request(self, message: Message, buffers: object, then: Callable[..., None]) -> None:
        assert isinstance(message, Read)
        self.asked.append(list(message.refs))
        self.answers.append(then)

    def later(self) -> None:
        """What the event loop does next."""
        calls, self.waiting[:] = [*self.waiting], []
        for call in calls:
            call()

    def answer(self) -> None:
        answers, self.answers = self.answers, []
        for then in answers:
            then(Failed(error=ErrorInfo(type="", message="")), ())


def test_few_are_all_fetched_ahead() -> None:
    engine = Engine()
    engine.cache.refresh(FEW)
    assert engine.asked == [FEW]


def test_those_that_are_looked_at_are_asked_for_in_parts() -> None:
    engine = Engine()
    engine.cache.get_all(FULL)
    engine.later()
    assert [len(names) for names in engine.asked] == [CHUNK, CHUNK]
    engine.cache.refresh(FULL)
    assert [len(names) for names in engine.asked[2:]] == [CHUNK, CHUNK]
    assert [name for names in engine.asked[2:] for name in names] == FULL


def test_of_many_those_are_fetched_that_were_looked_at() -> None:
    engine = Engine()
    engine.cache.refresh(MANY)
    assert engine.asked == []
    assert engine.cache.get("n7") is None
    assert engine.cache.get("n3:0") is None
    assert engine.cache.get("n7:0") is None
    assert engine.asked == []  # all that is looked at is asked for at once
    engine.later()
    assert engine.asked == [["n7:0", "n3:0"]]
    engine.answer()
    assert engine.cache.get("n7").state == "waiting"  # type: ignore[union-attr]
    engine.cache.refresh(MANY)
    assert engine.asked[1:] == [["n3:0", "n7:0"]]


def test_two_moves_before_anything_is_painted_fetch_the_same() -> None:
    engine = Engine()
    engine.cache.refresh(MANY)
    engine.cache.get("n5:0")
    engine.cache.refresh(MANY)
    engine.cache.refresh(MANY)
    assert engine.asked == [["n5:0"], ["n5:0"]]


def test_a_value_that_stays_the_same_is_the_same_object() -> None:
    engine = Engine()
    seen = []
    for number in (1.0, 1.0, 2.0):
        array = np.array([number, np.nan], np.float32)
        stats = Stats(minimum=number, nans=1)
        part = TensorPart(
            ref="n1:0", state="known", dtype="float32", shape=[2], buffer=0, stats=stats
        )
        engine.cache.refresh(["n1:0"])
        engine.answers.pop()(Values(parts=[part]), (pack(array),))
        seen.append(engine.cache.get("n1:0"))
    assert seen[0] is seen[1]
    assert seen[2] is not None
    assert seen[2].head[0] == 2.0


def test_old_values_stay_until_new_ones_are_here_and_no_longer() -> None:
    engine = Engine()
    engine.cache.refresh(FEW)
    engine.answer()
    old = engine.cache.get("n1:0")
    assert old is not None
    engine.cache.refresh(FEW)
    assert engine.cache.get("n1:0") is old
    engine.answer()
    assert engine.cache.get("n1:0") not in (None, old)
    engine.cache.refresh([])
    assert engine.cache.get("n1:0") is None


@pytest.mark.parametrize("refs", [FEW, MANY])
def test_what_was_missing_before_a_move_is_not_asked_for_after_it(refs: list[str]) -> None:
    engine = Engine()
    engine.cache.refresh(MANY)
    engine.cache.get("other:0")
    engine.cache.refresh(refs)
    before = len(engine.asked)
    engine.later()
    assert engine.asked[before:] == []
