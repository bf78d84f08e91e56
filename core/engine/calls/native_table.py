"""Calls as a table of NumPy's own loops, where the extension `gradstep-native` is installed."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np

SWITCH = "GRADSTEP_NATIVE"  # set to 0, plans run without it
_LEAST_ASIDE = 1 << 18  # bytes; fewer are copied as fast in any other way
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
    """make: of calls a table; None where plans run without, and then why not. copy_aside: copies
    bytes to where nobody looks soon, past the processor's caches; None likewise."""

    make: Callable[[Sequence[Callable[[], Any]]], Table] | None = None
    copy_aside: Callable[[Any, Any], None] | None = None
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
    return Extension(module.Table, getattr(module, "copy_aside", None), version)


def copy_aside(into: Any, of: Any) -> None:
    """Copy an array's bytes over another's, on any device, that are looked at later if at all."""
    copy = None if of.nbytes < _LEAST_ASIDE else extension().copy_aside
    if copy is None or not type(into) is type(of) is np.ndarray:
        into[...] = of
    else:
        copy(into, of)


def table_of(calls: Sequence[Callable[[], Any]]) -> Table | None:
    """`calls` as a table; None where there is none to be had, or no call would gain."""
    make = extension().make
    if make is None:
        return None
    table = make(calls)
    return table if table.native else None
