"""Rows that are packed into a document are fed as their files' were, to the bit, without them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from gradstep.core.data.array_files import Reading
from gradstep.core.data.opened_data import OpenedData, fed_kinds
from gradstep.core.data.row_packing import pack_data
from gradstep.core.document.data_edits import set_column
from gradstep.core.document.dataset import Dataset
from gradstep.core.document.document import Document
from gradstep.core.document.document_edits import remove_operations, rename_operation
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant
from gradstep.core.graph.splat_array import splat
from gradstep.core.io.disk.memory_budget import Budget, OverBudgetError
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.data_feeds import open_batches

ROWS = 23
X_TEXTS = (
    "rows.csv:a,b | standardise", "rows.csv:a..b", "rows.npz:x", "rows.npz:big | scale(1/3)",
    "rows.npy", "rows.npy | standardise | scale(2, 1)", "turned.npy", "alike.npy",
    "pictures/*.png | scale(1/255)", "pictures | flip()",
)  # fmt: skip
Y_TEXTS = ("rows.csv:kind | classes('lily', 'rose')", "rows.npz:y", "names.npy | classes('a','b')")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        _write(path)
        yield path


def _write(path: Path) -> None:
    random = np.random.default_rng(3)
    x = random.normal(size=(ROWS, 2))
    lines = (f"{a!r},{b!r},{'lily' if a > 0 else 'rose'}\n" for a, b in x.tolist())
    (path / "rows.csv").write_text("a,b,kind\n" + "".join(lines))
    y = random.integers(0, 9, ROWS)
    np.savez(path / "rows.npz", x=x.astype(np.float32), big=x.astype(">f4"), y=y.astype(np.uint8))
    np.save(path / "rows.npy", x.astype(np.float16))
    np.save(path / "turned.npy", np.asfortranarray(x))
    np.save(path / "alike.npy", np.full((ROWS, 2), 0.1))
    np.save(path / "names.npy", np.array(["a", "b"] * ROWS)[:ROWS])
    (path / "pictures").mkdir()
    for number, pair in enumerate(random.integers(0, 256, (ROWS, 1, 2), dtype=np.uint8)):
        Image.fromarray(pair).save(path / "pictures" / f"{number}.png")


def document(folder: Path, x: str, y: str = "", **numbers: float | None) -> Document:
    pictures = x.startswith("pictures")
    b = GraphBuilder()
    b.placeholder("x", shape=(None, 1, 2, 1) if pictures else (None, 2))
    b.placeholder("y", dtype=DType.INT32, shape=(None,))
    columns = {"x:0": f"@{folder.as_posix()}/{x}"}
    if y:
        columns["y:0"] = f"@{folder.as_posix()}/{y}"
    return Document(graph=b.build(), data=Dataset(columns, **numbers))  # type: ignore[arg-type]


def packed(made: Document, limit: int = 1 << 20) -> Document:
    return pack_data(made, fed_kinds(made, made.graph), Reading(budget=Budget(limit)))


def opened(made: Document, before: OpenedData | None = None) -> OpenedData:
    found = open_batches(made, made.graph, before)
    assert found is not None
    return found


def fed(found: OpenedData) -> list[object]:
    """All that two epochs, what is held back, and what is tested on are fed."""
    runs = range(2 * found.per_epoch)
    feeds = [found.feeds_at(run) for run in runs] + [feeds for feeds, _ in found.held_back()]
    if found.test is not None:
        feeds += map(found.test.feeds_at, range(found.test.batches_per_epoch))
    values = [(ref, v.dtype, v.shape, v.tobytes()) for each in feeds for ref, v in each.items()]
    return [*map(found.words_at, runs), *values, found.types]


@pytest.mark.slow
@settings(deadline=None)
@given(
    x=st.sampled_from(X_TEXTS),
    y=st.sampled_from(("", *Y_TEXTS)),
    batch=st.integers(1, 30),
    shuffle=st.none() | st.integers(0, 99),
    held=st.sampled_from(((0.0, 0.0), (0.3, 0.0), (0.2, 0.2))),
    limit=st.sampled_from((0, 11)),
)
def test_the_batches_are_those_of_the_files_to_the_bit(
    folder: Path, x: str, y: str, batch: int, shuffle: int | None, held: tuple[float, float],
    limit: int,
) -> None:  # fmt: skip
    made = document(
        folder, x, y, batch=batch, shuffle=shuffle, validate=held[0], test=held[1], limit=limit
    )
    inside = packed(made)
    again = gradstep_file.from_bytes(gradstep_file.proven(inside))
    assert folder.as_posix() not in str(inside.data)
    before = fed(opened(made))
    assert fed(opened(inside)) == before
    assert fed(opened(again)) == before


def test_files_are_not_looked_for_any_more(tmp_path: Path) -> None:
    _write(tmp_path)
    made = document(tmp_path, X_TEXTS[0], Y_TEXTS[0])
    inside = packed(made)
    before = fed(opened(made))
    (tmp_path / "rows.csv").unlink()
    found = opened(inside)
    assert fed(found) == before
    assert not found.changed_files
    assert not found.gone_files
    with pytest.raises(GradstepError, match="there is no such file") as caught:
        opened(made)
    assert "packed into the document need no file" in caught.value.hint


def test_names_are_those_of_the_files_and_no_two_the_same(tmp_path: Path) -> None:
    for name, start in (("a", 0), ("b", 100)):
        (tmp_path / name).mkdir()
        np.save(tmp_path / name / "rows.npy", np.arange(start, start + 8.0).reshape(4, 2))
    made = document(tmp_path, "a/rows.npy | scale(2)")
    other = f"@{tmp_path.as_posix()}/b/rows.npy"
    b = GraphBuilder()
    b.placeholder("x", shape=(None, 2))
    b.placeholder("z", shape=(None, 2))
    made = made.with_(graph=b.build())
    both = packed(set_column(made, "z:0", other))
    assert both.columns == {"x:0": "@packed:rows.npy | scale(2)", "z:0": "@packed:rows.npy 2"}
    same = packed(set_column(made, "z:0", f"@{tmp_path.as_posix()}/a/rows.npy"))
    assert same.columns["z:0"] == "@packed:rows.npy"
    assert [*same.packed] == ["rows.npy"], "rows of two columns are kept once"
    assert packed(same) is same
    np.save(tmp_path / " c .npy", np.zeros((4, 2)))
    spaced = packed(document(tmp_path, " c .npy"))
    assert [*spaced.packed] == ["c .npy"]
    assert opened(spaced).per_epoch == 1


def test_they_follow_renames_and_go_with_the_last_column_that_takes_them(folder: Path) -> None:
    inside = packed(document(folder, "rows.npz:x", "rows.npz:y"))
    renamed = rename_operation(inside, "x", "points")
    assert renamed.columns["points:0"] == "@packed:rows.npz:x"
    assert fed(opened(renamed))[0] == fed(opened(inside))[0]
    assert [*set_column(renamed, "points:0", "").packed] == ["rows.npz:y"]
    assert [*remove_operations(renamed, ["y"]).packed] == ["rows.npz:x"]


def test_what_is_in_the_program_or_the_text_is_left_there(folder: Path) -> None:
    for text in ("@xor:x", "normal([4, 2], seed=1)"):
        made = set_column(document(folder, "rows.npz:x"), "x:0", text)
        assert packed(made) is made


def test_other_rows_under_the_same_name_are_fed_and_the_same_ones_kept_open(folder: Path) -> None:
    inside = packed(document(folder, "rows.npz:x", batch=4))
    first = opened(inside)
    assert opened(inside.with_(note="other"), first) is first
    zeros = {"rows.npz:x": Constant(np.zeros((ROWS, 2), np.float32))}
    second = opened(inside.with_(packed=zeros), first)
    assert not next(iter(second.feeds_at(0).values())).any()


def test_what_cannot_be_packed_is_said(folder: Path, tmp_path: Path) -> None:
    made = document(folder, "rows.npz:x")
    with pytest.raises(OverBudgetError, match=r"the rows of x, in the file and out of it") as over:
        packed(document(folder, "turned.npy"), limit=3 * ROWS * 8)  # mapped, so nothing is read
    assert over.value.hint.startswith("leave them in their file")
    np.save(tmp_path / "rows.npy", np.zeros((2, 2), "datetime64[s]"))
    with pytest.raises(GradstepError, match=r"rows of datetime64\[s\] cannot be packed"):
        packed(document(tmp_path, "rows.npy"))
    gone = set_column(packed(made), "x:0", "@packed:rows.npz:xx")
    with pytest.raises(GradstepError, match="no rows are packed into the document as") as caught:
        opened(gone)
    assert caught.value.node == "x"
    assert caught.value.hint
    texts = packed(document(folder, "rows.npz:x", "names.npy | classes('a', 'b')"))
    with pytest.raises(GradstepError, match="of y") as caught:
        opened(set_column(texts, "y:0", "@packed:names.npy"))
    assert caught.value.hint


@pytest.mark.skipif(os.name == "nt", reason="no file is called so there")
def test_a_file_that_is_called_so_is_not_meant(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = packed(document(folder, "rows.npy", batch=4))
    expected = fed(opened(inside))
    np.save(tmp_path / "packed:rows.npy", np.zeros((ROWS, 2)))
    monkeypatch.chdir(tmp_path)
    assert fed(opened(inside)) == expected


def test_more_rows_of_one_value_than_memory_holds_are_refused(folder: Path) -> None:
    """A file of a few bytes can say so, and all of them would be looked through."""
    huge = {"rows.npz:x": Constant(splat(np.array(0.5), (1 << 40, 2)))}
    inside = packed(document(folder, "rows.npz:x | standardise")).with_(packed=huge)
    again = gradstep_file.from_bytes(gradstep_file.to_bytes(inside))
    with pytest.raises(OverBudgetError, match=r"the rows 'rows\.npz:x'"):
        opened(again)
