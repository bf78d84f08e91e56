"""Trying mutants of a small program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mutation.report import Measured, readable
from tests.mutation.trial import Bench, BrokenError, Mutant

PROGRAM = """LIMIT = 3


def count(n):
    while n > LIMIT:
        n -= 1
    return n


def nobody():
    return 1
"""
TESTS = """
import pytest

from program import count

def test_a_small_number():
    assert count(2) == 2

@pytest.mark.parametrize("n", [4, 5])
def test_a_large_one(n):
    assert count(n) == 3

def test_what_never_held():
    assert count(1) == 2
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    (root / "program.py").write_text(PROGRAM)
    (root / "test_program.py").write_text(TESTS)
    return root


@pytest.fixture(scope="module")
def bench(root: Path) -> Iterator[Bench]:
    with Bench(root, ["program.py"], ["test_program.py"], patience=0) as bench:
        failing, _ = bench.prepare()
        assert failing == ["test_program.py::test_what_never_held"]
        yield bench


def mutant(before: str, after: str) -> Mutant:
    line = PROGRAM[: PROGRAM.index(before)].count("\n") + 1
    return Mutant("program.py", line, "By hand", before, after, PROGRAM.replace(before, after))


@pytest.mark.parametrize(
    ("before", "after", "killed_by"),
    [
        ("n > LIMIT", "n > 4", "test_program.py::test_a_large_one"),
        ("return n", "return max(n, 3)", "test_program.py::test_a_small_number"),
        ("n > LIMIT", "n > 3.5", ""),
        ("return 1", "return 2", ""),
        ("LIMIT = 3", "LIMIT = 4", "test_program.py::test_a_large_one"),
        ("n -= 1", "pass", "time"),
        ("def count", "def counted", "test_program.py"),
        ("return n", "import os; os._exit(9)", "pytest's status 9"),
    ],
)
@pytest.mark.slow
def test_the_first_test_that_fails_kills(
    bench: Bench, root: Path, before: str, after: str, killed_by: str
) -> None:
    outcome = bench.outcome(mutant(before, after))
    assert outcome.killed_by.partition("[")[0] == killed_by
    assert (root / "program.py").read_text() == PROGRAM


@pytest.mark.slow
def test_what_killed_before_is_tried_first(bench: Bench) -> None:
    for _ in range(4):  # more than the other test has killed
        bench.outcome(mutant("return n", "return max(n, 3)"))
    every = mutant("return n", "return None")
    assert bench.outcome(every).killed_by == "test_program.py::test_a_small_number"


@pytest.mark.slow
def test_the_report_names_what_survived(bench: Bench) -> None:
    pairs = [("n > LIMIT", "n > 4"), ("n > LIMIT", "n > 3.5"), ("return 1", "return 2")]
    outcomes = [bench.outcome(mutant(*pair)) for pair in pairs]
    measured = Measured("small", "0000000", 1, 9, {"an annotation": 2}, [], outcomes)
    text = readable(measured)
    assert "program.py:5  By hand\n  - n > LIMIT\n  + n > 3.5\n" in text
    assert "program.py:11  By hand, and no test comes there\n" in text
    assert "1 of 3 mutants killed (0 by time), 33.3%" in text
    assert "of 9 places; left out: 2 an annotation" in text
    assert measured.as_json()["survivors"][0]["line"] == 5


@pytest.mark.slow
def test_tests_that_do_not_run_are_no_measurement(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("import nothing_of_that_name\n")
    with (
        Bench(tmp_path, [], ["test_it.py"]) as bench,
        pytest.raises(BrokenError, match="do not run"),
    ):
        bench.prepare()
