"""The extension `gradstep-native`, where it is installed and computes what NumPy does."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

SWITCH = "GRADSTEP_NATIVE"  # set to 0, plans run without it
_LEAST_ASIDE = 1 << 18  # bytes; fewer are copied as fast in any other way
_LOG = logging.getLogger("gradstep.engine")


@dataclass(frozen=True)
class Extension:
    """make: of calls a table; None where plans run without, and then why not. copy_aside: copies
    bytes to where nobody looks soon, past the processor's caches; add_rows: see below; both None
    likewise, and where an older one is installed."""

    make: Callable[[Sequence[Callable[[], Any]]], Any] | None = None
    copy_aside: Callable[[Any, Any], None] | None = None
    add_rows: Callable[[np.ndarray, np.ndarray, np.ndarray], bool] | None = None
    version: str = ""
    why_not: str = ""


@cache
def extension() -> Extension:
    """What there is for the time of this process. It is looked for once, when it is first of
    use, as where a plan runs for the second time, and held to NumPy then."""
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
    return Extension(
        module.Table,
        getattr(module, "copy_aside", None),
        getattr(module, "add_rows", None),
        version,
    )


def copy_aside(into: Any, of: Any) -> None:
    """Copy an array's bytes over another's, on any device, that are looked at later if at all."""
    copy = None if of.nbytes < _LEAST_ASIDE else extension().copy_aside
    if copy is None or not type(into) is type(of) is np.ndarray:
        into[...] = of
    else:
        copy(into, of)


def add_rows(total: np.ndarray, values: np.ndarray, places: np.ndarray) -> bool:
    """Add row i of `values` [n, width] to row places[i] of `total` [count, width], one after the
    other as `numpy.add.at` does; False, and nothing done, where that is not to be had."""
    add = extension().add_rows
    return add is not None and add(total, values, places)
