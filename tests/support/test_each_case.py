"""A test of many cases fails where one does, and names each that does."""

from __future__ import annotations

import pytest

from tests.support.each_case import check_each, on_each

ODD = pytest.RaisesGroup(AssertionError, AssertionError, match="2 failed: one, three")
WORDS = {1: "one", 2: "two", 3: "three", 4: "four"}


def even(number: int) -> None:
    assert number % 2 == 0


def test_all_that_fail_are_named() -> None:
    with ODD as caught:
        check_each(WORDS, even, WORDS.__getitem__)
    assert [error.__notes__ for error in caught.value.exceptions] == [
        ["in the case one"],
        ["in the case three"],
    ]


def test_nothing_is_raised_where_none_fails() -> None:
    check_each((2, 4), even)


def test_each_part_is_a_test_of_its_cases() -> None:
    seen = []
    test = on_each(WORDS, part=lambda number: "few" if number < 3 else "many")(seen.append)
    [mark] = test.pytestmark
    assert mark.args == ("part", ["few", "many"])
    test("many")
    assert seen == [3, 4]
