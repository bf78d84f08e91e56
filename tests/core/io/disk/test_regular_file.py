"""Files are read whole, as they were when they were opened, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradstep.core.io.disk.memory_budget import Budget, OverBudgetError, in_words
from gradstep.core.io.disk.regular_file import RegularFile


def test_parts_and_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(bytes(range(100)))
    with RegularFile(path) as file:
        assert file.size == 100
        assert file.at(90, 50) == bytes(range(90, 100))
        assert file.read(Budget()) == bytes(range(100))


@pytest.mark.parametrize(("size", "said"), [(101, "holds more than the 100"), (99, "holds less")])
def test_a_file_that_is_being_written(tmp_path: Path, size: int, said: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 100)
    with RegularFile(path) as file:
        path.write_bytes(b"x" * size)
        with pytest.raises(ValueError, match=said):
            file.read(Budget())


def test_a_file_over_the_budget_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a hole, which takes no room on the disk
    with RegularFile(path) as opened, pytest.raises(OverBudgetError, match=r"1,024 GiB") as caught:
        opened.read(Budget())
    assert caught.value.needed == 1 << 40
    assert "--memory 1280GiB" in caught.value.hint


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1 << 10, "1.0 KiB"), (3_435_973_836, "3.2 GiB"),
     ((1 << 30) - 1, "1.0 GiB"), (100 << 20, "100 MiB")],
)  # fmt: skip
def test_sizes_in_words(size: int, words: str) -> None:
    assert in_words(size) == words
