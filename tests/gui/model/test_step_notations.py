"""Words of steps: asked for once, of the steps that are looked at, together."""

from __future__ import annotations

from collections.abc import Callable

from gradstep.core.protocol.messages import (
    ErrorInfo,
    Failed,
    Message,
    Notate,
    Notated,
    ProblemInfo,
    StepNotation,
)
from gradstep.gui.model.step_notations import CHUNK, SEEN, StepNotations


class Engine:
    """Notes what is asked of it, and answers when told to."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.answers: list[Callable[..., None]] = []
        self.waiting: list[Callable[[], None]] = []
        self.arrivals = 0
        self.problems: list[ProblemInfo] = []
        self.made = {"a:0"}  # tensors
        self.known = StepNotations(
            self.request,
            self.count,
            self.problems.extend,
            self.waiting.append,
            self.made.__contains__,
        )

    def count(self) -> None:
        self.arrivals += 1

    def request(self, message: Message, buffers: object, then: Callable[..., None]) -> None:
        assert isinstance(message, Notate)
        self.asked.append(list(message.ops))
        self.answers.append(then)

    def tick(self) -> None:
        """What the event loop does next."""
        calls, self.waiting[:] = [*self.waiting], []
        for call in calls:
            call()

    def answer(self, suffix: str = "") -> None:
        """What was asked, of all operations but "gone"."""
        asked, answers = self.asked[-len(self.answers) :], self.answers
        self.answers = []
        for names, then in zip(asked, answers, strict=True):
            steps = [
                StepNotation(op=n, text=f"{n} = …{suffix}", operands={n: f"{n}:0"})
                for n in names
                if n != "gone"
            ]
            then(Notated(steps=steps), ())


def test_what_is_looked_at_in_one_tick_is_one_request() -> None:
    engine = Engine()
    assert [engine.known.text(op) for op in ("a", "b", "a")] == ["", "", ""]
    assert engine.asked == []
    engine.tick()
    assert engine.asked == [["a", "b"]]
    engine.answer()
    assert engine.known.text("a") == "a = …"
    assert engine.known.operands("b") == {"b": "b:0"}
    engine.tick()
    assert (engine.asked, engine.arrivals) == ([["a", "b"]], 1)


def test_what_the_program_has_not_is_asked_for_once() -> None:
    engine = Engine()
    engine.known.text("gone")
    engine.tick()
    engine.answer()
    assert engine.known.text("gone") == ""
    engine.tick()
    assert engine.asked == [["gone"]]


def test_many_are_asked_for_in_parts() -> None:
    engine = Engine()
    names = [f"n{i}" for i in range(CHUNK + 1)]
    for name in names:
        engine.known.text(name)
    engine.tick()
    assert [len(part) for part in engine.asked] == [CHUNK, 1]


def test_after_an_edit_the_old_words_stay_until_the_new_are_here() -> None:
    engine = Engine()
    engine.made.clear()
    engine.known.text("a")
    engine.tick()
    engine.answer()
    engine.known.renew()
    assert engine.known.text("a") == "a = …"
    assert engine.known.operands("a") is None
    engine.known.renew()  # and again, before the answer came
    assert engine.known.text("a") == "a = …"
    engine.tick()
    engine.answer(" now")
    assert engine.known.text("a") == "a = … now"
    engine.known.clear()  # another document
    assert engine.known.text("a") == ""


def test_what_comes_with_a_program_is_not_asked_for() -> None:
    engine = Engine()
    assert engine.known.wanted == []
    for name in ("a", "b", "a"):
        engine.known.text(name)
    assert engine.known.wanted == ["b", "a"], "the latest last"
    engine.tick()
    engine.answer()
    engine.known.renew([StepNotation(op="a", text="a = … now")])
    assert engine.known.wanted == ["b", "a"], "as long as nobody has looked"
    assert engine.known.text("a") == "a = … now"
    assert engine.known.text("b") == "b = …"
    engine.tick()
    assert engine.asked == [["a", "b"], ["b"]]
    for number in range(SEEN):
        engine.known.text(f"n{number}")
    assert engine.known.wanted == [f"n{number}" for number in range(SEEN)]
    engine.known.clear()
    assert engine.known.wanted == [], "of another document"


def test_an_answer_about_an_earlier_program_is_dropped() -> None:
    engine = Engine()
    engine.known.text("a")
    engine.tick()
    engine.known.clear()
    engine.answer()
    assert (engine.known.text("a"), engine.arrivals) == ("", 0)


def test_what_was_cancelled_is_asked_for_when_it_is_looked_at_again() -> None:
    engine = Engine()
    engine.known.text("a")
    engine.tick()
    engine.answers.pop()(Failed(error=ErrorInfo(type="CancelledError", message="")), ())
    assert engine.arrivals == 0, "a view that is told would ask again at once"
    engine.known.text("a")
    engine.tick()
    assert engine.asked == [["a"], ["a"]]


def test_a_call_waits_until_all_are_known() -> None:
    engine, called = Engine(), list[str]()
    engine.known.when_known(["a", "b", "gone"], lambda: called.append("first"))
    engine.tick()
    assert called == []
    engine.answer()
    assert called == ["first"]
    engine.known.when_known(["a"], lambda: called.append("second"))
    assert called == ["first", "second"]


def test_what_cannot_be_said_is_told_as_a_problem() -> None:
    engine = Engine()
    engine.known.text("a")
    engine.tick()
    problem = ProblemInfo(type="notation", message="it could not be told", node="a")
    engine.answers.pop()(Notated(steps=[], problems=[problem]), ())
    assert engine.problems == [problem]


def test_after_an_edit_the_words_are_those_of_before_until_others_come() -> None:
    """And the operands, of which values are shown, where the program makes them still."""
    engine = Engine()
    for name in ("a", "b"):
        engine.known.text(name)
    engine.tick()
    engine.answer()
    engine.known.renew()
    assert engine.known.text("a") == "a = …"
    assert engine.known.operands("a") == {"a": "a:0"}
    assert engine.known.operands("b") is None, "b:0 is made no more"
    engine.tick()
    arrived = engine.arrivals
    engine.answer()
    assert engine.arrivals == arrived, "the same again"
    assert engine.known.operands("b") == {"b": "b:0"}
    engine.known.renew()
    engine.known.text("a")
    engine.tick()
    engine.answer(" otherwise")
    assert (engine.known.text("a"), engine.arrivals) == ("a = … otherwise", arrived + 1)
