"""The CPU time of each test with all that it starts, as a plugin; and of suites what both have.

    CPU_TIMES=now.json PYTHONPATH=tests/support .venv/bin/python -m pytest -p cpu_times
    .venv/bin/python -m tests.support.cpu_times before.json now.json

The first line measures the tree of any commit, with the PYTHONPATH of this one. Linux only.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

_TICKS = os.sysconf("SC_CLK_TCK")
_OWN = 11, 12  # fields of /proc/PID/stat behind the name, in ticks
_ENDED = 13, 14  # of the children that have been waited for

Row = tuple[str, float]  # a test's name, and seconds
_rows: list[Row] = []


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    others, own = _others(), time.process_time()
    done = yield
    own = time.process_time() - own
    _rows.append((item.nodeid, own + _others() - others))
    return done


def pytest_unconfigure() -> None:
    rest = time.process_time() + _others() - sum(seconds for _, seconds in _rows)
    rows = [*_rows, ("collecting, and what is between tests", rest)]
    Path(os.environ["CPU_TIMES"]).write_text(json.dumps(rows))


def _others() -> float:
    """Seconds of all processes that came of this one."""
    here = os.getpid()
    return _of(here, _ENDED) + sum(_of(each, _OWN + _ENDED) for each in _descendants(here))


def _of(process: int, fields: Sequence[int]) -> float:
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has just ended
        return 0.0
    return sum(int(words[field]) for field in fields) / _TICKS


def _descendants(process: int) -> Iterator[int]:
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found = [int(word) for word in children.read_text().split()]
        except OSError:
            continue
        for child in found:
            yield child
            yield from _descendants(child)


def by_name(rows: Sequence[Row]) -> Mapping[str, float]:
    """Without the file that a test is in: files are moved and renamed."""
    found: dict[str, float] = defaultdict(float)
    for name, seconds in rows:
        found[name.partition("::")[2]] += seconds
    return found


def compare(before: Sequence[Row], now: Sequence[Row]) -> str:
    """What tests of the same name took, in two lines, and all tests of each."""
    old, new = by_name(before), by_name(now)
    both = sorted((old.keys() & new.keys()) - {""})
    was, takes = (sum(times[name] for name in both) for times in (old, new))
    whole = [sum(seconds for _, seconds in rows) for rows in (before, now)]
    return (
        f"{len(both):,} tests that both have: {was:.1f} s, now {takes:.1f} s: {takes / was:.2f}\n"
        f"all, with collecting: {whole[0]:.1f} s, now {whole[1]:.1f} s"
    )


if __name__ == "__main__":
    print(compare(*(json.loads(Path(name).read_text()) for name in sys.argv[1:])))  # noqa: T201
