"""Where CuPy runs without a card: an environment of its own, which this process goes on in."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from tests.bench.environments import ROOT, python_of
from tests.support.hostcuda import building


def enter(arguments: Sequence[str]) -> None:
    """Go on there with the same arguments, or return where this is it already, with all built.
    Raises NotAvailableError or NotBuiltError with the reason why not."""
    python = python_of("hostcuda", may_install=True)
    if os.path.realpath(sys.prefix) == os.path.realpath(python.parents[1]):
        building.build()
        return
    os.chdir(ROOT)
    os.execv(python, [str(python), "-m", "tests.card", *arguments])
