"""Which columns of a table are meant: `age,height`, `2..65`, `pixel1..pixel64`."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.errors import GradstepError
from gradstep.core.graph.suggestions import instead


def choose_columns(text: str, names: Sequence[str], count: int, where: str = "") -> list[int]:
    """Places, from 0, of the columns that `text` names, all of them without any; numbers count from
    1. names: of a header, or none. Raises GradstepError that names the file `where`."""
    if not text.strip():
        return list(range(count))
    table = _Header([name.strip().strip('"') for name in names], count, where)
    return [place for item in text.split(",") for place in table.places(item.strip())]


class _Header:
    def __init__(self, names: Sequence[str], count: int, where: str) -> None:
        self._names, self._count, self._where = names, count, where

    def places(self, item: str) -> range:
        """Of one column, or from one to another."""
        if item in self._names or ".." not in item:
            place = self._place(item)
            return range(place, place + 1)
        first, _, last = item.partition("..")
        begin, end = self._place(first.strip()), self._place(last.strip())
        if end < begin:
            raise self._error(f"column '{last.strip()}' is before '{first.strip()}'", "swap them")
        return range(begin, end + 1)

    def _place(self, name: str) -> int:
        if self._names.count(name) > 1:
            raise self._error(f"{self._names.count(name)} columns are named '{name}'", "number it")
        if name in self._names:
            return self._names.index(name)
        if name.isdecimal() and 1 <= int(name) <= self._count:
            return int(name) - 1
        there = f"there are columns 1 to {self._count}"
        if name.isdecimal() or not self._names:
            raise self._error(f"there is no column '{name}'", there)
        raise self._error(f"there is no column '{name}'", instead(name, self._names) or there)

    def _error(self, message: str, hint: str) -> GradstepError:
        place = f"{self._where}: " if self._where else ""
        return GradstepError(place + message, kind="FileError", hint=hint)
