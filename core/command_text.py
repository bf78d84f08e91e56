"""Commands in a text of several lines: where one ends, in the terminal, the window and scripts.

A command ends with its line, unless a bracket is open there or the line ends with a backslash; an
empty line ends it anyway. In a script it ends at a semicolon, too, and a # begins a comment. Within
brackets, what stands in quotes is a string, in which all of that is text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_OPENING, _CLOSING = "([{", ")]}"


class _Part(NamedTuple):
    """text: of a command, joined into one line; start: where it begins; is_open: the text ends in
    it, and there has to be more."""

    text: str
    start: int
    is_open: bool


def commands_in(text: str, is_script: bool = False) -> list[str]:
    """Each in one line; those that are empty are left out."""
    return [part.text for part in _parts(text, is_script) if part.text]


def is_open(text: str) -> bool:
    """Whether what was typed so far goes on in the next line."""
    *_, last = _parts(text)
    return last.is_open


def last_command_start(text: str) -> int:
    """Where the command begins that the text ends with."""
    *_, last = _parts(text)
    return last.start


def _parts(text: str, is_script: bool = False) -> Iterator[_Part]:
    """The last one is there even if it is empty."""
    begun, start, depth, at = list[str](), 0, 0, 0
    goes_on = False
    while at < len(text):
        sign = text[at]
        line_end = text.find("\n", at)
        line_end = len(text) if line_end < 0 else line_end
        goes_on = False
        if sign == "#" and is_script:
            at = line_end
            continue
        if sign in "'\"" and depth and (close := text.find(sign, at + 1, line_end)) > 0:
            begun.append(text[at : close + 1])
            at = close + 1
            continue
        if sign == "\\" and not text[at + 1 : line_end].strip():
            begun.append(" ")
            goes_on, at = True, line_end + 1
            continue
        ends = sign == ";" and is_script and not depth
        if sign == "\n":
            blank = not text[at + 1 :].partition("\n")[0].strip() and at + 1 < len(text)
            ends = not depth or blank
            sign = " "
        depth = max(depth + (sign in _OPENING) - (sign in _CLOSING), 0)
        at += 1
        if ends:
            yield _Part("".join(begun).strip(), start, False)
            begun, start, depth = [], at, 0
        else:
            begun.append(sign)
    yield _Part("".join(begun).strip(), start, depth > 0 or goes_on)
