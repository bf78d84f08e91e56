"""Iterations in words."""

from __future__ import annotations

from gradstep.core.debug.motion.loop_place import Place
from gradstep.core.iteration_text import iteration_text
from gradstep.core.protocol.messages import LoopShown
from tests.support.each_case import each_of


@each_of(
    ("number", "count", "text"),
    [
        (0, 3, "iteration 1 of 3"),
        (2, 3, "iteration 3 of 3"),
        (3, 3, "after its 3 iterations"),
        (1, 1, "after its 1 iteration"),
        (0, 0, "no iteration took place"),
        (1, None, "iteration 2"),
    ],
)
def test_a_loop_that_is_over_is_in_no_iteration(number: int, count: int | None, text: str) -> None:
    assert iteration_text(number, count) == text
    assert Place("while", number, 0, 9, count).text == f"while, {text}"


def test_what_is_shown_says_how_many_have_begun_while_nobody_knows_how_many_there_are() -> None:
    assert LoopShown(loop="while").text == ""
    assert LoopShown(loop="while", iteration=1, reached=4).text == "iteration 2 of 4 so far"
    assert LoopShown(loop="while", iteration=3, reached=4, iterations=3).text == (
        "after its 3 iterations"
    )
