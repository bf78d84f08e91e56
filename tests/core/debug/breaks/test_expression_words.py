"""The words that are offered while somebody types, and those that have a meaning."""

from __future__ import annotations

from gradstep.core.debug.breaks import expression, expression_words
from gradstep.core.debug.breaks.ready_conditions import READY, ReadyCondition, condition_named
from tests.support.each_case import each_of


def test_they_are_those_of_the_language() -> None:
    assert sorted(expression_words.FUNCTIONS) == sorted(expression.FUNCTIONS)
    assert set(expression_words.TABLES) == set(expression._TABLES)
    names = {*expression._CONSTANTS, *expression.PLACES, "value", "grad", "and", "or", "not"}
    assert set(expression_words.NAMES) == names


@each_of("ready", READY, ids=lambda ready: ready.word)
def test_ready_conditions_are_expressions_about_what_there_is(ready: ReadyCondition) -> None:
    assert expression.parse(ready.text).bare
    assert condition_named(f" {ready.word} ") == ready.text


def test_anything_else_is_what_it_is() -> None:
    assert condition_named('x["nan"] > 1') == 'x["nan"] > 1'
