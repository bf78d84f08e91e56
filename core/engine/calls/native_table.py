"""Calls as a table of NumPy's own loops, where the extension `gradstep-native` is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from gradstep.core.native_extension import extension


class Table(Protocol):
    """Calls that are made one after the other. native: how many of them are more than Python's."""

    @property
    def native(self) -> int: ...

    def run(self, start: int, stop: int, /) -> tuple[int, Exception | None]:
        """Make the calls of this range: how many are done then, and what stopped them early."""

    def call(self, row: int, /) -> None:
        """Make one. Raises what it raises."""

    def kinds(self) -> list[str]:
        """What each is; "call" is one of Python's own."""


def table_of(calls: Sequence[Callable[[], Any]]) -> Table | None:
    """`calls` as a table; None where there is none to be had, or no call would gain."""
    make = extension().make
    if make is None:
        return None
    table: Table = make(calls)
    return table if table.native else None
