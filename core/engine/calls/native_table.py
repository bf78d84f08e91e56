"""Calls as a table of NumPy's own loops, where the extension `gradstep-native` is installed."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

SWITCH = "GRADSTEP_NATIVE"  # set to 0, plans run without it
_LOG = logging.getLogger("gradstep.engine")


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


@dataclass(frozen=True)
class Extension:
    """make: of calls a table; None where plans run without, and then why not."""

    make: Callable[[Sequence[Callable[[], Any]]], Table] | None = None
    version: str = ""
    why_not: str = ""


@cache
def extension() -> Extension:
    """What there is for the time of this process. It is looked for once, when the first plan runs
    for the second time, and held to NumPy then."""
    found = _look_for()
    _LOG.debug("native tables: %s", found.why_not or found.version)
    return found


def _look_for() -> Extension:
    if os.environ.get(SWITCH) == "0":
        return Extension(why_not=f"switched off by {SWITCH}=0")
    try:
        module = importlib.import_module("gradstep_native")
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == "gradstep_native"
        return Extension(why_not="not installed" if missing else f"does not load: {error}")
    if difference := module.find_difference():
        return Extension(why_not=f"not used, as it would compute otherwise: {difference}")
    from importlib import metadata

    try:
        version = metadata.version("gradstep-native")
    except metadata.PackageNotFoundError:
        version = "from its folder"
    return Extension(module.Table, version)


def table_of(calls: Sequence[Callable[[], Any]]) -> Table | None:
    """`calls` as a table; None where there is none to be had, or no call would gain."""
    make = extension().make
    if make is None:
        return None
    table = make(calls)
    return table if table.native else None
