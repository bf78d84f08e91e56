"""Data that cannot be fed is said in one line at its placeholder; what is known is used again."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gradstep.core.data import opened_data
from gradstep.core.data.array_files import Reading
from gradstep.core.data.opened_data import OpenedData, open_data
from gradstep.core.document.dataset import Dataset
from gradstep.core.engine.run.chosen_rows import ChosenRows
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import TensorRef

X, Y = TensorRef("x"), TensorRef("y")
KINDS = {
    X: TensorType(DType.FLOAT32, Shape.of(None, 2)),
    Y: TensorType(DType.INT32, Shape.of(None)),
}


COLUMNS_AS_FED = (
    "@rows.npz:x",
    "@rows.npz:plain",
    "@rows.npz:x | standardise | scale(1/3, 0.1)",
    "@rows.npz:flat",
    "@rows.npz:y | one_hot(3)",
    "@rows.npy",
    "@rows.npy | scale(0.3)",
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c\n" + "".join(f"{i},{i / 2},{i % 3}\n" for i in range(10)))
    return path


def opened(
    folder: Path, x: str, y: str = "", before: OpenedData | None = None, **numbers: int
) -> OpenedData:
    texts = {"x:0": x, "y:0": y} if y else {"x:0": x}
    near = f"@{folder.as_posix()}/"
    columns = {n: t if t[1] in "/\\" else t.replace("@", near) for n, t in texts.items()}
    kinds = {ref: kind for ref, kind in KINDS.items() if str(ref) in columns}
    return open_data(Dataset(columns, **numbers), kinds, Reading(), before)  # type: ignore[arg-type]


def test_a_table_is_fed_in_batches(table: Path) -> None:
    found = opened(table.parent, "@rows.csv:a,b | scale(2)", "@rows.csv:c", batch=4)
    feeds = found.feeds_at(2)
    assert feeds[X].tolist() == [[16, 8], [18, 9]]
    assert (feeds[Y].dtype, feeds[Y].tolist()) == (np.int32, [2, 0])
    assert found.words_at(2) == "batch 3 of epoch 1, rows 8 to 9"
    assert found.types == {
        X: TensorType(DType.FLOAT32, Shape.of(None, 2)),
        Y: TensorType(DType.INT32, Shape.of(None)),
    }
    whole = opened(table.parent, "@rows.csv:a,b", batch=5)
    assert whole.types == {X: TensorType(DType.FLOAT32, Shape.of(5, 2))}


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        ("@gone.csv", "", "gone.csv: there is no such file"),
        ("@ragged.csv", "", "row 3 has 1 cell, and row 1 has 2"),
        ("@empty.csv", "", "row 2, column 'b' is empty"),
        ("@nan.npy", "", "the data of x: row 1 is NaN"),
        ("@rows.csv:a,d", "", "there is no column 'd'"),
        ("@rows.csv", "", "shape [10, 3] does not fit [?, 2]"),
        ("@rows.csv:a,b | scal(2)", "", "there is no transform 'scal'"),
        ("@rows.csv:a,b | one_hot(2)", "", "0.5 is no class of one_hot(2)"),
        (
            "@rows.csv:a,b",
            "@rows.csv:b",
            "rows 0 to 9 of y: 0.5 at index [1] is not a whole number",
        ),
        ("@rows.csv:a,b", "@short.csv", "the columns differ in rows: x 10, y 2"),
        ("[[1, 2], [3]]", "", "the rows differ in length"),
        ("normal(0, 1)", "", "the shape of 'x', [?, 2], does not say how many numbers"),
        ("[[1, 1" + 400 * "0" + "]]", "", "a number is out of range for float32"),
        ("@folder", "", "folder"),
        ("@//host/share/rows.csv", "", "lies on another machine"),
        ("@\\\\host\\share\\rows.csv", "", "lies on another machine"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_at_the_placeholder(
    table: Path, x: str, y: str, said: str
) -> None:
    folder = table.parent
    (folder / "ragged.csv").write_text("a,b\n1,2\n3\n")
    (folder / "empty.csv").write_text("a,b\n1,\n")
    (folder / "short.csv").write_text("1\n2\n")
    (folder / "folder").mkdir()
    np.save(folder / "nan.npy", np.float32([[1, 2], [3, np.nan]]))
    with pytest.raises(GradstepError) as caught:
        opened(folder, x, y)
    error = caught.value
    assert said in error.message
    assert "\n" not in error.message
    assert error.node in ("x", "y")
    assert error.hint


def test_whole_numbers_beyond_64_bits_are_rows(table: Path) -> None:
    x = f"[[1, {10**30}]]"
    assert opened(table.parent, x, batch=1).feeds_at(0)[X].tolist() == [[1, np.float32(1e30)]]


def test_files_are_read_again_where_they_have_changed_and_only_then(table: Path) -> None:
    first = opened(table.parent, "@rows.csv:a,b", batch=4)
    assert opened(table.parent, "@rows.csv:a,b", before=first, batch=4) is first
    smaller = opened(table.parent, "@rows.csv:a,b", before=first, batch=2)
    assert next(iter(smaller.arrays.values())) is next(iter(first.arrays.values()))
    assert not smaller.changed_files
    table.write_text("a,b\n7,8\n9,10\n")
    assert (smaller.changed_files, smaller.gone_files) == (["rows.csv"], [])
    again = opened(table.parent, "@rows.csv:a,b", before=smaller, batch=2)
    assert again.feeds_at(0)[X].tolist() == [[7, 8], [9, 10]]
    assert smaller.feeds_at(0)[X].tolist() == [[0, 0], [1, 0.5]]  # what it was opened with
    table.unlink()
    assert (again.changed_files, again.gone_files) == ([], ["rows.csv"])


def test_a_mapped_file_that_changes_is_not_trained_on_any_further(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", np.arange(8, dtype=np.float32).reshape(4, 2))
    found = opened(tmp_path, "@rows.npy", batch=2)
    assert isinstance(next(iter(found.arrays.values())), np.memmap)
    assert found.feeds_at(1)[X].tolist() == [[4, 5], [6, 7]]
    np.save(tmp_path / "rows.npy", np.zeros((5, 2), np.float32))
    with pytest.raises(GradstepError, match=r"rows\.npy was changed while it is trained on"):
        found.feeds_at(1)


def test_held_back_rows_are_fed_once_each_and_never_trained_on(table: Path) -> None:
    data = Dataset({"x:0": f"@{table}:a,b"}, 3, shuffle=1, validate=0.4)
    found = open_data(data, {X: KINDS[X]}, Reading())
    held = [(feeds[X][:, 0].tolist(), rows) for feeds, rows in found.held_back()]
    trained = {a for run in range(4) for a in found.feeds_at(run)[X][:, 0].tolist()}
    assert [rows for _, rows in held] == [3, 1]
    assert sorted([a for part, _ in held for a in part] + [*trained]) == [*range(10)]


@pytest.mark.parametrize("text", COLUMNS_AS_FED)
@pytest.mark.parametrize("rows", [None, 4])
def test_rows_that_are_made_at_once_are_those_that_a_batch_is_made_of(
    text: str, rows: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the bit, whichever rows are held back, and however many the placeholder takes."""
    _write_rows(tmp_path)
    place, *steps = text.split("|")
    as_text = "|".join([place.replace("@", f"@{tmp_path}/"), *steps])
    inner = (3,) if "one_hot" in text else (2,)
    kinds = {X: TensorType(DType.FLOAT32, Shape((rows, *inner)))}
    dataset = Dataset({"x:0": as_text}, 4, shuffle=2, validate=0.3, limit=14, drop_last=True)
    made = open_data(dataset, kinds, Reading())
    monkeypatch.setattr(opened_data, "_LOOKED_THROUGH", 0)
    each = open_data(dataset, kinds, Reading())
    assert made.training.columns[X].ready is not None
    is_plain = text in ("@rows.npz:plain", "@rows.npy")
    assert (each.training.columns[X].ready is not None) == is_plain
    for step in range(6):
        expected = each.training.feeds_at(step)[X]
        assert expected.shape == (4, *inner)
        for found in (made.training.feeds_at(step)[X], made.training.chosen_at(step)[X]):
            there = found.taken() if isinstance(found, ChosenRows) else found
            assert there.dtype == np.float32
            assert there.tobytes() == expected.tobytes()


