"""`--quick` and `--changed` of the suite: fewer tests, when there is little time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from tests.support.selection import ROOT, affected_by, changed_files

_EACH = 1  # case of a test that has many
_T = TypeVar("_T")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gradstep")
    group.addoption(
        "--quick", action="store_true", help="of each test one case, and none that is slow"
    )
    group.addoption(
        "--changed", nargs="?", const="HEAD", metavar="REV",
        help="the tests of what is not as in that revision (HEAD), and of what imports it",
    )  # fmt: skip


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    chosen = _chosen(config)
    if chosen is None or collection_path.suffix != ".py":
        return None
    return collection_path not in chosen or None


def drop(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--quick`, leave what there is no time for out of the collected tests."""
    if not config.option.quick:
        return
    quick = [item for item in items if not item.get_closest_marker("slow")]
    kept = some_of_each(quick, lambda item: item.nodeid.partition("[")[0], _EACH)
    config.hook.pytest_deselected(items=[*{*items} - {*kept}])
    items[:] = kept


def some_of_each(all: Sequence[_T], kind: Callable[[_T], Hashable], most: int) -> list[_T]:
    """At most so many of each kind, spread from its first to its last, in the order of all."""
    places: dict[Hashable, list[int]] = {}
    for place, each in enumerate(all):
        places.setdefault(kind(each), []).append(place)
    kept = set()
    for of in places.values():
        steps = max(most - 1, 1)
        kept |= {of[number * (len(of) - 1) // steps] for number in range(most)}
    return [each for place, each in enumerate(all) if place in kept]


_CHOSEN = pytest.StashKey[frozenset[Path]]()


def _chosen(config: pytest.Config) -> frozenset[Path] | None:
    """The files whose tests are run; None for all."""
    since = config.option.changed
    if since is None:
        return None
    if _CHOSEN not in config.stash:
        try:
            found = affected_by(changed_files(since))
        except LookupError as error:
            raise pytest.UsageError(f"--changed: {error}") from None
        config.stash[_CHOSEN] = frozenset(ROOT / name for name in found)
    return config.stash[_CHOSEN]
