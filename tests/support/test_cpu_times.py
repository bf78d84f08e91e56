"""Times of tests: those of processes that a test starts are its own, and files do not matter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cpu_times import by_name, compare

TESTS = """
import subprocess, sys, time

def test_starts_another():
    subprocess.run([sys.executable, "-c", {burn!r}], check=True)

def test_waits():
    time.sleep(0.2)
"""
BURN = "import time\nwhile time.process_time() < 0.3: pass"


def test_tests_of_the_same_name_are_compared() -> None:
    before = [("a.py::one", 2.0), ("a.py::two", 3.0), ("a.py::gone", 9.0), ("rest", 1.0)]
    now = [("b/c.py::one", 1.0), ("d.py::two", 0.5), ("d.py::new", 4.0), ("rest", 0.5)]
    first, second = compare(before, now).splitlines()
    assert first == "2 tests that both have: 5.0 s, now 1.5 s: 0.30"
    assert second == "all, with collecting: 15.0 s, now 6.0 s"


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
@pytest.mark.slow
def test_what_a_test_starts_counts(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS.format(burn=BURN))
    times = tmp_path / "times.json"
    found = {"PYTHONPATH": str(Path(__file__).parent), "CPU_TIMES": str(times)}
    found["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # there is no use for others here
    command = [sys.executable, "-m", "pytest", "-q", "-p", "cpu_times", "-p", "no:cacheprovider"]
    subprocess.run(
        [*command, "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, **found},
        check=True,
        capture_output=True,
    )
    seconds = by_name([*json.loads(times.read_text())])
    assert seconds["test_starts_another"] > 0.29
    assert seconds["test_waits"] < 0.15