def _write_rows(folder: Path) -> None:
    random = np.random.default_rng(8)
    np.savez(
        folder / "rows.npz",
        x=random.normal(size=(17, 2)),
        plain=random.normal(size=(17, 2)).astype(np.float32),
        flat=random.normal(size=(17, 2, 1)),
        y=random.integers(0, 3, 17),
    )
    np.save(folder / "rows.npy", random.normal(size=(17, 2)).astype(np.float32))


@pytest.mark.parametrize("place", ["", "/*.png", "/sub*/?.png"])
def test_images_that_change_are_noticed(place: str, tmp_path: Path) -> None:
    """One that is another, one more and one less; and nothing else in the folder."""
    deep = place.startswith("/sub")
    folder = tmp_path / "digits" / ("sub1" if deep else "")
    folder.mkdir(parents=True)

    def draw(name: str, grey: int) -> None:
        Image.fromarray(np.full((2, 2), grey, np.uint8)).save(folder / name)

    for number in range(3):
        draw(f"{number}.png", number)
    kinds = {X: TensorType(DType.FLOAT32, Shape((None, 4)))}
    dataset = Dataset({"x:0": f"@{tmp_path}/digits{place}"}, batch=1)

    def again(before: OpenedData | None) -> OpenedData:
        return open_data(dataset, kinds, Reading(), before)

    first = again(None)
    (folder / "notes.txt").write_text("nothing")
    assert not first.changed_files
    assert again(first) is first
    draw("1.png", 77)
    os.utime(folder / "1.png", ns=(1, 1))  # however coarse the clock of the disk is
    assert first.changed_files == [Path(f"digits{place}").name]
    second = again(first)
    assert second.feeds_at(1)[X].tolist() == [[77] * 4]
    draw("3.png", 3)
    assert second.changed_files
    third = again(second)
    assert third.training.batches_per_epoch == 4
    (folder / "0.png").unlink()
    assert third.changed_files
    assert again(third).feeds_at(0)[X].tolist() == [[77] * 4]
