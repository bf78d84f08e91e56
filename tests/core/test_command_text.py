"""Commands in several lines: where one ends, and what is open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.command_text import commands_in, is_open, last_command_start
from tests.support.each_case import each_of


@each_of(
    ("text", "commands"),
    [
        ("step", ["step"]),
        ("step\nprint c\n\nwhere", ["step", "print c", "where"]),
        ("set c [1,\n  2]\nstep", ["set c [1,   2]", "step"]),
        ("inject c = \\\n[1, 2]", ["inject c =  [1, 2]"]),
        ("set c [1,\n\nstep", ["set c [1,", "step"]),
        ('query x["a)\n', ['query x["a)']),
        ('log a: it\'s {x["a"]}\nstep', ['log a: it\'s {x["a"]}', "step"]),
        ("log a: :-)\nstep", ["log a: :-)", "step"]),
        ("log a: b; c # d", ["log a: b; c # d"]),
        ("", []),
        ("  \n ", []),
    ],
)
def test_lines_that_are_typed(text: str, commands: list[str]) -> None:
    assert commands_in(text) == commands


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("step; print c # and\nwhere", ["step", "print c", "where"]),
        ("# nothing\nstep;", ["step"]),
        ('print x["a;b#c"]; step', ['print x["a;b#c"]', "step"]),
        ("set c [1, # one\n 2]", ["set c [1,   2]"]),
    ],
)
def test_scripts_have_semicolons_and_comments(text: str, commands: list[str]) -> None:
    assert commands_in(text, is_script=True) == commands


@each_of(
    ("text", "opened"),
    [("set c [1,", True), ("step \\", True), ("step", False), ("set c [1,\n2]", False),
     ("set c [1,\n\n", False), ("print )", False), ('print x["[', True), ('print x["["]', False)],
)  # fmt: skip
def test_what_goes_on_in_the_next_line(text: str, opened: bool) -> None:
    assert is_open(text) == opened


def test_where_the_last_command_begins() -> None:
    text = "step\nprint [a,\n b"
    assert text[last_command_start(text) :] == "print [a,\n b"
    assert last_command_start("step\n") == 5


@given(st.text("ab [](){}\"'\\;#\n", max_size=40), st.booleans())
def test_nothing_is_lost_and_each_command_is_one_line(text: str, is_script: bool) -> None:
    found = commands_in(text, is_script)
    assert all(each.strip() == each and "\n" not in each for each in found)
    if not is_script:
        kept = "".join("".join(found).split())
        whole = "".join(text.split())
        assert len(kept) >= len(whole) - text.count("\\"), "but for backslashes at ends of lines"
