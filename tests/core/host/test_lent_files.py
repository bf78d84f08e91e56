"""What a window lends to an engine elsewhere: the files that were named here, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.host.borrowed_files import BorrowedFiles
from gradstep.core.host.lent_files import LentFiles
from gradstep.core.protocol.messages import FileWanted

WHOLE = TensorType(DType.INT64, Shape.of(2))


@pytest.fixture
def lent() -> LentFiles:
    return LentFiles()


def borrowed_from(lent: LentFiles) -> BorrowedFiles:
    def ask(wanted: FileWanted) -> None:
        files.supply(*lent.answer(wanted))

    files = BorrowedFiles(ask, lambda: False)
    return files


@pytest.mark.parametrize(
    "line",
    ["set w @{}", "set w  @{} | scale(2)", "inject w[0, :] = @{}", "inject w =@{}|scale(2)", "@{}"],
)
def test_what_a_line_names_is_lent_until_the_next(
    lent: LentFiles, tmp_path: Path, line: str
) -> None:
    file = tmp_path / "a file.npy"
    np.save(file, np.array([1 << 60, 3]))
    files = borrowed_from(lent)
    lent.lend_typed(line.format(file))
    found, is_table = files.value(f"@{file}", WHOLE)
    assert found.tolist() == [1 << 60, 3]  # whole numbers exactly
    assert not is_table
    lent.lend_typed("print w")
    with pytest.raises(GradstepError, match="is not lent"):
        files.value(f"@{file}", WHOLE)


def test_a_table_is_said_to_be_one(lent: LentFiles, tmp_path: Path) -> None:
    file = tmp_path / "row.csv"
    file.write_text("9007199254740993,4\n")
    lent.lend_typed(f"set w @{file}")
    found, is_table = borrowed_from(lent).value(f"@{file}", WHOLE)
    assert found.tolist() == [[9007199254740993, 4]]
    assert is_table


@pytest.mark.parametrize(
    "named",
    [(), ("set w @{0}/other.npy",), ("fork main@0:3",), ("set w x@{0}/secret.npy",)],
)
def test_nothing_else_is(lent: LentFiles, tmp_path: Path, named: Sequence[str]) -> None:
    np.save(tmp_path / "secret.npy", np.zeros(2))
    for line in named:
        lent.lend_typed(line.format(tmp_path))
    with pytest.raises(GradstepError, match="is not lent: neither a column"):
        borrowed_from(lent).value(f"@{tmp_path}/secret.npy", WHOLE)


def test_an_engine_without_files_gets_none(lent: LentFiles, tmp_path: Path) -> None:
    file = tmp_path / "w.npy"
    np.save(file, np.zeros(2))
    lent.lend(None)
    lent.lend_typed(f"set w @{file}")
    with pytest.raises(GradstepError, match="the engine has no files"):
        borrowed_from(lent).value(f"@{file}", WHOLE)
