"""Workers that collect the same tests share the work of making Python's code of them.

What pytest makes of a module's assertions takes longer than all else of a first collection, and is
kept for the next process. Workers begin at the same time and would make all of it each.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def import_share(config: pytest.Config) -> None:
    """Where this is one of several workers that collect everything: import every second module, or
    third, as there are workers, and so have them made when another one comes to them."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    if (worker := getattr(config, "workerinput", None)) is not None:
        number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
        for name in [*_modules()][number::count]:
            with contextlib.suppress(pytest.skip.Exception):  # which its collection will say
                importlib.import_module(name)


def _modules() -> Iterator[str]:
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        yield ".".join(path.relative_to(ROOT).with_suffix("").parts)
