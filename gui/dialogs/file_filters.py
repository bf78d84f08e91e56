"""Which files a dialog shows: those of the formats that can be opened, saved or exported."""

from __future__ import annotations

from collections.abc import Iterable

from gradstep.core.io.format_table import formats, suffixes_opened, titles


def opened() -> str:
    """Graphs of every format that is read, or all files: they are known by what is in them."""
    return f"{_line('Graphs', suffixes_opened())};;All files (*)"


def saved() -> str:
    """Gradstep's own documents."""
    return _lines(titles(each for each in formats() if each.is_native))


def exported() -> str:
    """Pictures first, one of which is suggested; then every other format that is written."""
    drawn = titles(each for each in formats() if each.is_drawn)
    return _lines(drawn | titles(each for each in formats() if each.write and not each.is_native))


def _lines(named: dict[str, list[str]]) -> str:
    return ";;".join(_line(title, suffixes) for title, suffixes in named.items())


def _line(title: str, suffixes: Iterable[str]) -> str:
    return f"{title} ({' '.join(f'*{suffix}' for suffix in suffixes)})"
